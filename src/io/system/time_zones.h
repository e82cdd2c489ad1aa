// SPDX-License-Identifier: Apache-2.0
#pragma once

// The `TimeZones` port on the time zone database of this machine.

#include <memory>

#include "core/ports.h"

namespace baton {

/// The zone of this machine is that of the variable TZ, if it is set, else that of /etc/localtime.
/// A TZ that names no zone means UTC, as in the C library. Without a database every zone is
/// unknown. The database is read at the first use.
std::unique_ptr<TimeZones> real_time_zones();

}  // namespace baton
