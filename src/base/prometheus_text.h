// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/ Which metrics baton has is in
// engine/metrics.h.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {

enum class MetricType : std::uint8_t { counter, gauge, histogram };
std::string_view word(MetricType type);

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

/// The text under construction. Begin a family, then add its samples. The names of families and
/// labels are used as they are, so they have to be valid. Label values may be any text.
class PrometheusText {
 public:
  /// A line that Prometheus ignores, for people and for baton itself.
  void comment(std::string_view text);
  /// Begins the family to which the next samples belong. A family without samples is fine.
  void family(std::string_view name, MetricType type, std::string_view help);
  void sample(const MetricLabels& labels, double value);
  /// The samples of one histogram. `counts` has one entry per bound, and one more for all that lies
  /// above the last bound. The counts are not cumulative.
  void histogram(const MetricLabels& labels, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);
  const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, const MetricLabels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace baton
