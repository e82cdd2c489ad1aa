#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/words.h"

namespace baton::ccw_loop {

// Chooses what a running loop does next, from its state alone. decide.cpp carries it out.

/// The next action, or why there is none.
struct NextAction {
  enum class Kind {
    act,       ///< start the executor for `action`
    limit,     ///< max_iterations is reached; the option on_max_iterations decides
    no_tests,  ///< the validation ran no test; the option no_tests decides
    stuck,     ///< debugging leads nowhere
  };
  Kind kind = Kind::act;
  Action action = Action::init;
  std::string why;
  bool operator==(const NextAction&) const = default;
};

/// What is known beside the state.
struct RunHistory {
  std::uint32_t debugged_in_a_row = 0;  ///< how many of the last actions were debugging
  std::optional<Action> done;           ///< the last action; it decides between two equal times
  /// The kind of work that arrived last. It goes before the times, which may come from several
  /// clocks. Nothing when all of it was there from the beginning.
  std::optional<Action> newest;
  /// The proposal of the last executor. It counts from step 4 on, and only if the action is
  /// possible.
  std::optional<Action> proposed;
};

/// Follows the steps of the format page, in order.
NextAction next_action(const Loop& loop, const Options& options, const RunHistory& history = {});

/// Why the action is not possible now; empty: it is.
std::string obstacle(const Loop& loop, Action action);

/// What an executor prints about the action it has done. Only a proposal and a message for the next
/// executor: the files decide.
struct ResultBlock {
  bool found = false;
  std::string action;
  std::string status;  ///< success, failed or needs_input
  std::string message;
  std::string next;  ///< the word after NEXT_ACTION_NEEDED; `NONE` when it is missing
  bool operator==(const ResultBlock&) const = default;
};

/// The last block of an output. `found` is false when there is none.
ResultBlock result_block(std::string_view output);

/// The action that a block proposes; nothing for other words.
std::optional<Action> proposed(const ResultBlock& block);

}  // namespace baton::ccw_loop
