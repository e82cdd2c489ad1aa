// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/layout.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/rules/snapshot.h"
#include "dialects/rules/subjects.h"

namespace baton::rules {
namespace {

std::vector<Kind> kinds_of(const Value& rule) {
  std::vector<Kind> kinds;
  const std::string schema = text_of(rule, "schema");
  for (const std::string& pattern : texts_of(rule, "files"))
    kinds.push_back(Kind{"", pattern, schema, false, false});
  for (const Value& each : items_in(rule, "documents")) {
    Kind kind;
    kind.name = text_of(each, "name");
    kind.pattern = text_of(each, "path");
    kind.schema = text_of(each, "schema");
    if (kind.schema.empty())
      kind.schema = schema;
    kind.per_subject = kind.pattern.find("{part}") != std::string::npos;
    // If each subject has its own file, one of the files may disappear.
    kind.optional = kind.per_subject || json::boolean(each, "optional").value_or(false);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

std::vector<Member> members_of(const Value& object, std::string_view name) {
  std::vector<Member> members;
  for (const auto& member : members_in(object, name))
    if (auto place = parse_place(json::name(member.name)))
      members.push_back(Member{std::move(*place), Json(member.value)});
  return members;
}

std::optional<Approval> approval_of(const Value& reaction) {
  const Value* const value = json::child(reaction, "approval");
  if (value == nullptr || json::boolean(*value) == false)
    return std::nullopt;
  Approval approval;
  if (const auto decision = json::text(*value, "decision"))
    approval.decision = parse_place(*decision);
  approval.rejected = members_of(*value, "rejected");
  return approval;
}

std::string key_of(const Value& row) {
  std::string words;
  for (const char* name : {"from", "to", "when", "set", "approval"})
    if (const Value* const value = json::child(row, name))
      words += std::string(name) + json::dump(*value);
  return hex(digest_of(words));
}

EntryLimit entry_limit(const Value& row, EntryLimit otherwise) {
  const Value* const given = json::child(row, "max_entries");
  if (given == nullptr)
    return otherwise;
  if (const auto count = json::integer(*given); count && *count >= 0)
    return {static_cast<std::uint64_t>(*count), Millis(0)};
  const auto count = json::integer(*given, "count");
  const auto per = json::integer(*given, "per_ms");
  return count && per && *count >= 0 && *per > 0
             ? EntryLimit{static_cast<std::uint64_t>(*count), Millis(*per)}
             : otherwise;
}

/// See Reaction::join.
Subject join_of(const Reaction& reaction) {
  if (std::none_of(reaction.when.begin(), reaction.when.end(),
                   [](const Condition& each) { return is_over_all(each); }))
    return {};
  constexpr std::size_t kMost = 160;
  constexpr std::size_t kMostOperand = 80;
  constexpr std::size_t kDigits = 8;
  std::vector<std::string> all;
  std::string exact;
  bool cut = false;
  if (!reaction.to.empty())
    all.push_back("stage " + join(reaction.to, " or "));
  for (const Condition& condition : reaction.when) {
    all.push_back(text(condition));
    const std::string operand = condition.operand.dump();
    cut = cut || printable(operand, kMostOperand) != operand;
    exact += text(condition.place) + operand;
  }
  const std::string name = join(all, " and ");
  const std::string shown = printable(name, kMost);
  // A text that was cut does not tell two such reactions apart.
  return shown == name && !cut ? shown
                               : shown + " #" + hex(digest_of(name + exact)).substr(0, kDigits);
}

Reaction reaction_of(const Value& row, const EntryLimit& max_entries) {
  Reaction reaction;
  reaction.from = texts_of(row, "from");
  reaction.to = texts_of(row, "to");
  for (const Value& each : items_in(row, "when"))
    if (auto condition = read_condition(each))
      reaction.when.push_back(std::move(*condition));
  reaction.join = join_of(reaction);
  reaction.approval = approval_of(row);
  reaction.run = text_of(row, "run");
  reaction.stop = text_of(row, "stop");
  reaction.notify = json::boolean(row, "notify").value_or(false);
  reaction.set = members_of(row, "set");
  if (!reaction.set.empty() || (reaction.approval && !reaction.approval->rejected.empty()))
    reaction.key = key_of(row);
  reaction.purpose = text_of(row, "purpose");
  reaction.prompt = text_of(row, "prompt");
  reaction.prompt_file = text_of(row, "prompt_file");
  reaction.prompt_fault = text_of(row, "prompt_fault");
  reaction.next = texts_of(row, "next");
  reaction.max_entries = entry_limit(row, max_entries);
  return reaction;
}

/// The place named by a member of a rule. If the stage is in an element or member per subject, a
/// pointer without `{subject}` into the same document begins there.
std::optional<Place> place_in_subject(const Value& rule, std::string_view name,
                                      const Place& stage) {
  auto place = parse_place(text_of(rule, name));
  const auto path = subject_path(stage.pointer);
  if (place && path && (place->document.empty() || place->document == stage.document) &&
      !subject_path(place->pointer))
    place->pointer = path->front + "/" + std::string(kSubject) + place->pointer;
  return place;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether `one` matches whenever `other` matches, in the same stage.
bool covers(const Reaction& one, const Reaction& other) {
  // Each has a state of its own, so both start their role.
  if (one.join != other.join)
    return false;
  const bool from =
      one.from.empty() ||
      (!other.from.empty() && std::all_of(other.from.begin(), other.from.end(),
                                          [&](const Word& word) { return has(one.from, word); }));
  const bool when = std::all_of(one.when.begin(), one.when.end(), [&](const Condition& condition) {
    return std::find(other.when.begin(), other.when.end(), condition) != other.when.end();
  });
  return from && when && (!one.approval || other.approval);
}

}  // namespace

Rule read_rule(const Value& value) {
  Rule rule;
  rule.name = text_of(value, "name");
  rule.kinds = kinds_of(value);
  rule.stage = parse_place(text_of(value, "stage")).value_or(Place{});
  rule.subject_key = text_of(value, "subject_key");
  rule.order = place_in_subject(value, "order", rule.stage);
  rule.needs = place_in_subject(value, "needs", rule.stage);
  for (const auto& member : members_in(value, "values"))
    if (auto place = parse_place(json::text(member.value).value_or("")))
      rule.values.emplace(json::name(member.name), std::move(*place));
  const EntryLimit most = entry_limit(value, {});
  for (const Value& row : items_in(value, "react"))
    rule.react.push_back(reaction_of(row, most));
  rule.stages = texts_of(value, "stages");
  rule.done = texts_of(value, "done");
  add_ignored(value, rule.ignored);
  if (const Value* const limits = json::child(value, "limits"))
    rule.limits = Json(*limits);
  if (const Value* const breaker = json::child(value, "breaker")) {
    if (const auto changes = json::integer(*breaker, "changes"); changes && *changes > 0)
      rule.breaker_changes = static_cast<std::uint32_t>(*changes);
    if (const auto per = json::integer(*breaker, "per_ms"); per && *per > 0)
      rule.breaker_window = Millis(*per);
  }
  return rule;
}

std::vector<Rule> rules_in(const Json& options) {
  std::vector<Rule> rules;
  for (const Value& rule : items_in(*options, "rules"))
    rules.push_back(read_rule(rule));
  return rules;
}

std::optional<Rule> rule_named(const Json& options, std::string_view name) {
  for (const Value& rule : items_in(*options, "rules"))
    if (json::text(rule, "name") == name)
      return read_rule(rule);
  return std::nullopt;
}

std::optional<Rule> rule_of(const FlowId& flow, const Json& options) {
  return rule_named(options, flow.name.substr(0, flow.name.find('/')));
}

std::map<Word, std::size_t> outrun(const Rule& rule, std::size_t reaction) {
  std::map<Word, std::size_t> stages;
  const Reaction& outrun = rule.react[reaction];
  if (outrun.run.empty())
    return stages;
  for (std::size_t i = 0; i < rule.react.size(); ++i) {
    const Reaction& rival = rule.react[i];
    // A reaction with an approval comes after a reaction without one, whatever their order.
    const bool first = i < reaction || (outrun.approval && !rival.approval);
    if (i == reaction || !first || rival.run != outrun.run || !covers(rival, outrun))
      continue;
    for (const Word& stage : outrun.to)
      if (has(rival.to, stage))
        stages.emplace(stage, i);
  }
  return stages;
}

bool remembers(const Rule& rule) {
  return rule.stage.pointer.find(kSubject) != std::string::npos &&
         std::all_of(rule.kinds.begin(), rule.kinds.end(), [&](const Kind& kind) {
           return kind.name != rule.stage.document ||
                  (kind.pattern.find("{part}") == std::string::npos &&
                   !kind.pattern.ends_with(".jsonl"));
         });
}

bool has_many_subjects(const Rule& rule) {
  return rule.stage.pointer.find(kSubject) != std::string::npos ||
         std::any_of(rule.kinds.begin(), rule.kinds.end(), [&](const Kind& kind) {
           return kind.per_subject &&
                  (rule.stage.document.empty() || rule.stage.document == kind.name);
         });
}

bool is_of_one_subject(const Rule& rule, const Place& place) {
  const std::string& name = place.document.empty() ? rule.stage.document : place.document;
  return place.pointer.find(kSubject) != std::string::npos ||
         std::any_of(rule.kinds.begin(), rule.kinds.end(), [&](const Kind& kind) {
           return kind.per_subject && (name.empty() || kind.name == name);
         });
}

bool is_awaited(const Rule& rule, const Word& stage) {
  const auto names = [&](const Condition& condition) {
    const bool of_stage =
        condition.place.pointer == rule.stage.pointer &&
        (condition.place.document.empty() || condition.place.document == rule.stage.document);
    const auto words = items_in(&*condition.operand);
    return of_stage && is_over_all(condition) &&
           std::any_of(words.begin(), words.end(),
                       [&](const Value& each) { return word_of(&each) == stage; });
  };
  return std::any_of(rule.react.begin(), rule.react.end(), [&](const Reaction& reaction) {
    return !reaction.join.empty() &&
           (has(reaction.to, stage) ||
            std::any_of(reaction.when.begin(), reaction.when.end(), names));
  });
}

Word purpose_of(const Reaction& reaction, const StageState& state) {
  if (!reaction.purpose.empty())
    return reaction.purpose;
  if (reaction.join.empty())
    return state.stage;
  return reaction.to.size() == 1 ? reaction.to.front() : "join";
}

bool is_end(const Rule& rule, const Word& stage) {
  return has(rule.done, stage);
}

bool is_about(const Reaction& reaction, const Word& previous, const Word& stage) {
  return has(reaction.to, stage) && (reaction.from.empty() || has(reaction.from, previous));
}

}  // namespace baton::rules
