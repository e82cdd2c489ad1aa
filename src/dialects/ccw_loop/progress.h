#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

// Reads what executors leave beside the master state: progress notes in Markdown and task lists.
// rebuild.cpp makes a lost master state from them, brief.cpp shows the tasks.

/// Progress notes are written for people. Only their headings and labels are read, and all of them
/// may be missing.
/// their landmarks count, and everything may be missing.
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
  bool found = false;
  std::string task;  ///< of the whole loop
  std::string started;
  std::vector<std::string> list;  ///< descriptions, in order
  std::vector<DevelopEntry> entries;
};
DevelopProgress read_develop(std::string_view text);

struct HypothesisNote {
  std::string id;
  std::string description;
  std::string condition;
  std::string logging_point;
  std::int64_t likelihood = 0;  ///< 0: not given
  std::string status = "pending";
  Json evidence;
  std::string reason;
};
struct DebugProgress {
  bool found = false;
  std::string bug;
  std::int64_t iteration = 0;
  std::string analysed;   ///< time of the highest iteration
  std::string confirmed;  ///< the hypothesis that is named as root cause
  std::vector<HypothesisNote> hypotheses;
};
DebugProgress read_debug(std::string_view text);

struct ValidateProgress {
  bool found = false;
  std::string task;  ///< of the whole loop
  std::string validated;
  std::int64_t total = 0;
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t duration_ms = 0;
  Json pass_rate;  ///< null: not given, or not a number
  Json coverage;
  std::vector<std::string> failed_tests;
  bool result = false;  ///< PASS
};
ValidateProgress read_validate(std::string_view text);

/// The text of the first of `{id}.progress/{part}.md` that exists; empty when there is none.
/// Versions of the executor use different names.
std::string_view progress_text(const FlowState& docs,
                               std::initializer_list<std::string_view> parts);

/// The task list from before the loop started: the first that exists of `{id}/tasks.jsonl`,
/// `{id}.tasks.jsonl`, `{id}/.task/*.json`, and `tasks.json` in `{id}/`, as `{id}.tasks.json` and
/// in `{id}.progress/`. Of two records about one task the later one counts. Sorted by `order`, then
/// by position.
struct TaskList {
  std::vector<std::string> paths;  ///< relative to the root; empty: there is none
  std::vector<const Value*> tasks;
};
/// With `spare` also `{id}/tasks.jsonl.backup`, if there is no other.
TaskList task_list(const FlowState& docs, bool spare = false);

/// The tasks in the form of `skill_state.develop.tasks`.
Json develop_tasks(const TaskList& list);

}  // namespace baton::ccw_loop
