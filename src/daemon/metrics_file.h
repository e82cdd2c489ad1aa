// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file of `metrics:`, which node_exporter reads (docs/operations.md, "Metrics").
//
// Problem: a monitor must see a daemon that hangs or was killed, and a folder that cannot be
// written must not disturb the work. Way: the file is written again in each interval, even if
// nothing has changed, so its age shows that the daemon lives. At the end of the daemon it stays,
// with `baton_up 0`. Limits: what is in it is in engine/metrics.h.

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/service.h"
#include "engine/metrics.h"
#include "io/files/published_file.h"

namespace baton {

/// Writes the file, and logs once when that begins to fail and when it works again.
class MetricsFile {
 public:
  explicit MetricsFile(const ServiceConfig& config) { configure(config); }
  /// Takes a new configuration. Removes the file that the former one named, unless it is the same.
  void configure(const ServiceConfig& config);
  /// Whether the configuration names a file.
  bool wanted() const { return file_.has_value(); }
  Millis interval() const { return wanted_.interval; }
  void write(const std::vector<RootMetrics>& roots);
  /// Why the file could not be written the last time; "" if it could.
  const std::string& fault() const { return fault_; }

 private:
  MetricsConfig wanted_;
  std::string first_line_;
  std::optional<PublishedFile> file_;
  std::string fault_;
};

}  // namespace baton
