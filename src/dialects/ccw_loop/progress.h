#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// What can be read out of the progress files of a loop. They are written for people, so only
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
  std::string task;  ///< the task of the whole loop
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
  std::int64_t likelihood = 0;  ///< 0: not said
  std::string status = "pending";
  Json evidence;
  std::string reason;
};
struct DebugProgress {
  bool found = false;
  std::string bug;
  std::int64_t iteration = 0;
  std::string analysed;   ///< moment of the highest iteration
  std::string confirmed;  ///< the hypothesis named as root cause
  std::vector<HypothesisNote> hypotheses;
};
DebugProgress read_debug(std::string_view text);

struct ValidateProgress {
  bool found = false;
  std::string task;  ///< the task of the whole loop
  std::string validated;
  std::int64_t total = 0;
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t duration_ms = 0;
  Json pass_rate;  ///< null: not said, or no number
  Json coverage;
  std::vector<std::string> failed_tests;
  bool result = false;  ///< PASS
};
ValidateProgress read_validate(std::string_view text);

/// The text of `{id}.progress/{part}.md`; empty when there is none. The first of the parts that is
/// there counts: other versions of the executor use other names.
std::string_view progress_text(const FlowState& docs,
                               std::initializer_list<std::string_view> parts);

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
