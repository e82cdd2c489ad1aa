// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "base/text.h"
#include "dialects/rules/conditions.h"
#include "dialects/rules/decide.h"
#include "dialects/rules/rule_check.h"

namespace baton::rules {
namespace {

/// Whether the lack of subjects looks like a mistake: the map or list is missing, or it has members
/// or elements that could be subjects but have no stage.
bool without_subjects(const Value& root, const std::string& pointer) {
  const Value* const map = json::at(root, pointer.substr(0, pointer.find(kSubject) - 1));
  if (map != nullptr && map->IsArray())
    return !map->Empty();
  if (map == nullptr || !map->IsObject())
    return true;
  return std::any_of(map->MemberBegin(), map->MemberEnd(),
                     [](const auto& member) { return member.value.IsObject(); });
}

/// Reports that no document has a stage: the rule or the program that writes the files is wrong. A
/// map without subjects is no mistake, and neither is an optional document that is absent.
void no_stage(const View& view, const Rule& rule, Decision& decision) {
  decision.standing.cause = cause_of(Situation::nothing_due);
  decision.standing.why = "no document of the rule " + rule.name + " has a subject yet";
  const bool many = rule.stage.pointer.find(kSubject) != std::string::npos;
  for (const auto& [path, accepted] : view.docs) {
    const std::string name = document_name(accepted.kind);
    if (!accepted.present || !(rule.stage.document.empty() || rule.stage.document == name))
      continue;
    const std::string why = "nothing stands at " + rule.stage.pointer + " of " + path +
                            ", where the rule " + rule.name + " looks for the stage";
    if (!many)
      return decision.holds.push_back(Hold{"", "", cause_of(Situation::no_stage), why,
                                           "write the stage at " + rule.stage.pointer + " of " +
                                               path + ", then `baton validate " + shell_word(path) +
                                               "`"});
    if (const Value* const root = record_of(*accepted.document);
        root != nullptr && without_subjects(*root, rule.stage.pointer))
      decision.standing.why = why;
  }
}

/// The first few texts, and the number of the others.
std::string some_of(const std::vector<std::string>& all) {
  constexpr std::size_t kMost = 8;
  if (all.size() <= kMost)
    return join(all, ", ");
  return join(std::span(all).first(kMost), ", ") + " and " + std::to_string(all.size() - kMost) +
         " more";
}

bool names(const std::vector<Word>& words, const Word& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string quoted(const Word& word) {
  return "`" + printable(word, 60) + "`";
}

using Quiet = std::map<std::string, std::vector<std::string>>;

void note_quiet(const Rule& rule, const Subject& subject, const StageState& state, Quiet& quiet) {
  const bool known = std::any_of(rule.react.begin(), rule.react.end(), [&](const Reaction& each) {
    return std::find(each.to.begin(), each.to.end(), state.stage) != each.to.end();
  });
  const std::string stage =
      quoted(state.stage) + (!known                   ? ""
                             : state.previous.empty() ? " without a stage before it"
                                                      : " after " + quoted(state.previous));
  std::vector<std::string>& subjects = quiet[stage];
  if (subject != "main")
    subjects.push_back(printable(subject, 60));
}

/// `; did you mean `ready`?`, if the stage is close to one that the rule names.
std::string question(const std::vector<Word>& known, const Word& stage) {
  if (names(known, stage))
    return {};
  const auto meant = meant_stage(known, stage);
  return meant ? "; did you mean `" + printable(*meant, 60) + "`?" : "";
}

/// Says why there is nothing to do: the stages without a reaction, and the stages that have one.
std::string why_quiet(const Rule& rule, const Quiet& quiet, const std::string& question) {
  std::vector<std::string> stages;
  for (const auto& [stage, subjects] : quiet)
    stages.push_back(stage + (subjects.empty() ? "" : " (" + some_of(subjects) + ")"));
  std::vector<std::string> known;
  for (const Reaction& reaction : rule.react)
    for (const Word& word : reaction.to)
      if (std::find(known.begin(), known.end(), printable(word, 60)) == known.end())
        known.push_back(printable(word, 60));
  return "no reaction of the rule " + rule.name + " is for " + some_of(stages) + question +
         "; it has some for " + some_of(known);
}

}  // namespace

Standings::Standings(const View& view, const Snapshot& snapshot, Decision& decision)
    : view_(view),
      rule_(snapshot.rule()),
      snapshot_(snapshot),
      decision_(decision),
      known_(known_stages(rule_)) {}

void Standings::take(const Subject& subject, const StageState& state, Due due) {
  count();
  if (is_end(rule_, state.stage)) {
    open_ = open_ || due == Due::open;
    decision_.ends.push_back(subject);
  } else if (is_unknown_stage(rule_, known_, state.stage)) {
    decision_.holds.push_back(unknown(subject, state.stage));
  } else if (due == Due::no_reaction) {
    note_quiet(rule_, subject, state, quiet_);
    if (question_.empty())
      question_ = question(known_, state.stage);
  } else if (due == Due::complete) {
    complete_.insert(quoted(state.stage));
  }
}

bool Standings::all_at_ends() const {
  return subjects_ > 0 && decision_.ends.size() == subjects_;
}

void Standings::finish() {
  if (subjects_ == 0)
    return no_stage(view_, rule_, decision_);
  if (!rule_.done.empty() && !(subjects_ == 1 && view_.stages.contains("main")))
    decision_.progress = Progress{decision_.ends.size(), subjects_, "subjects"};
  Standing& standing = decision_.standing;
  if (all_at_ends() && !open_ && decision_.updates.empty()) {
    standing.cause = cause_of(Situation::done);
    standing.why = subjects_ == 1 ? "its stage is an end of the rule " + rule_.name
                                  : "all " + std::to_string(subjects_) +
                                        " subjects are at an end of the rule " + rule_.name;
  } else if (!quiet_.empty()) {
    standing.cause = cause_of(Situation::no_reaction);
    standing.why = why_quiet(rule_, quiet_, question_);
  } else {
    standing.cause = cause_of(Situation::nothing_due);
    if (!complete_.empty())
      standing.why = "all that the rule " + rule_.name + " does for " +
                     some_of({complete_.begin(), complete_.end()}) + " is done";
  }
}

Hold Standings::unknown(const Subject& subject, const Word& stage) const {
  const std::string path = snapshot_.holder(subject);
  const std::string pointer =
      snapshot_.pointer(rule_.stage, subject).value_or(pointer_for(rule_.stage, subject));
  const auto there = view_.docs.find(path);
  const bool whole = there != view_.docs.end() && there->second.document->format() != Format::jsonl;
  const std::string line =
      whole ? ":" + std::to_string(there->second.document->locate(pointer).begin.line) : "";
  const std::string asked = question(known_, stage);
  return Hold{"", subject, cause_of(Situation::unknown_stage),
              quoted(stage) + " is no stage of the rule " + rule_.name +
                  (asked.empty() ? "; it has " + some_of(known_) : asked),
              "correct " + pointer + " in " + path + line + ", then `baton validate " +
                  shell_word(path) + "`"};
}

}  // namespace baton::rules
