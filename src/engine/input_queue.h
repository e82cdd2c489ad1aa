// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects what came in until a step has committed it: changed paths, ends of runs, late writes,
// and scans that are due. If a step cannot be committed, the next step finds all of it again.
// While the root is unavailable, the queue keeps the ends of runs and repeats the scan. It does not
// judge files; that is engine/intake.
//
// A step looks only at so many files (StepLimits). The others stay queued for the next step, and
// until they have been looked at, their flows are `unread`: baton neither decides them nor starts
// anything for them, because what it knows of them is old. After a scan of the whole root (a start,
// a reload, an overflow) all flows are unread until the last file of the scan has been looked at.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "core/ports.h"
#include "engine/configured_parts.h"
#include "engine/decide/run_completion.h"
#include "engine/perform/pending_writes.h"
#include "engine/request_queue.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What is left of the limits of one step.
class StepBudget {
 public:
  StepBudget(Clock& clock, StepLimits limits) : clock_(clock), limits_(limits), began_(now()) {}
  /// Whether the step may look at one more file that can wait. It may look at one in any case.
  bool may_look() const {
    return looked_ == 0 || ((limits_.files == 0 || looked_ < limits_.files) &&
                            (limits_.time == Millis(0) || now() - began_ < limits_.time));
  }
  void looked() { ++looked_; }
  bool may_end(std::size_t ends) const { return limits_.ends == 0 || ends < limits_.ends; }

 private:
  Time now() const { return clock_.now(); }
  Clock& clock_;
  StepLimits limits_;
  Time began_;
  std::size_t looked_ = 0;
};

/// The inputs that are not part of a committed step yet.
class InputQueue {
 public:
  InputQueue(Disk& disk, Clock& clock) : disk_(disk), clock_(clock) {}

  /// Takes inputs and makes the scans they ask for. A failed scan is repeated with the next step,
  /// because only a scan finds what events missed. A scan that could not list some folder for a
  /// passing reason is repeated too, but nothing else waits for that.
  void take(const std::vector<Input>& inputs, ConfiguredParts& parts, const FlowRecords& records,
            RequestQueue& requests);
  /// Scans the root with the next step. Until then the state of the root counts as unknown.
  void scan(std::string why) {
    rescan_ = Rescan{std::move(why)};
    blind_ = true;
  }
  /// A read has found that the root is unavailable.
  void lost(const Error& away) { look_again(away, Rescan{}); }
  void changed(const std::set<std::string>& paths);
  /// Makes this step look at all queued files of the flows that requests name. Looks once more at
  /// the files of flows that a request wants to forget, because their events may still be on the
  /// way.
  void before_requests(const std::vector<Request>& requests, const ConfiguredParts& parts,
                       const FlowRecords& records);
  void ended(RunEnd end) { ends_.push_back(std::move(end)); }
  void decide_again(const FlowId& flow) { again_.insert(flow); }
  void decide_all() { decide_all_ = true; }
  /// Call it after baton has replaced files. Other processes may still write into the old versions,
  /// so it sets a time to look for late writes.
  void mind_late(Time now);

  /// Adds what came without a file event: late writes, files to look at again, and the ends of
  /// runs. An error: ends wait because what follows from them for their provider cannot be kept.
  /// The files of a run's flow are looked at in the step that records the run's end.
  Result<void> gather(Draft& next, const ConfiguredParts& parts, const FlowRecords& records,
                      const FlowIndex& flow_index, RunCompletion& ending, const StepBudget& budget);
  /// Looks at the files that may have changed, as far as the budget goes. Errc::io as Intake::look.
  /// `first_start`: all queued files belong to the scan of the whole root.
  Result<void> look(Draft& next, ConfiguredParts& parts, const FlowIndex& flow_index,
                    const std::vector<Request>& requests, PendingWrites& pending_writes,
                    StepBudget& budget, bool first_start);
  /// Whether files of the flow are queued, or files of a scan of the whole root.
  bool unread(const FlowId& flow) const { return reading_ || unread_.contains(flow); }
  /// The flows with queued files.
  const std::set<FlowId>& unread() const { return unread_; }
  /// A scan of the whole root has been made, and not all of its files have been looked at.
  bool reading() const { return reading_; }
  /// Inputs are left for the next step.
  bool behind() const { return !dirty_.empty() || more_ends_; }
  /// Adds to the draft the flows whose decision may differ by now. Adds none while the root is
  /// unavailable. A `rehearsal` decides all flows then, to show what the journal has.
  void due(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
           bool rehearsal) const;
  /// Since when each of these paths is queued, as far as they are. Ask before `committed`.
  std::vector<Time> queued_since(const std::vector<std::string>& paths) const;
  /// The step is committed: drops all that was part of it. True: no scan is missing, so baton knows
  /// the whole root.
  bool committed();

