// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command line of the simulations: many seeds, each mutant, one seed again. `--today N` takes N
// seeds, others each day, and `--mutant today` one mutant.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::testing {

struct Fault {
  std::uint64_t step = 0;
  std::string what;
};

/// A seeded world that can be run. A mutant takes one piece out of what is tested; it must be
/// caught, otherwise the green of the rest means nothing.
struct Sweep {
  std::string_view program;
  std::vector<std::string_view> mutants;
  /// Runs one seed with one of the mutants ("": none). A fault ends it.
  std::function<std::optional<Fault>(std::uint64_t seed, std::string_view mutant, bool trace)>
      trial;
  /// What happened in the sweep without a mutant, in one line.
  std::function<std::string()> summary;
  std::uint64_t seeds = 1000;  ///< unless the command line says so
};

/// 0 when no seed finds a fault (or, with --mutant, when each mutant is caught), 1 when one does, 2
/// for wrong usage.
int sweep(const Sweep& sweep, const std::vector<std::string>& words);

}  // namespace baton::testing
