// SPDX-License-Identifier: Apache-2.0
#include "core/run.h"

#include <algorithm>
#include <array>
#include <utility>

namespace baton {
namespace {

constexpr std::array kOutcomes = {
    std::pair{Outcome::none, std::string_view("none")},
    std::pair{Outcome::succeeded, std::string_view("succeeded")},
    std::pair{Outcome::failed, std::string_view("failed")},
    std::pair{Outcome::timed_out, std::string_view("timed_out")},
    std::pair{Outcome::stalled, std::string_view("stalled")},
    std::pair{Outcome::stopped, std::string_view("stopped")},
    std::pair{Outcome::interrupted, std::string_view("interrupted")},
    std::pair{Outcome::unknown, std::string_view("unknown")},
    std::pair{Outcome::voided, std::string_view("voided")},
    std::pair{Outcome::limited, std::string_view("limited")},
    std::pair{Outcome::transient, std::string_view("transient")},
    std::pair{Outcome::auth, std::string_view("auth")},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i)
    if (static_cast<std::size_t>(kOutcomes.at(i).first) != i)
      return false;
  return true;
}
static_assert(in_order());

}  // namespace

std::vector<std::string> outcome_words() {
  std::vector<std::string> all;
  for (const auto& [outcome, word] : kOutcomes)
    if (outcome != Outcome::none)
      all.emplace_back(word);
  return all;
}

std::string uuid_of(const RunId& run) {
  constexpr std::size_t kDigits = 32;
  std::string digits = run.substr(0, kDigits);
  digits.resize(kDigits, '0');
  digits[12] = '4';
  digits[16] = "89ab"[static_cast<unsigned char>(digits[16]) % 4U];
  for (const std::size_t at : {20U, 16U, 12U, 8U})
    digits.insert(at, "-");
  return digits;
}

Millis varied(Millis most, const RunId& run) {
  // FNV-1a over the id.
  std::uint32_t seed = 2166136261U;
  for (const char c : run)
    seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
  constexpr std::uint32_t kParts = 400;
  return most * static_cast<std::int64_t>(seed % (kParts + 1)) / kParts;
}

std::string_view word(RunState state) {
  switch (state) {
    case RunState::started:
      return "running";
    case RunState::stopping:
      return "stopping";
    case RunState::ended:
      return "ended";
  }
  return "";
}

std::string_view word(Outcome outcome) {
  return kOutcomes.at(static_cast<std::size_t>(outcome)).second;
}

std::optional<Outcome> parse_outcome(std::string_view word) {
  const auto* const found = std::find_if(kOutcomes.begin(), kOutcomes.end(),
                                         [&](const auto& row) { return row.second == word; });
  if (found == kOutcomes.end())
    return std::nullopt;
  return found->first;
}

}  // namespace baton
