#pragma once

#include "dialects/ml_workflow/scene.h"

namespace baton::ml_workflow {

/// What `status --json` tells of a workflow besides what it tells of every flow (format page).
Json report(const Scene& scene);

}  // namespace baton::ml_workflow
