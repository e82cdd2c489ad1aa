#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/words.h"

namespace baton::ccw_loop {

/// What is to be done next with a running loop, from its state alone.
struct Choice {
  enum class Kind {
    act,       ///< start the executor for `action`
    limit,     ///< the iterations are used up: on_max_iterations decides
    no_tests,  ///< the validation ran no test: no_tests decides
    stuck,     ///< debugging leads nowhere
  };
  Kind kind = Kind::act;
  Action action = Action::init;
  std::string why;
  bool operator==(const Choice&) const = default;
};

/// What is known besides the state.
struct Past {
  std::uint32_t debugged_in_a_row = 0;  ///< how many of the last actions were debugging
  std::optional<Action> done;  ///< the last action; tells which of two equal times is the later
  /// Which fact came last, as baton saw them come: it outranks their times, which may be of several
  /// clocks. Nothing when they were all there already.
  std::optional<Action> newest;
  /// What the last executor proposed; it counts only from step 4 on, and only for an action that is
  /// possible.
  std::optional<Action> hint;
};

/// The steps of the format page, in order.
Choice choose(const Loop& loop, const Options& options, const Past& past = {});

/// Why an action cannot be begun as the loop stands; empty when it can.
std::string obstacle(const Loop& loop, Action action);

/// What an executor says on its output about the action it has done. Told to the next one, and
/// never believed: the files are the truth.
struct ResultBlock {
  bool found = false;
  std::string action;
  std::string status;  ///< success, failed, needs_input
  std::string message;
  std::string next;  ///< the word behind NEXT_ACTION_NEEDED; `NONE` when it is missing
  bool operator==(const ResultBlock&) const = default;
};

/// The last block of an output. Anything that is none gives one that was not found.
ResultBlock result_block(std::string_view output);

/// The action a block proposes; nothing for words that name none.
std::optional<Action> proposed(const ResultBlock& block);

}  // namespace baton::ccw_loop
