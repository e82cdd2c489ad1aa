#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "core/event.h"
#include "core/flow.h"
#include "workspace/context.h"
#include "workspace/exit_code.h"
#include "workspace/options.h"

namespace baton {

/// What the exit codes of commands that submit a request mean, for their help.
inline constexpr const char* kSubmitExits =
    "  0  done, or recorded\n"
    "  1  refused; the message says why and what to do\n"
    "  2  wrong usage or configuration; no such flow\n"
    "  3  the root or its state cannot be reached, or the daemon does not answer";

/// Brings a request to the root: to the daemon that lives, whose answer is waited for unless
/// `wait` is false. Without one, `start` and `resume` are recorded for the next, and everything
/// else is done at once under the root's lock. Tells what came of it.
ExitCode submit(const Context& context, const Request& request, bool wait);

/// The same for several roots, of which a daemon may serve many: it hears of all before it is
/// waited for, and last of those where agents run. What a stop makes free on one root is for the
/// others otherwise, until they hear of it too.
ExitCode submit(const std::vector<Context>& roots, const Request& request, bool wait);

/// Adds a count such as `--max-steps N` to the request; does nothing when it was not given. The
/// member of the arguments is called like the option. Errc::usage.
Result<void> add_count(const std::string& option, const std::string& given, Request& request);

/// Reads `--set` options, `NAME=JSON` or `/POINTER=JSON` as the dialect has it, into one object.
/// With `texts`, a value that is not JSON becomes a string. Errc::usage.
Result<Json> settings(const std::vector<std::string>& words, bool texts);

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
