// SPDX-License-Identifier: Apache-2.0
#include "base/prometheus_text.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace baton {
namespace {

/// Below this, every whole number is exact as a double and is written without an exponent.
constexpr double kWhole = 1e15;

std::string metric_number(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> digits{};
  const auto format =
      std::abs(value) < kWhole ? std::chars_format::fixed : std::chars_format::general;
  // A tiny number would have hundreds of digits in the fixed form.
  auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value, format);
  if (done.ec != std::errc())
    done = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), done.ptr};
}

/// The format has no other escapes. It is UTF-8, and a path may not be.
std::string escaped(std::string_view text, bool in_quotes) {
  std::string safe = mended_utf8(text);
  replace_all(safe, "\\", "\\\\");
  replace_all(safe, "\n", "\\n");
  if (in_quotes)
    replace_all(safe, "\"", "\\\"");
  return safe;
}

}  // namespace

std::string_view word(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return {};
}

void PrometheusText::comment(std::string_view text) {
  text_ += "# " + escaped(text, false) + "\n";
}

void PrometheusText::family(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + escaped(help, false) + "\n";
  text_ += "# TYPE " + name_ + " " + std::string(word(type)) + "\n";
}

void PrometheusText::line(std::string_view suffix, const MetricLabels& labels, double value) {
  text_ += name_;
  text_ += suffix;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ += i == 0 ? '{' : ',';
    text_ += labels[i].first;
    text_ += "=\"" + escaped(labels[i].second, true) + "\"";
  }
  text_ += (labels.empty() ? " " : "} ") + metric_number(value) + "\n";
}

void PrometheusText::sample(const MetricLabels& labels, double value) {
  line({}, labels, value);
}

void PrometheusText::histogram(const MetricLabels& labels, std::span<const double> bounds,
                               std::span<const std::uint64_t> counts, double sum) {
  assert(counts.size() == bounds.size() + 1);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    MetricLabels of_bucket = labels;
    of_bucket.emplace_back("le", i < bounds.size() ? metric_number(bounds[i]) : "+Inf");
    line("_bucket", of_bucket, static_cast<double>(below));
  }
  line("_sum", labels, sum);
  line("_count", labels, static_cast<double>(below));
}

}  // namespace baton
