// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/check.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/shell_access.h"
#include "dialects/fsm_loop/snapshot.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"
#include "dialects/timestamps.h"

namespace baton::fsm_loop {

namespace {

void name_fits(const Value& root, const std::string& stem, FindingList& findings) {
  const auto name = json::text(root, "loop_name");
  if (name && !stem.empty() && stem != *name && loop_of_instance(stem) != *name)
    findings.warning(
        "S42", "/loop_name",
        "loop_name is " + quoted_word(*name) + ", but the file is named " + quoted_word(stem),
        {.found = std::string(*name), .expected = stem});
}

}  // namespace

Findings check_state(const Value& root, const std::string& stem) {
  FindingList findings("fsm_loop");
  check_order(root, "", "started_at", "updated_at", "S40", findings);
  if (json::text(root, "status") == "awaiting_continuation" &&
      text_of(root, "continuation_prompt").empty())
    findings.warning("S41", "/status",
                     "a loop that awaits its continuation has no continuation_prompt");
  name_fits(root, stem, findings);
  return findings.take();
}

Findings check_events(const Value& lines) {
  FindingList findings("fsm_loop");
  for (rapidjson::SizeType i = 0; i < lines.Size(); ++i) {
    if (json::text(lines[i], "event") != "loop_complete")
      continue;
    for (const char* const key : {"iterations", "terminated_by"})
      if (json::child(lines[i], key) == nullptr)
        findings.warning("S43", item_pointer("", i), std::string("loop_complete lacks ") + key,
                         {.expected = key});
  }
  return findings.take();
}

Findings check_lock(const Value& root, const std::string& stem) {
  FindingList findings("fsm_loop");
  name_fits(root, stem, findings);
  if (const auto scope = json::text(root, "scope"))
    findings.warning("S44", "/scope", "scope is one text and is taken for a list of one",
                     {.found = std::string(*scope), .expected = "a list"});
  return findings.take();
}

namespace {

/// applied: baton does what the key says. label: the key has no effect. not_applied: baton ignores
/// the key and warns. guard: baton would not enforce the key, so it refuses the definition unless
/// the value turns the guard off.
enum class Use { applied, label, not_applied, guard };

/// The generation that introduced the key.
enum class Since { first, later };

struct KeyRow {
  std::string_view word;
  Since since;
  Use use;
};

/// Keys of one kind, separated by blanks.
struct KeyGroup {
  Since since;
  Use use;
  std::string_view words;
};

std::vector<KeyRow> rows_of(std::initializer_list<KeyGroup> groups) {
  std::vector<KeyRow> rows;
  for (const KeyGroup& group : groups)
    for (std::string_view rest = group.words; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      rows.push_back({rest.substr(0, end), group.since, group.use});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  return rows;
}

const std::vector<KeyRow>& top_keys() {
  static const std::vector<KeyRow> rows = rows_of({
      {Since::first, Use::applied,
       "name initial states paradigm context scope max_iterations backoff timeout maintain "
       "on_handoff llm exit_code_aware goal tools check toward using tolerance constraints steps "
       "until evaluator"},
      {Since::later, Use::applied,
       "max_steps on_max_steps on_max_iterations max_edge_revisits default_timeout "
       "default_idle_timeout singleton input_key required_inputs parameters from import fragments "
       "flow state_defs circuit"},
      {Since::later, Use::label,
       "description category labels visibility commands targets artifact_versioning "
       "session_mode pruning_profile"},
      {Since::later, Use::not_applied, "prompt_size_guard config"},
      {Since::later, Use::guard, "host_guard tamper_guard prepatch_check"},
  });
  return rows;
}

const std::vector<KeyRow>& state_keys() {
  static const std::vector<KeyRow> rows = rows_of({
      {Since::first, Use::applied,
       "action action_type evaluate route next terminal capture timeout idempotent"},
      {Since::later, Use::applied,
       "failure idle_timeout max_retries retryable_exit_codes max_rate_limit_retries "
       "rate_limit_backoff_base_seconds rate_limit_max_wait_seconds rate_limit_long_wait_ladder "
       "loop with context_passthrough append_to_messages params agent throttle fragment type "
       "learning worktree"},
      {Since::first, Use::label, "description"},
      {Since::later, Use::label, "session_mode pruning_profile"},
      {Since::later, Use::not_applied, "tools model effort request_path"},
      {Since::later, Use::guard, "tamper_guard prepatch_check cost_ceiling"},
  });
  return rows;
}

const std::vector<KeyRow>& evaluate_keys() {
  static const std::vector<KeyRow> rows = rows_of({
      {Since::first, Use::applied,
       "type source operator target path pattern negate previous tolerance direction remember "
       "prompt schema min_confidence uncertain_suffix"},
      {Since::later, Use::applied,
       "key error_patterns line scope max_stall track max_repeat history_file epsilon "
       "baseline_path auto_promote min_pairs pairs"},
  });
  return rows;
}

/// `allow`, `false` and `enabled: false` turn a guard off.
bool turned_off(const Value& value) {
  return value.IsNull() || json::boolean(value) == false || json::text(value) == "allow" ||
         json::boolean(value, "enabled") == false;
}

void unknown(std::string_view word, std::span<const KeyRow> table, const std::string& place,
             FindingList& findings) {
  if (findings.full(Severity::warning))
    return findings.warning("S22", place, "the key is not known");
  std::vector<std::string_view> words;
  for (const KeyRow& row : table)
    words.push_back(row.word);
  const std::string near = near_word(word, words);
  findings.warning("S22", place, "the key " + quoted_word(word) + " is not known and has no effect",
                   {.found = std::string(word), .suggestion = near});
}

void check(const Value& object, std::span<const KeyRow> table, const std::string& pointer,
           FindingList& findings) {
  for (const auto& member : object.GetObject()) {
    const std::string_view word = json::name(member.name);
    const std::string place = member_pointer(pointer, word);
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const KeyRow& each) { return each.word == word; });
    // `*_ok` turns off a warning of the original's checker; `on_*` are verdicts.
    if (row == table.end()) {
      if (!word.ends_with("_ok") && !word.starts_with("on_"))
        unknown(word, table, place, findings);
    } else if (row->use == Use::not_applied) {
      findings.warning("S30", place, "the key " + quoted_word(word) + " is not applied by baton");
    } else if (row->use == Use::guard && !turned_off(member.value)) {
      findings.warning(
          "S8", place,
          "baton does not carry out the guard " + quoted_word(word) + std::string(kRefusedStart),
          {.found = json::dump(member.value)});
    }
  }
}

bool any_later(const Value& object, std::span<const KeyRow> table) {
  return std::any_of(object.MemberBegin(), object.MemberEnd(), [&](const auto& member) {
    const std::string_view word = json::name(member.name);
    return std::any_of(table.begin(), table.end(), [&](const KeyRow& row) {
      return row.word == word && row.since == Since::later;
    });
  });
}

/// Whether the state uses words that the first generation does not have: yes, no, and most `on_`
/// keys.
bool later_words(const State& state) {
  constexpr std::array<std::string_view, 4> kFirst = {"on_success", "on_failure", "on_error",
                                                      "on_maintain"};
  const std::vector<Reference> all = references(state);
  return std::any_of(all.begin(), all.end(), [&](const Reference& each) {
    return each.key == "yes" || each.key == "no" ||
           (each.key.starts_with("on_") &&
            std::find(kFirst.begin(), kFirst.end(), each.key) == kFirst.end());
  });
}

bool is_later(const State& state) {
  const Value* const evaluate = json::child(*state.body, "evaluate");
  if (any_later(*state.body, state_keys()) || later_words(state))
    return true;
  if (evaluate == nullptr || !evaluate->IsObject())
    return false;
  const EvaluatorRow* const row = row_of(kEvaluators, json::text(*evaluate, "type").value_or(""));
  return any_later(*evaluate, evaluate_keys()) || (row != nullptr && row->later);
}

}  // namespace

