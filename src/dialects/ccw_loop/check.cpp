// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/words.h"
#include "dialects/findings.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

constexpr std::string_view kNoSuchDay = "S21";
constexpr Millis kMostAhead{3'600'000};

/// A counter next to a list that can be counted.
struct Counter {
  std::string_view id;
  std::string_view name;
  std::int64_t counted;
  std::string_view one;
  std::string_view many;
};
void compare(const Value& object, const std::string& pointer, const Counter& counter,
             FindingList& findings) {
  const Value* const found = json::child(object, counter.name);
  if (found == nullptr || json::integer(*found) == counter.counted)
    return;
  findings.warning(
      counter.id, pointer + "/" + std::string(counter.name),
      std::string(counter.name) + " is " + shown(*found) + ", but the list has " +
          count_words(static_cast<std::uint64_t>(counter.counted), counter.one, counter.many),
      found, std::to_string(counter.counted));
}

void name_rule(const std::string& path, const Value& root, FindingList& findings) {
  const auto name = loop_of_name(path);
  const auto id = json::text(root, "loop_id");
  // `explain --as` checks a document of any name under this one.
  constexpr std::string_view kNameless = "loop-v2-document";
  if (name && id && *name != *id && *name != kNameless)
    findings.error("S1", "/loop_id",
                   "the loop is called " + shown(*id) + ", but its file " + shown(*name),
                   json::child(root, "loop_id"), shown(*name));
}

void end_rules(const Value& root, Status status, FindingList& findings) {
  const Value* const word = json::child(root, "status");
  if (status == Status::completed && !json::text(root, "completed_at"))
    findings.warning("S2", "/status", "the loop is completed, but completed_at does not say when",
                     word);
  if (status == Status::failed && json::text(root, "failure_reason").value_or("").empty())
    findings.warning(
        "S13", "/status",
        "the loop has failed, but failure_reason does not say why; it counts as stopped", word,
        "a failure_reason");
}

void iteration_rule(const Value& root, FindingList& findings) {
  const auto iteration = json::number(root, "current_iteration");
  const auto limit = json::number(root, "max_iterations");
  if (iteration && limit && *iteration > *limit)
    findings.warning("S11", "/current_iteration",
                     "iteration " + shown(*json::child(root, "current_iteration")) +
                         " is beyond max_iterations (" +
                         shown(*json::child(root, "max_iterations")) + ")",
                     json::child(root, "current_iteration"),
                     "at most " + shown(*json::child(root, "max_iterations")));
}

void age_rule(const Value& root, FindingList& findings) {
  const auto created = timestamp(root, "created_at");
  for (const std::string_view name : {"updated_at", "completed_at"}) {
    const auto later = timestamp(root, name);
    if (created && later && *later < *created)
      findings.warning("S12", "/" + std::string(name),
                       std::string(name) + " is older than created_at; one of the clocks is wrong",
                       json::child(root, name),
                       "not before " + shown(*json::child(root, "created_at")));
  }
}

void tool_rule(const Value& task, const std::string& pointer, const Json& options,
               FindingList& findings) {
  const auto tool = json::text(task, "tool");
  const Value* const configured = json::child(*options, "tools");
  if (!tool || std::find(kTools.begin(), kTools.end(), *tool) != kTools.end() ||
      lists(configured, *tool))
    return;
  std::vector<std::string> known(kTools.begin(), kTools.end());
  for (const std::string& each : texts_of(configured))
    known.push_back(each);
  findings.error("S17", pointer + "/tool",
                 shown(*tool) + " is no tool; `tools` of ccw_loop in baton.yaml may name more",
                 json::child(task, "tool"), join(known, ", "));
}

void task_rules(Value::ConstArray tasks, const std::string& pointer, const Json& options,
                FindingList& findings) {
  std::set<std::string_view> seen;
  bool working = false;
  for (rapidjson::SizeType i = 0; i < tasks.Size(); ++i) {
    const Value& task = tasks[i];
    const std::string here = pointer + "/" + std::to_string(i);
    const std::string_view id = json::text(task, "id").value_or("");
    if (!seen.insert(id).second)
      findings.error("S14", here + "/id", "a second task is called " + shown(id),
                     json::child(task, "id"), "an id of its own");
    if (json::text(task, "status") == "in_progress" && std::exchange(working, true))
      findings.warning("S5", here + "/status", "a second task is in_progress",
                       json::child(task, "status"), "one at a time");
    tool_rule(task, here, options, findings);
  }
}

void develop_rules(const Value& develop, const Json& options, FindingList& findings) {
  const std::string here = "/skill_state/develop";
  const auto tasks = items_in(develop, "tasks");
  compare(
      develop, here,
      {"S3", "completed", count_status(tasks, "completed"), "completed task", "completed tasks"},
      findings);
  compare(develop, here, {"S4", "total", tasks.Size(), "task", "tasks"}, findings);
  if (const auto current = json::text(develop, "current_task");
      current && item_of(tasks, *current) == nullptr)
    findings.warning("S6", here + "/current_task", "no task is called " + shown(*current),
                     json::child(develop, "current_task"), "the id of a task, or null");
  task_rules(tasks, here + "/tasks", options, findings);
}

