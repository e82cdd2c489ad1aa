// SPDX-License-Identifier: Apache-2.0
#pragma once

// The end of `run --once`: when it is over, its exit code, and what it says about each flow.
//
// Problem: a script wants to know whether the work is done, and old failures are no news to it.
// Way: a flow counts if it had something due in this call or changed during it. The table of
// conditions says what each condition means for the exit code.
// Limits: pure functions of the flow records; the daemon decides when to ask.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/exit_code.h"
#include "engine/decide/status.h"

namespace baton {

/// What `run --once` is to do.
struct OnceWish {
  Millis max_wait{600'000};        ///< the longest pause before a start that it waits for
  std::string flow;                ///< judge only this flow; empty: all
  std::vector<std::string> paths;  ///< judge only flows with a file there, absolute; empty: all
};

struct OnceVerdict {
  ExitCode code = ExitCode::fine;
  std::vector<std::string> lines;  ///< one per flow that is neither done nor idle
  std::size_t flows = 0;
  std::array<std::size_t, kConditions.size()> counts{};  ///< by condition
};

/// Whether people call the flow so: `dialect/name`, or an end of it after a slash.
bool is_called(const FlowId& flow, const std::string& name);
/// Whether the flow has a file there. `path`: an absolute path of a file or a folder.
bool has_file_in(const std::string& root, const FlowRecord& record, const std::string& path);

/// Adds the flows of one root to the verdict. `began`: when the daemon began, by its own clock.
void judge(const std::string& root, const FlowRecords& records, const Plan& plan, Time began,
           const OnceWish& wish, OnceVerdict& verdict);
/// `3 flows: 1 blocked, 2 done`.
std::string totals(const OnceVerdict& verdict);

}  // namespace baton
