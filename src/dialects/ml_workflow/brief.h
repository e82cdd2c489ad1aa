#pragma once

#include "core/dialect.h"

namespace baton::ml_workflow {

/// All an agent needs to know; agents remember nothing. Values for `${...}`: step, template,
/// artifacts, instance (1, and one more for each time the step was tried again).
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::ml_workflow
