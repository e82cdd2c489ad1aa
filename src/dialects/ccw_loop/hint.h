#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialects/ccw_loop/words.h"

namespace baton::ccw_loop {

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
