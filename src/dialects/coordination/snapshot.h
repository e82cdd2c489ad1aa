#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dialect.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/memo.h"
#include "dialects/coordination/plan.h"

namespace baton::coordination {

/// What the runs say about one role's work on one subject in its present stage.
struct Job {
  std::uint32_t turn = 0;      ///< the turn that is due: the first one that has not ended well
  std::uint32_t fresh = 0;     ///< turns that ended well since the last help
  std::uint32_t failures = 0;  ///< failed attempts of the turn that is due
  bool exhausted = false;      ///< no further attempt is allowed
  const Run* first = nullptr;  ///< an attempt of the turn that is due
  const Run* last = nullptr;   ///< the newest run of the generation
};

/// A view, read once: options, plan and memory. Lives as long as the view.
struct Scene {
  explicit Scene(const View& given);

  const View& view;
  Options options;
  Memo memo;
  Plan plan;

  /// The generation of a subject's present stage; 0 when it is not known yet.
  std::uint64_t generation(const Subject& subject) const;
  /// A live run for the subject in its present stage; nullptr when there is none.
  const Run* present(const Subject& subject) const;
  /// A live run for the subject, whatever the stage.
  const Run* live(const Subject& subject) const;
  const Run* live_manager() const;  ///< for the session or a group
  /// A live run for the group that is not the project manager's.
  const Run* live_worker(const Subject& subject) const;
  /// Dealt with long ago: the journal shows old runs again after a restart.
  bool forgotten(const Run& run) const;
  /// What a new version may still be the work of: it lives, or has ended since the last decision.
  bool may_have_written(const Run& run) const;
  /// Whether somebody for whom `who` says so may have written it.
  template <class Who>
  bool written_by(const Who& who) const {
    for (const Run& run : view.runs)
      if (may_have_written(run) && who(run))
        return true;
    return false;
  }
  Job job(std::string_view role, const Subject& subject) const;
};

/// Whether a decision `unblocked` has come after the group was blocked and nothing stands open.
bool unblocked(const Scene& scene, const Group& group);
/// Decisions `unblocked` for a group so far: messages and feedback entries.
std::uint64_t unblocks(const FlowState& docs, const Group& group);
/// Blockers that are not resolved.
std::vector<std::string> open_blockers(const Group& group);
/// What is to be put right, behind the reason of a start: "; put back: ...; rejected: ...".
std::string amiss(const Scene& scene, const Subject& subject);
/// Messages for a group, per mailbox.
MailCount mail_count(const FlowState& docs, std::string_view group);

/// The run was ended by baton because nothing moved; it counts as a failure.
bool stalled(const Run& run);
inline constexpr std::string_view kStalled = "stalled";

/// The stage words of a group. A word stays while one agent does one job: `dev` from pending to
/// the hand-over.
Word stage_of(const Scene& scene, const Group& group);

/// Room for developers: how many at a time, which groups may run beside each other.
class Places {
 public:
  explicit Places(const Scene& scene);

  /// What a developer of the group holds while it works.
  std::vector<Claim> claims(const Group& group) const;
  /// Why a pending group may not begin now (row 4): a reason word and a sentence; two empty texts
  /// when it may.
  std::pair<Word, std::string> obstacle(const Group& group) const;
  /// Somebody is going to work on the group.
  void take(const Group& group, std::string_view role);

 private:
  std::size_t room(const Group& group) const;

  const Scene& scene_;
  std::set<std::string> developing_;  ///< groups with a developer, running or wanted
  std::set<std::string> in_hand_;     ///< groups with any agent, running or wanted
};

}  // namespace baton::coordination
