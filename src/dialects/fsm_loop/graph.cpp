#include "dialects/fsm_loop/graph.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include "dialects/fsm_loop/interpolation.h"

namespace baton::fsm_loop {

Graph::Graph(const Definition& definition, const Value& root) : definition_(definition) {
  std::set<std::string> all;
  for (const State& state : definition.states)
    all.insert(state.name);
  for (const char* const key : {"initial", "on_max_steps", "on_max_iterations"})
    if (const auto name = json::text(root, key); name && all.contains(std::string(*name)))
      starts_.emplace_back(*name);
  const bool maintain = json::boolean(root, "maintain").value_or(false);
  for (const State& state : definition.states) {
    std::set<std::string>& to = ways_[state.name];
    for (const Reference& reference : references(state)) {
      if (computed(reference.target))
        to = all;
      else if (reference.target == "$current")
        to.insert(state.name);
      else if (all.contains(reference.target))
        to.insert(reference.target);
    }
    if (state.terminal() && maintain && !starts_.empty())
      to.insert(starts_.front());
  }
}

std::set<std::string> Graph::reachable() const {
  std::set<std::string> seen(starts_.begin(), starts_.end());
  std::deque<std::string> next(starts_.begin(), starts_.end());
  while (!next.empty()) {
    const std::string name = next.front();
    next.pop_front();
    for (const std::string& to : ways_.at(name))
      if (seen.insert(to).second)
        next.push_back(to);
  }
  return seen;
}

std::map<std::string, std::set<std::string>> Graph::captured_before() const {
  std::set<std::string> everything;
  for (const State& state : definition_.states)
    if (const auto name = json::text(*state.body, "capture"))
      everything.emplace(*name);
  std::map<std::string, std::set<std::string>> before;
  for (const std::string& name : reachable())
    before[name] = everything;
  for (const std::string& start : starts_)
    before[start].clear();
  // Sets only shrink, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [name, kept] : before) {
      const State* const state = definition_.state(name);
      std::set<std::string> after = kept;
      if (const auto own = json::text(*state->body, "capture"))
        after.emplace(*own);
      if (json::child(*state->body, "loop") != nullptr || state->open)
        after = everything;
      for (const std::string& to : ways_.at(name)) {
        std::set<std::string> both;
        std::set_intersection(before[to].begin(), before[to].end(), after.begin(), after.end(),
                              std::inserter(both, both.begin()));
        changed = changed || both.size() != before[to].size();
        before[to] = std::move(both);
      }
    }
  }
  return before;
}

}  // namespace baton::fsm_loop
