#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/words.h"

namespace baton::coordination {

/// How often each role has worked on a group, as `iterations` says.
struct Counters {
  std::int64_t developer = 0;
  std::int64_t qa = 0;
  std::int64_t tech_lead = 0;
};

/// One task group: the project manager's plan for it and where it stands.
struct Group {
  std::string id;
  const Value* task = nullptr;   ///< its entry of pm_state.task_groups; nullptr when not planned
  const Value* entry = nullptr;  ///< its entry of group_status; nullptr when there is none
  Status status = Status::pending;
  std::int64_t phase = 0;
  bool can_parallel = true;
  std::vector<std::string> depends_on;
  std::vector<std::string> files;
  Counters counters;
  bool approved = false;  ///< a review has approved it
};

/// What is to be done, in which order, and how far it is. Views into the documents: it lives as
/// long as they.
struct Plan {
  bool known = false;    ///< there is a pm_state
  bool decided = false;  ///< the project manager has chosen a mode
  bool simple = false;
  std::string requirements;
  std::vector<Group> groups;  ///< order of start: phase, then as the project manager lists them
  std::map<std::int64_t, std::int64_t> parallel_counts;  ///< of phases that name one

  const Group* find(std::string_view id) const;
  /// Of groups that are planned, or of all when none is.
  bool planned(const Group& group) const;
  bool all_complete() const;  ///< and there is at least one
  /// The lowest phase with a group that is not complete.
  std::int64_t present_phase() const;
  /// Why a group may not begin yet by the plan alone: a dependency or its phase. "" when it may.
  std::string waits_for(const Group& group) const;

 private:
  bool any_task() const;
};

/// A group_status alone is judged as parallel, one phase, all groups planned.
Plan plan_of(const FlowState& docs);

}  // namespace baton::coordination
