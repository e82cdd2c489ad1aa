#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::ccw_loop {

// What baton remembers of a loop beside its files. It is part of the journal. The names of its
// members in JSON never change.

/// What baton remembers of a loop besides its documents; journalled.
struct Memo {
  /// Digests, oldest first, of the skill_states and of the master states accepted so far, and of
  /// those that were corrected. A version that equals one of them is an old copy.
  std::vector<std::string> skills;
  std::vector<std::string> states;
  std::vector<std::string> corrected;
  /// Digests of the members in kMetadata accepted so far.
  std::vector<std::string> metadata;
  /// The newest run, and the digest of the work (see Snapshot) when it started.
  RunId run;
  std::string work;
  bool judged = false;          ///< its end was handled
  bool debug_log_done = false;  ///< its output was searched for debug records (C-27)
  std::uint32_t idle = 0;       ///< runs in a row that succeeded and changed nothing
  std::string counted;          ///< key of the last turn that was counted as an iteration
  /// when max_iterations was first seen to be reached, on baton's clock
  std::int64_t limit_ms = 0;
  std::string mode;          ///< `auto` or `interactive`, given by `start`
  std::string choice;        ///< the action that a person chose
  std::string choice_key;    ///< key of the turn that it is for
  std::string answer;        ///< what the person wrote with it
  bool pause_asked = false;  ///< a request paused the loop, not the file
  /// The status from which a request set the loop to running while an executor was at work, until
  /// that executor shows that it knows. Else empty.
  Word resumed_over;
  bool left = false;     ///< no executor was alive at the last decision
  bool hurry = false;    ///< do not wait for an executor that is still there after the end
  std::string untested;  ///< key of the turn by which it was last paused because no test had run
  Word hold;             ///< why baton paused or failed the loop
  std::string hold_why;
  /// When the work was last developed, debugged and validated, as of the last version; and which of
  /// the three arrived last. Nothing: only the times tell.
  std::vector<std::string> facts;
  Word newest;
  std::string warning;          ///< about the last version (T7)
  bool ahead = false;           ///< updated_at was once far ahead of baton's clock (S12)
  std::set<std::string> dealt;  ///< requests that are answered and may still be in the view
  bool operator==(const Memo&) const = default;
};

/// Adds a digest unless it is the newest already. Forgets the oldest beyond a limit.
void remember(std::vector<std::string>& history, const std::string& digest);

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::ccw_loop
