#include "dialects/fsm_loop/keys.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace baton::fsm_loop {
namespace {

/// applied: does what it says. label: has no effect by nature. not_applied: passed over, and said
/// so. guard: would promise a protection that is not there, so it is refused unless its value
/// turns it off.
enum class Use { applied, label, not_applied, guard };

struct KeyRow {
  std::string_view word;
  Use use;
};

constexpr std::array kTop = {
    KeyRow{"name", Use::applied},
    KeyRow{"initial", Use::applied},
    KeyRow{"states", Use::applied},
    KeyRow{"paradigm", Use::applied},
    KeyRow{"context", Use::applied},
    KeyRow{"scope", Use::applied},
    KeyRow{"max_iterations", Use::applied},
    KeyRow{"max_steps", Use::applied},
    KeyRow{"on_max_steps", Use::applied},
    KeyRow{"on_max_iterations", Use::applied},
    KeyRow{"max_edge_revisits", Use::applied},
    KeyRow{"backoff", Use::applied},
    KeyRow{"timeout", Use::applied},
    KeyRow{"default_timeout", Use::applied},
    KeyRow{"default_idle_timeout", Use::applied},
    KeyRow{"maintain", Use::applied},
    KeyRow{"on_handoff", Use::applied},
    KeyRow{"llm", Use::applied},
    KeyRow{"exit_code_aware", Use::applied},
    KeyRow{"singleton", Use::applied},
    KeyRow{"input_key", Use::applied},
    KeyRow{"required_inputs", Use::applied},
    KeyRow{"parameters", Use::applied},
    KeyRow{"from", Use::applied},
    KeyRow{"import", Use::applied},
    KeyRow{"fragments", Use::applied},
    KeyRow{"flow", Use::applied},
    KeyRow{"state_defs", Use::applied},
    KeyRow{"description", Use::label},
    KeyRow{"category", Use::label},
    KeyRow{"labels", Use::label},
    KeyRow{"visibility", Use::label},
    KeyRow{"commands", Use::label},
    KeyRow{"targets", Use::label},
    KeyRow{"prompt_size_guard", Use::not_applied},
    KeyRow{"config", Use::not_applied},
    KeyRow{"session_mode", Use::not_applied},
    KeyRow{"pruning_profile", Use::not_applied},
    KeyRow{"circuit", Use::guard},
    KeyRow{"host_guard", Use::guard},
    KeyRow{"tamper_guard", Use::guard},
    KeyRow{"prepatch_check", Use::guard},
    // Shortcut forms.
    KeyRow{"goal", Use::applied},
    KeyRow{"tools", Use::applied},
    KeyRow{"check", Use::applied},
    KeyRow{"toward", Use::applied},
    KeyRow{"using", Use::applied},
    KeyRow{"tolerance", Use::applied},
    KeyRow{"constraints", Use::applied},
    KeyRow{"steps", Use::applied},
    KeyRow{"until", Use::applied},
    KeyRow{"evaluator", Use::applied},
};

constexpr std::array kState = {
    KeyRow{"action", Use::applied},
    KeyRow{"action_type", Use::applied},
    KeyRow{"evaluate", Use::applied},
    KeyRow{"route", Use::applied},
    KeyRow{"next", Use::applied},
    KeyRow{"terminal", Use::applied},
    KeyRow{"failure", Use::applied},
    KeyRow{"capture", Use::applied},
    KeyRow{"timeout", Use::applied},
    KeyRow{"idle_timeout", Use::applied},
    KeyRow{"idempotent", Use::applied},
    KeyRow{"max_retries", Use::applied},
    KeyRow{"retryable_exit_codes", Use::applied},
    KeyRow{"max_rate_limit_retries", Use::applied},
    KeyRow{"rate_limit_backoff_base_seconds", Use::applied},
    KeyRow{"rate_limit_max_wait_seconds", Use::applied},
    KeyRow{"rate_limit_long_wait_ladder", Use::applied},
    KeyRow{"loop", Use::applied},
    KeyRow{"with", Use::applied},
    KeyRow{"context_passthrough", Use::applied},
    KeyRow{"append_to_messages", Use::applied},
    KeyRow{"params", Use::applied},
    KeyRow{"agent", Use::applied},
    KeyRow{"throttle", Use::applied},
    KeyRow{"fragment", Use::applied},
    KeyRow{"type", Use::applied},
    KeyRow{"learning", Use::applied},
    KeyRow{"description", Use::label},
    KeyRow{"tools", Use::not_applied},
    KeyRow{"model", Use::not_applied},
    KeyRow{"effort", Use::not_applied},
    KeyRow{"request_path", Use::not_applied},
    KeyRow{"session_mode", Use::not_applied},
    KeyRow{"pruning_profile", Use::not_applied},
    KeyRow{"tamper_guard", Use::guard},
    KeyRow{"prepatch_check", Use::guard},
    KeyRow{"worktree", Use::guard},
    KeyRow{"cost_ceiling", Use::guard},
};

constexpr std::array kEvaluate = {
    KeyRow{"type", Use::applied},
    KeyRow{"source", Use::applied},
    KeyRow{"operator", Use::applied},
    KeyRow{"target", Use::applied},
    KeyRow{"key", Use::applied},
    KeyRow{"path", Use::applied},
    KeyRow{"pattern", Use::applied},
    KeyRow{"negate", Use::applied},
    KeyRow{"error_patterns", Use::applied},
    KeyRow{"previous", Use::applied},
    KeyRow{"tolerance", Use::applied},
    KeyRow{"direction", Use::applied},
    KeyRow{"prompt", Use::applied},
    KeyRow{"schema", Use::applied},
    KeyRow{"min_confidence", Use::applied},
    KeyRow{"uncertain_suffix", Use::applied},
    KeyRow{"line", Use::applied},
    KeyRow{"scope", Use::applied},
    KeyRow{"max_stall", Use::applied},
    KeyRow{"track", Use::applied},
    KeyRow{"max_repeat", Use::applied},
    KeyRow{"history_file", Use::applied},
    KeyRow{"epsilon", Use::applied},
    KeyRow{"baseline_path", Use::applied},
    KeyRow{"auto_promote", Use::applied},
    KeyRow{"min_pairs", Use::applied},
    KeyRow{"pairs", Use::applied},
};

/// `allow`, `false` and `enabled: false` ask for nothing.
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
    const std::string_view word(member.name.GetString(), member.name.GetStringLength());
    const std::string place = member_pointer(pointer, word);
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const KeyRow& each) { return each.word == word; });
    // `*_ok` turns off single warnings of the original's own checker; `on_*` are routes.
    if (row == table.end()) {
      if (!word.ends_with("_ok") && !word.starts_with("on_"))
        unknown(word, table, place, findings);
    } else if (row->use == Use::not_applied) {
      findings.warning("S30", place, "the key " + quoted_word(word) + " is not applied by baton");
    } else if (row->use == Use::guard && !turned_off(member.value)) {
      findings.error(
          "S8", place,
          "the guard " + quoted_word(word) + " would not be enforced by baton, so it is refused",
          {.found = json::dump(member.value), .expected = "no such key"});
    }
  }
}

}  // namespace

void check_top_keys(const Value& root, FindingList& findings) {
  check(root, kTop, "", findings);
  if (const Value* const llm = json::child(root, "llm");
      llm != nullptr && json::child(*llm, "effort") != nullptr)
    findings.warning("S30", "/llm/effort", "the key \"effort\" is not applied by baton");
}

void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings) {
  check(body, kState, pointer, findings);
}

void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  check(evaluate, kEvaluate, pointer, findings);
}

}  // namespace baton::fsm_loop
