// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dialects/rules/snapshot.h"

// Reactions over all subjects or parts of a flow. The flow keeps whether such a reaction holds like
// the stage of a subject, under Reaction::join: `met` or `unmet`. So each time it becomes true is
// one entry, a restart changes nothing, and the agent has its attempts as any other.

namespace baton::rules {

bool Snapshot::is_join(const Subject& subject) const {
  return !subject.empty() &&
         std::any_of(rule_.react.begin(), rule_.react.end(),
                     [&](const Reaction& each) { return each.join == subject; });
}

bool Snapshot::concerns(const Reaction& reaction, const Subject& subject,
                        const StageState& state) const {
  if (!reaction.join.empty())
    return reaction.join == subject && state.stage == kMet;
  return !is_join(subject) && is_about(reaction, state.previous, state.stage);
}

bool Snapshot::any_in(const std::vector<Word>& stages) const {
  return std::any_of(stages_.begin(), stages_.end(), [&](const auto& row) {
    return std::find(stages.begin(), stages.end(), row.second) != stages.end();
  });
}

bool Snapshot::holds(const Reaction& join) const {
  return (join.to.empty() || any_in(join.to)) && unmet(join, join.join) == nullptr;
}

bool Snapshot::is_expected(const Reaction& join) const {
  if (!join.to.empty())
    return any_in(join.to);
  return !stages_.empty() &&
         std::any_of(join.when.begin(), join.when.end(),
                     [](const Condition& each) { return each.test == Test::all; });
}

/// Whether the stage of this subject is that of a document beside the files of parts.
bool Snapshot::is_of_whole_flow(const Subject& subject) const {
  const auto file = docs_.find(holder(subject));
  const Kind* const its = file == docs_.end() ? nullptr : kind(document_name(file->second.kind));
  return rule_.stage.pointer.find(kSubject) == std::string::npos && its != nullptr &&
         !its->per_subject;
}

std::map<Subject, const Value*> Snapshot::over(const Place& place) const {
  std::map<Subject, const Value*> all;
  const std::string& name = place.document.empty() ? rule_.stage.document : place.document;
  const Kind* const kind = this->kind(name);
  const bool parts = !name.empty() && kind != nullptr && kind->per_subject;
  if (!parts && !has_many_subjects(rule_))
    return around(place);
  for (const auto& [subject, stage] : stages_)
    if (has_many_subjects(rule_) && (!parts || !is_of_whole_flow(subject)))
      all.emplace(subject, nullptr);
  for (const auto& [path, accepted] : docs_)
    if (parts && accepted.present && document_name(accepted.kind) == kind->name)
      all.emplace(accepted.part, nullptr);
  for (auto& [subject, member] : all)
    member = value(place, subject);
  return all;
}

/// What stands around `{subject}` in a document of the whole flow. A comment beside objects is
/// none of it.
std::map<Subject, const Value*> Snapshot::around(const Place& place) const {
  std::map<Subject, const Value*> all;
  const auto at = place.pointer.find(kSubject);
  const Accepted* const accepted = file(place, "main");
  const Value* const record = accepted == nullptr ? nullptr : record_of(*accepted->document);
  if (record == nullptr || at == std::string::npos)
    return all;
  const Value* const members = json::at(*record, place.pointer.substr(0, at - 1));
  const bool plain = at + kSubject.size() == place.pointer.size();
  if (members != nullptr && members->IsArray())
    for (const Value& each : members->GetArray())
      if (const Value* const key = json::child(each, key_member(*members, rule_.subject_key)))
        if (const auto subject = word_of(key))
          all.emplace(*subject, member(*record, place, *subject));
  if (members != nullptr && members->IsObject())
    for (const auto& each : members->GetObject())
      if (plain || each.value.IsObject()) {
        const Subject subject(json::name(each.name));
        all.emplace(subject, member(*record, place, subject));
      }
  return all;
}

/// The document that a reaction over all subjects sets and shows its agent.
std::string Snapshot::shared_holder() const {
  std::string holder;
  for (const auto& [path, accepted] : docs_) {
    const std::string name = document_name(accepted.kind);
    const Kind* const its = kind(name);
    const bool asked = rule_.stage.document.empty() || rule_.stage.document == name;
    if (its == nullptr || !asked || its->per_subject || (its->optional && !accepted.present))
      continue;
    if (!holder.empty())
      return {};
    holder = path;
  }
  return holder;
}

}  // namespace baton::rules
