// SPDX-License-Identifier: Apache-2.0
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

// Evaluates an action. `evaluate` gives the verdict. `side_command_for` says whether a judge or
// another command has to run first. Below are the evaluators, one by one, and the way to the next
// state.

/// How a command ended: an action, the judge or `git`.
struct ActionResult {
  int exit_code = 0;  ///< negative: a signal; 124: timeout
  std::string output;
  std::string error_output;
  std::int64_t duration_ms = 0;
  std::string timeout_kind;  ///< `wall` or `idle` after a timeout; else empty
  /// Why the command could not run at all (no such program, no such role); else empty.
  std::string not_run;
  bool throttled = false;  ///< its agent's provider had too many requests
  bool operator==(const ActionResult&) const = default;
};

/// What `capture: NAME` stores: output and stderr without trailing line ends, exit_code,
/// duration_ms, and timeout_kind after a timeout.
Json capture_of(const ActionResult& action);

/// What `prev` has after a state: output, exit_code, state, and timeout_kind after a timeout.
Json prev_of(const std::string& state, const ActionResult* action);

/// The result of an evaluation.
struct Verdict {
  std::string name;       ///< in the words of the generation: `success` or `yes`
  std::string type;       ///< the evaluator, for the event; empty: nothing was evaluated
  bool implicit = false;  ///< the state names no evaluator (`default: true` in the event)
  /// An object for the event and `last_result`. Its member `error` is the reason of an error.
  Json details;
  Json memory;    ///< for `Judging::memory` at the next entry of this state; null: nothing
  Json captured;  ///< captures besides the action's own, by name; null: none
  /// How many times in a row the verdict of this state was `cannot_judge`, this time included.
  int undecided = 0;
};

/// The input of an evaluation. Everything it points to must outlive the call.
struct Judging {
  const Loop& loop;
  const LoopState& state;
  const ActionResult* action = nullptr;  ///< nullptr: the state has none
  std::string_view action_text = {};     ///< the text that ran; empty without an action
  const ActionResult* side =
      nullptr;  ///< how the command of `side_command_for` ended; nullptr: not run
  const Values& values;
  const Value* memory = nullptr;  ///< from the last verdict of this state; nullptr: none
};

/// A command that has to run before there can be a verdict.
struct SideCommand {
  enum class Kind {
    judge,
    diff,     ///< `git diff`
    history,  ///< prints the file of scores or counts that the loop keeps
  };
  Kind kind = Kind::judge;
  std::vector<std::string> argv;  ///< run in the project's folder; empty for the judge
  std::string input;              ///< for the judge's stdin: question, output, schema of the answer
  Millis timeout{0};
  std::string model;  ///< a placeholder of the judge's command; may be empty
};
/// The command that has to run before the verdict. Empty if the evaluator needs none, or if the
/// verdict is an error in any case.
std::optional<SideCommand> side_command_for(const Judging& judging);

/// `git diff` for diff_stall.
SideCommand diff_command(const Judging& judging);
/// Prints the history of score_stall or open_question_stall. Empty: its name cannot be filled in.
std::optional<SideCommand> history_command(const Judging& judging, bool scores);

/// Evaluates the action. Never fails: if there can be no other verdict it is `error`, and the
/// details say why.
Verdict evaluate(const Judging& judging);

/// Whether two words are the same verdict. `success` equals `yes`, and `failure` equals `no`.
bool same_verdict(std::string_view left, std::string_view right);
/// The word of a generation for yes, no, success and failure. Other words stay as they are.
std::string_view native_verdict(Generation generation, std::string_view word);

// The evaluators. They read `text`. They use the words of the later generation (yes, no), and
// `evaluate` translates them.

