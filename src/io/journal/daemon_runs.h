// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runs that caps count and the raises of caps (core/caps.h), in `daemon.db` beside the state
// folders of all roots.
//
// Problem: many roots and daemons spend together, and a crash must not lose a start or count it
// twice.
// Way: a row per run. It is there before the journal of the root knows the run, and gets its end
// before the journal does. A crash in between leaves a row without end, which the next daemon of
// that root settles by its journal.
// Limits: what a sum means is in core/caps.h. Raises are made by a command, not by the daemon.

#include <memory>
#include <string>

#include "base/result.h"
#include "core/ports.h"

namespace baton {

/// The rows in daemon.db beside the root's state folder. `read_only`: for commands that only look;
/// what is to be written is kept in memory. Nothing is opened before the first call.
std::unique_ptr<Spending> make_spending(const std::string& state_folder, bool read_only);

/// None: for a root without a state folder. What is begun is kept in memory.
std::unique_ptr<Spending> no_spending();

/// Adds a raise. Errors: it is not there then.
Result<void> add_raise(const std::string& state_folder, const CapRaise& raise);

}  // namespace baton
