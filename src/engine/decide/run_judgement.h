// SPDX-License-Identifier: Apache-2.0
#pragma once

// Enters what the agent's program reports into a run that has ended, and parks the provider if the
// run has met a limit of it. How the output of a program is read: adapters/judge.h.

#include <optional>
#include <span>

#include "config/setup.h"
#include "core/ports.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What is known before a run is judged.
struct KnownBefore {
  std::span<const Run> runs;  ///< of its flow, in the order of their starts
  bool usage = false;         ///< its dialect has read its cost or tokens already
};

class RunJudgement {
 public:
  RunJudgement(Providers& providers, const TimeZones& zones)
      : providers_(providers), zones_(zones) {}

  /// Enters outcome, reason, error, session, cost and tokens into `run`, which has its end already.
  /// Parks the provider if the run has met a limit, and adds an event to the draft if the limit is
  /// new, if a cost cannot be true (`cost_unknown`), or if a session id cannot be kept (`warning`).
  /// Does nothing for an action of a dialect, whose exit status says all.
  /// An error: what follows for the provider is not kept, so the end must not be entered now. Both
  /// may be repeated without further effect.
  Result<void> enter(Run& run, const RunEnd& end, const Setup& setup, const KnownBefore& earlier,
                     Draft& next);

 private:
  Result<void> keep(const Run& run, const ProviderAccount& agent, const ProviderAccount& whose,
                    bool limited, std::optional<Time> named, Draft& next);

  Providers& providers_;
  const TimeZones& zones_;
};

}  // namespace baton
