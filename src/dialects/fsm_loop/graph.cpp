#include "dialects/fsm_loop/graph.h"

#include <bitset>
#include <map>
#include <numeric>

#include "dialects/fsm_loop/interpolation.h"

namespace baton::fsm_loop {
namespace {

constexpr std::size_t kMaxStates = 128;
using Names = std::bitset<3 * kMaxStates>;  ///< at most three names per state
using Bits = std::map<std::string, std::size_t>;

std::vector<Names> kept_by_each(const Definition& definition, Bits& bits) {
  std::vector<Names> own;
  for (const State& state : definition.states) {
    Names& names = own.emplace_back();
    const Value* const evaluate = json::child(*state.body, "evaluate");
    for (const auto& name :
         {json::text(*state.body, "capture"),
          evaluate == nullptr ? std::nullopt : json::text(*evaluate, "remember")})
      if (name)
        names.set(bits.emplace(*name, bits.size()).first->second);
    // See LoopState::hands_back.
    if (json::child(*state.body, "loop") != nullptr &&
        (json::child(*state.body, "with") != nullptr ||
         json::boolean(*state.body, "context_passthrough") == true))
      bits.emplace(state.name, bits.size());
    if (json::child(*state.body, "loop") != nullptr || state.open)
      names.set();
  }
  return own;
}

/// What is not kept on the way out is not kept on every way in. Whether anything changed.
bool shrink(std::vector<Names>& before, const Names& after, const std::vector<std::size_t>& ways) {
  bool changed = false;
  for (const std::size_t to : ways) {
    const Names both = before[to] & after;
    changed = changed || both != before[to];
    before[to] = both;
  }
  return changed;
}

std::set<std::string> names_in(const Names& names, const Bits& bits) {
  std::set<std::string> all;
  for (const auto& [name, bit] : bits)
    if (names.test(bit))
      all.insert(name);
  return all;
}

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
  Bits bits;
  const std::vector<Names> own = kept_by_each(definition_, bits);
  const std::vector<bool> entered = reachable();
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Names> before(count, Names().set());
  for (const std::size_t start : starts_)
    before[start].reset();
  // Sets only shrink, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i)
      if (entered[i] && shrink(before, before[i] | own[i], anywhere_[i] ? all : ways_[i]))
        changed = true;
  }
  std::vector<Kept> kept;
  for (std::size_t i = 0; i < count; ++i)
    if (entered[i])
      kept.push_back({&definition_.states[i], names_in(before[i], bits)});
  return kept;
}

}  // namespace baton::fsm_loop
