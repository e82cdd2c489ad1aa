// SPDX-License-Identifier: Apache-2.0
#pragma once

// What baton remembers of a session besides its files. Kept in the journal.

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::coordination {

/// How many messages there are for one group, by mailbox (words.h).
using MailCount = std::array<std::uint64_t, 3>;

/// Memory of one group.
struct GroupMemo {
  /// Digests of accepted entries, oldest first. An equal entry is an old copy.
  std::vector<std::string> history;
  std::int64_t changed_ms = 0;  ///< when the last entry came (baton's clock)
  MailCount mail{};             ///< messages at the last decision
  std::uint64_t unblocks = 0;   ///< `unblocked` decisions before the present block
  /// Counters at the last help; escalation counts from here.
  std::int64_t base_developer = 0;
  std::int64_t base_qa = 0;
  std::int64_t base_tech_lead = 0;
  std::set<std::string> helped;  ///< runs whose help was counted
  /// Runs of the project manager that helped the group, since a person last answered.
  std::vector<std::string> interventions;
  /// In the generation `turn_generation`, baton counts the turns of a role from here. Help has
  /// settled the earlier turns.
  std::uint64_t turn_generation = 0;
  std::map<std::string, std::uint32_t> turn_base;
  std::string block;    ///< why baton blocked the group: `guidance`, `troubleshoot`
  std::string blocker;  ///< description of the blocker that baton wrote
  std::string answer;   ///< the comment of a person's last `baton answer`
  bool asked = false;   ///< the log says that the group waits for a person
  bool operator==(const GroupMemo&) const = default;
};

/// Memory of one run.
struct RunMemo {
  bool counted = false;  ///< the start is in the counters of the session
  bool group = false;    ///< the start is in the counters of the group
  bool over = false;     ///< baton has seen the end of the run
  Arrival arrival = 0;   ///< of the newest file when baton saw the end
  std::int64_t started_ms = 0;
  MailCount mail{};  ///< messages for the group when the run started
  bool operator==(const RunMemo&) const = default;
};

/// A value that baton has put back or doubts. baton tells the next agents about it.
struct PutBack {
  std::string path;
  std::string pointer;
  std::string why;
  Subject subject;           ///< baton tells the agents of this subject; empty: all agents
  std::set<RunId> informed;  ///< runs that know of it; settled when one of them succeeds
  bool stays = false;        ///< baton doubts the value but has accepted it
  bool concerns(const Subject& other) const { return subject.empty() || subject == other; }
  bool operator==(const PutBack&) const = default;
};

/// Memory of one mailbox.
struct MailMemo {
  std::map<std::string, std::int64_t> read_ms;  ///< when each message was first seen as read
  std::int64_t archived_ms = 0;                 ///< when a message was last archived
  bool operator==(const MailMemo&) const = default;
};

/// Memory of a session.
struct Memo {
  bool fresh = true;  ///< there is no memory yet
  std::uint64_t spawns = 0;
  bool refused = false;  ///< a completion was claimed too early; a final check must follow
  std::vector<std::string> refusal;  ///< why, until the project manager has dealt with it
  std::set<RunId> refusal_informed;  ///< runs that know why; settled when one of them succeeds
  std::string final_pm;              ///< digest of pm_state at the start of the final check
  RunId word;  ///< run of the project manager that printed the completion word in time
  std::set<RunId> refused_words;  ///< runs whose word came too early or is used up
  /// `completed` in orchestrator_state was true, but baton overwrote it, because the session could
  /// not end yet.
  bool written_word = false;
  bool completed = false;          ///< completed at the last decision
  bool used_up = false;            ///< the claim that is still there has completed the session once
  std::int64_t phase_checked = 0;  ///< the last phase that the project manager has released
  std::string last_phase;          ///< current_phase of the newest start
  std::map<std::string, GroupMemo> groups;
  std::map<RunId, RunMemo> runs;
  std::int64_t forgotten_ms = 0;         ///< start of the newest run that was dropped from `runs`
  std::vector<std::string> answered;     ///< requests already answered
  std::map<std::string, MailMemo> mail;  ///< by kind
  std::vector<PutBack> put_back;         ///< the newest one per place
  bool operator==(const Memo&) const = default;
};

/// Adds a value that baton has put back or doubts. Replaces an older one at the same place, and
/// keeps the newest 20.
void remember(Memo& memo, PutBack back);

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::coordination
