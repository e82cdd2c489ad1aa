#pragma once

// Brings a request to a root: to its daemon, or to an engine in this process if no daemon runs.
// Prints the answer and returns the exit code of the command. Also parses options that several such
// commands have.

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

/// The exit codes of commands that submit a request, for their help.
inline constexpr const char* kSubmitExits =
    "  0  done, or recorded\n"
    "  1  refused; the message says why and what to do\n"
    "  2  wrong usage or configuration; no such flow\n"
    "  3  the root or its state cannot be reached, or the daemon does not answer";

/// Submits a request to one root and prints the result. If a daemon runs, the command waits for its
/// answer unless `wait` is false. Without a daemon, `start` and `resume` are recorded for the next
/// daemon, and the command does everything else at once.
ExitCode submit(const Context& context, const Request& request, bool wait);

/// The same for several roots. The command sends all requests before it waits for the first answer,
/// and roots with running agents get theirs last. Otherwise a stop on one root would free places,
/// and other roots would start agents there before they get the request.
ExitCode submit(const std::vector<Context>& roots, const Request& request, bool wait);

/// Adds a count such as `--max-steps N` to the request, if the option was given. The name of the
/// argument is that of the option with underscores. Errc::usage.
Result<void> add_count(const std::string& option, const std::string& given, Request& request);

/// Reads `--set` options (`NAME=JSON`, or `/POINTER=JSON` for some dialects) into one object.
/// With `texts`, a value that is not JSON becomes a string. Errc::usage.
Result<Json> settings(const std::vector<std::string>& words, bool texts);

/// The help text of `--wait`.
inline constexpr const char* kWaitHelp =
    "Wait until the flow ends; exit 0: nothing left to do, 1: failed, stopped or gone, 3: no "
    "daemon";

/// Implements `--wait` after an accepted request. Returns `fine` when the flow has nothing left to
/// do, `failed` when it has failed, was stopped or is gone, `unreachable` if no daemon runs. If the
/// flow waits for a person, reports that and goes on waiting. `root` is that of the flow.
ExitCode await_end(Places places, const std::string& root, const FlowId& flow);

}  // namespace baton
