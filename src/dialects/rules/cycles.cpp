// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/text.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {
namespace {

/// A stage and the stage before it. The stage before is `*` if it is unknown, and empty if it does
/// not matter.
constexpr const char* kAnything = "*";
struct Spot {
  Word stage;
  Word previous;
  auto operator<=>(const Spot&) const = default;
};

/// From each spot: the spots that the subject may reach next, with an arrow that says what moves
/// it.
using Ways = std::map<Spot, std::map<Spot, std::string>>;

/// The shortest way from a spot back to itself. Empty if there is none.
std::vector<Spot> way_round(const Ways& ways, const Spot& start) {
  std::map<Spot, Spot> came_from;
  std::deque<Spot> queue{start};
  while (!queue.empty()) {
    const Spot at = queue.front();
    queue.pop_front();
    const auto next = ways.find(at);
    if (next == ways.end())
      continue;
    for (const auto& [spot, arrow] : next->second) {
      if (spot == start) {
        std::vector<Spot> way{start};
        for (Spot back = at; back != start; back = came_from.at(back))
          way.push_back(back);
        way.push_back(start);
        std::reverse(way.begin(), way.end());
        return way;
      }
      if (came_from.emplace(spot, at).second)
        queue.push_back(spot);
    }
  }
  return {};
}

/// The cycles, each once by its shortest way: `a -> b -> a`. Leaves out cycles in which every arrow
/// is `dull`.
std::vector<std::string> cycles(const Ways& ways, std::string_view dull) {
  std::vector<std::string> all;
  std::set<Spot> told;
  for (const auto& [start, next] : ways) {
    const std::vector<Spot> way =
        told.contains(start) ? std::vector<Spot>() : way_round(ways, start);
    std::string text;
    bool counts = false;
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      const std::string& arrow = ways.at(way[i]).at(way[i + 1]);
      counts = counts || arrow != dull;
      text += way[i].stage + arrow;
      told.insert(way[i]);
    }
    if (counts)
      all.push_back(text + start.stage);
  }
  return all;
}

struct Step {
  std::size_t reaction;
  Spot to;
};

bool leads_from(const Reaction& reaction, const Spot& spot) {
  const Word previous =
      spot.previous == kAnything && !reaction.from.empty() ? reaction.from.front() : spot.previous;
  return is_about(reaction, previous, spot.stage);
}

std::vector<Step> steps_from(const Rule& rule, const Spot& spot) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < rule.react.size(); ++i) {
    const Reaction& reaction = rule.react[i];
    if (reaction.approval || !leads_from(reaction, spot))
      continue;
    for (const Member& member : reaction.set) {
      const auto write = stage_write(rule, member);
      if (!write || write->word.empty() || (!write->other && write->word == spot.stage))
        continue;
      steps.push_back({i, Spot{write->word, write->other ? Word(kAnything) : spot.stage}});
    }
  }
  return steps;
}

/// The stages of the longest way from here.
std::vector<Word> longest_from(const Rule& rule, const Spot& spot,
                               std::map<Spot, std::vector<Word>>& known) {
  if (const auto found = known.find(spot); found != known.end())
    return found->second;
  std::vector<Word> longest;
  for (const Step& step : steps_from(rule, spot))
    if (auto way = longest_from(rule, step.to, known); way.size() > longest.size())
      longest = std::move(way);
  longest.insert(longest.begin(), spot.stage);
  return known[spot] = longest;
}

/// The arrow for a stage that baton sets by itself.
constexpr std::string_view kSet = " -> ";

/// The stages that some reaction is about if the subject comes from `from`.
std::set<Word> stages_after(const Rule& rule, const Word& from) {
  std::set<Word> stages;
  for (const Reaction& reaction : rule.react)
    for (const Word& stage : reaction.to)
      if (stage != from && is_about(reaction, from, stage))
        stages.insert(stage);
  return stages;
}

/// Adds the stages to which the reaction leads from `stage`.
void add_ways(const Rule& rule, const Reaction& reaction, const Word& stage, Ways& ways) {
  for (const Member& member : reaction.set)
    if (const auto write = stage_write(rule, member); write && !write->word.empty())
      ways[{stage, {}}].emplace(Spot{write->word, {}}, kSet);
  // An agent over all subjects moves none of them on.
  if (reaction.run.empty() || (!reaction.join.empty() && has_many_subjects(rule)))
    return;
  const std::set<Word> next = reaction.next.empty()
                                  ? stages_after(rule, stage)
                                  : std::set<Word>(reaction.next.begin(), reaction.next.end());
  for (const Word& word : next)
    if (word != stage)
      ways[{stage, {}}][{word, {}}] = " -(" + reaction.run + ")-> ";
}

}  // namespace

std::optional<StageWrite> stage_write(const Rule& rule, const Member& member) {
  const bool same = rule.stage.document.empty() || member.place.document.empty() ||
                    member.place.document == rule.stage.document;
  const auto stage = json::pointer_tokens(rule.stage.pointer);
  const auto tokens = json::pointer_tokens(member.place.pointer);
  if (!same || !stage || !tokens || tokens->size() > stage->size())
    return std::nullopt;
  bool other = false;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    if ((*stage)[i] == (*tokens)[i])
      continue;
    if ((*stage)[i] != kSubject)
      return std::nullopt;
    other = true;
  }
  std::string rest;
  for (std::size_t i = tokens->size(); i < stage->size(); ++i)
    rest += "/" + json::pointer_token((*stage)[i]);
  // A member that sets the whole map of subjects may set the stage of any subject.
  if (rest.find(kSubject) != std::string::npos)
    return StageWrite{"", true};
  return StageWrite{word_of(json::at(*member.value, rest)).value_or(""), other};
}

std::vector<std::string> set_cycles(const Rule& rule) {
  Ways ways;
  std::vector<Spot> next;
  for (const Reaction& reaction : rule.react)
    for (const Word& stage : reaction.to)
      next.push_back({stage, kAnything});
  while (!next.empty()) {
    const Spot spot = next.back();
    next.pop_back();
    if (ways.contains(spot))
      continue;
    auto& to = ways[spot];
    for (const Step& step : steps_from(rule, spot)) {
      to.emplace(step.to, " -> (react " + std::to_string(step.reaction + 1) + ") ");
      next.push_back(step.to);
    }
  }
  return cycles(ways, {});
}

std::string long_chain(const Rule& rule) {
  constexpr std::size_t kMostSteps = 8;
  std::map<Spot, std::vector<Word>> known;
  for (const Reaction& reaction : rule.react)
    for (const Word& stage : reaction.to)
      if (const auto way = longest_from(rule, {stage, kAnything}, known);
          way.size() > kMostSteps + 1)
        return join(way, " -> ");
  return {};
}

std::vector<std::string> run_cycles(const Rule& rule) {
  Ways ways;
  for (const Reaction& reaction : rule.react)
    if (!reaction.approval)
      for (const Word& stage : reaction.to)
        add_ways(rule, reaction, stage, ways);
  return cycles(ways, kSet);
}

}  // namespace baton::rules
