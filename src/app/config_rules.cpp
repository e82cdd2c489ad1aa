#include "app/config_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/text.h"
#include "core/catalog.h"

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

/// What is wrong with the braces of one segment of a pattern.
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
      return "'" + printable(name) + "' is no placeholder; there are {flow} and {part}";
    if (just_closed)
      return "two placeholders need something between them";
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

Json read_reaction(const Fields& reaction) {
  constexpr std::array kActions = {"run", "stop", "notify"};
  Json out = Json::object();
  if (reaction.has("from"))
    out.set("from", list_of(reaction.texts("from")));
  out.set("to", list_of(reaction.texts("to")));
  const auto actions = std::count_if(kActions.begin(), kActions.end(),
                                     [&](const char* name) { return reaction.has(name); });
  if (actions != 1)
    reaction.error("reaction", "a reaction has exactly one of run, stop and notify");
  for (const char* name : {"run", "stop", "purpose"}) {
    if (const auto word = reaction.text(name))
      out.set(name, Json(*word));
  }
  if (reaction.flag("notify").value_or(false))
    out.set("notify", Json(true));
  if (const auto entries = reaction.count("max_entries"))
    out.set("max_entries", number(*entries));
  return out;
}

Json read_breaker(const Fields& breaker) {
  const std::int64_t changes = breaker.count("changes").value_or(kBreakerChanges);
  const Millis per = breaker.duration("per").value_or(kBreakerWindow);
  return Json::object({{"changes", number(changes)}, {"per_ms", number(per)}});
}

Json read_rule(const Fields& rule, const RunLimits& run, const RetryLimits& retry) {
  Json out = Json::object();
  out.set("name", Json(rule.text("name").value_or("")));
  const std::vector<std::string> files = rule.texts("files");
  for (const std::string& pattern : files) {
    const std::string fault = pattern_fault(pattern);
    if (!fault.empty())
      rule.error("files", "'" + printable(pattern) + "': " + fault, "files");
  }
  out.set("files", list_of(files));
  if (const auto schema = rule.text("schema"))
    out.set("schema", Json(*schema));
  const std::string stage = rule.text("stage").value_or("");
  const std::string fault = stage_fault(stage);
  if (!fault.empty())
    rule.error("stage", "'" + printable(stage) + "': " + fault, "stage");
  out.set("stage", Json(stage));
  Json reactions = Json::array();
  for (const auto& [index, reaction] : rule.child("react").children())
    reactions.push(read_reaction(reaction));
  out.set("react", reactions);
  out.set("max_entries", number(rule.count("max_entries").value_or(kMaxEntries)));
  out.set("breaker", read_breaker(rule.child("breaker")));
  out.set("limits", read_limits(rule.child("limits"), run, retry));
  return out;
}

}  // namespace

std::string pattern_fault(std::string_view pattern) {
  if (pattern.empty())
    return "a pattern is not empty";
  if (pattern.front() == '/')
    return "a pattern is relative to the root";
  if (pattern.find_first_of("*?") != std::string_view::npos)
    return "there are no wildcards; write {flow} or {part} for a varying name";
  for (const std::string& segment : split(pattern, '/')) {
    if (segment.empty() || segment == "." || segment == "..")
      return "a pattern has no empty segment, no '.' and no '..'";
    std::string fault = brace_fault(segment);
    if (!fault.empty())
      return fault;
  }
  return {};
}

std::string stage_fault(std::string_view pointer) {
  const auto tokens = json::pointer_tokens(pointer);
  if (!tokens || tokens->empty())
    return "a stage is a JSON pointer to a member, such as /status";
  std::size_t subjects = 0;
  for (const std::string& token : *tokens) {
    if (token == "{subject}")
      ++subjects;
    else if (token.find("{subject}") != std::string::npos)
      return "{subject} stands for a whole member name";
  }
  if (subjects > 1)
    return "{subject} stands there once only";
  return {};
}

Json read_rules(const Fields& rules, const RunLimits& run, const RetryLimits& retry) {
  Json out = Json::array();
  std::set<std::string> names;
  std::vector<std::pair<std::string, std::string>> patterns;  // and the rule they belong to
  for (const auto& [index, rule] : rules.children()) {
    const std::string name = rule.text("name").value_or("");
    for (const std::string& pattern : rule.texts("files")) {
      for (const auto& [other, owner] : patterns)
        if (owner != name && patterns_overlap(pattern, other))
          rule.error("files",
                     "'" + printable(pattern) + "' and '" + printable(other) + "' of the rule '" +
                         printable(owner) +
                         "' fit the same files, of which only one rule can have each",
                     "files");
      patterns.emplace_back(pattern, name);
    }
    if (!names.insert(name).second)
      rule.error("rule_name", "another rule is called '" + printable(name) + "' already", "name");
    out.push(read_rule(rule, run, retry));
  }
  return out;
}

}  // namespace baton
