// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses what a running loop does next, from its master state and the history of its runs.
// decide.cpp carries the choice out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/words.h"

namespace baton::ccw_loop {

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

/// What baton knows of the loop besides its master state.
struct RunHistory {
  std::uint32_t debugged_in_a_row = 0;  ///< how many of the last actions were debugging
  std::optional<Action> done;           ///< the last action; of two equal times its time is newer
  /// The kind of work that baton saw arrive last. It counts more than the times in the file, which
  /// may come from several clocks. Not set: baton saw no kind of work arrive, and the times count.
  std::optional<Action> newest;
  /// The proposal of the last executor. It may replace rows A5 to A8 if the action is possible.
  std::optional<Action> proposed;
};

/// Follows the rows A2 to A8 of the format page, in order.
NextAction next_action(const Loop& loop, const Options& options, const RunHistory& history = {});

/// Why the action is not possible now; empty: it is.
std::string obstacle(const Loop& loop, Action action);

/// What an executor prints about the action it has done. baton uses it only as a proposal for the
/// next action and as a message for the next executor. The files decide.
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
