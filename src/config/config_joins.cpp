// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/placeholders.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton {
namespace {

using rules::Condition;
using rules::Place;
using rules::Reaction;
using rules::Rule;

constexpr std::string_view kWholeFlow =
    "a reaction with `all`, `any` or `none` belongs to the whole flow";

/// The test of a condition over all subjects, as the configuration spells it.
std::string test_word(const Fields& condition) {
  return condition.has("all") ? "all" : condition.has("any") ? "any" : "none";
}

/// Reports a test over all that looks at one member only, and words that are no stages.
void check_over_all(const Fields& fields, const Condition& condition, const Rule& rule) {
  const std::string word = test_word(fields);
  if (!rules::is_of_one_subject(rule, condition.place))
    return fields.error("join",
                        "`" + word + "` looks at all subjects or parts, but " +
                            printable(rules::text(condition.place), 200) +
                            " is one member; put {subject} into the pointer, name a document with "
                            "{part} in its path, or use `equals` or `in`",
                        "pointer");
  const std::string& document = condition.place.document;
  if (rule.stages.empty() || condition.place.pointer != rule.stage.pointer ||
      !(document.empty() || document == rule.stage.document))
    return;
  const std::vector<Word> known = rules::known_stages(rule);
  for (const Value& each : condition.operand->GetArray()) {
    const Word stage = rules::word_of(&each).value_or("");
    if (std::find(known.begin(), known.end(), stage) != known.end())
      continue;
    const auto meant = rules::meant_stage(known, stage);
    fields.error("join",
                 "`" + printable(stage, 60) + "` is no stage of the rule " + rule.name +
                     (meant ? "; did you mean `" + *meant + "`?" : "; it has " + join(known, ", ")),
                 word);
  }
}

/// Checks a place of such a reaction that has to be the same for all subjects.
void check_shared(const Fields& fields, const Rule& rule, const Place& place,
                  std::string_view name) {
  if (rules::is_of_one_subject(rule, place))
    fields.error("join",
                 std::string(kWholeFlow) + ", but " + printable(rules::text(place), 200) +
                     " is about one subject; name a member that the whole flow has",
                 name);
}

/// Checks what such a reaction sets: the places, and the placeholders in the texts.
void check_set(const Fields& members, const Rule& rule) {
  for (const auto& [text, member] : members.children()) {
    const auto place = rules::parse_place(text);
    if (!place)
      continue;
    check_shared(members, rule, *place, text);
    const bool named = !place->document.empty() || !rule.stage.document.empty();
    if (!named && rule.kinds.size() > 1)
      members.error("join",
                    std::string(kWholeFlow) +
                        ", so `set` needs the name of a document: give the "
                        "documents names in `files`, and write NAME:/member",
                    text);
    for (const std::string& name : placeholders_in(json::text(*member.value()).value_or(""))) {
      const auto value = rule.values.find(name);
      const bool of_one =
          name == "subject" || name == "stage" || name == "previous" ||
          (value != rule.values.end() && rules::is_of_one_subject(rule, value->second));
      if (!of_one)
        continue;
      std::string message(kWholeFlow);
      message.append(", so ${").append(name).append("} has no value here: it is about one subject");
      members.error("join", message, text);
    }
  }
}

void check_decision_place(const Fields& approval, const Rule& rule, const Reaction& reaction) {
  if (reaction.approval && reaction.approval->decision)
    check_shared(approval, rule, *reaction.approval->decision, "decision");
}

void check_join(const Fields& fields, const Rule& rule, const Reaction& reaction) {
  std::size_t next = 0;
  for (const auto& [index, condition] : fields.child("when").children()) {
    const bool valid = rules::condition_fault(*condition.value()).empty();
    if (!valid || next >= reaction.when.size())
      continue;
    const Condition& read = reaction.when[next++];
    if (rules::is_over_all(read)) {
      check_over_all(condition, read, rule);
      continue;
    }
    check_shared(condition, rule, read.place, "pointer");
    if (const auto limit = rules::limit_place(read))
      check_shared(condition, rule, *limit, "pointer");
  }
  for (const char* name : {"from", "stop"})
    if (fields.has(name))
      fields.error(
          "join",
          std::string(kWholeFlow) + ", but `" + name + "` is about one subject; leave it out",
          name);
  if (fields.has("next") && rules::has_many_subjects(rule))
    fields.error("join",
                 std::string(kWholeFlow) + ", and its agent leaves no subject; leave `next` out",
                 "next");
  check_set(fields.child("set"), rule);
  const Fields approval = fields.child("approval");
  check_set(approval.child("rejected"), rule);
  check_decision_place(approval, rule, reaction);
}

/// Whether a test over all looks at the files of this document.
bool is_tested(const Rule& rule, const rules::Kind& kind) {
  return std::any_of(rule.react.begin(), rule.react.end(), [&](const Reaction& reaction) {
    return std::any_of(reaction.when.begin(), reaction.when.end(), [&](const Condition& each) {
      return rules::is_over_all(each) && each.place.document == kind.name;
    });
  });
}

/// Checks that a rule with the one subject `main` uses files of parts only in tests over all.
void check_parts(const Fields& fields, const Rule& rule) {
  if (rules::has_many_subjects(rule))
    return;
  for (const rules::Kind& kind : rule.kinds) {
    if (!kind.per_subject)
      continue;
    if (!is_tested(rule, kind)) {
      fields.error("files",
                   "{part} in the path of '" + kind.name +
                       "' stands for the subject, but the rule has only the subject main; a "
                       "reaction can test all these files with `all`, `any` or `none`",
                   "files");
      continue;
    }
    for (const rules::NamedPlace& each : rules::places_of(rule))
      if (each.place.document == kind.name && !each.over_all)
        fields.error("files",
                     each.where + ": " + printable(rules::text(each.place), 200) +
                         " is about one part, but the rule has only the subject main; only `all`, "
                         "`any` and `none` can look at '" +
                         kind.name + "'",
                     each.where.starts_with("values") ? "values" : "react");
  }
}

}  // namespace

void check_joins(const Fields& rule, const Json& out) {
  const Rule read = rules::read_rule(*out);
  const auto reactions = rule.child("react").children();
  for (std::size_t i = 0; i < reactions.size() && i < read.react.size(); ++i) {
    if (!read.react[i].join.empty())
      check_join(reactions[i].second, read, read.react[i]);
    else if (!reactions[i].second.has("to"))
      reactions[i].second.error("reaction",
                                "a reaction needs `to`, the stage that it is for; only one with "
                                "`all`, `any` or `none` in `when` may go without");
  }
  check_parts(rule, read);
}

}  // namespace baton
