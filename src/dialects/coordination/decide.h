// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of one decision about a session. They record runs, hand groups from role to role, find
// the state of the session, choose the next agents, and write group_status and orchestrator_state.
// coordination.cpp calls them in order.

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
  std::string why;  ///< of the group edits

  /// Sets members of a group's entry; creates the entry where there is none.
  void set(const Snapshot& snapshot, const Group& group,
           const std::vector<std::pair<std::string_view, Json>>& members);
  /// Replaces a group's whole entry; null removes it.
  void put(const std::string& id, const Json& entry);
  void add_reason(const std::string& reason);
  /// Whether this round writes the group. The documents are then outdated, so the next round
  /// decides about the group.
  bool touched(const std::string& id) const { return touched_.contains(id); }
  /// The write of group_status, if there is anything to write and a file to write to.
  std::vector<Update> updates(const Snapshot& snapshot) const;

 private:
  std::vector<json::Edit> group_edits_;
  std::vector<std::string> created_;
  std::set<std::string> touched_;
};

/// State of the session; the stage words of `*session`.
///
/// | stage           | until                                                              |
/// |-----------------|--------------------------------------------------------------------|
/// | no_requirements | a person gives requirements                                        |
/// | planning        | the project manager has chosen a mode and made groups              |
/// | working         | every group is complete                                            |
/// | phase_check     | (phase_advance: pm) the project manager has looked at the phase    |
/// | final_check     | the project manager says the completion word, or plans more groups |
/// | completed       | the end                                                            |
enum class SessionStage {
  none,
  no_requirements,
  planning,
  working,
  phase_check,
  final_check,
  completed
};
std::string_view word(SessionStage stage);

SessionStage session_stage(const Snapshot& snapshot);

/// Whether `signal` or `status` of pm_state claims completion.
bool plan_says_completed(const Value& pm, const Options& options);
/// Whether a file or the output of the project manager claims completion.
bool completion_claimed(const Snapshot& snapshot);
/// A claim that has completed the session is used up when more work appears. baton does not refuse
/// it then, but a final check must follow.
void note_end(Snapshot& snapshot, SessionStage stage);
/// Looks for the completion word in the output of the project manager. Remembers the word if the
/// session is complete, and refuses it for good if the word came too early. A remembered word no
/// longer counts when more work appears.
void note_word(Snapshot& snapshot, Decision& decision);
/// Why the session is not complete; empty when it is.
std::vector<std::string> completion_faults(const Snapshot& snapshot);

/// Starts the project manager for the session, or says what it waits for.
void route_session(Snapshot& snapshot, SessionStage stage, Decision& decision);

/// Records started runs in the counters and in the group's status, agent and times. Undoes starts
/// that never ran.
void note_starts(Snapshot& snapshot, Writes& writes);

/// Records successful help by the project manager, or by a tech lead that explains. Counters start
/// again after it.
void note_help(Snapshot& snapshot);

/// Records new entries and message counts.
void note_documents(Snapshot& snapshot);

/// Remembers which runs have ended. Call it last.
void note_ends(Snapshot& snapshot);

/// Restarts the counters of a group after help.
void reset_counts(Snapshot& snapshot, const Subject& subject);

/// A digest of an entry that ignores the order of members, 16 digits.
std::string entry_digest(const Value& entry);

/// An agent may send its message but forget the status. After the agent has ended, baton writes the
/// result of its message into group_status. Only messages that came since the start of its run
/// count.
void apply_messages(Snapshot& snapshot, Writes& writes);

/// Whether a message with this result has an effect: it hands a group on or unblocks it.
bool counts(std::string_view kind, std::string_view result);

/// Merges `inbox/{group}.json` into group_status by the rules for entries. Returns the moves that
/// archive these files; they belong to the same writes.
std::vector<Update> apply_inbox(Snapshot& snapshot, Writes& writes, Decision& decision);

/// Marks messages of a run as read after it succeeded and its group moved on.
std::vector<Update> mark_read(const Snapshot& snapshot);

/// Moves old read messages from their mailbox to messages/archive/MAILBOX.json (option
/// archive_days). baton first adds them to the archive and later removes them from the mailbox. In
/// between, a message in both places counts once. Older messages of a group go first.
std::vector<Update> archive_messages(Snapshot& snapshot, Decision& decision);

/// Applies the transition table (schemas/coordination/README.md) to every group: which agent is
/// next, or why none is.
void route_groups(Snapshot& snapshot, SessionStage stage, Writes& writes, Decision& decision);

/// The claim that allows one project manager at a time.
Claim manager_claim(const Snapshot& snapshot);

/// Answers requests of people: `answer`, which tries a group again that waits for a person, and
/// `approve`.
void answer(Snapshot& snapshot, Writes& writes, Decision& decision);
/// Refuses these requests while group_status is missing.
void refuse_answers(const Snapshot& snapshot, Decision& decision);

/// Updates orchestrator_state.json: phase, running agents, counters, log, status. Writes only
/// differences; creates the file if it is missing.
void write_orchestrator(Snapshot& snapshot, SessionStage stage, Writes& writes, Decision& decision);

/// The values for the prompt of a start (schemas/coordination/prompts). For commands: group,
/// branch, tier (`strong` for a review after three revisions, else `standard`).
Brief brief(const View& view, const Desired& desired);

/// The text of a fresh orchestrator_state.json.
std::string fresh_orchestrator(const std::string& session_id, Time wall);

}  // namespace baton::coordination
