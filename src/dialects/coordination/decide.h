#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/effect.h"
#include "dialects/coordination/snapshot.h"

namespace baton::coordination {

/// One entry of orchestrator_state.decisions_log.
struct LogEntry {
  std::uint64_t number = 0;
  std::string decision;
  std::string reasoning;
};

/// What baton writes into the folder in one round. Group edits become one write of group_status.
struct Writes {
  std::vector<LogEntry> log;
  /// Numbers of starts that never happened, each as it is when those before it are out of the log.
  std::vector<std::uint64_t> taken_back;
  std::string why;  ///< of the group edits

  /// Sets members of a group's entry; creates the entry where there is none.
  void set(const Scene& scene, const Group& group,
           const std::vector<std::pair<std::string_view, Json>>& members);
  /// Exchanges a group's whole entry; null removes it.
  void put(const std::string& id, const Json& entry);
  void because(const std::string& reason);
  /// Something of the group is written in this round: what the documents say of it is not true any
  /// more, and it is decided about in the next one.
  bool touched(const std::string& id) const { return touched_.contains(id); }
  /// The write of group_status, if there is anything to write and a file to write to.
  std::vector<Update> updates(const Scene& scene) const;

 private:
  std::vector<json::Edit> group_edits_;
  std::vector<std::string> created_;
  std::set<std::string> touched_;
};

/// Where the session as a whole stands; the stage words of `*session`.
///
/// | stage           | until                                                              |
/// |-----------------|--------------------------------------------------------------------|
/// | no_requirements | somebody asks for something                                        |
/// | planning        | the project manager has chosen a mode and made groups              |
/// | working         | every group is complete                                            |
/// | phase_check     | (phase_advance: pm) the project manager has looked at the phase    |
/// | final_check     | the project manager says the word, or makes more groups            |
/// | completed       | the end                                                            |
enum class Standing {
  none,
  no_requirements,
  planning,
  working,
  phase_check,
  final_check,
  completed
};
std::string_view word(Standing standing);

Standing standing(const Scene& scene);

/// `signal` or `status` of pm_state says that all is done.
bool plan_says_completed(const Value& pm, const Options& options);
/// The project manager, or somebody in its place, says that all is done.
bool completion_claimed(const Scene& scene);
/// What has completed the session is used up once there is more to do: it is not taken for a claim
/// that came too early, and a final check has to follow.
void note_end(Scene& scene, Standing standing);
/// Looks for the completion word in the output of the project manager's runs: remembers it when it
/// holds, and refuses it for good when it came too early. One that was written and remembered does
/// not count any more when there is more to do by now.
void note_word(Scene& scene, Decision& decision);
/// Why it is not; empty when it is: groups that are not complete, not reviewed.
std::vector<std::string> completion_faults(const Scene& scene);

/// What the session as a whole wants: the project manager, and reasons to wait.
void route_session(Scene& scene, Standing standing, Decision& decision);

/// The newest plan was rejected for its groups (S1, S2, S24); "" when it was not. The findings.
std::string bad_plan(const Scene& scene);

/// Enters what the runs say into memory and documents: started ones are counted and their group
/// gets status, agent, counter and times; void ones are taken back.
void note_starts(Scene& scene, Writes& writes);

/// Enters help that has ended well (a project manager's intervention, a tech lead's explanation):
/// counters and turns count anew from there.
void note_help(Scene& scene);

/// Enters what the documents say now: histories of entries, counts of messages.
void note_documents(Scene& scene);

/// Remembers which runs were seen as ended; last, for what came until now may be theirs.
void note_ends(Scene& scene);

/// Starts counting anew for a group, for somebody has helped.
void count_anew(Scene& scene, const Subject& subject);

/// What makes versions of a group's entry comparable: the members in any order, 16 digits.
std::string entry_digest(const Value& entry);

/// Agents that have sent their hand-off but forgotten the status: once the writer has ended, what
/// its message says is written into group_status. Only messages that came after its run began.
void apply_messages(Scene& scene, Writes& writes);

/// Whether something follows from what a message says: a group is handed on, or unblocked.
bool counts(std::string_view kind, std::string_view said);

/// Folds `inbox/{group}.json` into group_status by the rules for entries. Returns the moves that
/// put away what was dealt with, folded in or refused: they go together with the writes.
std::vector<Update> apply_inbox(Scene& scene, Writes& writes, Decision& decision);

/// Messages a run was given are read when it has ended well and its group has moved on.
std::vector<Update> mark_read(const Scene& scene);

/// Messages that were read long ago (archive_days, by baton's own time of seeing them read) leave
/// their mailbox for messages/archive/MAILBOX.json. They are written there first, and taken out of
/// the mailbox at a later moment, when they stand there; until then they are in both and count
/// once. Of each group the older ones go before the newer ones.
std::vector<Update> rotate(Scene& scene, Decision& decision);

/// The transition table (schemas/coordination/README.md), for every group: who is wanted next, or
/// why nobody is. May block a group whose developer does not come forward.
void route_groups(Scene& scene, Standing standing, Writes& writes, Decision& decision);

/// One project manager at a time.
Claim manager_claim(const Scene& scene);

/// A person's word: `answer` for a group that was held, which is tried anew; `approve`.
void answer(Scene& scene, Writes& writes, Decision& decision);
/// The same while group_status is gone: it could be written nowhere.
void refuse_answers(const Scene& scene, Decision& decision);

/// Brings orchestrator_state.json to what runs and decision say: phase, live agents, counters, log,
/// status. Writes only what differs; creates the file when it is missing.
void write_orchestrator(Scene& scene, Standing standing, Writes& writes, Decision& decision);

/// The text of a fresh orchestrator_state.json.
std::string fresh_orchestrator(const std::string& session_id, Time wall);

}  // namespace baton::coordination
