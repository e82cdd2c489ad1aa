#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ports.h"
#include "core/reconcile.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// A run as the journal has it once it has ended so; `now` is when that is heard of.
Run ended_run(Run run, RunEnd end, Time now);

/// How runs end: has those end that are to, and enters the ends that came. Asking an agent to end
/// can fail (it is in doubt which process it is). That is said, once per run and error and daemon,
/// and it is asked again, after 5 s and then after twice as long each time up to a minute, until
/// the run has ended. The same is said and done when it was asked, and a minute beyond its grace
/// nothing has come of it.
class RunCompletion {
 public:
  explicit RunCompletion(Agents& agents) : agents_(agents) {}

  /// Has a run end whose stop is committed.
  void ask(const Run& run, Time now);
  void ask(const FlowRecords& records, const FlowIndex& flow_index, const std::vector<Stop>& stops,
           Time now);
  /// The same while the journal has no room for it: ending agents must go on. Forgotten by
  /// `committed`; whoever wants the stop asks again.
  void ask_unjournalled(const FlowRecords& records, const FlowIndex& flow_index,
                        const std::vector<Stop>& stops, Time now);
  /// Asks again where nothing came of it and the time has come.
  void ask_again(const FlowRecords& records, const FlowIndex& flow_index, Time now);
  std::optional<Time> wake() const;

  /// Says in the draft what failed and is not yet said; `committed`: it is.
  void tell(Draft& draft, const FlowRecords& records) const;
  bool untold() const;
  void committed();

  /// It has ended, though that is not entered yet: nothing more is asked of it.
  void heard(const RunId& run) { asked_.erase(run); }
  /// Enters the end of a live run; of any other nothing is to be said.
  void enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index, RunEnd ended);

 private:
  struct Asked {
    std::optional<Time> heard;  ///< since when it is known to be told
    Time again{};
    Millis pause{};
    std::string error;     ///< "": it is waited for
    std::string notified;  ///< the error that was said
  };
  static bool untold(const Asked& asked);

  Agents& agents_;
  std::set<RunId> unjournalled_;
  std::map<RunId, Asked> asked_;
};

}  // namespace baton
