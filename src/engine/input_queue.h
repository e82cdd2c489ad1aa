#pragma once

// Collects what came in until a step has committed it: changed paths, ends of runs, late writes,
// and scans that are due. If a step cannot be committed, the next step finds all of it again.
// While the root is unavailable, the queue keeps the ends of runs and repeats the scan. It does not
// judge files; that is engine/intake.

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

/// The inputs that are not part of a committed step yet.
class InputQueue {
 public:
  explicit InputQueue(Disk& disk) : disk_(disk) {}

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
  void changed(std::set<std::string> paths) { dirty_.merge(paths); }
  /// Looks once more at the files of flows that a request wants to forget, because their events may
  /// still be on the way.
  void before_forgetting(const std::vector<Request>& requests, const ConfiguredParts& parts,
                         const FlowRecords& records);
  void ended(RunEnd end) { ends_.push_back(std::move(end)); }
  void decide_again(const FlowId& flow) { again_.insert(flow); }
  void decide_all() { decide_all_ = true; }
  /// Call it after baton has replaced files. Other processes may still write into the old versions,
  /// so it sets a time to look for late writes.
  void mind_late(Time now);

  /// Adds what came without a file event: late writes, files to look at again, and the ends of
  /// runs. An error: ends wait because what follows from them for their provider cannot be kept.
  Result<void> gather(Draft& next, const ConfiguredParts& parts, const FlowRecords& records,
                      const FlowIndex& flow_index, RunCompletion& ending);
  /// Looks at the files that may have changed. Errc::io as Intake::look.
  Result<void> look(Draft& next, ConfiguredParts& parts, const std::vector<Request>& requests,
                    PendingWrites& pending_writes);
  /// Adds to the draft the flows whose decision may differ by now. Adds none while the root is
  /// unavailable. A `rehearsal` decides all flows then, to show what the journal has.
  void due(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
           bool rehearsal) const;
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

  Disk& disk_;
  std::set<std::string> dirty_;
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