Findings check_access(const Document& document, const Json& options) {
  FindingList list("fsm_loop");
  FindingList ignored("fsm_loop");  // check_definition has reported these
  check_variables(document.root(), options, list);
  check_shell(resolve(document.root(), ignored), options, list);
  Findings all = list.take();
  for (Finding& finding : all)
    finding.pointer = existing_pointer(document.root(), std::move(finding.pointer));
  return all;
}

void check_top_keys(const Value& root, FindingList& findings) {
  check(root, top_keys(), "", findings);
  if (const Value* const llm = json::child(root, "llm");
      llm != nullptr && json::child(*llm, "effort") != nullptr)
    findings.warning("S30", "/llm/effort", "the key \"effort\" is not applied by baton");
}

void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings) {
  check(body, state_keys(), pointer, findings);
}

void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  check(evaluate, evaluate_keys(), pointer, findings);
}

Generation generation_of(const Value& root, const std::vector<State>& states) {
  const bool silenced = std::any_of(root.MemberBegin(), root.MemberEnd(), [](const auto& member) {
    return json::name(member.name).ends_with("_ok");
  });
  return silenced || any_later(root, top_keys()) ||
                 std::any_of(states.begin(), states.end(), is_later)
             ? Generation::modern
             : Generation::v1;
}

Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall) {
  const Value& root = accepted.document->root();
  if (accepted.kind == "definition") {
    Findings findings = check_definition(*accepted.document);
    // The configuration may change later, so the daemon accepts the file and refuses the start.
    if (wall) {
      Findings more = check_access(*accepted.document, options);
      findings.insert(findings.end(), more.begin(), more.end());
    }
    return findings;
  }
  if (accepted.kind == "state")
    return check_state(root, stem_of(options, accepted.kind, path));
  if (accepted.kind == "events")
    return check_events(root);
  if (accepted.kind == "lock")
    return check_lock(root, stem_of(options, accepted.kind, path));
  return {};
}

}  // namespace baton::fsm_loop
