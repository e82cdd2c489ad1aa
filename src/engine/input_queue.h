#pragma once

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

/// What came in and is not part of a committed step yet. A step that could not be committed finds
/// all of it again.
class InputQueue {
 public:
  explicit InputQueue(Disk& disk) : disk_(disk) {}

  /// A scan that fails is made again with the next step: it is the net below all events. So is one
  /// that could not list a folder for what may pass, though nothing else waits for it.
  void take(const std::vector<Input>& inputs, ConfiguredParts& parts, const FlowRecords& records,
            RequestQueue& requests);
  /// To be scanned with the next step.
  void scan(std::string why) {
    rescan_ = Rescan{std::move(why)};
    blind_ = true;
  }
  /// The root was found to be away.
  void lost(const Error& away) { look_again(away, Rescan{}); }
  void changed(std::set<std::string> paths) { dirty_.merge(paths); }
  /// What is to be forgotten is looked at once more: events are hints, and may still come.
  void before_forgetting(const std::vector<Request>& requests, const ConfiguredParts& parts,
                         const FlowRecords& records);
  void ended(RunEnd end) { ends_.push_back(std::move(end)); }
  void decide_again(const FlowId& flow) { again_.insert(flow); }
  void decide_all() { decide_all_ = true; }
  /// Files were written, or a scan has found some that were: somebody may still write into their
  /// former versions.
  void mind_late(Time now);

  /// What time brings by itself, and the ends of runs.
  void gather(Draft& next, const ConfiguredParts& parts, const FlowRecords& records,
              const FlowIndex& flow_index, RunCompletion& ending);
  /// Looks at the files that may have changed. Errc::io as Intake::look.
  Result<void> look(Draft& next, ConfiguredParts& parts, const std::vector<Request>& requests,
                    PendingWrites& pending_writes);
  /// Names the flows whose decision may differ by now. None while the root is away, but in a
  /// `rehearsal`, which shows what the journal has.
  void due(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
           bool rehearsal) const;
  /// All of it is part of a committed step. True: the root is known in full.
  bool committed();

  /// Whether the end of a run came in: in this step, or before it, and waits for the root.
  bool has_ended(const RunId& run) const;
  /// How many do.
  std::size_t ends_left() const { return ends_left_; }

  /// All flows are decided anew.
  bool deciding_all() const { return decide_all_; }
  /// The root is not known as it is.
  bool scan_due() const { return rescan_ && blind_; }
  /// Why it could not be looked at when that was tried last; "" when it could.
  const std::string& blind() const { return why_blind_; }
  /// Because the root is away. Until it is back time by itself has nothing decided: what is to be
  /// read for that is not there.
  bool away() const { return blind_ && away_; }
  std::optional<Time> wake(Time now) const;

 private:
  void look_again(const Error& error, const Rescan& rescan);
  void look_late(Time now);
  bool can_look(const std::set<std::string>& files, const ConfiguredParts& parts);

  Disk& disk_;
  std::set<std::string> dirty_;
  std::vector<RunEnd> ends_;
  std::vector<RunEnd> later_;  ///< those of them that are no part of this step
  std::size_t ends_left_ = 0;
  std::vector<LateWrite> late_;  ///< that are not in the journal yet
  std::set<std::string> taken_;  ///< those of them that are part of this step, as `kept`
  std::set<FlowId> again_;
  std::optional<Rescan> rescan_;  ///< one that is due, or that failed
  bool blind_ = false;            ///< without it nothing is known of the root
  bool away_ = false;             ///< since the last scan that did not fail
  std::string why_blind_;
  std::optional<Time> late_check_;  ///< when to look for late writes
  bool decide_all_ = true;
};

}  // namespace baton
