// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plan of the project manager and the state of its groups, read from pm_state, group_status and
// the messages.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/words.h"

namespace baton::coordination {

/// Rounds of work per role, from `iterations`.
struct Counters {
  std::int64_t developer = 0;
  std::int64_t qa = 0;
  std::int64_t tech_lead = 0;
};

/// One task group: its plan and its state.
struct Group {
  std::string id;
  const Value* task = nullptr;   ///< entry in pm_state.task_groups; nullptr: not planned
  const Value* entry = nullptr;  ///< entry in group_status; nullptr: none
  Status status = Status::pending;
  std::int64_t phase = 0;
  bool can_parallel = true;
  std::vector<std::string> depends_on;
  std::vector<std::string> files;
  Counters counters;
  bool approved = false;  ///< approved by a review
};

/// All groups in order. Points into the documents.
struct Plan {
  bool known = false;    ///< pm_state exists
  bool decided = false;  ///< the project manager has chosen a mode
  bool simple = false;
  std::string requirements;
  std::vector<Group> groups;  ///< in starting order: phase, then the order of the plan
  std::map<std::int64_t, std::int64_t> parallel_counts;  ///< parallel_count by phase

  const Group* find(std::string_view id) const;
  /// Whether the plan has the group. If the plan has no groups at all, every group counts as
  /// planned.
  bool planned(const Group& group) const;
  bool all_complete() const;  ///< true only with at least one group
  /// The lowest phase with an incomplete group.
  std::int64_t present_phase() const;
  /// The dependency or phase that a group waits for; empty when it may start.
  std::string waits_for(const Group& group) const;

 private:
  bool any_task() const;
};

/// How often the reviews in `tech_lead_feedback` have decided so.
std::uint64_t count_feedback(const Value& entry, std::string_view decision);
/// The same in feedback and messages about the group.
std::uint64_t count_decisions(const FlowState& docs, const Group& group, std::string_view decision);
/// The open blockers of an entry.
std::vector<std::string> open_blockers(const Value* entry);

/// Without pm_state all groups of group_status count as planned, parallel and in one phase.
Plan plan_of(const FlowState& docs);

}  // namespace baton::coordination
