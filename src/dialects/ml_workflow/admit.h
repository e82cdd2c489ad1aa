#pragma once

#include "core/dialect.h"

namespace baton::ml_workflow {

/// Rules about successive versions: T1 to T6 of the format page. Several agents and people
/// overwrite the whole file from copies of their own; what each may change is taken, the rest
/// stays.
Admission admit(const View& view, const Change& change);

}  // namespace baton::ml_workflow
