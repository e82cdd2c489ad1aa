// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

// A definition as structs. Every default is filled in, so readers look up nothing elsewhere.

/// A verdict and the state that it leads to. The target is the name of a state, `$current`, or a
/// text with `${...}` that gives one of these.
struct Row {
  std::string verdict;
  std::string target;
  bool operator==(const Row&) const = default;
};

/// `max_retries`, `on_retry_exhausted`, `retryable_exit_codes`.
struct Retry {
  std::int64_t max = 0;    ///< re-entries in a row after the first entry; 0: no limit
  std::string exhausted;   ///< target; empty: none
  std::vector<int> codes;  ///< exit codes that are worth a retry; empty: all
};

/// How baton reacts to a rate limit: short waits first, then the ladder (version 1.10 of the
/// original).
struct RateLimit {
  std::int64_t max_retries = 3;
  Millis base{30'000};
  Millis max_wait{21'600'000};
  std::vector<Millis> ladder = {Millis{300'000}, Millis{900'000}, Millis{1'800'000},
                                Millis{3'600'000}};
  std::string exhausted;  ///< target; empty: none
  bool own = false;       ///< the state defines at least one of these
};

/// How often in a row the action of a state may run.
struct Throttle {
  std::int64_t normal_max = 3;
  std::int64_t warn_max = 8;
  std::int64_t hard_max = 12;
  std::string hard;  ///< target; empty: none
};

/// One state, with its fragment merged and the defaults of the loop filled in.
struct LoopState {
  std::string name;
  std::optional<std::string> action;  ///< may hold placeholders; none: the state only decides
  ActionType action_type = ActionType::shell;  ///< see `by_agent`
  std::string role = "agent";                  ///< the role that runs an agent's action
  std::string capture;                         ///< name for the result; empty: none
  /// The evaluator that the definition names. Empty: `default_evaluator` applies.
  std::optional<Evaluator> evaluator;
  Json evaluate;               ///< the members of `evaluate`; null: none
  std::vector<Row> route;      ///< the rows of `route`, with `_` and `_error`
  std::vector<Row> shorthand;  ///< the targets of `on_X`, with X as verdict
  std::string next;            ///< target for every outcome; empty: by verdict
  std::string on_maintain;     ///< target; empty: the initial state
  Millis timeout{0};           ///< of the action, or of the loop inside; 0: none
  Millis idle_timeout{0};      ///< 0: none
  Retry retry;
  RateLimit rate_limit;
  std::optional<Throttle> throttle;  ///< none in the first generation
  std::string loop;                  ///< the loop that runs in this state; empty: none
  Json with;             ///< values for that loop's parameters, may hold placeholders; or null
  std::string worktree;  ///< a branch for that loop, may hold placeholders; empty: none
  std::string append_to_messages;  ///< may hold placeholders; empty: none
  Json param;                      ///< the parameters of its fragment (`Values::param`); or null
  bool routes = false;             ///< it has a `route`, so `shorthand` is not used
  bool terminal = false;
  bool failure = false;        ///< terminal, and the loop has failed
  bool timeout_given = false;  ///< the definition gives the timeout; else it is a default
  bool idempotent = false;     ///< the action may be repeated after a crash
  bool context_passthrough = false;
  std::string unsupported;  ///< what baton does not carry out here; empty: nothing

