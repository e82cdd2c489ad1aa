// SPDX-License-Identifier: Apache-2.0
#include "core/reported.h"

#include <array>
#include <charconv>
#include <limits>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"

namespace baton {
namespace {

/// How many lines at the end of the output may hold the object.
constexpr int kLines = 8;

std::optional<double> cost_in(const Value& object) {
  const Value* const cost = json::child(object, "total_cost_usd");
  if (cost == nullptr || !cost->IsNumber() || cost->GetDouble() < 0 ||
      cost->GetDouble() > kMostCost)
    return std::nullopt;
  return cost->GetDouble();
}

std::optional<std::int64_t> tokens_in(const Value& object) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const Value* const usage = json::child(object, "usage");
  if (usage == nullptr || !usage->IsObject())
    return std::nullopt;
  const auto in = json::integer(*usage, "input_tokens");
  const auto out = json::integer(*usage, "output_tokens");
  if ((!in && !out) || in.value_or(0) < 0 || out.value_or(0) < 0 || in.value_or(0) > kMost ||
      out.value_or(0) > kMost)
    return std::nullopt;
  return in.value_or(0) + out.value_or(0);
}

ReportedUsage reported_by(std::string_view text) {
  if (text.empty() || text.front() != '{' || text.back() != '}')
    return {};
  const auto object = parse_json(text);
  return object ? ReportedUsage{cost_in(**object), tokens_in(**object)} : ReportedUsage{};
}

}  // namespace

ReportedUsage reported_usage(std::string_view output) {
  output = trimmed(output);
  for (int line = 0; line < kLines && !output.empty(); ++line) {
    const std::size_t end = output.rfind('\n');
    const std::size_t begin = end == std::string_view::npos ? 0 : end + 1;
    const ReportedUsage reported = reported_by(trimmed(output.substr(begin)));
    if (reported.cost_usd || reported.tokens)
      return reported;
    // The object may be spread over several lines.
    if (line == 0 && begin > 0)
      if (const ReportedUsage whole = reported_by(output); whole.cost_usd || whole.tokens)
        return whole;
    output = trimmed(output.substr(0, begin));
  }
  return {};
}

std::string dollars(double amount) {
  std::array<char, 400> text{};  // room for the largest double there is
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed, 2);
  return std::string(text.data(), written.ptr) + " USD";
}

}  // namespace baton
