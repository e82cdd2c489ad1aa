// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/rules/decide.h"
#include "dialects/rules/needs.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {
namespace {

void stage_fault(std::string pointer, const std::string& message, const Value* found,
                 FindingList& findings) {
  findings.error("stage", std::move(pointer), message, found,
                 "a text that is not empty, a number or a truth value");
}

/// Reports a stage that exists but is not a word. A missing stage is no error: the member may be a
/// comment, or another file of the flow may have the stage.
void check_stage(const Value* stage, const std::string& pointer, FindingList& findings) {
  if (stage == nullptr || word_of(stage))
    return;
  const std::string found = stage->IsString()  ? "an empty text"
                            : stage->IsNull()  ? "null"
                            : stage->IsArray() ? "an array"
                                               : "an object";
  stage_fault(pointer, "a stage is a word, not " + found, stage, findings);
}

void check_stages(const Value& root, const std::string& pointer, FindingList& findings) {
  const auto found = [](const Value& value) { return std::string(json::type_name(value)); };
  const auto path = subject_path(pointer);
  const bool list = path && path->front.empty() && root.IsArray();
  if (!root.IsObject() && !pointer.empty() && !list)
    return stage_fault("", "expected an object that holds the stage, found " + found(root), &root,
                       findings);
  if (!path)
    return check_stage(json::at(root, pointer), pointer, findings);
  const auto& [front, rest] = *path;
  const Value* const map = json::at(root, front);
  if (map == nullptr)
    return;
  if (map->IsArray()) {
    for (rapidjson::SizeType i = 0; i < map->Size(); ++i)
      check_stage(json::at((*map)[i], rest), item_pointer(front, i) + rest, findings);
    return;
  }
  if (!map->IsObject())
    return findings.error(
        "stage", front,
        "expected an object with a member per subject, or a list, found " + found(*map), map,
        "an object with a member per subject, or a list of objects");
  for (const auto& member : map->GetObject()) {
    const std::string_view name = json::name(member.name);
    const Value* const stage = json::at(member.value, rest);
    const std::string place = member_pointer(front, name) + rest;
    if (name.empty() && stage != nullptr)
      findings.error("subject", place, "the subject has no name", stage,
                     "a member with a name that is not empty");
    else
      check_stage(stage, place, findings);
  }
}

/// Reports stages outside the list of the rule, and a document that alone holds the stage and has
/// none. The daemon accepts such documents and blocks the flow.
void check_words(const Rule& rule, const Value& root, FindingList& findings) {
  const std::string& pointer = rule.stage.pointer;
  const Stages stages = stages_in(root, pointer, "main", rule.subject_key);
  const SubjectPlaces places(rule.subject_key);
  const bool alone = !rule.stage.document.empty() || rule.kinds.size() == 1;
  if (root.IsObject() && stages.empty() && alone && pointer.find(kSubject) == std::string::npos &&
      json::at(root, pointer) == nullptr)
    findings.error(
        "no_stage", existing_pointer(root, pointer),
        "nothing stands at " + pointer + ", where the rule " + rule.name + " looks for the stage");
  const std::vector<Word> known = known_stages(rule);
  const std::vector<std::string_view> words(known.begin(), known.end());
  for (const auto& [subject, stage] : stages)
    if (is_unknown_stage(rule, known, stage))
      findings.error("unknown_stage", places.pointer(root, pointer, subject).value_or(pointer),
                     "`" + printable(stage, 60) + "` is no stage of the rule " + rule.name,
                     {.found = stage,
                      .expected = any_of_words(words),
                      .suggestion = meant_stage(known, stage).value_or("")});
}

/// Reports elements without a usable key, in all lists of the document whose elements are subjects.
void check_lists(const Rule& rule, const std::string& document, const Value& root,
                 FindingList& findings) {
  std::set<std::string> fronts;
  for (const NamedPlace& each : places_of(rule)) {
    const std::string& name =
        each.place.document.empty() ? rule.stage.document : each.place.document;
    if (const auto path = subject_path(each.place.pointer);
        path && (name.empty() || name == document))
      fronts.insert(path->front);
  }
  for (const std::string& front : fronts)
    check_keys(root, front, rule.subject_key, findings);
}

/// Reports values of `needs` that are no names.
void check_needed_names(const Rule& rule, const std::string& document, const Value& root,
                        FindingList& findings) {
  if (!rule.needs ||
      (rule.needs->document.empty() ? rule.stage.document : rule.needs->document) != document)
    return;
  const SubjectPlaces places(rule.subject_key);
  const auto path = subject_path(rule.needs->pointer);
  const Value* const all = path ? json::at(root, path->front) : nullptr;
  const auto look = [&](const std::string& pointer) {
    const Value* const value = json::at(root, pointer);
    if (const std::string fault = needs_fault(value); !fault.empty())
      findings.error("needs", pointer, fault, value, "a name, or a list of names");
  };
  if (!path)
    return look(rule.needs->pointer);
  if (all != nullptr && all->IsArray())
    for (rapidjson::SizeType i = 0; i < all->Size(); ++i)
      look(item_pointer(path->front, i) + path->rest);
  if (all != nullptr && all->IsObject())
    for (const auto& member : all->GetObject())
      look(member_pointer(path->front, json::name(member.name)) + path->rest);
}

/// Reports an unknown decision. Otherwise baton would wait for the person forever.
void check_decisions(const Rule& rule, const std::string& document, const Value& root,
                     FindingList& findings) {
  for (const Reaction& reaction : rule.react) {
    if (!reaction.approval || !reaction.approval->decision ||
        reaction.approval->decision->document != document)
      continue;
    const std::string& pointer = reaction.approval->decision->pointer;
    const Value* const said = json::at(root, pointer);
    if (said == nullptr || said->IsNull() || decision_of(*said))
      continue;
    findings.error(
        "decision", pointer,
        "the decision is " + printable(json::dump(*said), 80) + ", not " + std::string(kDecisions),
        said, std::string(kDecisions));
    return;
  }
}

}  // namespace

