// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/rounds.h"

#include <algorithm>

namespace baton::rules {
namespace {

/// Whether the subject may rest there: an end of the rule at which the rule itself starts and sets
/// nothing for it. A reaction over all subjects does nothing for one of them.
bool is_quiet_end(const Rule& rule, const Word& stage) {
  return is_end(rule, stage) &&
         std::none_of(rule.react.begin(), rule.react.end(), [&](const Reaction& reaction) {
           return reaction.join.empty() && (!reaction.run.empty() || !reaction.set.empty()) &&
                  std::find(reaction.to.begin(), reaction.to.end(), stage) != reaction.to.end();
         });
}

/// How many times of entries the limits of this stage need; 0: none has a span.
std::uint64_t times_needed(const Rule& rule, const Word& stage) {
  std::uint64_t most = 0;
  for (const Reaction& reaction : rule.react)
    if (reaction.max_entries.per > Millis(0) && reaction.max_entries.count > 0 &&
        (reaction.join.empty()
             ? std::find(reaction.to.begin(), reaction.to.end(), stage) != reaction.to.end()
             : stage == kMet))
      most = std::max(most, reaction.max_entries.count + 1);
  return most;
}

std::int64_t millis_of(Time time) {
  return time.time_since_epoch().count();
}

/// A person has resumed the flow: the present entry is the first one.
void begin_anew(const StageState& state, Round& round) {
  if (round.ended)
    round.counts = {{state.stage, 1}};
  for (auto& [stage, times] : round.times)
    times.erase(times.begin(),
                times.empty() || stage != state.stage ? times.end() : times.end() - 1);
  round.entries = state.entries;
}

void enter(const Rule& rule, const StageState& state, Round& round) {
  round.generation = state.generation;
  round.entries = state.entries;
  if (is_quiet_end(rule, state.stage)) {
    round.ended = true;
    round.counts.clear();
  } else if (round.ended) {
    ++round.counts[state.stage];
  }
  if (times_needed(rule, state.stage) > 0)
    round.times[state.stage].push_back(millis_of(state.since));
}

}  // namespace

void count_entries(const View& view, const Rule& rule, Memo& memo) {
  std::erase_if(memo.rounds, [&](const auto& row) { return !view.stages.contains(row.first); });
  for (const auto& [subject, state] : view.stages) {
    if (state.stage.empty())
      continue;
    Round& round = memo.rounds[subject];
    if (round.generation != state.generation)
      enter(rule, state, round);
    else if (state.entries < round.entries)
      begin_anew(state, round);
    for (auto& [stage, times] : round.times) {
      const auto most = static_cast<std::ptrdiff_t>(times_needed(rule, stage));
      if (const auto kept = static_cast<std::ptrdiff_t>(times.size()); kept > most)
        times.erase(times.begin(), times.begin() + (kept - most));
      // A clock that was set back must not make an entry last for longer.
      for (std::int64_t& time : times)
        time = std::min(time, millis_of(view.now));
    }
    std::erase_if(round.times, [](const auto& row) { return row.second.empty(); });
  }
}

Entered entered(const View& view, const Memo& memo, const Subject& subject,
                const EntryLimit& limit) {
  const StageState& state = view.stages.at(subject);
  const Round& round = memo.rounds.at(subject);
  if (limit.per == Millis(0)) {
    const auto count = round.counts.find(state.stage);
    if (!round.ended)
      return {state.entries, false, {}};
    return {count == round.counts.end() ? 0 : count->second, true, {}};
  }
  const auto known = round.times.find(state.stage);
  if (known == round.times.end())
    return {};
  const std::vector<std::int64_t>& times = known->second;
  const std::int64_t from = millis_of(view.now - limit.per);
  const auto first =
      std::find_if(times.begin(), times.end(), [&](std::int64_t time) { return time > from; });
  Entered all{static_cast<std::uint64_t>(times.end() - first), false, {}};
  if (all.count > limit.count)
    all.until =
        Time(Millis(*(times.end() - 1 - static_cast<std::ptrdiff_t>(limit.count)))) + limit.per;
  return all;
}

Json counts_of(const Json& former) {
  Memo memo;
  memo.rounds = memo_of(former).rounds;
  // The new flow counts its entries from 1.
  for (auto& [subject, round] : memo.rounds)
    round.generation = round.entries = 0;
  return json_of(std::move(memo));
}

}  // namespace baton::rules
