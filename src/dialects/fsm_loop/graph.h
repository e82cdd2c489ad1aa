#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// The ways between the states of a definition; unknown targets are left out, a target that is
/// computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// The states that can be entered, from the initial one and from what a limit leads to.
  std::set<std::string> reachable() const;

  /// What is kept (`capture`) on every way into each reachable state, before its action runs. A
  /// sub-loop may keep anything, so behind it nothing is missing.
  std::map<std::string, std::set<std::string>> captured_before() const;

 private:
  const Definition& definition_;
  std::vector<std::string> starts_;
  std::map<std::string, std::set<std::string>> ways_;
};

}  // namespace baton::fsm_loop
