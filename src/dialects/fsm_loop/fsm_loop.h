#pragma once

#include "core/dialect.h"

namespace baton {

/// Loops as state machines below `.loops`: definitions, the state and event files of their runs.
/// Format and rules: schemas/fsm_loop/README.md.
const Dialect& fsm_loop_dialect();

}  // namespace baton
