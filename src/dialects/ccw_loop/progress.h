// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what executors leave beside the master state: progress notes in Markdown and task lists.
// rebuild.cpp makes a lost master state from them, brief.cpp shows the tasks.
// Executors write the notes for people. So baton reads only headings and labels, and any of them
// may be missing.

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// One entry of the timeline in develop.md.
struct DevelopEntry {
  std::string description;
  std::string timestamp;
  std::string id;
  std::string tool;
  std::string mode;
  std::vector<std::string> files;
  bool completed = false;
};
struct DevelopProgress {
  std::string task;  ///< the task of the whole loop
  std::string started;
  std::vector<std::string> list;  ///< descriptions, in order
  std::vector<DevelopEntry> entries;
};
DevelopProgress read_develop(std::string_view text);

/// `skill_state.debug`, from debug.md.
Json read_debug(std::string_view text);

/// `skill_state.validate`, from validate.md. The last run only.
Json read_validate(std::string_view text);
/// The task of the whole loop, from validate.md.
std::string task_in_validate(std::string_view text);

/// A percentage such as `75%` or `61.5`; null for other texts.
Json rate(std::string text);
/// The text if it is a time, else null.
Json moment(const std::string& text);

/// The text of the first of `{id}.progress/{part}.md` that exists; empty when there is none.
/// Versions of the executor use different names.
std::string_view progress_text(const FlowState& docs,
                               std::initializer_list<std::string_view> parts);

/// The task list from before the loop started. Comes from the first of these places that exists:
/// `{id}/tasks.jsonl`, `{id}.tasks.jsonl`, `{id}/.task/*.json`, `{id}/tasks.json`,
/// `{id}.tasks.json`, `{id}.progress/tasks.json`. If there are two records about one task, the
/// later one counts. Sorted by `order`, then by position.
struct TaskList {
  std::vector<std::string> paths;  ///< relative to the root; empty: there is none
  std::vector<const Value*> tasks;
};
/// With `spare`: looks for `{id}/tasks.jsonl.backup` too, in the last place.
TaskList task_list(const FlowState& docs, bool spare = false);

/// The tasks in the form of `skill_state.develop.tasks`.
Json develop_tasks(const TaskList& list);

}  // namespace baton::ccw_loop
