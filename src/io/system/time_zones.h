#pragma once

// The `TimeZones` port on the time zone database of this machine.

#include <memory>

#include "core/ports.h"

namespace baton {

/// The zone of this machine is that of the variable TZ, if it is set and names a zone of the
/// database, else that of /etc/localtime. Without a database every zone is unknown. The database is
/// read at the first use.
std::unique_ptr<TimeZones> real_time_zones();

}  // namespace baton
