// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "base/embedded.h"
#include "base/placeholders.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "core/ports.h"

namespace baton {
namespace {

constexpr Millis kLongestNotify{3'600'000};
constexpr Millis kShortestMetrics{1000};
constexpr Millis kLongestMetrics{3'600'000};
constexpr std::uint64_t kLargestFile = 1ULL << 30U;
constexpr std::string_view kSchema = "schemas/config.schema.json";

/// What is wrong with the name of an environment variable in the configuration; "" if nothing is.
std::string env_name_fault(std::string_view name) {
  if (name.empty() || name.find('=') != std::string_view::npos)
    return "is not the name of a variable";
  if (name.substr(0, 6) == "BATON_")
    return "is set by baton itself";
  return {};
}

template <class T>
void take(T& place, const std::optional<T>& value) {
  if (value)
    place = *value;
}

/// An adapter without a `/` is one of baton's.
void check_adapter(const Fields& agent, const std::string& name) {
  const std::vector<std::string> known = adapter_names();
  if (name.empty() || name.find('/') != std::string::npos ||
      std::find(known.begin(), known.end(), name) != known.end())
    return;
  const auto near = nearest(name, known);
  agent.error("adapter",
              "baton has no adapter '" + printable(name) + "'" +
                  (near ? "; did you mean '" + *near + "'?" : "") +
                  "; it has: " + join(known, ", ") + "; a file of your own is a path with a `/`",
              "adapter");
}

/// Whether a placeholder exists is known later, when all dialects and rules are.
void check_filters(const Fields& fields, const std::string& member,
                   const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    for (const std::string& name : placeholders_in(text))
      if (const std::string fault = filter_fault(name); !fault.empty())
        fields.error("placeholder", fault, member);
}

AgentConfig read_agent(const Fields& fields) {
  AgentConfig agent;
  agent.command = fields.texts("command");
  take(agent.adapter, fields.text("adapter"));
  if (agent.adapter.empty() && (agent.command.empty() || agent.command.front().empty()))
    fields.error("command", "a command must begin with a program", "command");
  check_adapter(fields, agent.adapter);
  take(agent.model, fields.text("model"));
  agent.args = fields.texts("args");
  check_filters(fields, "command", agent.command);
  check_filters(fields, "args", agent.args);
  agent.fallback = fields.texts("fallback");
  take(agent.provider, fields.text("provider"));
  agent.resume = fields.text("resume") != "never";
  const auto no_change = fields.text("on_no_change");
  agent.on_no_change = no_change == "retry"   ? OnNoChange::retry
                       : no_change == "nudge" ? OnNoChange::nudge
                                              : OnNoChange::hold;
  if (const Value* const result = fields.value("result"))
    agent.result = Json(*result);
  take(agent.prompt, fields.text("prompt"));
  take(agent.cwd, fields.text("cwd"));
  check_filters(fields, "cwd", {agent.cwd});
  take(agent.user, fields.text("user"));
  const Fields before = fields.child("before");
  agent.before = before.texts("command");
  check_filters(before, "command", agent.before);
  take(agent.before_timeout, before.duration("timeout"));
  agent.timeout = fields.duration("timeout");
  agent.idle_timeout = fields.duration("idle_timeout");
  agent.kill_grace = fields.duration("kill_grace");
  agent.log_cap_bytes = fields.size("log_cap");
  take(agent.memory_max_bytes, fields.size("memory_max"));
  take(agent.tasks_max, fields.count("tasks_max"));
  agent.max_attempts = fields.count("max_attempts");
  agent.max_transient = fields.count("max_transient");
  agent.backoff = fields.duration("backoff");
  agent.max_backoff = fields.duration("max_backoff");
  agent.may = fields.texts("may");
  if (fields.value("may_decide") != nullptr)
    fields.error(
        "may",
        "`may_decide` is no longer used; name the verbs that its runs may use, for example "
        "`may: [approve, reject]`",
        "may_decide");
  const Fields env = fields.child("env");
  agent.env_allow = env.texts("allow");
  for (const std::string& name : agent.env_allow) {
    const std::string fault = env_name_fault(name);
    if (!fault.empty())
      env.error("env", "'" + printable(name) + "' " + fault, "allow");
  }
  for (const auto& [name, value] : env.child("set").children()) {
    const std::string fault = env_name_fault(name);
    if (!fault.empty())
      value.error("env", "'" + printable(name) + "' " + fault);
    agent.env_set[name] = std::string(json::text(*value.value()).value_or(""));
  }
  return agent;
}

/// The caps of one place. `per_hour`: those in an hour are among them.
Caps read_caps(const Fields& fields, bool per_hour) {
  Caps caps;
  for (const CapKey key : kCapKeys) {
    const auto value = fields.number(word(key));
    const bool of_hour = window_of(key) == Millis(std::chrono::hours(1));
    if (value && *value > 0 && (per_hour || !of_hour))
      caps.emplace(key, *value);
  }
  return caps;
}

void add_caps(const CapPlace& place, Caps caps, Config& config) {
  if (!caps.empty())
    config.caps.emplace(place, std::move(caps));
}

void read_rule_caps(const Fields& rules, Config& config) {
  for (const auto& [index, rule] : rules.children()) {
    const Fields limits = rule.child("limits");
    const std::string name = rule.text("name").value_or("");
    add_caps({CapScope::rule, name}, read_caps(limits, false), config);
    FlowCaps own;
    own.cost_per_hour = limits.number("cost_per_hour");
    if (const auto tokens = limits.number("tokens_per_hour"))
      own.tokens_per_hour = static_cast<std::int64_t>(*tokens);
    own.shell_per_hour = limits.count("shell_per_hour");
    if (own != FlowCaps{})
      config.rule_caps.emplace(name, own);
  }
}

/// Reads the caps of all places. At `limits:` and in rules, those in an hour are of each flow, and
/// the number of agents that run at `limits:` is no cap: they are read elsewhere.
void read_all_caps(const Fields& fields, Config& config) {
  const Fields limits = fields.child("limits");
  Caps all = read_caps(limits, false);
  all.erase(CapKey::max_running);
  for (const auto& [key, cap] : default_caps(config.limits.spawns_per_hour))
    if (!limits.number(word(key)))
      all.emplace(key, cap);
  config.caps.clear();
  add_caps({CapScope::everything, ""}, std::move(all), config);
  for (const auto& [name, agent] : fields.child("agents").children())
    add_caps({CapScope::agent, name}, read_caps(agent.child("limits"), true), config);
  for (const auto& [name, provider] : fields.child("providers").children())
    add_caps({CapScope::provider, name}, read_caps(provider, true), config);
  for (const auto& [name, dialect] : fields.child("dialects").children())
    add_caps({CapScope::dialect, name}, read_caps(dialect.child("limits"), true), config);
  read_rule_caps(fields.child("rules"), config);
}

/// The options of a dialect itself.
Json without_limits(const Value& options) {
  if (!options.IsObject() || json::child(options, "limits") == nullptr)
    return Json(options);
  Json rest = Json::object();
  for (const auto& [name, value] : options.GetObject())
    if (json::text(name) != "limits")
      rest.set(json::name(name), Json(value));
  return rest;
}

void check_max_file(const LimitsConfig& limits, const Fields& fields) {
  if (limits.max_file_bytes == 0 || limits.max_file_bytes > kLargestFile)
    fields.error("size", "`max_file` is at least 1B and at most 1GiB", "max_file");
  else if (fields.has("max_file") && limits.max_flow_size_bytes > 0 &&
           limits.max_file_bytes > limits.max_flow_size_bytes)
    fields.warning("limits",
                   "`max_file` is above `max_flow_size`, which a file of this size would exceed; "
                   "raise `max_flow_size` too",
                   "max_file");
}

LimitsConfig read_limits(const Fields& fields) {
  LimitsConfig limits;
  take(limits.max_running, fields.count("max_running"));
  take(limits.spawns_per_hour, fields.count("spawns_per_hour"));
  take(limits.cost_per_hour, fields.number("cost_per_hour"));
  if (const auto tokens = fields.number("tokens_per_hour"))
    limits.tokens_per_hour = static_cast<std::int64_t>(*tokens);
  take(limits.shell_per_hour, fields.count("shell_per_hour"));
  take(limits.events_per_hour, fields.count("events_per_hour"));
  take(limits.max_flow_size_bytes, fields.size("max_flow_size"));
  take(limits.max_root_size_bytes, fields.size("max_root_size"));
  take(limits.max_file_bytes, fields.size("max_file"));
  check_max_file(limits, fields);
  take(limits.run.timeout, fields.duration("timeout"));
  take(limits.run.idle_timeout, fields.duration("idle_timeout"));
  take(limits.run.kill_grace, fields.duration("kill_grace"));
  take(limits.run.log_cap_bytes, fields.size("log_cap"));
  take(limits.retry.max_attempts, fields.count("max_attempts"));
  take(limits.max_transient, fields.count("max_transient"));
  take(limits.retry.backoff, fields.duration("backoff"));
  take(limits.retry.max_backoff, fields.duration("max_backoff"));
  return limits;
}

RetentionConfig read_retention(const Fields& fields) {
  RetentionConfig retention;
  take(retention.events, fields.duration("events"));
  take(retention.runs, fields.duration("runs"));
  take(retention.replaced, fields.duration("replaced"));
  if (const auto most = fields.count("max_runs"))
    retention.max_runs = *most;
  return retention;
}

OnInterrupted read_on_interrupted(const Fields& fields) {
  const auto word = fields.text("on_interrupted");
  if (word == "retry")
    return OnInterrupted::retry;
  return word == "fail" ? OnInterrupted::fail : OnInterrupted::hold;
}

std::shared_ptr<const Schema> schema_of(std::string_view name, Findings& findings) {
  const auto no_file = [](std::string_view uri) -> Result<std::string> {
    return fail(Errc::not_found, "no such schema", std::string(uri));
  };
  const std::string_view* const text = embedded_file(name);
  if (text == nullptr)
    return nullptr;
  auto schema = compile_schema(*text, name, no_file);
  if (schema)
    return *schema;
  Finding finding;
  finding.rule = "schema";
  finding.message = describe(schema.error());
  findings.push_back(std::move(finding));
  return nullptr;
}

/// Checks the options of a dialect against `schemas/<dialect>/options.schema.json`.
void check_options(const Fields& dialect, const Json& options, const std::string& name,
                   Findings& findings) {
  auto schema = schema_of("schemas/" + name + "/options.schema.json", findings);
  if (schema == nullptr)
    return;
  auto document = load_document(options.dump(), Format::json);
  if (!document)
    return;
  for (const Finding& fault : schema->check(**document)) {
    // The checked options are a copy. Their pointers are those of the original, which has the
    // lines.
    Fields at = dialect;
    if (const auto tokens = json::pointer_tokens(fault.pointer))
      for (const std::string& token : *tokens)
        at = at.child(token);
    // The message would quote a regular expression, so explain the rule in words.
    const bool folder = fault.schema_pointer == "#/properties/path/pattern";
    at.error(
        "options",
        (folder ? fault.found + " is not a folder below the root; write a path like `a/b` with "
                                "letters, digits, `.`, `_` and `-`, without `.` or `..` as a name"
                : fault.message) +
            (fault.pointer.empty() ? "" : " at " + fault.pointer) +
            (fault.suggestion.empty() ? "" : "; did you mean '" + fault.suggestion + "'?"));
  }
}

std::string nearest_role(const Config& config, const Role& role) {
  std::vector<std::string> known;
  for (const auto& [name, agent] : config.agents)
    known.push_back(name);
  const auto near = nearest(role, known);
  return near ? "; did you mean '" + *near + "'?" : "";
}

void check_roles(const Config& config, const Fields& rules) {
  for (const auto& [index, rule] : rules.children()) {
    for (const auto& [position, reaction] : rule.child("react").children()) {
      const auto role = reaction.text("run");
      if (role && agent_for(config, *role) == nullptr)
        reaction.warning("role",
                         "there is no agent '" + printable(*role) +
                             "' and no 'default', so the flow will wait" +
                             nearest_role(config, *role),
                         "run");
      const auto stopped = reaction.text("stop");
      const auto runs = [&](const auto& other) { return other.second.text("run") == stopped; };
      const auto all = rule.child("react").children();
      if (stopped && std::none_of(all.begin(), all.end(), runs))
        reaction.warning("role",
                         "no reaction of the rule runs '" + printable(*stopped) +
                             "', so there is nothing to stop",
                         "stop");
    }
  }
}

/// The agents from `role` over fallbacks back to itself, as `a -> b -> a`; empty: there is no way.
/// Of each circle only the way from its first name is given.
std::string circle_of(const Config& config, const Role& role) {
  std::map<Role, Role> from;
  std::vector<Role> next = {role};
  while (!next.empty()) {
    const Role at = std::move(next.back());
    next.pop_back();
    const auto agent = config.agents.find(at);
    if (agent == config.agents.end())
      continue;
    for (const Role& other : agent->second.fallback) {
      if (other == role && at != role) {
        std::string way = role;
        for (Role back = at; back != role; back = from.at(back))
          way.insert(0, back + " -> ");
        return role + " -> " + way;
      }
      if (other > role && from.try_emplace(other, at).second)
        next.push_back(other);
    }
  }
  return {};
}

/// A fallback must be another agent, and no agent may come back to itself.
void check_fallbacks(const Config& config, const Fields& agents) {
  for (const auto& [role, agent] : agents.children())
    if (const std::string way = circle_of(config, role); !way.empty())
      agent.error(
          "fallback",
          "the fallbacks go round: " + printable(way, 200) +
              "; take `fallback` away from one of them. Only an agent's own list counts, so it has "
              "to name all its stand-ins",
          "fallback");
  for (const auto& [role, agent] : agents.children())
    for (const std::string& other : config.agents.at(role).fallback)
      if (other == role)
        agent.error("fallback", "an agent cannot stand in for itself", "fallback");
      else if (!config.agents.contains(other))
        agent.error("fallback",
                    "there is no agent '" + printable(other) + "'" + nearest_role(config, other),
                    "fallback");
}

void check_backoffs(const Config& config, const Fields& fields) {
  const RetryLimits& common = config.limits.retry;
  check_backoff(fields.child("limits"), common.backoff, common.max_backoff);
  for (const auto& [role, agent] : fields.child("agents").children()) {
    const RetryLimits own = retry_limits(config, config.agents.at(role));
    check_backoff(agent, own.backoff, own.max_backoff);
  }
}

/// Hours that are wrong are left out: their fault is a finding.
Hours read_hours(const Fields& fields, const TimeZones* zones) {
  Hours hours;
  for (const std::string& text : fields.texts("hours")) {
    const auto span = parse_span(text);
    if (!span) {
      fields.error("hours", span.error().message, "hours");
    } else if (zones != nullptr && !zones->local(span->zone, Time{})) {
      fields.error("hours",
                   "this machine does not know the time zone '" + printable(span->zone, 80) +
                       "'; write a name such as Europe/Berlin or UTC (`timedatectl "
                       "list-timezones` lists them), or none for the zone of this machine",
                   "hours");
    } else {
      hours.spans.push_back(*span);
      hours.text += (hours.text.empty() ? "" : ", ") + text;
    }
  }
  return hours;
}

AllHours read_all_hours(const Fields& fields, const TimeZones* zones) {
  AllHours all;
  all.everything = read_hours(fields, zones);
  for (const auto& [role, agent] : fields.child("agents").children())
    if (auto hours = read_hours(agent, zones); !hours.spans.empty())
      all.agents.emplace(role, std::move(hours));
  for (const auto& [index, rule] : fields.child("rules").children())
    if (auto hours = read_hours(rule, zones); !hours.spans.empty())
      all.rules.emplace(rule.text("name").value_or(""), std::move(hours));
  return all;
}

MetricsConfig read_metrics(const Fields& metrics) {
  MetricsConfig read;
  take(read.textfile, metrics.text("textfile"));
  take(read.interval, metrics.duration("interval"));
  if (read.interval < kShortestMetrics || read.interval > kLongestMetrics)
    metrics.error("metrics", "the interval must be at least 1s and at most 1h", "interval");
  return read;
}

Config read_config(const Fields& fields, const TimeZones* zones, Findings& findings) {
  Config config;
  for (const auto& [role, agent] : fields.child("agents").children())
    config.agents[role] = read_agent(agent);
  check_fallbacks(config, fields.child("agents"));
  config.limits = read_limits(fields.child("limits"));
  check_backoffs(config, fields);
  read_all_caps(fields, config);
  config.hours = read_all_hours(fields, zones);
  config.on_interrupted = read_on_interrupted(fields);
  config.act_on_reverted = fields.text("vcs") == "act";
  for (const auto& [name, options] : fields.child("dialects").children()) {
    if (name == "rules") {
      options.error("dialect", "put your own rules under 'rules' at the top level");
      continue;
    }
    // `coordination:` without a value means its defaults.
    const Json chosen =
        options.value()->IsNull() ? Json::object() : without_limits(*options.value());
    check_options(options, chosen, name, findings);
    config.dialects.emplace_back(name, chosen);
  }
  const Fields rules = fields.child("rules");
  if (!rules.children().empty())
    config.dialects.emplace_back(
        "rules",
        Json::object({{"rules", read_rules(rules, config.limits.run, config.limits.retry)}}));
  for (auto& [name, options] : config.dialects)
    read_ignored(fields, options);
  config.systemd_units = fields.child("backend").text("type") == "systemd";
  const Fields notify = fields.child("notify");
  config.notify = notify.texts("command");
  config.notify_timeout = notify.duration("timeout").value_or(config.notify_timeout);
  if (config.notify_timeout <= Millis(0) || config.notify_timeout > kLongestNotify)
    notify.error("notify", "the timeout must be more than 0 and at most 1h", "timeout");
  config.metrics = read_metrics(fields.child("metrics"));
  config.roots = fields.texts("roots");
  take(config.state_dir, fields.text("state_dir"));
  config.retention = read_retention(fields.child("retention"));
  check_roles(config, rules);
  return config;
}

/// Adds to the findings what to write instead, because the schema can only say what is wrong. The
/// most common mistake is a number where a text with a unit is needed.
void name_remedies(const Value& root, Findings& faults) {
  for (Finding& fault : faults) {
    const std::string_view place = fault.schema_pointer;
    const Value* const value = json::at(root, fault.pointer);
    if (fault.pointer.empty() && root.IsNull())
      fault.message = "the file is empty; `baton init` writes a configuration to begin with";
    // A command line as a text: baton uses no shell, so it wants the words.
    if (value != nullptr && value->IsString() && fault.rule == "schema/type" &&
        fault.pointer.ends_with("/command"))
      fault.message += "; write its words as a list: [" +
                       join(split(printable(*json::text(*value), 200), ' '), ", ") + "]";
    if (place == "#/properties/version/const")
      fault.message += "; this baton reads version 1 of its configuration";
    else if (place == "#/definitions/duration/type")
      fault.message += "; a duration is a text with a unit, such as \"30s\" or \"5m\"";
    else if (place == "#/definitions/size/type")
      fault.message += "; a size is a text with a unit, such as \"512KiB\" or \"10MiB\"";
    else if (place == "#/definitions/agent/oneOf")
      fault.message +=
          "; an agent has either `adapter:`, which knows its program, or `command:`: take one out "
          "or put one in";
    else if (place == "#/properties/metrics/properties/textfile/pattern")
      fault.message +=
          "; node_exporter reads only files whose names end in `.prom`, such as \"baton.prom\"";
    else if (place.starts_with("#/definitions/agent/dependencies"))
      fault.message +=
          fault.message.find("\"result\"") != std::string::npos
              ? "; an adapter knows where its result stands: take `result:` out, or write "
                "`command:` in place of `adapter:`"
              : "; a `command:` holds all arguments itself: put it there";
    else if (place == "#/definitions/pointer/pattern")
      fault.message +=
          "; a JSON pointer begins with `/`, such as \"/usage/cost\"; `~` in a name "
          "is `~0` and `/` is `~1`";
  }
}

/// Whether the text has an anchor `&name` and an alias `*name`. Text that only looks like both
/// counts as well, because a secret must not get through.
bool has_aliases(std::string_view text) {
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
    const std::string name(text.substr(at + 1, end - at - 1));
    if (!name.empty() && text.find("*" + name) != std::string_view::npos)
      return true;
  }
  return false;
}

/// Returns the agent without the values of `env: set:` and adds these values to `secrets`.
Json without_secrets(const Value& agent, std::vector<std::string>& secrets) {
  const Value* const set = json::at(agent, "/env/set");
  Json blanked(agent);
  if (set == nullptr || !set->IsObject())
    return blanked;
  Json names = Json::object();
  for (const auto& [name, value] : set->GetObject()) {
    names.set(json::name(name), "");
    if (const auto secret = json::text(value); secret && !secret->empty())
      secrets.emplace_back(*secret);
  }
  Json env(*json::at(agent, "/env"));
  env.set("set", names);
  return blanked.set("env", env);
}

}  // namespace

