// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/placeholders.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton {
namespace {

/// Whether the token is a word in braces. A member name such as a GUID in braces is not a
/// placeholder.
bool is_placeholder(const std::string& token) {
  return token.size() > 2 && token.front() == '{' && token.back() == '}' &&
         std::all_of(token.begin() + 1, token.end() - 1, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
         });
}

const rules::Kind* kind_named(const RuleNames& names, const std::string& name) {
  const auto found = std::find_if(names.kinds.begin(), names.kinds.end(),
                                  [&](const rules::Kind& kind) { return kind.name == name; });
  return found == names.kinds.end() ? nullptr : &*found;
}

bool writable(const std::string& pattern) {
  return !pattern.ends_with(".yaml") && !pattern.ends_with(".yml") && !pattern.ends_with(".jsonl");
}

/// A pattern of files at this place that `set` cannot write; empty if it can write all of them.
std::string unwritable(const RuleNames& names, const rules::Place& place) {
  const std::string& name = place.document.empty() ? names.stage.document : place.document;
  for (const rules::Kind& kind : names.kinds)
    if ((name.empty() || kind.name == name) && !writable(kind.pattern))
      return kind.pattern;
  return {};
}

void check_placeholders(const Fields& fields, const Value& value, const std::string& member,
                        const RuleNames& names) {
  std::vector<std::string> known = names.values;
  known.insert(known.end(), std::begin(rules::kPlaceholders), std::end(rules::kPlaceholders));
  known.insert(known.end(), {"flow_name", "subject"});
  for (const std::string& name : placeholders_in(json::text(value).value_or(""))) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    if (const std::string fault = filter_fault(name); !fault.empty()) {
      fields.error("placeholder", fault, member);
      continue;
    }
    const auto near = nearest(name, known);
    fields.error("placeholder",
                 "unknown placeholder '${" + printable(name, 80) + "}'" +
                     (near ? "; did you mean '${" + *near + "}'?" : ""),
                 member);
  }
}

/// Checks the members of `set:`.
void check_members(const Fields& members, const RuleNames& names) {
  rules::Rule rule;
  rule.stage = names.stage;
  for (const auto& [text, member] : members.children()) {
    const auto place = rules::parse_place(text);
    check_place(members, text, text, names);
    if (!place)
      continue;
    if (const std::string file = unwritable(names, *place); !file.empty())
      members.error(
          "set", "baton sets members of JSON files only, but '" + printable(file) + "' is not JSON",
          text);
    check_placeholders(members, *member.value(), text, names);
    const auto write = rules::stage_write(rule, {*place, Json(*member.value())});
    if (write && write->word.find("${") != std::string::npos)
      members.error("set",
                    "a stage must be set to a fixed word, not to a placeholder: baton must know in "
                    "advance where it leads",
                    text);
    else if (write && write->word.empty())
      members.error("set", "the stage must be set to a word", text);
  }
}

void check_decision(const Fields& approval, const RuleNames& names, bool over_all) {
  const auto text = approval.text("decision");
  if (!text)
    return;
  check_place(approval, "decision", *text, names);
  const auto place = rules::parse_place(*text);
  const rules::Kind* const kind = place ? kind_named(names, place->document) : nullptr;
  if (kind == nullptr || kind->name.empty() || kind->name == names.stage.document ||
      names.stage.document.empty()) {
    approval.error("approval",
                   "a decision needs its own document: name the documents in `files`, name the one "
                   "with the stage in `stage`, and name another one here",
                   "decision");
    return;
  }
  const rules::Kind* const main = kind_named(names, names.stage.document);
  const bool many = names.stage.pointer.find(rules::kSubject) != std::string::npos ||
                    (main != nullptr && main->per_subject);
  if (many && !over_all && !kind->per_subject)
    approval.error(
        "approval",
        "each subject needs its own decision: put {part} into the path of '" + kind->name + "'",
        "decision");
  else if (!kind->optional)
    approval.error("approval",
                   "the document '" + kind->name +
                       "' exists only while there is a decision: set `optional: true`",
                   "decision");
}

/// Whether the reaction has a test over all subjects.
bool is_over_all(const Fields& reaction) {
  const auto conditions = reaction.child("when").children();
  return std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
    return each.second.has("all") || each.second.has("any") || each.second.has("none");
  });
}

Json read_approval(const Fields& reaction, const RuleNames& names) {
  const Value& value = *reaction.value("approval");
  if (value.IsBool())
    return Json(value);
  const Fields approval = reaction.child("approval");
  check_decision(approval, names, is_over_all(reaction));
  check_members(approval.child("rejected"), names);
  return Json(value);
}

