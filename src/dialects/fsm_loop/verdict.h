#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/schema/pattern.h"
#include "base/schema/schema.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"

namespace baton::fsm_loop {

/// How a command ended: an action, the judge, `git`.
struct ActionResult {
  int exit_code = 0;  ///< negative: the signal that ended it; 124: its time was up
  std::string output;
  std::string error_output;
  std::int64_t duration_ms = 0;
  std::string timeout_kind;  ///< `wall` or `idle` when its time was up; else empty
  /// It could not be run at all, and why (no such program, no such role); else empty.
  std::string not_run;
  bool operator==(const ActionResult&) const = default;
};

/// What `capture: NAME` keeps: output and stderr without the line ends at their end, exit_code,
/// duration_ms, and timeout_kind where there is one.
Json capture_of(const ActionResult& action);

/// What `prev` is behind a state: output, exit_code, state, and timeout_kind where there is one.
Json prev_of(const std::string& state, const ActionResult* action);

/// What an evaluation says.
struct Verdict {
  std::string name;       ///< in the words of the definition's generation: success or yes
  std::string type;       ///< of the evaluator, for the event; empty: there was nothing to judge
  bool implicit = false;  ///< the state names no evaluator (`default` of the event)
  Json details;  ///< an object: for the event and `last_result`. An `error` says why it is an error
  Json memory;   ///< for `Judging::memory` at the next entry of this state; null: nothing to keep
  Json captured;  ///< captures to be kept besides the action's own, by name; null: none
  /// How often in a row this state has been given `cannot_judge`, this time included.
  int undecided = 0;
};

/// What a verdict is given from. Everything pointed to outlives the call.
struct Judging {
  const Loop& loop;
  const LoopState& state;
  const ActionResult* action = nullptr;  ///< nullptr: the state has none
  std::string_view action_text = {};     ///< as it was run; empty without an action
  const ActionResult* side =
      nullptr;  ///< how what `side_command_for` asked for ended; nullptr: not run
  const Values& values;
  const Value* memory = nullptr;  ///< what the last verdict of this state left; nullptr: the first
};

/// What has to be run before a verdict can be given.
struct SideCommand {
  enum class Kind { judge, diff };
  Kind kind = Kind::judge;
  std::vector<std::string>
      argv;           ///< of diff, to be run in the project's folder; empty for the judge
  std::string input;  ///< for the stdin of the judge: question, text, schema of the answer
  Millis timeout{0};
  std::string model;  ///< for the judge's placeholders; may be empty
};
/// Nothing when `evaluate` needs no help, also when it is an error whatever the judge would say.
std::optional<SideCommand> side_command_for(const Judging& judging);

/// Never fails: what cannot be judged has the verdict `error`, and its details say why.
Verdict evaluate(const Judging& judging);

/// success is yes, failure is no, whichever of them a file uses.
bool same_verdict(std::string_view left, std::string_view right);
/// The word of a generation for yes, no, success, failure; any other word as it is.
std::string_view native_verdict(Generation generation, std::string_view word);

// The evaluators one by one, for verdict.cpp. `text` is what is judged. Verdicts are in the words
// of the later generation (yes, no); `evaluate` translates.

Verdict by_exit_code(int exit_code);
Verdict by_number(const Judging& judging, std::string_view text);
Verdict by_json(const Judging& judging, std::string_view text);
Verdict by_pattern(const Judging& judging, std::string_view text);
Verdict by_convergence(const Judging& judging, std::string_view text);
Verdict by_token(const Judging& judging, std::string_view text);
Verdict by_mcp_envelope(const Judging& judging, std::string_view text);
Verdict by_score(const Judging& judging, std::string_view text);

/// Whether what the state changes is still changing: `git diff --stat`, as its command gave it.
Verdict by_diff(const Judging& judging);
/// Whether what the state does is still something new.
Verdict by_repetition(const Judging& judging);

/// The judge's answer, as its command gave it.
Verdict by_answer(const Judging& judging, std::string_view text);
/// What the judge is asked; Errc::usage or not_found for a question that cannot be filled in.
Result<SideCommand> question(const Judging& judging, std::string_view text);

/// A pattern of `output_contains`: a regular expression as JSON Schema has them, but `$` also
/// matches before a line feed at the very end, and only a line feed ends a line. Errc::usage for a
/// spelling that only Python has; the message names the right one. Errc::schema for everything else
/// that does not compile; such a pattern is searched for as plain text (S34).
Result<Pattern> compile_pattern(std::string_view text);

/// The schema that an answer of the judge has to fit; it cannot refer to others. Errc::schema.
Result<std::shared_ptr<const Schema>> answer_schema(const Json& schema);

/// A verdict with its details; they become an object.
Verdict said(std::string name, Json details);
Verdict failed(const std::string& why, Json details = Json::object());

/// A text of the evaluator with its placeholders filled in; a value that is no text, as text.
/// Errc::not_found when there is no such member.
Result<std::string> setting(const Judging& judging, std::string_view key);

}  // namespace baton::fsm_loop
