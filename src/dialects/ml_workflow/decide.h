#pragma once

#include "core/dialect.h"

namespace baton::ml_workflow {

/// The decision table of the format page, row by row; what runs and people did is entered first.
Decision decide(const View& view);

/// The values for the prompt of a start (schemas/ml_workflow/prompts). For commands: step,
/// template, artifacts, instance (1, and one more for each time the step was tried again).
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::ml_workflow
