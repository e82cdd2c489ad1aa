// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"
#include "core/catalog.h"
#include "dialects/rules/needs.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/subjects.h"

namespace baton {
namespace {

constexpr std::uint32_t kMaxEntries = 20;
constexpr std::uint32_t kBreakerChanges = 240;
constexpr Millis kBreakerWindow{60'000};

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts)
    list.push(Json(text));
  return list;
}

/// What is wrong with the braces in one segment of a pattern.
std::string brace_fault(std::string_view segment) {
  bool just_closed = false;
  while (!segment.empty()) {
    if (segment.front() == '}')
      return "a '}' without '{'";
    if (segment.front() != '{') {
      segment.remove_prefix(1);
      just_closed = false;
      continue;
    }
    const std::size_t close = segment.find('}');
    if (close == std::string_view::npos)
      return "a '{' without '}'";
    const std::string_view name = segment.substr(0, close + 1);
    if (name != "{flow}" && name != "{part}")
      return "'" + printable(name) + "' is not a placeholder; use {flow} or {part}";
    if (just_closed)
      return "two placeholders need a character between them";
    segment.remove_prefix(name.size());
    just_closed = true;
  }
  return {};
}

Json number(std::int64_t value) {
  return {value};
}
Json number(Millis value) {
  return {std::int64_t{value.count()}};
}

bool has_any(const Fields& fields, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return fields.has(name); });
}

Json read_limits(const Fields& fields, const RunLimits& run, const RetryLimits& retry) {
  Json out = Json::object();
  for (const char* name : {"max_running", "spawns_per_hour"}) {
    if (const auto count = fields.count(name))
      out.set(name, number(*count));
  }
  if (has_any(fields, {"max_attempts", "backoff", "max_backoff"})) {
    const auto attempts = fields.count("max_attempts").value_or(retry.max_attempts);
    const Millis backoff = fields.duration("backoff").value_or(retry.backoff);
    const Millis most = fields.duration("max_backoff").value_or(retry.max_backoff);
    check_backoff(fields, backoff, most);
    out.set("retry", Json::object({{"max_attempts", number(attempts)},
                                   {"backoff_ms", number(backoff)},
                                   {"max_backoff_ms", number(most)}}));
  }
  if (has_any(fields, {"timeout", "idle_timeout", "kill_grace", "log_cap"})) {
    const Millis timeout = fields.duration("timeout").value_or(run.timeout);
    const Millis idle = fields.duration("idle_timeout").value_or(run.idle_timeout);
    const Millis grace = fields.duration("kill_grace").value_or(run.kill_grace);
    const auto cap = fields.size("log_cap").value_or(run.log_cap_bytes);
    out.set("run", Json::object({{"timeout_ms", number(timeout)},
                                 {"idle_timeout_ms", number(idle)},
                                 {"kill_grace_ms", number(grace)},
                                 {"log_cap_bytes", number(static_cast<std::int64_t>(cap))}}));
  }
  return out;
}

Json read_breaker(const Fields& breaker) {
  const std::int64_t changes = breaker.count("changes").value_or(kBreakerChanges);
  const Millis per = breaker.duration("per").value_or(kBreakerWindow);
  return Json::object({{"changes", number(changes)}, {"per_ms", number(per)}});
}

/// Reads the patterns of `files:`, with their names and schemas if they have any.
std::vector<rules::Kind> read_kinds(const Fields& rule) {
  std::vector<rules::Kind> kinds;
  const auto add = [&](rules::Kind kind, const Fields& fields, const std::string& name) {
    const std::string fault = pattern_fault(kind.pattern);
    if (!fault.empty())
      fields.error("files", "'" + printable(kind.pattern) + "': " + fault, name);
    kinds.push_back(std::move(kind));
  };
  for (const std::string& pattern : rule.texts("files"))
    add(rules::Kind{"", pattern, "", false, false}, rule, "files");
  const Value* const files = rule.value("files");
  if (files == nullptr || !files->IsObject())
    return kinds;
  const Fields named = rule.child("files");
  for (const auto& [name, document] : named.children()) {
    const auto alone = named.text(name);
    rules::Kind kind;
    kind.name = name;
    kind.pattern = alone ? *alone : document.text("path").value_or("");
    kind.schema = document.text("schema").value_or("");
    kind.per_subject = kind.pattern.find("{part}") != std::string::npos;
    kind.optional = kind.per_subject || document.flag("optional").value_or(false);
    add(std::move(kind), named, name);
  }
  return kinds;
}

