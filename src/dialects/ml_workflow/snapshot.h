#pragma once

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
  bool parallel = false;  ///< validators: 5a and 5b at once
  std::int64_t plan_attempts = 5;
  std::int64_t code_attempts = 3;
  std::int64_t max_steps = 50;
  std::string templates = "templates";
  Millis reminders{0};          ///< how often a person is asked again for an approval; 0: never
  Millis approval_patience{0};  ///< after that the workflow is paused; 0: never
};
Options options_of(const Json& given_options);
/// Whether a person has to approve: `approvals` of the options, plan and final without them.
bool required(const Json& options, std::string_view approval);

/// From where on decisions are about the newest validation of a phase.
struct Judged {
  std::int64_t entry = -1;  ///< its place in step_history
  std::int64_t from = 0;    ///< decisions in front of this place in approval_history are spent
  bool flag = false;        ///< the flag stood already, so it says nothing of this one
  bool operator==(const Judged&) const = default;
};

/// The approval that is waited for.
struct Asked {
  std::string approval;
  std::int64_t entry = -1;    ///< where in step_history that ends what it is about
  std::int64_t since_ms = 0;  ///< on baton's clock
  bool operator==(const Asked&) const = default;
};

/// The dialect's private memory of a workflow; journalled.
struct Memo {
  bool fresh = true;                         ///< nothing was remembered yet
  std::int64_t decisions = 0;                ///< length of approval_history when looked at last
  std::map<std::string, Judged> judged;      ///< by approval
  std::map<std::string, std::int64_t> base;  ///< attempts and steps a person has let pass
  std::string escalated;                     ///< why baton paused the workflow; empty: it did not
  std::int64_t escalations = 0;
  std::int64_t paused_ms = 0;  ///< since when it is paused, on baton's clock; 0: it is not
  Asked asked;
  std::string answer;              ///< what a person said last about it
  std::vector<std::string> heard;  ///< requests dealt with in this step
  std::int64_t backups = 0;        ///< completed entries that the newest backup has
  std::int64_t backup_ms = 0;      ///< the time in its name
  std::set<std::int64_t> folders;  ///< steps whose folder of artifacts was made
  std::set<RunId> over;            ///< runs whose end was known when baton decided last
  std::set<RunId> gave_up;         ///< agents, one of which has reported the end of the workflow
  /// By pointer: digests of what an agent has reported and was put back last.
  std::map<std::string, std::string> refused;
};
Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

/// One piece of work: a step, or a half of a validation of code. Written `4`, `5a`.
struct Work {
  std::int64_t step = 0;
  Half half = Half::whole;
};
Subject subject_of(const Work& work);
std::optional<Work> parse_work(std::string_view subject);

/// A view with a state file, read once. Lives as long as the view.
struct Scene {
  /// Nothing when there is no state file.
  static std::optional<Scene> of(const View& view);

  const View& view;
  const Accepted& file;
  const Value& root;
  std::string path;
  Options options;
  Memo memo;
  Status status;
  /// A validation of code that does not say which half it is, is the one that was missing.
  std::vector<Entry> entries;

  const Entry* last() const { return entries.empty() ? nullptr : &entries.back(); }
  /// The newest entry of a piece of work.
  const Entry* newest(const Subject& subject) const;
  std::size_t count(const Subject& subject) const;
  const Run* live(const Subject& subject) const;
  /// 0 for what nobody works on any more, such as a step of a plan that was given up.
  std::uint64_t generation(const Subject& subject) const;
  bool plan_phase() const;
  std::string now() const;
};

Subject subject_of(const Entry& entry);
/// Members of an entry's error_info.
std::int64_t recovery_attempts(const Entry& entry);
/// The items of a list anywhere in the file; empty where there is none.
std::vector<const Value*> list_at(const Value& root, std::string_view pointer);

}  // namespace baton::ml_workflow
