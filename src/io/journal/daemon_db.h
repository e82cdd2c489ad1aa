// SPDX-License-Identifier: Apache-2.0
#pragma once

// `daemon.db`: what all daemons of one state folder share, in the folder in which the state folders
// of the roots lie: here the providers that are parked; the runs that caps count are in
// daemon_runs.h. The file is made when the first row is.

#include <memory>
#include <string>

#include "core/ports.h"

namespace baton {

/// The providers of a root, in daemon.db beside its state folder. `read_only`: for commands that
/// only look; rows to be parked or released are kept in memory. Nothing is opened before the first
/// call.
std::unique_ptr<Providers> make_providers(const std::string& state_folder, bool read_only);

/// None: for a root without a state folder. What is parked is kept in memory.
std::unique_ptr<Providers> no_providers();

}  // namespace baton
