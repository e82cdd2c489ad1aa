#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

struct Reported {
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
};

/// What an agent says at the end of its stdout of its own costs: a JSON object with
/// `total_cost_usd`, or `usage` with `input_tokens` and `output_tokens`. It is all of the output,
/// or one of the last lines, as `claude -p --output-format json` and `stream-json` and `codex exec
/// --json` print it. What is below zero or no number says nothing.
Reported reported_in(std::string_view output);

/// An amount for people: `12.50 USD`.
std::string dollars(double amount);

}  // namespace baton
