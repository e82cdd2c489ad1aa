// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one decision looks at: state file, options, memory and runs of one workflow, read once.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/ml_workflow/steps.h"
#include "dialects/ml_workflow/words.h"

namespace baton::ml_workflow {

/// The options of the dialect (schemas/ml_workflow/options.schema.json), defaults filled in.
struct Options {
  bool parallel = false;  ///< `validators: parallel`: 5a and 5b at the same time
  std::int64_t plan_attempts = 5;
  std::int64_t code_attempts = 3;
  std::int64_t max_steps = 50;
  std::string templates = "templates";
  Millis reminders{0};  ///< how often baton reports an open approval again; 0: never
  /// baton pauses the workflow if nothing is decided within this time; 0: never.
  Millis approval_patience{0};
};
Options options_of(const Json& given_options);
/// Whether the workflow needs this approval of a person. Without the option `approvals`: plan and
/// final.
bool required(const Json& options, std::string_view approval);

/// Marks the newest validation of a phase, so that older decisions do not count for it.
struct ValidationMark {
  std::int64_t entry = -1;  ///< index in step_history where the validation ends; -1: none
  std::int64_t from = 0;    ///< index in approval_history of the first decision that counts
  bool flag = false;        ///< the flag was set before the validation, so it does not count
  bool operator==(const ValidationMark&) const = default;
};

/// The approval that the workflow waits for.
struct AskedApproval {
  std::string approval;
  std::int64_t entry = -1;    ///< index in step_history where the validation in question ends
  std::int64_t since_ms = 0;  ///< on baton's clock
  bool operator==(const AskedApproval&) const = default;
};

/// Memory of a workflow, kept in the journal.
struct Memo {
  bool fresh = true;                            ///< there is no memory yet
  std::int64_t decisions = 0;                   ///< length of approval_history at the last decision
  std::map<std::string, ValidationMark> marks;  ///< by approval
  /// By limit: attempts or steps that no longer count, because a person let the workflow go on.
  /// Also has the keys of `helped`.
  std::map<std::string, std::int64_t> base;
  std::string escalated;         ///< the limit for which baton paused the workflow; empty: none
  std::int64_t escalations = 0;  ///< how often baton has paused the workflow for a person
  std::int64_t paused_ms = 0;    ///< when the pause began (baton's clock); 0: not paused
  AskedApproval asked_approval;
  std::string answer;                 ///< the last comment of a person
  std::vector<std::string> answered;  ///< requests already answered
  std::int64_t backups = 0;           ///< completed entries in the newest backup
  std::int64_t backup_ms = 0;         ///< time in the name of the newest backup
  std::set<std::int64_t> folders;     ///< steps for which baton has made the artifact folder
  std::set<RunId> over;               ///< runs that had ended at the last decision
  std::set<RunId> gave_up;            ///< live runs, one of which tried to end the workflow
  /// Digests of values that an agent wrote and baton put back, by pointer.
  std::map<std::string, std::string> refused;
};
Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

/// One piece of work: a step, or half of a code validation. Written `4`, `5a`.
struct Work {
  std::int64_t step = 0;
  Half half = Half::whole;
};
Subject subject_of(const Work& work);
std::optional<Work> parse_work(std::string_view subject);

/// A view, read once. It must not outlive the view.
struct Snapshot {
  /// Nothing when there is no state file.
  static std::optional<Snapshot> of(const View& view);

  const View& view;
  const Accepted& file;
  const Value& root;
  std::string path;
  Options options;
  Memo memo;
  Status status;
  /// The entries of step_history without `skipped` ones. A code validation that names no half gets
  /// the half that its round lacks.
  std::vector<Entry> entries;

  const Entry* last() const { return entries.empty() ? nullptr : &entries.back(); }
  /// The newest entry for a piece of work.
  const Entry* newest(const Subject& subject) const;
  std::size_t count(const Subject& subject) const;
  const Run* live(const Subject& subject) const;
  /// Whether the run is about this work, in its present generation.
  bool works_on(const Run& run, const Subject& subject) const;
  /// The generation of a step; 0: the work was given up, such as a step of an old plan.
  std::uint64_t generation(const Subject& subject) const;
  bool plan_phase() const;
  bool has_ended() const { return kStatuses.at(static_cast<std::size_t>(status)).ended; }
  std::string now() const;
};

Subject subject_of(const Entry& entry);

}  // namespace baton::ml_workflow
