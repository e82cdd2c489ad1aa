#pragma once

// What the worlds of baton_simulation share.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton::testing {

struct Counts {
  std::uint64_t seeds = 0;
  std::uint64_t steps = 0;
  std::uint64_t starts = 0;
  std::uint64_t crashes = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t commits = 0;
};

struct Fault {
  std::uint64_t step = 0;
  std::string what;
};

/// What can be taken out of the world of loops. The first five out of the dialect, the rest out of
/// the protocol.
inline constexpr std::array kLoopMutants = {
    std::string_view("accepts_all"),  std::string_view("forgets"),
    std::string_view("lets_run"),     std::string_view("starts_always"),
    std::string_view("left_at_once"), std::string_view("release_before_commit"),
    std::string_view("no_claim"),     std::string_view("no_lock"),
    std::string_view("by_event"),
};

/// One seed of the world of loops (loop_simulation.cpp); `mutant` is one of the above or empty.
std::optional<Fault> simulate_loops(std::uint64_t seed, std::string_view mutant, Counts& counts,
                                    bool tracing);

}  // namespace baton::testing
