#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// The ways between the states of a definition, which outlives it. Unknown targets are left out; a
/// target that is computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// By the index of the state: whether it can be entered, from the initial one or from what a
  /// limit leads to.
  std::vector<bool> reachable() const;

  /// What every way into a state has kept (`capture`) before its action runs.
  struct Kept {
    const State* state = nullptr;
    std::set<std::string> names;
  };
  /// For each reachable state. A sub-loop may keep anything, so behind it nothing is missing. Of
  /// more than 128 states nothing is said: the answer would cost more than it is worth.
  std::vector<Kept> captured_before() const;

 private:
  const Definition& definition_;
  std::vector<std::size_t> starts_;
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<bool> anywhere_;  ///< has a computed target
};

}  // namespace baton::fsm_loop
