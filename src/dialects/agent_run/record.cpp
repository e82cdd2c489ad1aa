// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/record.h"

#include <algorithm>
#include <limits>

#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/memo_fields.h"

namespace baton::agent_run {
namespace {

struct RunRow {
  std::string_view word;
  RunStatus status;
};
constexpr std::array kRun = {
    RunRow{"RUNNING", RunStatus::running},     RunRow{"WAITING", RunStatus::waiting},
    RunRow{"COMPLETED", RunStatus::completed}, RunRow{"FAILED", RunStatus::failed},
    RunRow{"CANCELLED", RunStatus::cancelled}, RunRow{"PAUSED", RunStatus::paused},
};
static_assert(in_enum_order(kRun, &RunRow::status, RunStatus::paused));

/// Whether the file gets the member. Members that the original does not know are written only if
/// they are set.
bool is_written(std::string_view name, const Value& value) {
  if (name == "last_error_code" || name == "last_gate_failure" || name == "memory_updates" ||
      name == "loop_items")
    return !value.IsNull();
  if (name == "loop_index")
    return json::integer(value).value_or(0) != 0;
  return name != "loop_completed" || json::boolean(value).value_or(false);
}

/// How deep the written values are in the file. The file is indented by two blanks per level.
constexpr std::size_t kStepDepth = 2;
constexpr std::size_t kStepMemberDepth = 3;

constexpr std::array<std::string_view, 8> kFixed = {
    "run_id",     "workflow_name", "repo_dir", "reports_dir", "manual_inputs_dir",
    "created_at", "options",       "status"};

}  // namespace

void StepRecord::reset() {
  status = Status::pending;
  attempts = 0;
  report_path.reset();
  started_at.reset();
  ended_at.reset();
  last_error.reset();
  last_error_code.reset();
  manual_input_path.reset();
  blocked_by_loop.reset();
  metrics = Json::object();
  logs = Json::array();
  memory_updates = Json();
  restart_loop();
}

void StepRecord::restart_loop() {
  artifacts = Json::array();
  loop_index = 0;
  loop_items = Json();
  loop_completed = false;
}

/// The members of a step in the order of the file.
template <class Visit>
void fields(StepRecord& step, Visit visit) {
  visit("status", step.status);
  visit("attempts", step.attempts);
  visit("iteration_count", step.iterations);
  visit("report_path", step.report_path);
  visit("started_at", step.started_at);
  visit("ended_at", step.ended_at);
  visit("last_error", step.last_error);
  visit("artifacts", step.artifacts);
  visit("metrics", step.metrics);
  visit("logs", step.logs);
  visit("manual_input_path", step.manual_input_path);
  visit("blocked_by_loop", step.blocked_by_loop);
  visit("executions", step.executions);
  visit("last_error_code", step.last_error_code);
  visit("last_gate_failure", step.last_gate_failure);
  visit("memory_updates", step.memory_updates);
  visit("loop_index", step.loop_index);
  visit("loop_items", step.loop_items);
  visit("loop_completed", step.loop_completed);
}

StepRecord step_record(const Value& step) {
  StepRecord record;
  read_memo(step, record);
  // The file may have any number, and adding one to it must not overflow.
  for (std::int64_t* const count :
       {&record.attempts, &record.iterations, &record.executions, &record.loop_index})
    *count = std::clamp<std::int64_t>(*count, 0, std::numeric_limits<std::int64_t>::max() - 1);
  return record;
}

Json json_of(const StepRecord& step) {
  Json json = Json::object();
  for (const Json all = write_memo(step); const auto& member : all->GetObject())
    if (is_written(json::name(member.name), member.value))
      json.set(json::name(member.name), member.value);
  return json;
}

std::string_view word(RunStatus status) {
  return kRun.at(static_cast<std::size_t>(status)).word;
}

std::vector<Word> words() {
  std::vector<Word> all = flow_words(kRun);
  for (const StatusRow& row : kStatus)
    all.emplace_back(row.stage);
  return all;
}

std::string indented(const Json& value, std::size_t depth) {
  std::string text = value.pretty();
  text.pop_back();  // the line feed at the end
  const std::string indent(2 * depth, ' ');
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, indent);
  return text;
}

RunRecord run_record(const Value& root) {
  RunRecord record;
  if (const RunRow* const row = row_of(kRun, json::text(root, "status").value_or("")))
    record.status = row->status;
  for (const auto& member : members_in(root, "steps"))
    record.steps.emplace(std::string(json::name(member.name)), step_record(member.value));
  return record;
}

std::vector<json::Edit> edits(const Value& root, const RunRecord& record,
                              const std::string& updated_at) {
  std::vector<json::Edit> all;
  const Value* const steps = json::child(root, "steps");
  for (const auto& [id, step] : record.steps) {
    const std::string pointer = member_pointer("/steps", id);
    const Value* const there = steps == nullptr ? nullptr : json::child(*steps, id);
    if (there == nullptr) {
      all.push_back(json::Edit{pointer, indented(json_of(step), kStepDepth)});
      continue;
    }
    for (const Json members = write_memo(step); const auto& member : members->GetObject()) {
      const std::string_view name = json::name(member.name);
      const Value* const old = json::child(*there, name);
      if (old == nullptr ? is_written(name, member.value) : !json::equal(*old, member.value))
        all.push_back(json::Edit{member_pointer(pointer, name),
                                 indented(Json(member.value), kStepMemberDepth)});
    }
  }
  if (json::text(root, "status") != word(record.status))
    all.push_back(json::Edit{"/status", json::quote(word(record.status))});
  if (!all.empty())
    all.push_back(json::Edit{"/updated_at", json::quote(updated_at)});
  return all;
}

bool same_record(const Value& before, const Value& after) {
  const auto same = [&](std::string_view name) {
    const Value* const one = json::child(before, name);
    const Value* const other = json::child(after, name);
    return one == nullptr || other == nullptr ? one == other : json::equal(*one, *other);
  };
  if (!std::all_of(kFixed.begin(), kFixed.end(), same))
    return false;
  const RunRecord one = run_record(before);
  const RunRecord other = run_record(after);
  return std::equal(one.steps.begin(), one.steps.end(), other.steps.begin(), other.steps.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && write_memo(a.second) == write_memo(b.second);
                    });
}

}  // namespace baton::agent_run
