#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/backup.h"
#include "dialects/ml_workflow/next_step.h"
#include "dialects/ml_workflow/snapshot.h"

namespace baton::ml_workflow {

/// Changes of the state file that are made together.
class Edits {
 public:
  explicit Edits(const Scene& scene) : scene_(scene) {}

  void set(const std::string& pointer, const Json& value);
  /// Sets what is not there.
  void fill(const std::string& pointer, const Json& value);
  /// Appends to a list; it and the object it lies in are made where they are missing.
  void append(const std::string& pointer, const Json& value);
  void because(const std::string& why);
  bool empty() const { return edits_.empty(); }
  std::size_t appended(const std::string& pointer) const;
  /// The one write, with updated_at; nothing to be written is no update.
  std::vector<Update> updates() const;

 private:
  void make(const std::string& pointer, std::string_view text);
  void make_parents(const std::string& pointer);

  const Scene& scene_;
  std::vector<json::Edit> edits_;
  std::vector<std::string> made_;
  std::string why_;
};

/// Enters started runs: a new entry in progress, or the failed one again with what is tried.
void record_starts(Scene& scene, Edits& edits);
/// Entries whose agent has ended without saying so, and validations that say nothing, have failed;
/// what a retry came to is noted.
void record_ends(const Scene& scene, Edits& edits);
/// A round of validation that is complete is judged once.
void record_rounds(const Scene& scene, Edits& edits);
/// Times that agents left out, and the counters that follow from the history.
void record_counters(const Scene& scene, Edits& edits);

/// The decision of a person, as approval_history and the flags have it.
void record_decision(const Scene& scene, std::string_view approval, std::string_view status,
                     const std::string& by, const std::string& comment, Edits& edits);

/// Back from phase_2 to the plan. What is under way or has failed is left as it is: `skipped`.
void record_return(const Scene& scene, Edits& edits);

BackupPlan backups(const Json& options);

/// One backup for each step that was completed since the last one, and the folder for what a step
/// that has begun makes. To be asked when nothing is to be written to the state file.
void keep_copies(Scene& scene, Decision& decision);

/// What `status --json` tells of a workflow besides what it tells of every flow (format page).
Json report(const Scene& scene);

}  // namespace baton::ml_workflow
