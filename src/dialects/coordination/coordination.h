#pragma once

#include "core/dialect.h"

namespace baton {

/// A coordination folder: project manager, developers, QA expert and tech lead work on groups of
/// tasks, and baton is their orchestrator (schemas/coordination/README.md).
const Dialect& coordination_dialect();

}  // namespace baton
