#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

/// A verdict and the state it leads to. Targets here and below are texts: a state's name,
/// `$current`, or a text with `${...}` that gives one of the two.
struct Row {
  std::string verdict;
  std::string target;
  bool operator==(const Row&) const = default;
};

/// `max_retries`, `on_retry_exhausted`, `retryable_exit_codes`.
struct Retry {
  std::int64_t max = 0;    ///< re-entries in a row after the first entry; 0: not limited
  std::string exhausted;   ///< target; empty: none
  std::vector<int> codes;  ///< exit codes that are worth a retry; empty: all
};

/// What a state does about a rate limit (1.10 of the origin: short tier, then the ladder).
struct RateLimit {
  std::int64_t max_retries = 3;
  Millis base{30'000};
  Millis max_wait{21'600'000};
  std::vector<Millis> ladder = {Millis{300'000}, Millis{900'000}, Millis{1'800'000},
                                Millis{3'600'000}};
  std::string exhausted;  ///< target; empty: none
};

/// How often a state may be entered.
struct Throttle {
  std::int64_t normal_max = 3;
  std::int64_t warn_max = 8;
  std::int64_t hard_max = 12;
  std::string hard;  ///< target; empty: none
};

/// One state of a loop, with its fragment worked in and the loop's defaults filled in.
struct LoopState {
  std::string name;
  std::optional<std::string> action;           ///< a text with placeholders; none: only decides
  ActionType action_type = ActionType::shell;  ///< as it is carried out; see `by_agent`
  std::string role = "agent";                  ///< who carries out an agent's action
  std::string capture;                         ///< name to keep the result under; empty: none
  /// The evaluator as written; nothing where the state has none, then `default_evaluator` holds.
  std::optional<Evaluator> evaluator;
  Json evaluate;               ///< its members; null without one
  std::vector<Row> route;      ///< with `_` and `_error`
  std::vector<Row> shorthand;  ///< `on_X` by X; without on_maintain and its like
  std::string next;            ///< target whatever comes out; empty: by verdict
  std::string on_maintain;     ///< target; empty: the initial state
  Millis timeout{0};           ///< of the action; 0: none
  Millis idle_timeout{0};      ///< 0: none
  Retry retry;
  RateLimit rate_limit;
  std::optional<Throttle> throttle;
  std::string loop;  ///< name of the loop it runs; empty: none
  Json with;         ///< values for that loop's parameters, with placeholders. Or null
  std::string append_to_messages;  ///< a text with placeholders; empty: none
  Json param;  ///< of its fragment, by name; texts hold placeholders (`Values::param`). Or null
  bool routes = false;  ///< it has a `route`: then `shorthand` is not asked
  bool terminal = false;
  bool failure = false;       ///< terminal, and the end is a failure
  bool timeout_said = false;  ///< by the definition; else the default of its generation
  bool idempotent = false;    ///< the action may be repeated after a crash
  bool context_passthrough = false;

  /// An agent's turn (prompt, slash_command); else a shell's, if there is an action.
  bool by_agent() const {
    return action &&
           (action_type == ActionType::prompt || action_type == ActionType::slash_command);
  }
  /// What the loop in it captured is kept under the state's name.
  bool hands_back() const { return !loop.empty() && (context_passthrough || !with.is_null()); }
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

/// A definition as a value: short forms, `from`, `flow`, `fragments` and `import` are resolved,
/// defaults filled in.
struct Loop {
  std::string name;
  Generation generation = Generation::v1;
  std::string initial;
  std::vector<LoopState> states;           ///< in the order of the file
  Json context;                            ///< an object
  std::vector<std::string> scope;          ///< may hold `${context.X}`; empty: the whole project
  std::int64_t max_steps = 50;             ///< entries of states
  std::optional<std::int64_t> max_passes;  ///< full passes of a maintained loop
  std::string on_max_steps;                ///< a state's name; empty: none
  std::string on_max_passes;               ///< the same (`on_max_iterations`)
  std::optional<std::int64_t> max_edge_revisits;  ///< of each way; nothing: any number
  Millis backoff{0};                              ///< after each ordinary route
  Millis timeout{0};  ///< of the whole loop, looked at between states; 0: none
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

/// Reads the long form that `load` gives (library.h). Never fails: what does not fit is passed
/// over, since a definition with errors is not loaded in the first place.
Loop loop_of(const Value& definition);

/// What is asked for a verdict where the state does not say: nothing without an action, the judge
/// after an agent (its exit code when `llm.enabled` is false), else the exit code.
std::optional<Evaluator> default_evaluator(const Loop& loop, const LoopState& state);

/// Puts the defaults of parameters that were not given into the context. Errc::usage when one that
/// is required is missing, or a value is not of its type.
Result<void> fill_parameters(const Loop& loop, Json& context);

/// The positional input of a start: a JSON object whose members are all known to the context or the
/// parameters is unpacked; else the text is put where `input_key` says.
void unpack_input(const Loop& loop, std::string_view input, Json& context);

/// Errc::usage for a required input that is missing or empty.
Result<void> check_required(const Loop& loop, const Value& context);

}  // namespace baton::fsm_loop
