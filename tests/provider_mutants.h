// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mutants of the simulation with providers: each breaks one promise, and must be caught.

#include <memory>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "core/dialect.h"

namespace baton::testing {

/// Some of the protocol, and:
/// sees_no_limit: nothing is parked. kept_in_memory: a limit is written into daemon.db too late,
/// and lost in a crash. starts_blindly: what cannot be read holds nothing. forgets_who_met: a limit
/// whose end is judged again is told by nobody. limit_is_failure: limits are failures of the work.
/// limit_in_files: the dialect counts them in its files. keeps_start: what baton wrote at the start
/// stays. echo_counts: a printed prompt counts as an answer.
const std::vector<std::string_view>& provider_mutants();

/// The dialect agent_run, perhaps without a piece.
const Dialect& provider_dialect(std::string_view mutant);
/// An embedded adapter, perhaps without a piece.
std::shared_ptr<const Adapter> provider_adapter(std::string_view mutant, std::string_view name);

}  // namespace baton::testing
