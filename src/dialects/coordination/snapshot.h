// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one decision looks at: documents, options, plan, memory and runs of one session, read once.
// Also the slots for developers.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/coordination/conditions.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/memo.h"
#include "dialects/coordination/plan.h"

namespace baton::coordination {

/// Runs of one role for one subject in its present stage.
struct Job {
  std::uint32_t turn = 0;      ///< the due turn: the first without success
  std::uint32_t fresh = 0;     ///< successful turns since the last help
  std::uint32_t failures = 0;  ///< failed attempts of the due turn
  bool exhausted = false;      ///< no further attempt is allowed
  const Run* first = nullptr;  ///< an attempt of the due turn
  const Run* last = nullptr;   ///< newest run of the generation
};

/// A view, read once. It must not outlive the view.
struct Snapshot {
  explicit Snapshot(const View& given);

  const View& view;
  Options options;
  Memo memo;
  Plan plan;

  /// The generation of a subject; 0: not known yet.
  std::uint64_t generation(const Subject& subject) const;
  /// A live run of the subject in its present stage; nullptr without one.
  const Run* present(const Subject& subject) const;
  /// A live run of the subject in any stage.
  const Run* live(const Subject& subject) const;
  const Run* live_manager() const;  ///< of the session or a group
  bool any_live() const;
  /// A live run of the group, except of the project manager.
  const Run* live_worker(const Subject& subject) const;
  /// Whether baton handled the run long ago and has dropped it from its memory. After a restart the
  /// view may show such a run again.
  bool forgotten(const Run& run) const;
  /// Whether the run may have written a new version: it lives, or ended after the last decision.
  bool may_have_written(const Run& run) const;
  /// Whether a run for which `who` is true may have written a new version.
  template <class Who>
  bool written_by(const Who& who) const {
    for (const Run& run : view.runs)
      if (may_have_written(run) && who(run))
        return true;
    return false;
  }
  Job job(std::string_view role, const Subject& subject) const;

 private:
  template <class Which>
  const Run* first_live(const Which& which) const;
};

/// Whether a decision `unblocked` came after the block and no blocker is open.
bool unblocked(const Snapshot& snapshot, const Group& group);
/// The newest run of the job, for a sentence: ` (run 1a2b3c4d, its last line: "...")`. Empty
/// without an ended run.
std::string named_run(const Job& job);
/// What to do about a rejected file.
std::string correction(const Snapshot& snapshot, const std::string& path);
/// Text to add to the reason of a start: "; put back: ...; rejected: ...".
std::string faults_to_fix(const Snapshot& snapshot, const Subject& subject);
/// Messages for a group, per mailbox.
MailCount mail_count(const FlowState& docs, std::string_view group);

/// Whether baton stopped the run for lack of progress. Such a run counts as failed.
bool stalled(const Run& run);
inline constexpr std::string_view kStalled = "stalled";

/// The stage word of a group. It stays while one agent does one job: `dev` from pending to the
/// hand-off.
Word stage_of(const Snapshot& snapshot, const Group& group);

/// Slots for developers: how many work at a time, and which groups may run in parallel.
class DeveloperSlots {
 public:
  explicit DeveloperSlots(const Snapshot& snapshot);

  /// The claims of a developer of the group.
  std::vector<Claim> claims(const Group& group) const;
  /// Why a pending group may not start now (row 4).
  struct Obstacle {
    Situation situation = Situation::no_slot;
    std::string why;
  };
  /// Nothing when it may.
  std::optional<Obstacle> obstacle(const Group& group) const;
  /// Takes a slot for the group.
  void take(const Group& group, std::string_view role);

 private:
  std::size_t room(const Group& group) const;
  Obstacle no_room(const Group& group) const;

  const Snapshot& snapshot_;
  std::set<std::string> developing_;  ///< groups with a running or wanted developer
  std::set<std::string> in_hand_;     ///< groups with any running or wanted agent
};

}  // namespace baton::coordination
