#pragma once

#include "core/dialect.h"

namespace baton::agent_run {

/// What baton drives it alone writes: a run state whose steps somebody has changed goes back, and
/// so do the run's own copies of workflow and prompts. Members that baton does not know are
/// anybody's.
Admission admit(const View& view, const Change& change);

}  // namespace baton::agent_run