tl::expected<ParsedConfig, Findings> parse_config(std::string text, Format format,
                                                  const TimeZones* zones) {
  auto document = load_document(std::move(text), format);
  if (!document)
    return tl::unexpected(std::move(document.error().findings));
  Findings findings = (*document)->warnings();
  const auto schema = schema_of(kSchema, findings);
  if (schema != nullptr) {
    Findings faults = schema->check(**document);
    name_remedies((*document)->root(), faults);
    findings.insert(findings.end(), faults.begin(), faults.end());
  }
  // `read_config` relies on a document that fits the schema.
  if (has_error(findings))
    return tl::unexpected(std::move(findings));
  ParsedConfig parsed;
  parsed.config = read_config(Fields(**document, findings), zones, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.span.begin.offset < b.span.begin.offset;
  });
  if (has_error(findings))
    return tl::unexpected(std::move(findings));
  parsed.warnings = std::move(findings);
  return parsed;
}

Result<Json> without_secrets(std::string text) {
  const bool aliases = has_aliases(text);
  const auto document = load_document(std::move(text), Format::yaml);
  if (!document)
    return fail(Errc::config, "the configuration cannot be read");
  const Value& root = (*document)->root();
  Json config(root);
  Json agents = Json::object();
  std::vector<std::string> secrets;
  if (const Value* const all = json::at(root, "/agents"); all != nullptr && all->IsObject())
    for (const auto& [role, agent] : all->GetObject())
      agents.set(json::name(role), without_secrets(agent, secrets));
  if (!secrets.empty())
    config.set("agents", agents);
  const std::string shown = config.dump();
  if (aliases && std::any_of(secrets.begin(), secrets.end(), [&](const std::string& each) {
        return shown.find(Json(each).dump()) != std::string::npos;
      }))
    return fail(Errc::config,
                "a value of `env: set:` also stands elsewhere in the configuration; write it there "
                "without a YAML alias, or give the agent the value by `env: allow:`");
  return config;
}

