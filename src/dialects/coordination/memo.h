#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::coordination {

/// How many messages of each mailbox (words.h) there were for one group.
using MailCount = std::array<std::uint64_t, 3>;

/// What baton remembers of one group besides its documents.
struct GroupMemo {
  /// Digests of the entries accepted so far, oldest first; what equals one of them is stale.
  std::vector<std::string> history;
  std::int64_t changed_ms = 0;  ///< when the last of them came, on baton's clock
  MailCount mail{};
  MailCount mail_ms{};         ///< when the last message of each mailbox came, on baton's clock
  std::uint64_t unblocks = 0;  ///< `unblocked` decisions seen before the present block
  /// Counters as they were at the last help; escalation counts from here.
  std::int64_t base_developer = 0;
  std::int64_t base_qa = 0;
  std::int64_t base_tech_lead = 0;
  std::set<std::string> helped;            ///< runs that helped and are dealt with
  std::vector<std::string> interventions;  ///< runs of the project manager among them
  /// In the generation `turn_generation` turns of a role count from here: what came before was
  /// settled by help.
  std::uint64_t turn_generation = 0;
  std::map<std::string, std::uint32_t> turn_base;
  std::string block;    ///< why baton itself blocked the group: `guidance`, `troubleshoot`
  std::string blocker;  ///< the description of the blocker that it wrote then
  std::string answer;   ///< what a person has said about it
  bool held = false;    ///< it waits for a person, and the log says so
  bool operator==(const GroupMemo&) const = default;
};

/// What baton remembers of one run it has seen.
struct RunMemo {
  bool counted = false;  ///< it stands in the counters
  bool group = false;    ///< ... also in those of its group
  bool over = false;     ///< it was seen as ended
  Arrival arrival = 0;   ///< ... when this was the newest file that had come
  std::int64_t started_ms = 0;
  std::uint64_t number = 0;  ///< the how many-th start of the session it is, while it is counted
  MailCount mail{};          ///< what was there when it was started
  bool operator==(const RunMemo&) const = default;
};

/// Something an agent wrote and baton put back, or has doubts about; whoever comes next has to hear
/// of it.
struct PutBack {
  std::string path;
  std::string pointer;
  std::string why;
  Subject subject;       ///< whose agents are told; empty: everybody's
  std::set<RunId> told;  ///< when one of them ends well, it is settled
  bool stays = false;    ///< it was not put back, but taken
  bool concerns(const Subject& other) const { return subject.empty() || subject == other; }
  bool operator==(const PutBack&) const = default;
};

/// What baton remembers of one mailbox.
struct MailMemo {
  std::map<std::string, std::int64_t> read_ms;  ///< when each message was first seen as read
  std::int64_t archived_ms = 0;                 ///< when something was last put into its archive
  bool operator==(const MailMemo&) const = default;
};

/// The dialect's private memory of a session; journalled.
struct Memo {
  bool fresh = true;  ///< nothing was remembered yet
  std::uint64_t spawns = 0;
  bool refused = false;              ///< a completion came too early; a final check has to follow
  std::vector<std::string> refusal;  ///< why, until the project manager has heard of it
  std::set<RunId> refusal_told;      ///< when one of them ends well, it has
  std::string final_pm;              ///< digest of pm_state when a final check was started
  RunId word;  ///< the project manager's run whose output holds the completion word
  std::set<RunId> refused_words;  ///< those whose word came too early, or is used up
  /// `completed` stood in orchestrator_state, was true, and was written over: the end is yet to
  /// come.
  bool written_word = false;
  bool completed = false;  ///< the session was, when it was decided about last
  bool used_up = false;    ///< what stands in the files has completed it once before
  std::int64_t phase_checked = 0;
  std::string last_phase;  ///< current_phase of the most recent start
  /// By group: the digest of what an earlier baton, which left it there, has folded in.
  std::map<std::string, std::string> inbox;
  std::map<std::string, GroupMemo> groups;
  std::map<RunId, RunMemo> runs;
  std::int64_t forgotten_ms = 0;   ///< when the last of those was started that were left out of it
  std::vector<std::string> heard;  ///< requests dealt with in this step
  std::map<std::string, MailMemo> mail;  ///< by kind
  std::vector<PutBack> put_back;         ///< the last one of each place
  bool operator==(const Memo&) const = default;
};

/// Enters what was put back; of each place the last one is kept.
void remember(Memo& memo, PutBack back);

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::coordination
