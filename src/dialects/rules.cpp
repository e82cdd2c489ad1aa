#include "dialects/rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::string_view kSubject = "{subject}";
constexpr std::uint64_t kMaxEntries = 20;

std::string member_text(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

/// A member that may be one text or a list of them.
std::vector<std::string> texts(const Value& object, std::string_view name) {
  std::vector<std::string> all;
  const Value* const value = json::child(object, name);
  if (value == nullptr)
    return all;
  if (const auto one = json::text(*value))
    all.emplace_back(*one);
  else if (value->IsArray())
    for (const Value& item : value->GetArray())
      if (const auto each = json::text(item))
        all.emplace_back(*each);
  return all;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<const Value*> rules_in(const Json& options) {
  std::vector<const Value*> rules;
  if (const Value* const list = json::child(*options, "rules"); list != nullptr && list->IsArray())
    for (const Value& rule : list->GetArray())
      rules.push_back(&rule);
  return rules;
}

/// The rule a flow belongs to: `rule` or `rule/{flow}`.
const Value* rule_of(const View& view) {
  const std::string name = view.flow.name.substr(0, view.flow.name.find('/'));
  for (const Value* const rule : rules_in(view.options))
    if (json::text(*rule, "name") == name)
      return rule;
  return nullptr;
}

Format format_of(std::string_view pattern) {
  if (pattern.ends_with(".yaml") || pattern.ends_with(".yml"))
    return Format::yaml;
  return pattern.ends_with(".jsonl") ? Format::jsonl : Format::json;
}

std::vector<FileKind> files(const Json& options) {
  std::vector<FileKind> kinds;
  for (const Value* const rule : rules_in(options)) {
    const std::string name = member_text(*rule, "name");
    for (const std::string& pattern : texts(*rule, "files")) {
      FileKind kind;
      kind.kind = name;
      kind.pattern = pattern;
      kind.schema = member_text(*rule, "schema");
      kind.format = format_of(pattern);
      kind.flow = pattern.find("{flow}") == std::string::npos ? name : name + "/{flow}";
      if (const Value* const breaker = json::child(*rule, "breaker")) {
        if (const auto changes = json::integer(*breaker, "changes"); changes && *changes > 0)
          kind.breaker_changes = static_cast<std::uint32_t>(*changes);
        if (const auto per = json::integer(*breaker, "per_ms"); per && *per > 0)
          kind.breaker_window = Millis(*per);
      }
      kinds.push_back(std::move(kind));
    }
  }
  return kinds;
}

/// A stage is a word; a number or a truth value is as good as one.
std::optional<Word> word_of(const Value* value) {
  if (value == nullptr)
    return std::nullopt;
  if (const auto text = json::text(*value))
    return text->empty() ? std::nullopt : std::optional<Word>(Word(*text));
  if (value->IsNumber() || value->IsBool())
    return json::dump(*value);
  return std::nullopt;
}

/// Collects the subjects of one document. With `{subject}` in the pointer, each member of the
/// object in front of it is one; members without a stage (comments, metadata) are none.
void collect(const Value& root, const std::string& pointer, Stages& stages) {
  const auto at = pointer.find(kSubject);
  if (at == std::string::npos) {
    if (auto word = word_of(json::at(root, pointer)))
      stages["main"] = std::move(*word);
    return;
  }
  const Value* const map = json::at(root, pointer.substr(0, at - 1));
  if (map == nullptr || !map->IsObject())
    return;
  const std::string rest = pointer.substr(at + kSubject.size());
  for (const auto& member : map->GetObject())
    if (auto word = word_of(json::at(member.value, rest)))
      stages[std::string(member.name.GetString(), member.name.GetStringLength())] =
          std::move(*word);
}

Stages stages(const View& view) {
  Stages stages;
  const Value* const rule = rule_of(view);
  if (rule == nullptr) {
    // The rule is no longer configured. Its subjects stay where they are, lest they enter their
    // stages anew when it is back.
    for (const auto& [subject, state] : view.stages)
      if (!state.stage.empty())
        stages[subject] = state.stage;
    return stages;
  }
  const std::string pointer = member_text(*rule, "stage");
  for (const auto& [path, accepted] : view.docs)
    collect(accepted.document->root(), pointer, stages);
  return stages;
}

struct Reaction {
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::string run;
  std::string stop;
  bool notify = false;
  std::string purpose;
  std::uint64_t max_entries = kMaxEntries;
};

std::uint64_t max_entries(const Value& rule, const Value& row) {
  const auto own = json::integer(row, "max_entries");
  const auto entries = own ? own : json::integer(rule, "max_entries");
  return entries && *entries > 0 ? static_cast<std::uint64_t>(*entries) : kMaxEntries;
}

std::vector<Reaction> reactions(const Value& rule) {
  std::vector<Reaction> all;
  const Value* const list = json::child(rule, "react");
  if (list == nullptr || !list->IsArray())
    return all;
  for (const Value& row : list->GetArray())
    all.push_back(Reaction{texts(row, "from"), texts(row, "to"), member_text(row, "run"),
                           member_text(row, "stop"), json::boolean(row, "notify").value_or(false),
                           member_text(row, "purpose"), max_entries(rule, row)});
  return all;
}

std::string passage(const StageState& state) {
  return (state.previous.empty() ? "" : state.previous + " -> ") + state.stage;
}

/// The rule's own limits, where it has any.
void limit(const Value& limits, const std::string& rule, Desired& desired) {
  if (const auto places = json::integer(limits, "max_running"); places && *places > 0)
    desired.claims.push_back(Claim{"rule " + rule, static_cast<std::uint32_t>(*places)});
  const auto millis = [](const Value& from, std::string_view name, Millis otherwise) {
    const auto value = json::integer(from, name);
    return value ? Millis(*value) : otherwise;
  };
  if (const Value* const retry = json::child(limits, "retry")) {
    RetryLimits own;
    own.max_attempts = static_cast<std::uint32_t>(
        json::integer(*retry, "max_attempts").value_or(own.max_attempts));
    own.backoff = millis(*retry, "backoff_ms", own.backoff);
    own.max_backoff = millis(*retry, "max_backoff_ms", own.max_backoff);
    desired.retry = own;
  }
  if (const Value* const run = json::child(limits, "run")) {
    RunLimits own;
    own.timeout = millis(*run, "timeout_ms", own.timeout);
    own.idle_timeout = millis(*run, "idle_timeout_ms", own.idle_timeout);
    own.kill_grace = millis(*run, "kill_grace_ms", own.kill_grace);
    own.log_cap_bytes =
        static_cast<std::uint64_t>(json::integer(*run, "log_cap_bytes")
                                       .value_or(static_cast<std::int64_t>(own.log_cap_bytes)));
    desired.limits = own;
  }
}

void react(const View& view, const Value& rule, const Reaction& reaction, const Subject& subject,
           const StageState& state, Decision& decision) {
  if (!has(reaction.to, state.stage) ||
      (!reaction.from.empty() && !has(reaction.from, state.previous)))
    return;
  if (reaction.notify)
    decision.notices.push_back(
        Notice{"notice", subject, passage(state) + " (#" + std::to_string(state.generation) + ")"});
  if (!reaction.stop.empty())
    decision.releases.push_back(
        Release{reaction.stop, subject, false, Millis(0), subject + " is " + passage(state)});
  if (reaction.run.empty())
    return;
  if (state.entries > reaction.max_entries) {
    decision.holds.push_back(
        Hold{reaction.run, subject, "max_entries",
             subject + " has entered " + state.stage + " " + std::to_string(state.entries) +
                 " times (max_entries is " + std::to_string(reaction.max_entries) +
                 "); look why it goes round, then `baton resume " + text(view.flow) + "`"});
    return;
  }
  Desired desired;
  desired.role = reaction.run;
  desired.subject = subject;
  desired.purpose = reaction.purpose.empty() ? state.stage : reaction.purpose;
  // The agent that hands a subject on is still ending when the next one is due: one at a time.
  desired.claims.push_back(Claim{"subject " + text(view.flow) + "#" + subject, 1});
  if (const Value* const limits = json::child(rule, "limits"))
    limit(*limits, member_text(rule, "name"), desired);
  desired.why = subject + " is " + passage(state);
  decision.desired.push_back(std::move(desired));
}

Decision decide(const View& view) {
  Decision decision;
  const Value* const rule = rule_of(view);
  if (rule == nullptr) {
    decision.control = Control::idle;
    return decision;
  }
  if (const Value* const limits = json::child(*rule, "limits"))
    if (const auto cap = json::integer(*limits, "spawns_per_hour"); cap && *cap >= 0)
      decision.spawns_per_hour = static_cast<std::uint32_t>(*cap);
  const std::vector<Reaction> table = reactions(*rule);
  for (const auto& [subject, state] : view.stages) {
    if (state.stage.empty())
      continue;
    if (!decision.declared.empty())
      decision.declared += ", ";
    decision.declared += subject == "main" ? state.stage : subject + ": " + state.stage;
    for (const Reaction& reaction : table)
      react(view, *rule, reaction, subject, state, decision);
  }
  return decision;
}

const Value* rule_named(const Json& options, std::string_view name) {
  for (const Value* const rule : rules_in(options))
    if (json::text(*rule, "name") == name)
      return rule;
  return nullptr;
}

Finding fault(std::string pointer, std::string message, const Value* found) {
  Finding finding;
  finding.rule = "rules/stage";
  finding.pointer = std::move(pointer);
  finding.message = std::move(message);
  finding.expected = "a text that is not empty, a number or a truth value";
  if (found != nullptr)
    finding.found = printable(json::dump(*found), 80);
  return finding;
}

/// A stage that is there and no word. One that is absent is none: the member may be a comment, and
/// of several files of a flow one may hold it.
void check_stage(const Value* stage, const std::string& pointer, Findings& findings) {
  if (stage != nullptr && !word_of(stage))
    findings.push_back(fault(
        pointer, "the stage is " + std::string(json::type_name(*stage)) + " and no word", stage));
}

Findings check_document(const Value& root, const std::string& pointer) {
  Findings findings;
  if (!root.IsObject() && !pointer.empty()) {
    findings.push_back(fault(
        "", "expected an object that holds the stage, found " + std::string(json::type_name(root)),
        &root));
    return findings;
  }
  const auto at = pointer.find(kSubject);
  if (at == std::string::npos) {
    check_stage(json::at(root, pointer), pointer, findings);
    return findings;
  }
  const std::string front = pointer.substr(0, at - 1);
  const std::string rest = pointer.substr(at + kSubject.size());
  const Value* const map = json::at(root, front);
  if (map == nullptr)
    return findings;
  if (!map->IsObject()) {
    findings.push_back(fault(
        front,
        "expected an object with a member per subject, found " + std::string(json::type_name(*map)),
        map));
    return findings;
  }
  for (const auto& member : map->GetObject()) {
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    check_stage(json::at(member.value, rest), front + "/" + json::pointer_token(name) + rest,
                findings);
  }
  return findings;
}

/// Across files: two of them must not say where the same subject stands.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope) {
  std::map<std::string, Findings> found;
  std::map<Subject, std::string> owners;
  for (const auto& [path, accepted] : docs) {
    const Value* const rule = rule_named(options, accepted.kind);
    if (rule == nullptr)
      continue;
    const std::string pointer = member_text(*rule, "stage");
    if (scope == Scope::document) {
      found[path] = check_document(accepted.document->root(), pointer);
      continue;
    }
    Stages stages;
    collect(accepted.document->root(), pointer, stages);
    for (const auto& [subject, stage] : stages) {
      const auto [owner, fresh] = owners.emplace(subject, path);
      if (!fresh) {
        Finding finding;
        finding.rule = "rules/subject";
        finding.message = "`" + printable(subject, 80) + "` has its stage in " + owner->second +
                          " too; one file of a flow must say it";
        found[path].push_back(std::move(finding));
      }
    }
  }
  return found;
}

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  if (!view.docs.empty())
    brief.state_file = view.docs.begin()->first;
  // With several files, the one that holds the subject.
  for (const auto& [path, accepted] : view.docs) {
    Stages own;
    if (const Value* const rule = rule_of(view))
      collect(accepted.document->root(), member_text(*rule, "stage"), own);
    if (own.contains(desired.subject))
      brief.state_file = path;
  }
  brief.prompt = "You are the agent `" + desired.role + "`. Your work: " + desired.purpose +
                 ", for `" + desired.subject + "`.\nIts state stands in the file " + view.env.root +
                 "/" + brief.state_file +
                 ". Read it, do the work, then set its stage there as you leave it.\n"
                 "Others may write the same file: change members with\n"
                 "  \"$BATON_EXE\" set \"$BATON_STATE_FILE\" /POINTER=JSON\n"
                 "which locks, checks and writes at once.\n";
  return brief;
}

}  // namespace

const Dialect& rules_dialect() {
  static const Dialect dialect = {
      .name = "rules",
      .files = files,
      .stages = stages,
      .decide = decide,
      .check = check,
      .brief = brief,
  };
  return dialect;
}

}  // namespace baton