std::string describe(const Finding& finding, std::string_view path) {
  std::string text = printable(path) + ":" + std::to_string(finding.span.begin.line) + ":" +
                     std::to_string(finding.span.begin.column) + ": " + finding.message;
  if (!finding.suggestion.empty())
    text += "; did you mean '" + finding.suggestion + "'?";
  return text;
}

const AgentConfig* agent_for(const Config& config, const Role& role) {
  auto found = config.agents.find(role);
  if (found == config.agents.end())
    found = config.agents.find("default");
  return found == config.agents.end() ? nullptr : &found->second;
}

RunLimits run_limits(const Config& config, const AgentConfig& agent) {
  const RunLimits& common = config.limits.run;
  return {.timeout = agent.timeout.value_or(common.timeout),
          .idle_timeout = agent.idle_timeout.value_or(common.idle_timeout),
          .kill_grace = agent.kill_grace.value_or(common.kill_grace),
          .log_cap_bytes = agent.log_cap_bytes.value_or(common.log_cap_bytes)};
}

RetryLimits retry_limits(const Config& config, const AgentConfig& agent) {
  const RetryLimits& common = config.limits.retry;
  return {.max_attempts = agent.max_attempts.value_or(common.max_attempts),
          .backoff = agent.backoff.value_or(common.backoff),
          .max_backoff = agent.max_backoff.value_or(common.max_backoff)};
}

LoadLimits load_limits(const Config& config) {
  return limits_up_to(config.limits.max_file_bytes);
}

}  // namespace baton
