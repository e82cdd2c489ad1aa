// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics_file.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "base/text.h"

namespace baton {
void MetricsFile::configure(const ServiceConfig& config) {
  const MetricsConfig before = std::exchange(wanted_, config.metrics);
  // All roots have the same configuration. Perhaps each of them is waited for.
  std::string first_line = config.roots.empty()
                               ? first_line_
                               : std::string(kMetricsWriter) + config.roots.front().configuration;
  if (before.textfile == wanted_.textfile && first_line == first_line_)
    return;
  first_line_ = std::move(first_line);
  fault_.clear();
  // Its flows and runs would be shown for ever.
  if (auto removed = file_ ? file_->remove() : Result<void>(); !removed)
    spdlog::warn("metrics: the former file stays: " + printable(describe(removed.error())));
  file_.reset();
  const std::string empty = metrics_text(first_line_, {});
  if (!wanted_.textfile.empty())
    file_.emplace(wanted_.textfile, empty.substr(0, empty.find('\n') + 1));
}

void MetricsFile::write(const std::vector<RootMetrics>& roots) {
  const auto written = file_->write(metrics_text(first_line_, roots));
  const std::string why = written ? "" : printable(describe(written.error()));
  if (std::exchange(fault_, why) == why)
    return;
  if (written)
    spdlog::warn("metrics: " + printable(wanted_.textfile) + " is written again");
  else
    spdlog::warn("metrics are not written: " + why +
                 "; baton tries again, and says nothing more until it works");
}

}  // namespace baton
