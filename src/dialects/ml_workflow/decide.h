#pragma once

#include "core/dialect.h"

namespace baton::ml_workflow {

/// The decision table of the format page, row by row; what runs and people did is entered first.
Decision decide(const View& view);

}  // namespace baton::ml_workflow
