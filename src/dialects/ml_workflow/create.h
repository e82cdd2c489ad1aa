#pragma once

#include "core/dialect.h"

namespace baton::ml_workflow {

/// For `start`: the state file of a new workflow, `initialized`. Arguments: `requirements`, and
/// `set`, values by JSON pointer within the file. Nothing when the workflow is there already and is
/// asked for alike. Errc::usage otherwise.
Result<std::vector<Update>> create(const Request& request, const View& view);

}  // namespace baton::ml_workflow