Findings check(const std::string& /*path*/, const Accepted& accepted, const Json& options,
               std::optional<Time> wall) {
  const auto rule = rule_named(options, accepted.kind.substr(0, accepted.kind.find('/')));
  if (!rule)
    return {};
  const Value* const record = record_of(*accepted.document);
  const std::string name = document_name(accepted.kind);
  FindingList list("rules");
  if (record == nullptr)
    return {};
  check_lists(*rule, name, *record, list);
  if (rule->stage.document.empty() || rule->stage.document == name) {
    check_stages(*record, rule->stage.pointer, list);
    if (wall)
      check_words(*rule, *record, list);
  }
  check_needed_names(*rule, name, *record, list);
  if (!name.empty())
    check_decisions(*rule, name, *record, list);
  Findings findings = list.take();
  const Value& root = accepted.document->root();
  if (record != &root)
    for (Finding& finding : findings)
      finding.pointer.insert(0, "/" + std::to_string(root.Size() - 1));
  return findings;
}

std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options) {
  std::map<std::string, Findings> found;
  // `validate` adds documents of other flows; see related_flows.
  FlowState own = docs;
  std::erase_if(own, [](const auto& row) { return row.second.kind == "related"; });
  if (own.empty())
    return found;
  const std::string& kind = own.begin()->second.kind;
  const auto rule = rule_named(options, kind.substr(0, kind.find('/')));
  if (!rule)
    return found;
  const FlowId flow{"rules", rule->name};
  const Snapshot snapshot(flow, own, *rule);
  check_needs(*rule, snapshot, docs, found);
  for (const auto& [subject, paths] : snapshot.disputes()) {
    const std::string text = "`" + printable(subject, 80) + "` has its stage in " + paths.first +
                             " too; one file of a flow must say it";
    FindingList list("rules");
    list.error("subject", "", text, {});
    found[paths.second].push_back(list.take().front());
  }
  return found;
}

}  // namespace baton::rules
