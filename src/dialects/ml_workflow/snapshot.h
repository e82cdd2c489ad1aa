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
  Millis reminders{0};  ///< how often an approval is asked for again; 0: never
  Millis approval_patience{
      0};  ///< the workflow pauses after this time without a decision; 0: never
};
Options options_of(const Json& given_options);
/// Whether a person must approve. Without the option `approvals`: plan and final.
bool required(const Json& options, std::string_view approval);

/// Marks the newest validation of a phase, so that older decisions do not count for it.
struct ValidationMark {
  std::int64_t entry = -1;  ///< index in step_history
  std::int64_t from = 0;    ///< older decisions in approval_history do not count
  bool flag = false;        ///< the flag was set before the validation, so it does not count
  bool operator==(const ValidationMark&) const = default;
};

/// The approval that the workflow waits for.
struct AskedApproval {
  std::string approval;
  std::int64_t entry = -1;    ///< index in step_history of the last entry it is about
  std::int64_t since_ms = 0;  ///< on baton's clock
  bool operator==(const AskedApproval&) const = default;
};

/// Memory of a workflow, kept in the journal.
struct Memo {
  bool fresh = true;                            ///< there is no memory yet
  std::int64_t decisions = 0;                   ///< length of approval_history at the last decision
  std::map<std::string, ValidationMark> marks;  ///< by approval
  std::map<std::string, std::int64_t> base;     ///< attempts and steps that a person has forgiven
  std::string escalated;  ///< why baton paused the workflow; empty: it did not
  std::int64_t escalations = 0;
  std::int64_t paused_ms = 0;  ///< since when it is paused (baton's clock); 0: not paused
  AskedApproval asked_approval;
  std::string answer;                 ///< the last comment of a person
  std::vector<std::string> answered;  ///< requests already answered
  std::int64_t backups = 0;           ///< completed entries in the newest backup
  std::int64_t backup_ms = 0;         ///< time in the name of the newest backup
  std::set<std::int64_t> folders;     ///< steps whose artifact folder exists
  std::set<RunId> over;               ///< runs known to have ended at the last decision
  std::set<RunId> gave_up;            ///< agents of which one tried to end the workflow
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
  /// The entries of step_history. A code validation without a half gets the missing one.
  std::vector<Entry> entries;

  const Entry* last() const { return entries.empty() ? nullptr : &entries.back(); }
  /// The newest entry for a piece of work.
  const Entry* newest(const Subject& subject) const;
  std::size_t count(const Subject& subject) const;
  const Run* live(const Subject& subject) const;
  /// 0 for work that was given up, such as a step of an old plan.
  std::uint64_t generation(const Subject& subject) const;
  bool plan_phase() const;
  bool has_ended() const { return kStatuses.at(static_cast<std::size_t>(status)).ended; }
  std::string now() const;
};

Subject subject_of(const Entry& entry);
/// `recovery_attempts` of an entry's error_info.
std::int64_t recovery_attempts(const Entry& entry);
/// The items of the list at a pointer; empty without a list.
std::vector<const Value*> list_at(const Value& root, std::string_view pointer);

}  // namespace baton::ml_workflow
