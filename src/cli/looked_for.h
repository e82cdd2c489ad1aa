#pragma once

#include <string>

#include "core/catalog.h"

namespace baton {

/// The patterns of all configured files, for whoever wonders why one is not seen; the first few.
std::string looked_for(const Catalog& catalog);

}  // namespace baton
