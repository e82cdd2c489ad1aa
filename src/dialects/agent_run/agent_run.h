#pragma once

#include "core/dialect.h"

namespace baton {

/// Workflow runs below `.agents/runs`: steps with reports, gates, loop-backs and human input.
/// Format and rules: schemas/agent_run/README.md.
const Dialect& agent_run_dialect();

}  // namespace baton
