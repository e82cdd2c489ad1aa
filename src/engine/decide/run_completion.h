// SPDX-License-Identifier: Apache-2.0
#pragma once

// How runs end: asks agents to end, and enters the ends that come in. A request to end can fail,
// for example if it is in doubt which process the agent is. The same goes for an agent that has
// not ended a minute after its grace period.
// baton reports such a failure once per run and error. It asks again after 5 s, then after twice as
// long each time up to a minute, until the run has ended.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ports.h"
#include "core/reconcile.h"
#include "engine/decide/run_judgement.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The run with its end as its shim recorded it. `now`: when baton learned of the end. Nothing that
/// the program reports is in it but its cost; see RunJudgement.
Run ended_run(Run run, const RunEnd& end, Time now);

/// The stops that have not led to an end yet. In memory only: after a restart `recover` of the
/// engine asks again.
class RunCompletion {
 public:
  RunCompletion(Agents& agents, Providers& providers, const TimeZones& zones)
      : agents_(agents), judgement_(providers, zones) {}

  /// Asks the agent of a run to end. The stop of the run is committed.
  void ask(const Run& run, Time now);
  void ask(const FlowRecords& records, const FlowIndex& flow_index, const std::vector<Stop>& stops,
           Time now);
  /// The same if the commit of the stops failed because the disk is full: ending agents must not
  /// wait for space. `committed` forgets these stops, because a plan that still wants them asks
  /// again.
  void ask_unjournalled(const FlowRecords& records, const FlowIndex& flow_index,
                        const std::vector<Stop>& stops, Time now);
  /// Asks again for the runs that have not ended and whose time has come.
  void ask_again(const FlowRecords& records, const FlowIndex& flow_index, Time now);
  std::optional<Time> wake() const;

  /// Adds events to the draft for failures that were not reported yet. `committed` marks them as
  /// reported.
  void tell(Draft& draft, const FlowRecords& records) const;
  /// Whether there are failures to report.
  bool untold() const;
  void committed();

  /// The run has ended, but its end cannot be entered yet: stops asking.
  void heard(const RunId& run) { asked_.erase(run); }
  /// Enters the end of a live run. Ignores the end of any other run. An error: the end is not
  /// entered, and has to be tried again; see RunJudgement.
  Result<void> enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
                     const Setup& setup, RunEnd ended);

 private:
  struct Asked {
    std::optional<Time> heard;  ///< when a request to end succeeded first
    Time again{};
    Millis pause{};
    std::string error;     ///< of the last request; "": baton waits for the end
    std::string notified;  ///< the error that was reported
  };
  static bool untold(const Asked& asked);

  Agents& agents_;
  RunJudgement judgement_;
  std::set<RunId> unjournalled_;
  std::map<RunId, Asked> asked_;
};

}  // namespace baton
