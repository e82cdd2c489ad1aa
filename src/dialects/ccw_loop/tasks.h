#pragma once

#include <string>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// The task list that was made before the loop began: the first there is of `{id}/tasks.jsonl`,
/// `{id}.tasks.jsonl`, `{id}/.task/*.json`, and `tasks.json` at `{id}/`, `{id}.` and
/// `{id}.progress/`. Of two records about one task the later one counts;
/// they come by `order`, then by place.
struct TaskList {
  std::vector<std::string> paths;  ///< relative to the root; empty: there is none
  std::vector<const Value*> tasks;
};
/// With `spare` also, when there is none of them, `{id}/tasks.jsonl.backup`.
TaskList task_list(const FlowState& docs, bool spare = false);

/// The tasks as `skill_state.develop.tasks` holds them, with what only the list knows as extras.
Json develop_tasks(const TaskList& list);

}  // namespace baton::ccw_loop
