// SPDX-License-Identifier: Apache-2.0
#pragma once

// What baton remembers of a loop besides its files. It is kept in the journal, so the names of the
// JSON members never change.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::ccw_loop {

/// The memory of one loop.
struct Memo {
  // Digests of earlier versions, oldest first. `admit` recognises old copies by them.
  std::vector<std::string> skills;     ///< accepted versions of skill_state
  std::vector<std::string> states;     ///< accepted versions of the whole master state
  std::vector<std::string> corrected;  ///< master states that baton has corrected
  std::vector<std::string> metadata;   ///< accepted values of the members in kMetadata
  RunId run;                           ///< the newest run
  std::string work;                    ///< Snapshot::work_digest when that run started
  bool judged = false;                 ///< baton has looked at the end of that run, see `idle`
  /// baton has searched the output of that run for debug records (C-27).
  bool debug_log_done = false;
  std::uint32_t idle = 0;  ///< runs in a row that succeeded and changed nothing
  std::string counted;     ///< key of the last turn that was counted as an iteration
  /// Since when the running executor is beyond max_iterations, on baton's clock; 0: it is not.
  std::int64_t limit_ms = 0;
  std::string mode;          ///< `auto` or `interactive`, given by `start`
  std::string choice;        ///< the action that a person chose
  std::string choice_key;    ///< the turn that `choice` is for (Job::key)
  std::string answer;        ///< text that the person added to the choice
  bool pause_asked = false;  ///< a request paused the loop; false: somebody wrote it into the file
  bool exit_asked = false;   ///< the same for `user_exit`
  std::string asking_agent;  ///< the agent whose request moved the loop last; empty: a person's
  /// The status before a request set the loop to running while an executor was alive. An old copy
  /// of that executor may bring the status back. Empty once the executor has written `running` with
  /// new work, or has ended.
  Word resumed_over;
  bool left = false;   ///< no executor was alive at the last decision
  bool hurry = false;  ///< a person stopped an ended loop: end its executor without pause_grace
  /// The turn in which baton last paused the loop because no test had run (Job::key).
  std::string untested;
  Word hold;             ///< why baton paused or failed the loop; empty: baton did not
  std::string hold_why;  ///< the same as a sentence
  /// Times of the last develop, debug and validate work in the last version, in this order; "" for
  /// a missing time.
  std::vector<std::string> facts;
  /// Which of these three kinds of work baton saw arrive last; empty: next_action compares the
  /// times.
  Word newest;
  std::string warning;          ///< a warning about the last version (T7)
  bool ahead = false;           ///< updated_at was once far ahead of baton's clock (S12)
  std::set<std::string> dealt;  ///< requests that are answered and may still be in the view
  bool operator==(const Memo&) const = default;
};

/// Adds a digest unless it is the newest one already. Keeps the newest 32.
void remember(std::vector<std::string>& history, const std::string& digest);

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::ccw_loop
