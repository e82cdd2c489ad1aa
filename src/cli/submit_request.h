// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings a request to a root: to its daemon, or to an engine in this process if no daemon runs.
// Prints the answer and returns the exit code of the command. Also parses options that several such
// commands have.

#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "core/exit_code.h"
#include "core/flow.h"
#include "engine/decide/status.h"
#include "workspace/context.h"
#include "workspace/options.h"

namespace baton {

/// The exit codes of commands that submit a request, for their help. `waits`: they have `--wait`.
ExitLines submit_exits(bool waits = false);

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

/// What `--wait` and its `--timeout` say.
struct WaitWish {
  bool wait = false;
  std::string timeout;         ///< as given; may be empty
  std::optional<Millis> most;  ///< read from `timeout`; nothing: no limit
};
/// Adds `--wait` and `--timeout` to a command that has `--no-wait`.
void offer_wait(Options& options, WaitWish& wish);
/// Reads the value of `--timeout`; nothing if none was given. Errc::usage.
Result<std::optional<Millis>> time_limit(const std::string& given);

/// Implements `--wait` after an accepted request. The table of conditions (core/condition.h) says
/// when the wait ends and how: `fine` at done and idle, `failed` at failed, stopped, gone, and at
/// blocked if only a person can end that. `unreachable`: no daemon serves the root. `timed_out`:
/// `most` is over. Reports a pause, and goes on waiting. `root` is that of the flow.
ExitCode await_end(Places places, const std::string& root, const FlowId& flow,
                   std::optional<Millis> most);

/// `rules/tickets/b is blocked (no_change)`.
std::string condition_text(const FlowStatus& status);

}  // namespace baton
