// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one decision looks at: the documents and runs of one loop, read into types once. Also the
// writes that the decision makes.

#include <optional>
#include <string>
#include <vector>

#include "core/dialect.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/memo.h"

namespace baton::ccw_loop {

/// What the runs tell about the present stage.
struct Job {
  std::uint64_t generation = 0;
  std::uint32_t turn = 0;               ///< the turn that is due: the first that has not succeeded
  std::uint32_t failures = 0;           ///< failed attempts of that turn
  bool exhausted = false;               ///< no further attempt is allowed
  std::uint32_t debugged_in_a_row = 0;  ///< how many of the latest successful turns were debugging
  const Run* last = nullptr;            ///< the newest attempt that has ended, of any turn
  std::optional<Action> done;           ///< the action of the last turn that succeeded
  bool completing = false;              ///< a turn for `complete` has succeeded

  /// Identifies the turn within the flow: "3/1".
  std::string key() const { return std::to_string(generation) + "/" + std::to_string(turn); }
};

/// Options, memo and loop of a view. Lives as long as the view.
struct Snapshot {
  explicit Snapshot(const View& given);

  const View& view;
  Options options;
  Memo memo;
  Loop loop;
  Job job;

  /// The executor that is alive, from this stage or an earlier one; nullptr: none.
  const Run* live() const;
  /// When the loop got its present status, on baton's clock.
  Time since() const;
  bool interactive() const;
  /// A digest of what an executor changes by its work: skill_state, and also current_iteration if
  /// the executor counts it (granularity `run`).
  std::string work_digest() const;
};

/// Whether the run failed. True for forgiven runs too, although they do not count as attempts.
bool failed(const Run& run);
/// "exit_1", "timed_out"
std::string how_it_ended(const Run& run);

/// What baton writes to the master state in one decision. It becomes one update.
class Writes {
 public:
  void set(std::string_view name, const Json& value);
  void clear(std::string_view name);  ///< removes a member if it is there
  void add_error(const Json& error);
  void because(const std::string& why);
  /// A new status. `failed` also sets failure_reason and completed_at; `running` removes them.
  void status(const Snapshot& snapshot, Status status, const std::string& failure_reason = "");
  std::vector<Update> updates(const Snapshot& snapshot) const;

 private:
  std::vector<json::Edit> edits_;
  std::string why_;
};

/// The digits of a stamp, for names: `20260122T100000`.
std::string compact(std::string_view stamp);

}  // namespace baton::ccw_loop
