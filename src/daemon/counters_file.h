// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counters of a root (engine/root_counters.h) in `counters.json` of its state folder.
// They are written before the metrics that show them. So what a monitor has seen never goes back,
// also after a crash. If the file is lost or damaged, the counters begin at 0.

#include <map>
#include <string>

#include "base/result.h"
#include "engine/root_counters.h"
#include "io/journal/journal.h"

namespace baton {

/// Reads the counters, and adds what the history has behind them: it may be from the time after the
/// last write of a daemon that was killed, or from a command that acted without a daemon. Without
/// counters it begins behind the last event.
Result<RootCounters> read_counters(const std::string& state_folder, Journal& journal,
                                   const std::map<Role, AgentSpec>& agents);
Result<void> write_counters(const std::string& state_folder, const RootCounters& counters);

}  // namespace baton
