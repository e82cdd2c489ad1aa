#include "dialects/rules/cycles.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/rules/scene.h"

namespace baton::rules {
namespace {

/// A stage and the one before it; `*` when that is unknown.
constexpr const char* kAnything = "*";
struct Spot {
  Word previous;
  Word stage;
  auto operator<=>(const Spot&) const = default;
};

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
      steps.push_back({i, Spot{write->other ? Word(kAnything) : spot.stage, write->word}});
    }
  }
  return steps;
}

/// Searches the steps for a stage that is already on the way.
class Search {
 public:
  explicit Search(const Rule& rule) : rule_(rule) {}

  std::vector<std::string> all() {
    for (const Reaction& reaction : rule_.react)
      for (const Word& stage : reaction.to)
        visit(Spot{kAnything, stage});
    return {found_.begin(), found_.end()};
  }

 private:
  void visit(const Spot& spot) {
    const auto here = std::find(way_.begin(), way_.end(), spot);
    if (here != way_.end()) {
      note(static_cast<std::size_t>(here - way_.begin()));
      return;
    }
    if (!seen_.insert(spot).second)
      return;
    way_.push_back(spot);
    for (const Step& step : steps_from(rule_, spot)) {
      by_.push_back(step.reaction);
      visit(step.to);
      by_.pop_back();
    }
    way_.pop_back();
  }

  /// Starts at the first stage in alphabetical order, so that each cycle is reported once.
  void note(std::size_t first) {
    const std::vector<Spot> round(way_.begin() + static_cast<std::ptrdiff_t>(first), way_.end());
    const std::vector<std::size_t> by(by_.begin() + static_cast<std::ptrdiff_t>(first), by_.end());
    const auto least = std::min_element(
        round.begin(), round.end(), [](auto& one, auto& other) { return one.stage < other.stage; });
    const auto offset = static_cast<std::size_t>(least - round.begin());
    std::string text;
    for (std::size_t i = 0; i < round.size(); ++i) {
      const std::size_t at = (offset + i) % round.size();
      text += round[at].stage + " -> (react " + std::to_string(by[at] + 1) + ") ";
    }
    found_.insert(text + least->stage);
  }

  const Rule& rule_;
  std::vector<Spot> way_;
  std::vector<std::size_t> by_;
  std::set<Spot> seen_;
  std::set<std::string> found_;
};

/// The longest way from here, as the stages behind it.
const std::vector<Word>& longest_from(const Rule& rule, const Spot& spot,
                                      std::map<Spot, std::vector<Word>>& known) {
  if (const auto found = known.find(spot); found != known.end())
    return found->second;
  std::vector<Word> longest;
  for (const Step& step : steps_from(rule, spot)) {
    std::vector<Word> way = longest_from(rule, step.to, known);
    way.insert(way.begin(), step.to.stage);
    if (way.size() > longest.size())
      longest = std::move(way);
  }
  return known[spot] = std::move(longest);
}

/// The role that moves a subject between two stages; empty: baton.
using Ways = std::map<Word, std::map<Word, Role>>;

/// The stages that a reaction is about, when the one before was `from`.
std::set<Word> stages_after(const Rule& rule, const Word& from) {
  std::set<Word> stages;
  for (const Reaction& reaction : rule.react)
    for (const Word& stage : reaction.to)
      if (stage != from && is_about(reaction, from, stage))
        stages.insert(stage);
  return stages;
}

/// Adds the ways of a reaction out of a stage.
void add_ways(const Rule& rule, const Reaction& reaction, const Word& stage, Ways& ways) {
  for (const Member& member : reaction.set)
    if (const auto write = stage_write(rule, member); write && !write->word.empty())
      ways[stage].emplace(write->word, "");
  if (reaction.run.empty())
    return;
  const std::set<Word> next = reaction.next.empty()
                                  ? stages_after(rule, stage)
                                  : std::set<Word>(reaction.next.begin(), reaction.next.end());
  for (const Word& word : next)
    if (word != stage)
      ways[stage][word] = reaction.run;
}

Ways ways_of(const Rule& rule) {
  Ways ways;
  for (const Reaction& reaction : rule.react)
    if (!reaction.approval)
      for (const Word& stage : reaction.to)
        add_ways(rule, reaction, stage, ways);
  return ways;
}

/// The shortest way from a stage back to it; empty without one.
std::vector<Word> way_round(const Ways& ways, const Word& start) {
  std::map<Word, Word> came_from;
  std::deque<Word> queue{start};
  while (!queue.empty()) {
    const Word at = queue.front();
    queue.pop_front();
    const auto next = ways.find(at);
    if (next == ways.end())
      continue;
    for (const auto& [stage, role] : next->second) {
      if (stage == start) {
        std::vector<Word> way{start};
        for (Word back = at; back != start; back = came_from.at(back))
          way.push_back(back);
        way.push_back(start);
        std::reverse(way.begin(), way.end());
        return way;
      }
      if (came_from.emplace(stage, at).second)
        queue.push_back(stage);
    }
  }
  return {};
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
  // A map of subjects that is set as a whole may set any of them.
  if (rest.find(kSubject) != std::string::npos)
    return StageWrite{"", true};
  return StageWrite{word_of(json::at(*member.value, rest)).value_or(""), other};
}

std::vector<std::string> set_cycles(const Rule& rule) {
  return Search(rule).all();
}

std::string long_chain(const Rule& rule) {
  constexpr std::size_t kMostSteps = 8;
  std::map<Spot, std::vector<Word>> known;
  for (const Reaction& reaction : rule.react)
    for (const Word& stage : reaction.to) {
      const auto& way = longest_from(rule, Spot{kAnything, stage}, known);
      if (way.size() > kMostSteps)
        return stage + " -> " + join(way, " -> ");
    }
  return {};
}

std::vector<std::string> run_cycles(const Rule& rule) {
  const Ways ways = ways_of(rule);
  std::vector<std::string> cycles;
  std::set<Word> told;
  for (const auto& [start, next] : ways) {
    if (told.contains(start))
      continue;
    const std::vector<Word> way = way_round(ways, start);
    std::string text;
    bool runs = false;
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      const Role& role = ways.at(way[i]).at(way[i + 1]);
      runs = runs || !role.empty();
      text += way[i] + (role.empty() ? " -> " : " -(" + role + ")-> ");
      told.insert(way[i]);
    }
    if (runs)
      cycles.push_back(text + start);
  }
  return cycles;
}

}  // namespace baton::rules
