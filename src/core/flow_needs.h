// SPDX-License-Identifier: Apache-2.0
#pragma once

// Knows which flows wait for which other flows, and which of them are finished.
// A change concerns only the flows that need the changed one, so that flows that wait cost nothing
// while others move.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/dialect.h"
#include "core/effect.h"

namespace baton {

class FlowNeeds {
 public:
  /// A flow as others see it that need it. `unknown`: it is not there.
  enum class State { unknown, unfinished, finished };

  /// Sets what is known of a flow. Returns the flows whose answer may differ now.
  std::set<FlowId> put(const FlowId& id, State state, const std::vector<FlowId>& needs);
  std::set<FlowId> drop(const FlowId& id) { return put(id, State::unknown, {}); }

  /// Why the flow may not start this run yet. Empty if it needs nothing that is not finished.
  /// `since`: when the subject entered its stage.
  std::optional<Hold> hold(const FlowId& id, const Desired& desired, Time since, Time now) const;

 private:
  struct Node {
    State state = State::unknown;
    std::vector<FlowId> needs;
  };
  State state_of(const FlowId& id) const;
  std::vector<FlowId> circle_of(const FlowId& id) const;
  /// The flows that need this one. `further`: also those that need them, and so on.
  void add_needing(const FlowId& id, bool further, std::set<FlowId>& to) const;

  std::map<FlowId, Node> flows_;
  std::map<FlowId, std::set<FlowId>> needed_by_;
};

}  // namespace baton
