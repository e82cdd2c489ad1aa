// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what an agent program reports about its own cost at the end of its output. baton uses the
// numbers for the hourly cost limit and shows them.
// A program that reports nothing costs nothing here; baton does not estimate.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// The highest cost of one run that baton believes, in US dollars. baton ignores a higher report as
/// a mistake.
constexpr double kMostCost = 1e6;

struct ReportedUsage {
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
};

/// Finds a JSON object with `total_cost_usd`, or `usage` with `input_tokens` and `output_tokens`.
/// The object is the whole output or one of the last lines, as printed by `claude -p
/// --output-format json`, `stream-json` and `codex exec --json`. Negative values, values above
/// kMostCost and values that are not numbers are ignored.
ReportedUsage reported_usage(std::string_view output);

/// `12.50 USD`
std::string dollars(double amount);

}  // namespace baton