Verdict by_exit_code(int exit_code);
Verdict by_number(const Judging& judging, std::string_view text);
Verdict by_json(const Judging& judging, std::string_view text);
Verdict by_pattern(const Judging& judging, std::string_view text);
Verdict by_convergence(const Judging& judging, std::string_view text);
Verdict by_token(const Judging& judging, std::string_view text);
Verdict by_mcp_envelope(const Judging& judging, std::string_view text);
Verdict by_score(const Judging& judging, std::string_view text);

/// Whether the project still changes, by the output of `git diff --stat`.
Verdict by_diff(const Judging& judging);
/// Whether the numbers that the loop keeps in a file still rise (score_stall) or fall
/// (open_question_stall).
Verdict by_history(const Judging& judging, bool rising);
/// Whether the values that the state tracks still change.
Verdict by_repetition(const Judging& judging);

/// By the answer of the judge. It asks about `text`.
Verdict by_answer(const Judging& judging, std::string_view text);
/// The question for the judge. Errc::usage or not_found: a placeholder in the prompt cannot be
/// filled in.
Result<SideCommand> question(const Judging& judging, std::string_view text);

/// Compiles a pattern of `output_contains`: a regular expression as in JSON Schema. But `$` also
/// matches before a line feed at the very end, and only a line feed ends a line. Errc::usage: a
/// spelling that only Python has; the message names the right one. Errc::schema: the pattern does
/// not compile for another reason; baton then searches for it as plain text (S34).
Result<Pattern> compile_pattern(std::string_view text);

/// The schema for the answers of the judge. It cannot refer to other schemas. Errc::schema: it does
/// not compile.
Result<std::shared_ptr<const Schema>> answer_schema(const Json& schema);

/// A verdict with details, which become an object.
Verdict make_verdict(std::string name, Json details);
Verdict failed(const std::string& why, Json details = Json::object());

/// A member of the evaluator as text, with placeholders filled in. Errc::not_found: it is absent.
Result<std::string> setting(const Judging& judging, std::string_view key);

// Finds the next state after a verdict, an error or a throttle.

/// Where the loop goes next.
struct Transition {
  enum class Kind {
    to,     ///< to the state `to`, which exists
    error,  ///< the loop fails; see `why`
    stop,   ///< a signal ended the action: the loop is interrupted
    stall,  ///< the loop goes round without a change (`circuit`): it fails; see `why`
  };
  Kind kind = Kind::to;
  std::string to;
  std::string why;     ///< for all but `to`
  std::string reason;  ///< for the event, such as `action_error`; may be empty
  bool operator==(const Transition&) const = default;
};

/// The transition for a verdict. With `route` the row of the verdict itself comes first, then
/// `_error` for an error, then `_`, then `_error` for a no. Without `route` it is `on_WORD`, and
/// `on_error` for a no without `on_no`. A verdict without a target is an error, also for a loop
/// with `maintain`. `values.result` must be that of the verdict, because targets may use it.
Transition transition_for(const Loop& loop, const LoopState& state, const Verdict& verdict,
                          const ActionResult* action, const Values& values);

/// The transition of a state with `next`.
Transition transition_by_next(const Loop& loop, const LoopState& state, const ActionResult* action,
                              const Values& values);

/// The transition after an error outside the action: a placeholder without a value, or a program
/// that does not start. Only `on_error`, `error` and `_error` apply.
Transition transition_after_fault(const Loop& loop, const LoopState& state, const std::string& why,
                                  const Values& values);

/// The transition of a state whose action has run too often in a row: to `on_throttle_hard`, else
/// to the target for errors. Empty: there is neither.
std::optional<Transition> transition_when_throttled(const Loop& loop, const LoopState& state,
                                                    const Values& values);

/// Whether this error of a loop says that its definition has no next state (Transition::why).
bool lacks_target(std::string_view error);

/// Fills in the placeholders of a target and resolves `$current`. Gives an error if there is no
/// such state.
Transition resolve_target(const Loop& loop, const LoopState& state, const std::string& target,
                          const Values& values);

}  // namespace baton::fsm_loop
