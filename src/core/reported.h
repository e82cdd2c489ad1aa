#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// What one run can cost, in US dollars, and no more than it; a report beyond that is a slip and
/// says nothing, so that sums stay numbers that people read.
constexpr double kMostCost = 1e6;

struct Reported {
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
};

/// What an agent says at the end of its stdout of its own costs: a JSON object with
/// `total_cost_usd`, or `usage` with `input_tokens` and `output_tokens`. It is all of the output,
/// or one of the last lines, as `claude -p --output-format json` and `stream-json` and `codex exec
/// --json` print it. What is below zero, no number or beyond kMostCost says nothing.
Reported reported_in(std::string_view output);

/// An amount for people: `12.50 USD`.
std::string dollars(double amount);

}  // namespace baton
