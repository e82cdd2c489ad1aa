#include "dialects/fsm_loop/graph.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>

#include "dialects/fsm_loop/interpolation.h"

namespace baton::fsm_loop {
namespace {

constexpr std::size_t kMaxStates = 128;
using Names = std::bitset<kMaxStates>;  ///< at most one name per state

}  // namespace

Graph::Graph(const Definition& definition, const Value& root) : definition_(definition) {
  for (const char* const key : {"initial", "on_max_steps", "on_max_iterations"})
    if (const auto name = json::text(root, key))
      if (const auto found = definition.index.find(*name); found != definition.index.end())
        starts_.push_back(found->second);
  const bool maintain = json::boolean(root, "maintain").value_or(false);
  for (const State& state : definition.states) {
    std::vector<std::size_t>& to = ways_.emplace_back();
    bool anywhere = false;
    for (const Reference& reference : references(state)) {
      if (computed(reference.target))
        anywhere = true;
      else if (reference.target == "$current")
        to.push_back(ways_.size() - 1);
      else if (const auto found = definition.index.find(reference.target);
               found != definition.index.end())
        to.push_back(found->second);
    }
    if (state.terminal() && maintain && !starts_.empty())
      to.push_back(starts_.front());
    anywhere_.push_back(anywhere);
  }
}

std::vector<bool> Graph::reachable() const {
  std::vector<bool> seen(ways_.size(), false);
  std::vector<std::size_t> next = starts_;
  while (!next.empty()) {
    const std::size_t state = next.back();
    next.pop_back();
    if (seen[state])
      continue;
    seen[state] = true;
    if (anywhere_[state])
      return std::vector<bool>(ways_.size(), true);
    next.insert(next.end(), ways_[state].begin(), ways_[state].end());
  }
  return seen;
}

std::vector<Graph::Kept> Graph::captured_before() const {
  const std::size_t count = ways_.size();
  if (count > kMaxStates)
    return {};
  std::map<std::string, std::size_t, std::less<>> bits;
  std::vector<Names> own(count);
  for (std::size_t i = 0; i < count; ++i) {
    const State& state = definition_.states[i];
    if (const auto name = json::text(*state.body, "capture"))
      own[i].set(bits.emplace(*name, bits.size()).first->second);
    if (json::child(*state.body, "loop") != nullptr || state.open)
      own[i].set();
  }
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<bool> entered = reachable();
  std::vector<Names> before(count, Names().set());
  for (const std::size_t start : starts_)
    before[start].reset();
  // Sets only shrink, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i)
      for (const std::size_t to : anywhere_[i] ? all : ways_[i]) {
        const Names both = before[to] & (before[i] | own[i]);
        changed = changed || (entered[i] && both != before[to]);
        before[to] = entered[i] ? both : before[to];
      }
  }
  std::vector<Kept> kept;
  for (std::size_t i = 0; i < count; ++i) {
    if (!entered[i])
      continue;
    Kept& one = kept.emplace_back(Kept{&definition_.states[i], {}});
    for (const auto& [name, bit] : bits)
      if (before[i].test(bit))
        one.names.insert(name);
  }
  return kept;
}

}  // namespace baton::fsm_loop