  /// Whether the end of a run came in. It may be part of this step, or wait because the root is
  /// unavailable.
  bool has_ended(const RunId& run) const;
  /// How many ends wait until the root is available again.
  std::size_t ends_left() const { return ends_left_; }

  /// Whether this step decides all flows again.
  bool deciding_all() const { return decide_all_; }
  /// A scan is due, and before it baton does not know the state of the root.
  bool scan_due() const { return rescan_ && blind_; }
  /// baton has not looked at all files since it began to serve the root, or since it lost events.
  /// Before that it starts, sets and tells nothing.
  bool settling() const { return reading_ || (scan_due() && why_blind_.empty()); }
  /// Why the root could not be looked at the last time; "" if it could.
  const std::string& blind() const { return why_blind_; }
  /// The root is unavailable. Until it is back, time alone causes no decision, because baton cannot
  /// read the files for it.
  bool away() const { return blind_ && away_; }
  std::optional<Time> wake(Time now) const;

 private:
  void look_again(const Error& error, const Rescan& rescan);
  void look_late(Time now);
  bool can_look(const std::set<std::string>& files, const ConfiguredParts& parts);
  void scanned(const std::set<std::string>& paths, const Rescan& rescan);
  std::vector<std::string> in_order(const Catalog& catalog) const;
  void note_unread(const Catalog& catalog, bool first_start, bool more_to_come);
  std::set<std::string> other_names(const Draft& next, const FlowIndex& flow_index) const;
  Result<void> look_at(const std::string& path, Draft& next, ConfiguredParts& parts,
                       const std::vector<Request>& requests, PendingWrites& pending_writes);

  /// Queues a path, unless it is queued already.
  void queue(const std::string& path) { dirty_.try_emplace(path, Queued{step_, clock_.now()}); }

  Disk& disk_;
  Clock& clock_;
  struct Queued {
    std::uint64_t step = 0;  ///< in which the path came in
    Time since{};
  };
  std::map<std::string, Queued> dirty_;  ///< the paths to look at
  std::uint64_t step_ = 0;
  std::set<std::string> looked_;   ///< paths that this step has looked at
  std::set<std::string> scanned_;  ///< paths of a scan of the whole root that are still queued
  std::set<FlowId> urgent_;        ///< flows whose files this step looks at in any case
  std::map<std::string, std::uint64_t> served_;  ///< the last step that looked into a folder
  std::set<FlowId> unread_;
  bool reading_ = false;
  bool more_ends_ = false;  ///< ends of runs are left for the next step, which can follow at once
  std::vector<RunEnd> ends_;
  std::vector<RunEnd> later_;  ///< ends that this step leaves to a later one
  std::size_t ends_left_ = 0;
  std::vector<LateWrite> late_;  ///< late writes that are not in the journal yet
  std::set<std::string> taken_;  ///< the late writes in this step, by LateWrite::kept
  std::set<FlowId> again_;
  std::optional<Rescan> rescan_;  ///< a scan that is due or has failed
  bool blind_ = false;            ///< until that scan the state of the root is unknown
  bool away_ = false;             ///< the root was unavailable since the last scan that succeeded
  std::string why_blind_;
  std::optional<Time> late_check_;  ///< when to look for late writes
  bool decide_all_ = true;
};

}  // namespace baton
