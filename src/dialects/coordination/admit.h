// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which changes of a coordination file may stand. Agents overwrite the whole shared file
// from copies that may be old. So baton judges each group and each message by itself.

#include <string>
#include <string_view>
#include <vector>

#include "dialects/coordination/snapshot.h"

namespace baton::coordination {

/// A fault in a new entry. baton reports it in the history and to the next agents.
struct EntryFault {
  std::string_view rule;  ///< T1
  std::string member;     ///< JSON pointer inside the entry
  std::string why;
  bool operator==(const EntryFault&) const = default;
};

/// The judgement of a new entry of a group.
struct EntryVerdict {
  enum class Kind {
    taken,    ///< accepted, with lost members restored and forbidden ones removed
    stale,    ///< an old copy: the accepted entry stays
    refused,  ///< a forbidden move: the accepted entry stays
  };
  Kind kind = Kind::taken;
  Json entry;                      ///< what the entry should be; null: removed
  std::string why;                 ///< why the entry is stale, which is no fault
  std::vector<EntryFault> faults;  ///< what is wrong with a taken or refused entry
};

/// Where an agent wrote a new entry. The shared file may be an old copy, a file about one group is
/// not.
enum class Origin { shared_file, own_file };

/// `before` is nullptr for a new group, `after` for a removed one.
EntryVerdict judge_entry(const Snapshot& snapshot, const std::string& id, const Value* before,
                         const Value* after, Origin origin = Origin::shared_file);

/// Whether the new version may approve a group. Only the tech lead that reviews the group may, or a
/// person while no agent runs.
bool may_approve(const Snapshot& snapshot, const Subject& group);

/// A sentence for messages: who may approve the group.
std::string who_may_approve(const FlowId& flow, const Subject& group);

/// Whether the new version may carry this role's result for the group: an agent of the role runs
/// there, or a person writes while no agent runs.
bool may_report(const Snapshot& snapshot, std::string_view role, const Subject& group);

/// A sentence for messages: who may report for the group.
std::string who_may_report(std::string_view role, const Subject& group);

/// Rules about changes: T1 to T7 of the format page.
Admission admit(const View& view, const Change& change);

}  // namespace baton::coordination