/// Reports documents of a rule that can never belong to one flow together.
void check_kinds(const Fields& rule, const RuleNames& names) {
  if (names.kinds.empty() || names.kinds.front().name.empty())
    return;
  const auto has = [](const rules::Kind& kind, const char* token) {
    return kind.pattern.find(token) != std::string::npos;
  };
  const rules::Kind& first = names.kinds.front();
  for (const rules::Kind& kind : names.kinds) {
    if (has(kind, "{flow}") != has(first, "{flow}"))
      rule.error("files",
                 "'" + first.name + "' and '" + kind.name +
                     "' never belong to one flow: only one of the two paths has {flow}",
                 "files");
    for (const rules::Kind& other : names.kinds)
      if (other.name < kind.name && patterns_overlap(other.pattern, kind.pattern))
        rule.error("files",
                   "'" + printable(other.pattern) + "' and '" + printable(kind.pattern) +
                       "' match the same files, but a file can be only one document",
                   "files");
  }
}

/// Writes `files:` in the form that the dialect `rules` reads.
void write_kinds(const std::vector<rules::Kind>& kinds, Json& out) {
  if (kinds.empty() || kinds.front().name.empty()) {
    std::vector<std::string> patterns;
    patterns.reserve(kinds.size());
    for (const rules::Kind& kind : kinds)
      patterns.push_back(kind.pattern);
    out.set("files", list_of(patterns));
    return;
  }
  Json documents = Json::array();
  for (const rules::Kind& kind : kinds) {
    Json document = Json::object({{"name", kind.name}, {"path", kind.pattern}});
    if (!kind.schema.empty())
      document.set("schema", Json(kind.schema));
    if (kind.optional)
      document.set("optional", Json(true));
    documents.push(document);
  }
  out.set("documents", documents);
}

void check_value_name(const Fields& values, const std::string& name) {
  static constexpr std::array kOwn = {"attempt",     "brief",   "flow",       "flow_name",
                                      "prompt_file", "purpose", "role",       "root",
                                      "run_dir",     "run_id",  "state_file", "subject"};
  const bool taken = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end() ||
                     std::find(std::begin(rules::kPlaceholders), std::end(rules::kPlaceholders),
                               name) != std::end(rules::kPlaceholders);
  if (taken)
    values.error("value", "'" + name + "' is a reserved name; choose another one", name);
}

void read_values(const Fields& values, RuleNames& names, Json& out) {
  for (const auto& [name, value] : values.children()) {
    names.values.push_back(name);
    check_value_name(values, name);
    check_place(values, name, values.text(name).value_or(""), names);
  }
  if (!names.values.empty())
    out.set("values", *values.value());
}

void check_cycles(const Fields& rule, const Json& out) {
  const rules::Rule read = rules::read_rule(*out);
  const auto cycles = rules::set_cycles(read);
  for (const std::string& cycle : cycles)
    rule.error("cycle",
               "the `set` reactions of the rule '" + printable(read.name, 100) +
                   "' form an endless cycle: " + printable(cycle, 400) +
                   "; put an agent or a person (`approval`) in between",
               "react");
  if (const std::string chain = cycles.empty() ? rules::long_chain(read) : ""; !chain.empty())
    rule.error("chain",
               "the `set` reactions of the rule '" + printable(read.name, 100) +
                   "' form a chain of more than eight steps: " + printable(chain, 400) +
                   "; set the last stage directly",
               "react");
}

/// Reports a `subject_key` that no list can have, or that nothing would use.
void check_subject_key(const Fields& rule, const Json& out) {
  const auto key = rule.text("subject_key");
  if (!key)
    return;
  const rules::Rule read = rules::read_rule(*out);
  const auto places = rules::places_of(read);
  if (key->starts_with('/'))
    rule.error("subject_key",
               "'" + printable(*key, 80) +
                   "' is a pointer; write the name of a member that each element of the list has, "
                   "such as " +
                   printable(key->substr(1), 80),
               "subject_key");
  else if (std::none_of(places.begin(), places.end(), [](const rules::NamedPlace& each) {
             return rules::subject_path(each.place.pointer).has_value();
           }))
    rule.error("subject_key",
               "`subject_key` needs a list of subjects: put {subject} into `stage`, as in "
               "/items/{subject}/status",
               "subject_key");
}

/// Reports a rule whose `needs` nothing could ever fulfil.
void check_needs(const Fields& rule, const RuleNames& names, const Json& out) {
  if (!rule.has("needs"))
    return;
  const bool several = std::any_of(names.kinds.begin(), names.kinds.end(), [](const auto& kind) {
    return kind.pattern.find("{flow}") != std::string::npos;
  });
  if (!rule.has("done"))
    rule.error("needs",
               "`needs` waits until others are in a stage of `done:`, but the rule has no `done`; "
               "name the stages that are ends, as in `done: [done]`",
               "needs");
  else if (!several && !rules::has_subjects(rules::read_rule(*out)))
    rule.error("needs",
               "`needs` names other flows or subjects, but the rule has only one flow with one "
               "subject; put {flow} into `files`, or {subject} into `stage`",
               "needs");
}

