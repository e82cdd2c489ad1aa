#pragma once

#include "core/dialect.h"

namespace baton {

/// The seven-step workflow, one folder each below `workflow_states`. The format page is
/// schemas/ml_workflow/README.md.
const Dialect& ml_workflow_dialect();

}  // namespace baton
