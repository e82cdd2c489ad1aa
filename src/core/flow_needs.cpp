// SPDX-License-Identifier: Apache-2.0
#include "core/flow_needs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

/// The first few flows, and the number of the others.
std::string flow_texts(const std::vector<FlowId>& flows) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(flows.size(), kMost); ++i)
    names.push_back(printable(text(flows[i]), 100));
  const std::size_t more = flows.size() - names.size();
  return join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace

std::set<FlowId> FlowNeeds::put(const FlowId& id, State state, const std::vector<FlowId>& needs) {
  std::set<FlowId> differ;
  if (state == State::unknown && needs.empty() && !flows_.contains(id))
    return differ;
  Node& node = flows_[id];
  if (std::exchange(node.state, state) != state)
    add_needing(id, false, differ);
  if (node.needs != needs) {
    for (const FlowId& other : node.needs)
      if (const auto by = needed_by_.find(other); by != needed_by_.end()) {
        by->second.erase(id);
        if (by->second.empty())
          needed_by_.erase(by);
      }
    for (const FlowId& other : needs)
      needed_by_[other].insert(id);
    node.needs = needs;
    // A circle may have come or gone.
    add_needing(id, true, differ);
    differ.insert(id);
  }
  if (state == State::unknown && needs.empty())
    flows_.erase(id);
  return differ;
}

void FlowNeeds::add_needing(const FlowId& id, bool further, std::set<FlowId>& to) const {
  std::vector<FlowId> open{id};
  std::set<FlowId> seen;
  while (!open.empty()) {
    const auto by = needed_by_.find(open.back());
    open.pop_back();
    if (by == needed_by_.end())
      continue;
    for (const FlowId& waiting : by->second)
      if (seen.insert(waiting).second && further)
        open.push_back(waiting);
  }
  to.merge(seen);
}

FlowNeeds::State FlowNeeds::state_of(const FlowId& id) const {
  const auto known = flows_.find(id);
  return known == flows_.end() ? State::unknown : known->second.state;
}

/// The shortest way from the flow by what each needs back to itself. Empty if there is none.
std::vector<FlowId> FlowNeeds::circle_of(const FlowId& id) const {
  std::map<FlowId, FlowId> from;
  std::vector<FlowId> open{id};
  for (std::size_t at = 0; at < open.size(); ++at) {
    const auto flow = flows_.find(open[at]);
    if (flow == flows_.end())
      continue;
    for (const FlowId& next : flow->second.needs) {
      if (next == id) {
        std::vector<FlowId> circle{id};
        for (FlowId back = open[at]; back != id; back = from.at(back))
          circle.insert(circle.begin(), back);
        circle.insert(circle.begin(), id);
        return circle;
      }
      if (from.emplace(next, open[at]).second)
        open.push_back(next);
    }
  }
  return {};
}

std::optional<Hold> FlowNeeds::hold(const FlowId& id, const Desired& desired, Time since,
                                    Time now) const {
  const auto flow = flows_.find(id);
  if (flow == flows_.end() || flow->second.needs.empty())
    return std::nullopt;
  if (const auto circle = circle_of(id); !circle.empty()) {
    std::string way;
    for (const FlowId& each : circle)
      way += (way.empty() ? "" : " -> ") + text(each);
    return Hold{desired.role, desired.subject, Reason::conflict,
                "each of these flows would wait for itself: " + printable(way, 400),
                "take one of them out of what another one needs"};
  }
  std::vector<FlowId> unknown;
  std::vector<FlowId> unfinished;
  for (const FlowId& other : flow->second.needs)
    if (const State state = state_of(other); state != State::finished)
      (state == State::unknown ? unknown : unfinished).push_back(other);
  if (unknown.empty() && unfinished.empty())
    return std::nullopt;
  const Time until = since + kUnknownNeed;
  if (!unknown.empty() && now >= until)
    return Hold{desired.role, desired.subject, Reason::unknown_dependency,
                "it needs " + flow_texts(unknown) + ", but there is no such flow",
                "correct what its file says it needs, then `baton validate`"};
  Hold hold{desired.role, desired.subject, Reason::dependency, ""};
  if (!unfinished.empty())
    hold.why = "waits until " + flow_texts(unfinished) + (unfinished.size() == 1 ? " is" : " are") +
               " in a stage of `done:`";
  if (!unknown.empty()) {
    hold.why += (unfinished.empty() ? "" : "; ") + std::string("waits for ") + flow_texts(unknown) +
                ", which is not there yet";
    hold.until = until;
  }
  return hold;
}

}  // namespace baton