Json read_conditions(const Fields& when, const RuleNames& names) {
  Json out = Json::array();
  for (const auto& [index, condition] : when.children()) {
    if (const std::string fault = rules::condition_fault(*condition.value()); !fault.empty()) {
      condition.error("condition", fault);
      continue;
    }
    check_place(condition, "pointer", condition.text("pointer").value_or(""), names);
    for (const char* name : {"below", "at_most", "at_least", "above"})
      if (const auto place = condition.text(name))
        check_place(condition, name, *place, names);
    out.push(Json(*condition.value()));
  }
  return out;
}

Json read_reaction(const Fields& reaction, const RuleNames& names) {
  constexpr std::array kActions = {"run", "stop", "notify", "set"};
  Json out = Json::object();
  if (reaction.has("from"))
    out.set("from", stages_of(reaction, "from"));
  if (reaction.has("to"))
    out.set("to", stages_of(reaction, "to"));
  if (reaction.has("when"))
    out.set("when", read_conditions(reaction.child("when"), names));
  if (reaction.has("approval"))
    out.set("approval", read_approval(reaction, names));
  const auto actions = std::count_if(kActions.begin(), kActions.end(),
                                     [&](const char* name) { return reaction.has(name); });
  if (actions != 1)
    reaction.error("reaction", "a reaction must have exactly one of run, stop, notify and set");
  for (const char* name : {"run", "stop", "purpose", "prompt"}) {
    if (const auto word = reaction.text(name))
      out.set(name, Json(*word));
  }
  for (const char* name : {"purpose", "prompt", "next"})
    if (reaction.has(name) && !reaction.has("run"))
      reaction.error("reaction", std::string("`") + name + "` needs a reaction with `run`", name);
  if (reaction.has("max_entries") && !reaction.has("run") && !reaction.has("set"))
    reaction.error("reaction", "`max_entries` needs a reaction with `run` or `set`", "max_entries");
  if (reaction.flag("notify").value_or(false))
    out.set("notify", Json(true));
  if (const Value* const members = reaction.value("set")) {
    check_members(reaction.child("set"), names);
    out.set("set", *members);
  }
  if (reaction.has("next"))
    out.set("next", stages_of(reaction, "next"));
  if (const auto entries = entries_of(reaction))
    out.set("max_entries", *entries);
  return out;
}

}  // namespace

std::optional<Json> entries_of(const Fields& fields) {
  const Value* const given = fields.value("max_entries");
  if (given == nullptr)
    return std::nullopt;
  if (!given->IsObject())
    return Json(*given);
  const Fields limit = fields.child("max_entries");
  const auto per = limit.duration("per");
  if (per && *per == Millis(0))
    limit.error("duration", "the span must be longer than 0s; write it as 12h, 1d or 7d", "per");
  if (!per || *per == Millis(0))
    return std::nullopt;
  return Json::object({{"count", Json(std::int64_t{limit.count("count").value_or(0)})},
                       {"per_ms", Json(std::int64_t{per->count()})}});
}

Json stages_of(const Fields& fields, std::string_view name) {
  Json stages = Json::array();
  const Value* const given = fields.value(name);
  if (given == nullptr)
    return stages;
  const auto add = [&](const Value& stage) {
    stages.push(Json(rules::word_of(&stage).value_or("")));
  };
  if (given->IsArray())
    std::for_each(given->Begin(), given->End(), add);
  else
    add(*given);
  return stages;
}

void check_place(const Fields& fields, std::string_view name, std::string_view text,
                 const RuleNames& names) {
  const auto place = rules::parse_place(text);
  if (!place)
    return fields.error(
        "pointer",
        "'" + printable(text, 200) +
            "' is not a pointer to a member; write /member, or NAME:/member for another document",
        name);
  if (place->pointer.find(rules::kSubject) != place->pointer.rfind(rules::kSubject))
    fields.error("pointer", "{subject} may appear only once", name);
  for (const std::string& token :
       json::pointer_tokens(place->pointer).value_or(std::vector<std::string>()))
    if (is_placeholder(token) && token != rules::kSubject)
      fields.error("pointer",
                   "'" + printable(token, 80) + "' is not a placeholder; {subject} is the only one",
                   name);
  if (place->document.empty() || kind_named(names, place->document) != nullptr)
    return;
  std::vector<std::string> known;
  for (const rules::Kind& kind : names.kinds)
    if (!kind.name.empty())
      known.push_back(kind.name);
  const auto near = nearest(place->document, known);
  fields.error("document",
               "the rule has no document '" + printable(place->document, 80) + "'" +
                   (near            ? "; did you mean '" + *near + "'?"
                    : known.empty() ? "; a map in `files` gives documents their names"
                                    : "; there are " + join(known, ", ")),
               name);
}

Json read_reactions(const Fields& react, const RuleNames& names) {
  Json out = Json::array();
  for (const auto& [index, reaction] : react.children())
    out.push(read_reaction(reaction, names));
  return out;
}

}  // namespace baton
