#pragma once

#include <string>

#include "core/flow.h"
#include "workspace/exit_code.h"
#include "workspace/options.h"

namespace baton {

/// What `--wait` does, for the help of commands that have it.
inline constexpr const char* kWaitHelp =
    "Wait for the flow's end: 0 nothing is left to be done, 1 failed, stopped or gone, 3 no daemon";

/// For `--wait`, after a request was accepted: until nothing is left to be done for the flow (fine)
/// or it has failed, was stopped or is gone (failed). Without a daemon it will not come to its end:
/// unreachable. That it waits for a person is said, and waited for. `places` are those
/// of the command, `root` is the flow's.
ExitCode await_end(Places places, const std::string& root, const FlowId& flow);

}  // namespace baton
