#pragma once

#include <string>

#include "config/setup.h"

namespace baton {

/// Runs the filters of backups: a program found and trusted as those of agents are, for ten seconds
/// at most. Errc::config: it cannot be used; busy: it was too slow; io: it failed, or gave
/// nothing.
Filter filter_below(const std::string& configuration_folder);

}  // namespace baton
