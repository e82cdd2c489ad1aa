// SPDX-License-Identifier: Apache-2.0
#pragma once

// What baton writes for a workflow: the edits of the state file (one set per decision), backups,
// and the report of `status --json`. The edits record what runs and people did.

#include <string>
#include <string_view>
#include <vector>

#include "core/backup.h"
#include "dialects/ml_workflow/next_step.h"
#include "dialects/ml_workflow/snapshot.h"

namespace baton::ml_workflow {

/// Edits of the state file that are written together.
class Edits {
 public:
  explicit Edits(const Snapshot& snapshot) : snapshot_(snapshot) {}

  void set(const std::string& pointer, const Json& value);
  /// Sets a member that is missing.
  void fill(const std::string& pointer, const Json& value);
  /// Appends to a list. Creates the list and its parents where they are missing.
  void append(const std::string& pointer, const Json& value);
  void add_reason(const std::string& why);
  bool empty() const { return edits_.empty(); }
  std::size_t appended(const std::string& pointer) const;
  /// The write with updated_at. Empty without edits.
  std::vector<Update> updates() const;

 private:
  void make(const std::string& pointer, std::string_view text);
  void make_parents(const std::string& pointer);

  const Snapshot& snapshot_;
  std::vector<json::Edit> edits_;
  std::vector<std::string> made_;
  std::string why_;
};

/// How often people have stepped in.
std::int64_t interventions(const Snapshot& snapshot);

/// Records started runs. A run gets a new entry in progress. The repetition of a failed entry sets
/// that entry in progress again and adds the recovery strategy.
void record_starts(Snapshot& snapshot, Edits& edits);
/// Marks entries as failed whose agent ended without a result, and validations without a verdict.
/// Records the result of a retry. The decision tells of runs that ended well all the same.
void record_ends(const Snapshot& snapshot, Edits& edits, Decision& decision);
/// Records the result of a complete round of validation, once.
void record_rounds(const Snapshot& snapshot, Edits& edits);
/// Fills in times that agents left out, and the counters.
void record_counters(const Snapshot& snapshot, Edits& edits);

/// Records the decision of a person in approval_history and the flags.
void record_decision(const Snapshot& snapshot, std::string_view approval, std::string_view status,
                     const std::string& by, const std::string& comment, Edits& edits);

/// Goes back from phase_2 to the plan. Running and failed entries become `skipped`.
void record_return(Snapshot& snapshot, Edits& edits);

/// Answers the requests of people. A request that changes something ends this round; the next round
/// sees the result.
bool answer_requests(Snapshot& snapshot, const NextStep& found, Edits& edits, Decision& decision);
/// Refuses requests that would change the state file while it is missing, rejected or being
/// written.
void refuse_requests(const Snapshot& snapshot, const std::string& why, Decision& decision);

BackupPlan backups(const Json& options);

/// Adds a backup after a completed step, and a folder for the artifacts of a running step. Call it
/// only if the decision does not write the state file.
void keep_copies(Snapshot& snapshot, Decision& decision);

/// The members of `status --json` that only this dialect has (format page).
Json report(const Snapshot& snapshot);
/// How many of the seven steps are completed; all of them when the workflow is.
Progress progress(const Snapshot& snapshot);

}  // namespace baton::ml_workflow
