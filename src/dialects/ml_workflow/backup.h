#pragma once

#include "core/backup.h"
#include "dialects/ml_workflow/scene.h"

namespace baton::ml_workflow {

BackupPlan backups(const Json& options);

/// One backup for each step that was completed since the last one, and the folder for what a step
/// that has begun makes. To be asked when nothing is to be written to the state file.
void keep_copies(Scene& scene, Decision& decision);

}  // namespace baton::ml_workflow
