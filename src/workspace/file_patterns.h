#pragma once

#include <string>
#include <vector>

#include "core/catalog.h"

namespace baton {

class Context;

/// The patterns of all configured files, for whoever wonders why one is not seen; the first few.
std::string configured_patterns(const Context& context, const Catalog& catalog);

/// The files a rule names outright and never gets, for they are those of a dialect; what is to be
/// said of each.
std::vector<std::string> never_seen(const Catalog& catalog);

}  // namespace baton
