#pragma once

#include <string>

#include "core/flow.h"
#include "workspace/exit_code.h"
#include "workspace/options.h"

namespace baton {

/// The help text of `--wait`.
inline constexpr const char* kWaitHelp =
    "Wait until the flow ends; exit 0: nothing left to do, 1: failed, stopped or gone, 3: no "
    "daemon";

/// Implements `--wait` after an accepted request: waits until the flow has nothing left to do
/// (fine), or has failed, was stopped or is gone (failed). Without a daemon: unreachable. Reports
/// when the flow waits for a person, and goes on waiting. `places` come from the command, `root` is
/// that of the flow.
ExitCode await_end(Places places, const std::string& root, const FlowId& flow);

}  // namespace baton