/// Reports reactions that never start their agent, because another reaction starts it first.
void check_outrun(const Fields& rule, const Json& out) {
  const rules::Rule read = rules::read_rule(*out);
  const auto reactions = rule.child("react").children();
  for (std::size_t i = 0; i < reactions.size() && i < read.react.size(); ++i)
    for (const auto& [stage, other] : rules::outrun(read, i))
      reactions[i].second.error(
          "double",
          "react " + std::to_string(i + 1) + " of the rule '" + printable(read.name, 100) +
              "' never starts '" + printable(read.react[i].run, 100) + "' for '" +
              printable(stage, 100) + "': react " + std::to_string(other + 1) +
              " starts it, and baton starts a role only once per entry into a stage; remove one, "
              "separate them by `from` or `when`, or use another role for the second job",
          "run");
}

Json read_rule(const Fields& rule, const RunLimits& run, const RetryLimits& retry) {
  Json out = Json::object();
  out.set("name", Json(rule.text("name").value_or("")));
  RuleNames names;
  names.kinds = read_kinds(rule);
  write_kinds(names.kinds, out);
  if (const auto schema = rule.text("schema"))
    out.set("schema", Json(*schema));
  const std::string stage = rule.text("stage").value_or("");
  const std::string fault = stage_fault(stage);
  if (!fault.empty())
    rule.error("stage", "'" + printable(stage) + "': " + fault, "stage");
  else
    check_place(rule, "stage", stage, names);
  out.set("stage", Json(stage));
  names.stage = rules::parse_place(stage).value_or(rules::Place{});
  if (const auto key = rule.text("subject_key"))
    out.set("subject_key", Json(*key));
  for (const char* name : {"order", "needs"})
    if (const auto text = rule.text(name)) {
      check_place(rule, name, *text, names);
      out.set(name, Json(*text));
    }
  check_kinds(rule, names);
  read_values(rule.child("values"), names, out);
  out.set("react", read_reactions(rule.child("react"), names));
  for (const char* name : {"stages", "done"})
    if (rule.has(name))
      out.set(name, stages_of(rule, name));
  read_ignored(rule, out);
  check_joins(rule, out);
  check_cycles(rule, out);
  check_subject_key(rule, out);
  check_needs(rule, names, out);
  check_outrun(rule, out);
  out.set("max_entries", entries_of(rule).value_or(number(std::int64_t{kMaxEntries})));
  out.set("breaker", read_breaker(rule.child("breaker")));
  out.set("limits", read_limits(rule.child("limits"), run, retry));
  return out;
}

std::vector<std::string> patterns_of(const Fields& rule) {
  std::vector<std::string> patterns = rule.texts("files");
  const Value* const files = rule.value("files");
  if (files == nullptr || !files->IsObject())
    return patterns;
  const Fields named = rule.child("files");
  for (const auto& [name, document] : named.children())
    patterns.push_back(named.text(name).value_or(document.text("path").value_or("")));
  return patterns;
}

}  // namespace

std::string pattern_fault(std::string_view pattern) {
  if (pattern.empty())
    return "a pattern must not be empty";
  if (pattern.front() == '/')
    return "a pattern must be relative to the root";
  if (pattern.find_first_of("*?") != std::string_view::npos)
    return "there are no wildcards; write {flow} or {part} for a varying name";
  for (const std::string& segment : split(pattern, '/')) {
    if (segment.empty() || segment == "." || segment == "..")
      return "a pattern must not have an empty segment, '.' or '..'";
    std::string fault = brace_fault(segment);
    if (!fault.empty())
      return fault;
  }
  return {};
}

void read_ignored(const Fields& fields, Json& options) {
  if (fields.has("ignore"))
    options.set("ignore", list_of(fields.texts("ignore")));
}

std::string stage_fault(std::string_view pointer) {
  const auto place = rules::parse_place(pointer);
  if (!place)
    return "a stage must be a JSON pointer to a member, such as /status";
  const auto tokens = json::pointer_tokens(place->pointer);
  std::size_t subjects = 0;
  for (const std::string& token : *tokens) {
    if (token == "{subject}")
      ++subjects;
    else if (token.find("{subject}") != std::string::npos)
      return "{subject} must be a whole member name";
  }
  if (subjects > 1)
    return "{subject} may appear only once";
  return {};
}

Json read_rules(const Fields& rules, const RunLimits& run, const RetryLimits& retry) {
  Json out = Json::array();
  std::set<std::string> names;
  std::vector<std::pair<std::string, std::string>> patterns;  // with their rule
  for (const auto& [index, rule] : rules.children()) {
    const std::string name = rule.text("name").value_or("");
    for (const std::string& pattern : patterns_of(rule)) {
      for (const auto& [other, owner] : patterns)
        if (owner != name && patterns_overlap(pattern, other))
          rule.error("files",
                     "'" + printable(pattern) + "' and '" + printable(other) + "' of the rule '" +
                         printable(owner) +
                         "' match the same files, but a file can belong to only one rule",
                     "files");
      patterns.emplace_back(pattern, name);
    }
    if (!names.insert(name).second)
      rule.error("rule_name",
                 "there is another rule '" + printable(name) + "'; rules need different names",
                 "name");
    out.push(read_rule(rule, run, retry));
  }
  return out;
}

}  // namespace baton