  /// Whether an agent runs the action (prompt, slash_command). Otherwise the shell runs it.
  bool by_agent() const {
    return action &&
           (action_type == ActionType::prompt || action_type == ActionType::slash_command);
  }
  /// Whether baton stores the captures of the loop inside under the name of this state.
  bool hands_back() const { return !loop.empty() && (context_passthrough || !with.is_null()); }
};

/// When a loop that goes round without a change is stopped: `circuit: {repeated_failure: ...}`.
struct RepeatedFailure {
  std::int64_t window = 3;                ///< equal outcomes in a row
  std::optional<std::int64_t> recurrent;  ///< equal outcomes in all; empty: no limit
  std::string target;                     ///< a state; empty: the loop fails
};

struct Llm {
  bool enabled = true;
  std::string model;  ///< empty: the judge's own
  std::int64_t max_tokens = 256;
  Millis timeout{30'000};
};

/// An input that callers may give.
struct Parameter {
  std::string name;
  std::string type;  ///< string, integer, number, boolean, enum, path
  bool required = false;
  Json fallback;  ///< `default`; null: none
  Json values;    ///< of an enum; null: any
};

/// A definition with all short forms, `from`, `flow`, `fragments` and `import` resolved.
struct Loop {
  std::string name;
  Generation generation = Generation::v1;
  std::string initial;
  std::vector<LoopState> states;           ///< in the order of the file
  Json context;                            ///< an object
  std::vector<std::string> scope;          ///< may hold `${context.X}`; empty: the whole project
  std::int64_t max_steps = 50;             ///< how many states may be entered
  std::optional<std::int64_t> max_passes;  ///< passes of a loop with `maintain`
  std::string on_max_steps;                ///< a state; empty: none
  std::string on_max_passes;               ///< a state (`on_max_iterations`); empty: none
  std::optional<std::int64_t> max_edge_revisits;  ///< of each edge; empty: no limit
  std::optional<RepeatedFailure> repeated_failure;
  Millis backoff{0};  ///< after each ordinary transition
  Millis timeout{0};  ///< of the whole loop, checked between states; 0: none
  bool maintain = false;
  Handoff on_handoff = Handoff::pause;
  Llm llm;
  bool exit_code_aware = true;
  bool singleton = false;
  std::string input_key = "input";
  std::vector<std::string> required_inputs;
  std::vector<Parameter> parameters;

  const LoopState* state(std::string_view state_name) const;  ///< nullptr: there is none
};

/// Reads the long form that `load` gives (definition.h). Never fails: it ignores members that do
/// not fit, and baton does not load a definition with errors.
Loop loop_of(const Value& definition);

/// The evaluator of a state that names none. Empty without an action. For an agent it is the judge,
/// or the exit code with `llm.enabled: false`. For an MCP tool it is `mcp_result`. For the shell it
/// is the exit code.
std::optional<Evaluator> default_evaluator(const Loop& loop, const LoopState& state);

/// Adds the defaults of parameters to the context. Errc::usage: a required parameter is missing, or
/// a value has the wrong type.
Result<void> fill_parameters(const Loop& loop, Json& context);

/// The context of a run, with the defaults of parameters. Errc::usage: as above, or a required
/// input is missing or empty.
Result<Json> complete_context(const Loop& loop, Json context);

/// What the original puts into the context of every run. A value that the definition or the start
/// gives stays as it is.
inline constexpr std::array<std::string_view, 7> kRunValues = {"run_dir",
                                                               "input_hash",
                                                               "max_steps",
                                                               "max_iterations",
                                                               "readiness_threshold",
                                                               "outcome_threshold",
                                                               "design_tokens_context"};

/// A value of the context that a state of a loop cannot do without.
struct NeededValue {
  std::string state;
  std::string name;
};
/// Each name once, with the first state that needs it.
std::vector<NeededValue> needed_values(const Loop& loop);
/// The first of them that neither the context of the loop nor `context` has. nullptr: none.
const NeededValue* missing_value(const Loop& loop, const Json& context,
                                 const std::vector<NeededValue>& needed);

/// Adds the run values of a loop that somebody starts or resumes. `run_dir` is absolute and ends in
/// a slash. Errc::usage: a state needs a value that nobody gives.
Result<void> add_run_values(const Loop& loop, std::string_view run_dir, Json& context);
/// Adds the run values of a loop inside another one, whose context is `around`. Errc::usage: a
/// state needs a value that nobody gives.
Result<void> add_inner_run_values(const Loop& loop, const Value& around, Json& context);

/// Adds the positional input of a start to the context. If the input is a JSON object and the
/// context or the parameters know all its members, it is merged. Any other text goes to
/// `input_key`.
void unpack_input(const Loop& loop, std::string_view input, Json& context);

}  // namespace baton::fsm_loop
