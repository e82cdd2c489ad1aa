#include "dialects/agent_run/record.h"

#include <algorithm>
#include <array>
#include <limits>

#include "dialects/findings.h"
#include "dialects/tables.h"

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

std::optional<std::string> text_in(const Value& object, std::string_view name) {
  const auto text = json::text(object, name);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::int64_t count_in(const Value& object, std::string_view name) {
  // The file may hold any number; adding one to it must not overflow.
  return std::clamp<std::int64_t>(json::integer(object, name).value_or(0), 0,
                                  std::numeric_limits<std::int64_t>::max() - 1);
}

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json();
}

/// Members that the original does not know are written only when they are set.
bool is_written(std::string_view name, const Json& value) {
  if (name == "last_error_code" || name == "last_gate_failure" || name == "memory_updates" ||
      name == "loop_items")
    return !value.is_null();
  if (name == "loop_index")
    return json::integer(*value).value_or(0) != 0;
  return name != "loop_completed" || json::boolean(*value).value_or(false);
}

/// How deep the written values lie in the file. The file is indented by two blanks per level.
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

StepRecord step_record(const Value& step) {
  StepRecord record;
  if (const StatusRow* const row = row_of(kStatus, json::text(step, "status").value_or("")))
    record.status = row->status;
  record.attempts = count_in(step, "attempts");
  record.iterations = count_in(step, "iteration_count");
  record.executions = count_in(step, "executions");
  record.report_path = text_in(step, "report_path");
  record.started_at = text_in(step, "started_at");
  record.ended_at = text_in(step, "ended_at");
  record.last_error = text_in(step, "last_error");
  record.last_error_code = text_in(step, "last_error_code");
  record.last_gate_failure = text_in(step, "last_gate_failure");
  record.manual_input_path = text_in(step, "manual_input_path");
  record.blocked_by_loop = text_in(step, "blocked_by_loop");
  const auto copy = [&](std::string_view name, Json& to) {
    if (const Value* const value = json::child(step, name); value != nullptr && !value->IsNull())
      to = Json(*value);
  };
  copy("artifacts", record.artifacts);
  copy("metrics", record.metrics);
  copy("logs", record.logs);
  copy("memory_updates", record.memory_updates);
  copy("loop_items", record.loop_items);
  record.loop_index = count_in(step, "loop_index");
  record.loop_completed = json::boolean(step, "loop_completed").value_or(false);
  return record;
}

std::vector<std::pair<std::string_view, Json>> members(const StepRecord& step) {
  return {{"status", step.row().word},
          {"attempts", step.attempts},
          {"iteration_count", step.iterations},
          {"report_path", or_null(step.report_path)},
          {"started_at", or_null(step.started_at)},
          {"ended_at", or_null(step.ended_at)},
          {"last_error", or_null(step.last_error)},
          {"artifacts", step.artifacts},
          {"metrics", step.metrics},
          {"logs", step.logs},
          {"manual_input_path", or_null(step.manual_input_path)},
          {"blocked_by_loop", or_null(step.blocked_by_loop)},
          {"executions", step.executions},
          {"last_error_code", or_null(step.last_error_code)},
          {"last_gate_failure", or_null(step.last_gate_failure)},
          {"memory_updates", step.memory_updates},
          {"loop_index", step.loop_index},
          {"loop_items", step.loop_items},
          {"loop_completed", step.loop_completed}};
}

Json json_of(const StepRecord& step) {
  Json json = Json::object();
  for (const auto& [name, value] : members(step))
    if (is_written(name, value))
      json.set(name, value);
  return json;
}

std::string_view word(RunStatus status) {
  return kRun.at(static_cast<std::size_t>(status)).word;
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
  if (const Value* const steps = json::child(root, "steps"); steps != nullptr && steps->IsObject())
    for (const auto& member : steps->GetObject())
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
    for (const auto& [name, value] : members(step)) {
      const Value* const old = json::child(*there, name);
      if (old == nullptr ? is_written(name, value) : !json::equal(*old, *value))
        all.push_back(json::Edit{member_pointer(pointer, name), indented(value, kStepMemberDepth)});
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
                      return a.first == b.first && members(a.second) == members(b.second);
                    });
}

}  // namespace baton::agent_run