void debug_rules(const Value& debug, FindingList& findings) {
  const std::string here = "/skill_state/debug";
  const auto hypotheses = items_in(debug, "hypotheses");
  compare(debug, here, {"S7", "hypotheses_count", hypotheses.Size(), "hypothesis", "hypotheses"},
          findings);
  const auto confirmed = json::text(debug, "confirmed_hypothesis");
  if (!confirmed)
    return;
  const Value* const hypothesis = item_of(hypotheses, *confirmed);
  std::string message;
  if (hypothesis == nullptr)
    message = "no hypothesis is called " + shown(*confirmed);
  else if (json::text(*hypothesis, "status") != "confirmed")
    message = "hypothesis " + shown(*confirmed) + " is " +
              std::string(json::text(*hypothesis, "status").value_or("")) + ", not confirmed";
  if (!message.empty())
    findings.warning("S8", here + "/confirmed_hypothesis", message,
                     json::child(debug, "confirmed_hypothesis"),
                     "the id of a confirmed hypothesis, or null");
}

void validate_rules(const Value& validate, Status status, FindingList& findings) {
  const std::string here = "/skill_state/validate";
  const bool passed = flag_of(validate, "passed");
  const auto failed = items_in(validate, "failed_tests");
  if (passed && !failed.Empty())
    findings.warning("S9", here + "/passed",
                     "passed is true, but failed_tests names " + std::to_string(failed.Size()) +
                         "; it counts as not passed",
                     json::child(validate, "passed"), "false");
  if ((!passed || !failed.Empty()) && status == Status::completed)
    findings.warning("S10", here + "/passed",
                     "the loop is completed, but its validation has not passed",
                     json::child(validate, "passed"), "true");
}

void begin_rule(const Value& root, const Value& skill, Status status, FindingList& findings) {
  if (status != Status::created)
    return;
  const auto tasks = items_in(member(skill, "develop"), "tasks");
  if (count_of(root, "current_iteration") > 0 || count_status(tasks, "pending") < tasks.Size())
    findings.warning("S16", "/status", "the loop is created, but work has been done already",
                     json::child(root, "status"), "running or paused");
}

void time_rules(const Value& root, const Value& skill, FindingList& findings) {
  TimestampCheck times;
  const auto look = [&](const std::string& pointer, std::initializer_list<std::string_view> names) {
    times.look(value_at(root, pointer), pointer, names, kNoSuchDay, findings);
  };
  look("", {"created_at", "updated_at", "completed_at"});
  look("/skill_state/develop", {"last_progress_at"});
  const std::string tasks = "/skill_state/develop/tasks";
  for (std::size_t i = 0; i < items_in(json::at(root, tasks)).Size(); ++i)
    look(item_pointer(tasks, i), {"created_at", "completed_at"});
  look("/skill_state/debug", {"last_analysis_at"});
  look("/skill_state/validate", {"last_run_at"});
  for (std::size_t i = 0; i < items_in(skill, "errors").Size(); ++i)
    look(item_pointer("/skill_state/errors", i), {"timestamp"});
  times.report("S18", findings);
}

void state_rules(const std::string& path, const Value& root, const Json& options,
                 FindingList& findings) {
  const auto status = parse_status(json::text(root, "status").value_or(""));
  if (!status)
    return;
  const Value& skill = member(root, "skill_state");
  name_rule(path, root, findings);
  end_rules(root, *status, findings);
  iteration_rule(root, findings);
  age_rule(root, findings);
  begin_rule(root, skill, *status, findings);
  time_rules(root, skill, findings);
  develop_rules(member(skill, "develop"), options, findings);
  debug_rules(member(skill, "debug"), findings);
  if (const Value* const validate = json::child(skill, "validate"))
    validate_rules(*validate, *status, findings);
}

/// Programs also print other lines; one finding counts them all.
void debug_log_rule(const Value& records, FindingList& findings) {
  rapidjson::SizeType noise = 0;
  rapidjson::SizeType first = 0;
  for (rapidjson::SizeType i = 0; i < records.Size(); ++i)
    if (json::child(records[i], "hid") == nullptr && noise++ == 0)
      first = i;
  if (noise > 0)
    findings.warning(
        "S19", "/" + std::to_string(first),
        std::to_string(noise) + (noise == 1 ? " line is" : " lines are") + " no record and ignored",
        &records[first], "an object with hid");
}

void task_list_rule(const Value& records, FindingList& findings) {
  std::set<std::string_view> seen;
  for (rapidjson::SizeType i = 0; i < records.Size(); ++i) {
    const std::string_view id = json::text(records[i], "task_id").value_or("");
    if (!seen.insert(id).second)
      findings.warning("S20", "/" + std::to_string(i) + "/task_id",
                       "a second line is about " + shown(id) + "; it counts instead of the first",
                       json::child(records[i], "task_id"), "an id of its own");
  }
}

/// The daemon says this by a notice of its own: it accepts a document once, and time goes on.
void clock_rule(const Value& root, Time wall, FindingList& findings) {
  if (ahead(root, wall))
    findings.warning("S12", "/updated_at",
                     "updated_at is more than an hour ahead of this clock: the clock of one of its "
                     "writers is wrong; baton ignores this time",
                     json::child(root, "updated_at"), "not after " + iso_time(wall));
}

}  // namespace

bool ahead(const Value& root, Time wall) {
  const auto updated = timestamp(root, "updated_at");
  return updated && *updated > wall + kMostAhead;
}

Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall) {
  FindingList findings(kDialect);
  const Value& root = accepted.document->root();
  if (accepted.kind == "state")
    state_rules(path, root, options, findings);
  else if (accepted.kind == "debug" && root.IsArray())
    debug_log_rule(root, findings);
  else if (accepted.kind == "tasks" && root.IsArray())
    task_list_rule(root, findings);
  if (accepted.kind == "state" && wall)
    clock_rule(root, *wall, findings);
  return findings.take();
}

}  // namespace baton::ccw_loop
