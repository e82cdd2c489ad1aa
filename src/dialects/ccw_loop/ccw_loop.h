#pragma once

#include "core/dialect.h"

namespace baton {

/// Loops of an executor, one file each below `.workflow/.loop`. The format page is
/// schemas/ccw_loop/README.md.
const Dialect& ccw_loop_dialect();

}  // namespace baton
