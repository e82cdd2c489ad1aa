#pragma once

#include <vector>

#include "core/dialect.h"

namespace baton::ml_workflow {

/// The state file as it was accepted last, then as the backups have it, the newest first; paused
/// unless it had ended or the options say otherwise, and with recovery_metadata.
std::vector<Create> rebuild(const View& view);

}  // namespace baton::ml_workflow
