// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/status.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "base/json/document.h"
#include "base/text.h"
#include "core/flow_plan.h"
#include "core/run_text.h"

namespace baton {
namespace {

/// The first five texts, and how many more there are.
std::string some_of(const std::vector<std::string>& all, std::string_view between) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(all.size(), kMost);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : std::string(between)) + all[i];
  return all.size() > shown ? text + " and " + std::to_string(all.size() - shown) + " more" : text;
}

/// Whether a subject stands for the flow as a whole, so that its name says nothing to people.
bool is_whole_flow(const Subject& subject) {
  return subject.empty() || subject == "main" || subject.starts_with('*');
}

/// The reasons of all holds, each once. A reason that several subjects share follows their names.
std::string join_holds(const std::vector<const Hold*>& holds) {
  std::vector<std::pair<std::string, std::vector<std::string>>> whys;
  for (const Hold* const hold : holds) {
    auto row = std::find_if(whys.begin(), whys.end(),
                            [&](const auto& known) { return known.first == hold->why; });
    if (row == whys.end())
      row = whys.insert(whys.end(), {hold->why, {}});
    const bool named =
        is_whole_flow(hold->subject) || hold->why.find(hold->subject) != std::string::npos;
    if (!named &&
        std::find(row->second.begin(), row->second.end(), hold->subject) == row->second.end())
      row->second.push_back(hold->subject);
  }
  std::vector<std::string> lines;
  lines.reserve(whys.size());
  for (const auto& [why, subjects] : whys)
    lines.push_back(subjects.empty() ? why : some_of(subjects, ", ") + ": " + why);
  return some_of(lines, "; ");
}

/// The order in which holds count. A file that is wrong explains more than an agent that left the
/// stage as it was, and less than any other cause of the same condition.
int rank(const Cause& cause) {
  constexpr int kStep = 4;
  return kStep * row_of(cause.condition).rank + (cause.reason == Reason::no_change       ? 2
                                                 : cause.reason == Reason::file_rejected ? 1
                                                 : cause.reason == Reason::dependency    ? 1
                                                                                         : 0);
}

/// Whether an operator or an agent asked for it. A pause that baton itself ordered is `blocked`.
bool is_operators(const Cause& cause) {
  return (cause.condition == Condition::stopped || cause.condition == Condition::paused) &&
         (cause.reason == Reason::by_operator || cause.reason == Reason::agent);
}

/// Leaves out what waits for another subject. It follows from what is said of the others, and a
/// flow may have many such subjects.
void leave_out_dependencies(std::vector<Hold>& holds) {
  std::erase_if(holds, [](const Hold& hold) { return hold.cause.reason == Reason::dependency; });
}

/// The path in `PATH is gone`; else the whole sentence.
std::string_view lost_path(std::string_view why) {
  constexpr std::string_view kIsGone = " is gone";
  return why.ends_with(kIsGone) ? why.substr(0, why.size() - kIsGone.size()) : why;
}

/// Leaves out what says nothing beside the first cause. If files are gone, all else follows from an
/// old version, and each path is named once. If a file is rejected, the agent may have changed it.
void leave_out_stale(const Cause& first, std::vector<Hold>& holds) {
  std::vector<std::string> lost;
  std::erase_if(holds, [&](const Hold& hold) {
    if (first.condition != Condition::gone)
      return first.reason == Reason::file_rejected && hold.cause.reason == Reason::no_change;
    if (hold.cause.condition != Condition::gone ||
        std::any_of(lost.begin(), lost.end(), [&](const std::string& why) {
          return why.find(lost_path(hold.why)) != std::string::npos;
        }))
      return true;
    lost.push_back(hold.why);
    return false;
  });
}

/// The order of an operator, of an agent or of baton itself that is in force.
std::optional<Hold> control_hold(const FlowId& flow, const ControlRow& control) {
  if (control.control == Control::run || control.control == Control::idle)
    return std::nullopt;
  return Hold{"", "", cause_of(control.control, control.reason), control.why,
              command("resume", flow)};
}

/// Adds the operator's order for the whole root, if the flow has something left to do.
void add_order_for_all(const FlowRecord& record, const ControlRow& root, std::vector<Hold>& holds) {
  const auto is_open = [](const Cause& cause) {
    return cause.condition == Condition::blocked || cause.condition == Condition::failed ||
           cause.condition == Condition::waiting || cause.condition == Condition::paused;
  };
  const Cause own = record.decision.standing.cause;
  const bool open = is_open(own) || std::any_of(holds.begin(), holds.end(), [&](const Hold& hold) {
                      return is_open(hold.cause);
                    });
  if ((root.control != Control::pause && root.control != Control::stop) || !open ||
      own.condition == Condition::done)
    return;
  const Hold order{"", "", cause_of(root.control, root.reason), why_all(root),
                   std::string(kResumeAll)};
  const auto after = std::find_if(holds.begin(), holds.end(), [](const Hold& hold) {
    return hold.cause.condition != Condition::gone && !is_operators(hold.cause);
  });
  if (std::none_of(holds.begin(), after, [&](const Hold& hold) { return hold.why == order.why; }))
    holds.insert(after, order);
}

std::vector<const Hold*> all_of(const std::vector<Hold>& holds) {
  std::vector<const Hold*> all;
  for (const Hold& hold : holds)
    all.push_back(&hold);
  return all;
}

void show(FlowStatus& status, const Standing& standing) {
  status.cause = standing.cause;
  status.why = standing.why;
  status.action = standing.action;
  status.until = standing.until;
}

/// Shows the holds: condition, reason and action of the first, the reasons of all.
void show(FlowStatus& status, const std::vector<Hold>& holds) {
  const Hold& first = holds.front();
  status.cause = first.cause;
  status.why = join_holds(all_of(holds));
  status.action.clear();
  status.until.reset();
  bool ends = true;  // by itself
  for (const Hold& hold : holds) {
    if (hold.cause.condition != first.cause.condition)
      continue;
    if (status.action.empty())
      status.action = hold.action;
    ends = ends && (hold.until || first.cause.condition == Condition::waiting);
    if (hold.until && (!status.until || *hold.until < *status.until))
      status.until = hold.until;
  }
  if (!ends)
    status.until.reset();
}

void show_running(FlowStatus& status, const FlowRecord& record, const Plan& plan,
                  const ControlRow& root) {
  std::string why;
  bool ending = true;
  for (const Run& run : record.runs) {
    if (!run.live())
      continue;
    const bool stopping = run.state == RunState::stopping;
    const bool planned = std::any_of(plan.stops.begin(), plan.stops.end(),
                                     [&](const Stop& stop) { return stop.run == run.id; });
    ending = ending && stopping;
    why += (why.empty() ? "" : "; ") + role_text(run.key.role, run.agent) +
           (run.key.subject == "main" ? "" : " for " + run.key.subject) +
           (!stopping ? ": " + run.why
            : planned ? " is to be ended: " + run.stop_why
                      : " is being ended: " + run.stop_why);
  }
  std::vector<Hold> others = obstacles(record, root);
  std::erase_if(others, [](const Hold& hold) { return is_operators(hold.cause); });
  leave_out_dependencies(others);
  const auto files = std::stable_partition(others.begin(), others.end(), [](const Hold& hold) {
    return hold.cause.condition != Condition::gone && hold.cause.reason != Reason::file_rejected;
  });
  const std::vector<Hold> wrong(files, others.end());
  others.erase(files, others.end());
  if (!others.empty())
    why += "; not started: " + join_holds(all_of(others));
  if (!wrong.empty())
    why += "; " + join_holds(all_of(wrong));
  // A stop needs no such note, because its agents are shown as being ended. A pause that baton
  // itself ordered is among the causes already.
  for (const ControlRow* const control : {&record.control, &root})
    if (control->control == Control::pause &&
        is_operators(cause_of(control->control, control->reason))) {
      why = (control == &root ? why_all(root) : control->why) + "; " +
            std::to_string(status.agents) + (status.agents == 1 ? " agent" : " agents") +
            " may finish: " + why;
      break;
    }
  show(status, {{Condition::running, ending ? Reason::ending : Reason::agent}, why, "", {}});
}

/// How the flow stands by its own files.
Standing own_standing(const FlowRecord& record) {
  Standing own = record.decision.standing;
  const Control control = record.decision.control;
  if (own.cause.condition == Condition::idle && control == Control::pause)
    own.cause = {Condition::paused, Reason::files};
  if (own.cause.condition == Condition::idle && control == Control::stop)
    own.cause = {Condition::stopped, Reason::files};
  if (!own.why.empty())
    return own;
  own.why = own.cause.condition == Condition::paused    ? "the flow's own files say pause"
            : own.cause.condition == Condition::stopped ? "the flow's own files say stop"
            : own.cause.condition == Condition::failed  ? "the flow has failed by its own account"
            : own.cause.condition == Condition::done    ? "it has reached its end"
                                                     : "nothing is to be done as the files stand";
  return own;
}

/// A flow stays done when its files are deleted or become wrong; the reason says so.
void show_done(FlowStatus& status, const Standing& own, const std::vector<Hold>& holds) {
  show(status, own);
  std::vector<const Hold*> files;
  for (const Hold& hold : holds)
    if (hold.cause.reason == Reason::file_rejected || hold.cause.condition == Condition::gone)
      files.push_back(&hold);
  if (!files.empty())
    status.why += "; " + join_holds(files);
}

/// Whether nothing is due and no file is left, so that the flow leaves the list.
bool is_absent(const FlowRecord& record, const Standing& own, const std::vector<Hold>& holds) {
  return own.cause.condition == Condition::idle && record.decision.desired.empty() &&
         !record.accepted.empty() &&
         std::none_of(record.accepted.begin(), record.accepted.end(),
                      [](const auto& row) { return row.second.present; }) &&
         std::all_of(holds.begin(), holds.end(),
                     [](const Hold& hold) { return hold.cause.condition == Condition::gone; });
}

const Start* start_of(const FlowRecord& record, const Plan& plan, const Subject* subject) {
  const auto start = std::find_if(plan.starts.begin(), plan.starts.end(), [&](const Start& each) {
    return each.key.flow == record.id && (subject == nullptr || each.key.subject == *subject);
  });
  return start == plan.starts.end() ? nullptr : &*start;
}

/// The first condition that fits, by the precedence of docs/status.md.
void show_flow(FlowStatus& status, const FlowRecord& record, const Plan& plan,
               const ControlRow& root) {
  const Standing own = own_standing(record);
  std::vector<Hold> holds = obstacles(record, root);
  if (status.agents > 0)
    return show_running(status, record, plan, root);
  if (own.cause.condition == Condition::done)
    return show_done(status, own, holds);
  if (is_absent(record, own, holds)) {
    status.absent = true;
    return show(status, own);
  }
  const Start* const start = start_of(record, plan, nullptr);
  if (start != nullptr)
    holds.push_back(Hold{"", "", Reason::start, start->desired.why});
  if (start != nullptr || (!holds.empty() && holds.front().cause.reason != Reason::dependency))
    leave_out_dependencies(holds);
  const bool own_first = holds.empty() || (!is_operators(holds.front().cause) &&
                                           before(own.cause, holds.front().cause));
  leave_out_stale(own_first ? own.cause : holds.front().cause, holds);
  if (!own_first)
    return show(status, holds);
  show(status, own);
  if (!holds.empty())
    status.why += "; " + join_holds(all_of(holds));
}

Cause cause_of_subject(const FlowStatus& status, const FlowRecord& record, const Plan& plan,
                       const Subject& subject, const std::vector<Hold>& holds) {
  for (const Run& run : record.runs)
    if (run.live() && run.key.subject == subject)
      return run.state == RunState::stopping ? Reason::ending : Reason::agent;
  const std::vector<Subject>& ends = record.decision.ends;
  if (status.cause.condition == Condition::done ||
      std::find(ends.begin(), ends.end(), subject) != ends.end())
    return Reason::none;
  // Nothing is due, so files that are gone are missed by nobody.
  if (status.absent)
    return status.cause;
  const auto hold = std::find_if(holds.begin(), holds.end(), [&](const Hold& each) {
    return each.subject.empty() || each.subject == subject;
  });
  if (hold != holds.end())
    return hold->cause;
  if (start_of(record, plan, &subject) != nullptr)
    return Reason::start;
  const bool alone = record.stages.size() == 1 && status.cause.condition != Condition::running;
  return alone ? status.cause : Cause();
}

void show_subjects(FlowStatus& status, const FlowRecord& record, const Plan& plan,
                   const ControlRow& root) {
  const std::vector<Hold> holds = obstacles(record, root);
  for (const Subject& subject : subjects_in_order(record)) {
    const StageState& state = record.stages.at(subject);
    if (state.stage.empty())
      continue;
    SubjectStatus one{
        subject, state.stage, cause_of_subject(status, record, plan, subject, holds), {}, 0};
    for (const Run& run : record.runs)
      if (run.key.subject == subject) {
        one.agent = run.key.role;
        one.attempt = run.attempt;
      }
    status.subjects.push_back(std::move(one));
  }
}

}  // namespace

std::vector<Subject> subjects_in_order(const FlowRecord& record) {
  std::vector<Subject> all;
  for (const Subject& subject : record.decision.order)
    if (record.stages.contains(subject) && std::find(all.begin(), all.end(), subject) == all.end())
      all.push_back(subject);
  const std::set<Subject> ordered(all.begin(), all.end());
  for (const auto& [subject, state] : record.stages)
    if (!ordered.contains(subject))
      all.push_back(subject);
  return all;
}

std::vector<Hold> obstacles(const FlowRecord& record, const ControlRow& root) {
  std::vector<Hold> holds = record.holds;
  const auto has = [&](const Hold& one) {
    return std::any_of(holds.begin(), holds.end(), [&](const Hold& other) {
      return other.cause == one.cause && other.why == one.why;
    });
  };
  if (record.held && !has(*record.held))
    holds.push_back(*record.held);
  if (auto own = control_hold(record.id, record.control); own && !has(*own))
    holds.insert(holds.begin(), *std::move(own));
  add_rejected(record, holds);
  std::stable_sort(holds.begin(), holds.end(), [](const Hold& one, const Hold& other) {
    return std::pair(!is_operators(one.cause), rank(one.cause)) <
           std::pair(!is_operators(other.cause), rank(other.cause));
  });
  // Files that are gone come even before an order.
  std::stable_partition(holds.begin(), holds.end(),
                        [](const Hold& hold) { return hold.cause.condition == Condition::gone; });
  add_order_for_all(record, root, holds);
  return holds;
}

void add_rejected(const FlowRecord& record, std::vector<Hold>& holds) {
  const std::vector<std::string>& own = record.decision.own_faults;
  for (const auto& [path, row] : record.rejected) {
    if (std::find(own.begin(), own.end(), path) != own.end())
      continue;
    const bool named = std::any_of(holds.begin(), holds.end(), [&file = path](const Hold& hold) {
      return hold.cause.reason == Reason::file_rejected && hold.why.find(file) != std::string::npos;
    });
    if (!named)
      holds.push_back(Hold{"", "", Reason::file_rejected, first_finding(row),
                           "correct " + path + ", then `baton validate " + shell_word(path) + "`"});
  }
}

/// The message where a finding has none.
constexpr std::string_view kIsRejected = "is rejected";

std::string first_message(const RejectedRow& row) {
  const auto findings = parse_json(row.findings);
  if (!findings || !(*findings)->IsArray() || (*findings)->Empty())
    return std::string(kIsRejected);
  return std::string(json::text(*(*findings)->Begin(), "message").value_or(""));
}

std::string first_finding(const RejectedRow& row) {
  const auto findings = parse_json(row.findings);
  std::string where = row.path;
  if (findings && (*findings)->IsArray() && !(*findings)->Empty()) {
    const Value& first = *(*findings)->Begin();
    const Value* const line = json::child(first, "line");
    const Value* const column = json::child(first, "column");
    if (line != nullptr && column != nullptr && json::integer(*line).value_or(0) > 0)
      where += ":" + json::dump(*line) + ":" + json::dump(*column);
    if (const auto pointer = json::text(first, "pointer"); pointer && !pointer->empty())
      where += " " + std::string(*pointer);
  }
  const std::string message = first_message(row);
  return where + " is rejected" + (message == kIsRejected ? "" : ": " + message);
}

std::string unseen_by_daemon(const std::string& path, const FlowRecord* known) {
  const auto* const rejected = known == nullptr ? nullptr : &known->rejected;
  if (rejected == nullptr || !rejected->contains(path))
    return "the daemon has not yet looked at " + path +
           " as it stands; it does when its writer has closed it, or within a minute";
  // The daemon may run as another user, who cannot read the file.
  return "the daemon has rejected " + path + " when it looked last (" +
         first_message(rejected->at(path)) + "); if that is mended, it looks within a minute";
}

FlowStatus status_of(const FlowRecord& record, const Plan& plan, const ControlRow& root) {
  FlowStatus status;
  status.flow = record.id;
  status.declared = record.decision.declared;
  status.details = record.decision.details;
  status.progress = record.decision.progress;
  status.last_activity = record.last_activity;
  for (const auto& [subject, state] : record.stages)
    status.since = std::max(status.since, state.since);
  Key last;
  for (const Run& run : record.runs) {
    last = run.key;
    status.agents += run.live() ? 1U : 0U;
    status.last_activity = std::max({status.last_activity, run.started, run.ended});
    if (run.cost_usd)
      status.cost = status.cost.value_or(0) + *run.cost_usd;
    status.agent = run.key.role;
    status.attempt = run.attempt;
  }
  if (!status.agent.empty()) {
    const auto counted = record.decision.attempts_max.find(last.subject);
    const bool by_dialect = counted != record.decision.attempts_max.end();
    status.attempts_max = by_dialect
                              ? counted->second
                              : of_role(plan.attempts, status.agent, plan.attempts_otherwise);
    if (!by_dialect && status.attempts_max > 0)
      status.attempts_max += stopped_attempts(record.runs, last);
  }
  if (record.control.control != Control::run)
    status.since = std::max(status.since, record.control.since);
  show_flow(status, record, plan, root);
  for (const auto& [path, log] : record.logs.files)
    if (const std::string faults = fault_text(path, log); !faults.empty())
      status.why += (status.why.empty() ? "" : "; ") + faults;
  show_subjects(status, record, plan, root);
  return status;
}

namespace {

/// The status of the root itself: which of its folders are faulty, and why, or which files beside
/// state files are ignored.
FlowStatus status_of_root(const FlowRecord& record) {
  FlowStatus status;
  if (record.rejected.empty()) {
    std::vector<std::string> names;
    for (const std::string& path : record.notified.ignored)
      names.push_back(printable(path, 200));
    status.why = std::to_string(names.size()) + (names.size() == 1 ? " file is" : " files are") +
                 " ignored for the name: " + some_of(names, ", ");
    return status;
  }
  std::vector<std::string> folders;
  std::vector<std::string> whys;
  for (const auto& [folder, row] : record.rejected) {
    folders.push_back(folder);
    status.since = std::max(status.since, row.time);
    whys.push_back(folder + ": " + first_message(row));
  }
  // The root itself is the folder `.`.
  if (record.rejected.contains("."))
    show(status, {Reason::root_away, some_of(whys, "; "), "", {}});
  else
    show(status, {Reason::folder_unreadable,
                  some_of(whys, "; "),
                  "put a folder that baton may list at " + some_of(folders, ", ") +
                      "; `baton doctor` checks it",
                  {}});
  status.last_activity = status.since;
  return status;
}

}  // namespace

std::vector<FlowStatus> statuses(const FlowRecords& records, const Plan& plan) {
  const auto root = records.find(FlowId{});
  const ControlRow whole = root == records.end() ? ControlRow{} : root->second.control;
  std::vector<FlowStatus> all;
  if (root != records.end() &&
      !(root->second.rejected.empty() && root->second.notified.ignored.empty()))
    all.push_back(status_of_root(root->second));
  for (const auto& [flow, record] : records)
    if (flow != FlowId{})
      all.push_back(status_of(record, plan, whole));
  return all;
}

namespace {

Json time_json(Time time) {
  return time == Time{} ? Json() : Json(iso_time(time));
}

/// A sum of costs has digits that no run has reported.
Json cost_json(std::optional<double> cost) {
  constexpr double kParts = 1e6;
  return cost ? Json(std::round(*cost * kParts) / kParts) : Json();
}

}  // namespace

Json status_json(const FlowStatus& status) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  const auto count_or_null = [](std::uint32_t count) {
    return count == 0 ? Json() : Json(static_cast<std::uint64_t>(count));
  };
  const bool root = status.flow == FlowId{};
  Json json = Json::object({{"schema", "baton/status/v1"},
                            {"flow", root ? std::string() : text(status.flow)},
                            {"dialect", text_or_null(status.flow.dialect)}});
  add_cause(status.cause, json);
  json.set("until", status.until ? Json(iso_time(*status.until)) : Json());
  json.set("since", time_json(status.since));
  json.set("why", Json(status.why));
  json.set("do", text_or_null(status.action));
  json.set("declared", Json(status.declared));
  json.set("attempt", count_or_null(status.attempt));
  json.set("attempts_max", count_or_null(status.attempts_max));
  json.set("agent", text_or_null(status.agent));
  json.set("agents", Json(static_cast<std::uint64_t>(status.agents)));
  json.set("cost", cost_json(status.cost));
  json.set("progress", status.progress ? Json::object({{"done", status.progress->done},
                                                       {"total", status.progress->total},
                                                       {"unit", status.progress->unit}})
                                       : Json());
  Json subjects = Json::array();
  for (const SubjectStatus& subject : status.subjects) {
    Json row = Json::object({{"name", subject.name}, {"stage", subject.stage}});
    add_cause(subject.cause, row);
    row.set("agent", text_or_null(subject.agent));
    row.set("attempt", count_or_null(subject.attempt));
    subjects.push(row);
  }
  json.set("subjects", subjects);
  json.set("last_activity", time_json(status.last_activity));
  json.set("details", status.details);
  return json;
}

std::string ending_text(const Run& run) {
  // The word `voided` would not say much to people.
  if (run.outcome != Outcome::voided)
    return outcome_text(run) + (run.error.empty() ? "" : ": \"" + run.error + "\"");
  const std::string reason = reason_text(run);
  return std::string(kDidNotRun) + (reason.empty() ? "" : " (" + reason + ")");
}

Json agent_json(const Run& run) {
  Json exit;
  if (run.exit_code)
    exit = Json(*run.exit_code);
  return Json::object({{"run", run.id},
                       {"flow", text(run.key.flow)},
                       {"role", run.key.role},
                       {"agent", run.agent},
                       {"subject", run.key.subject},
                       {"purpose", run.purpose},
                       {"attempt", static_cast<std::uint64_t>(run.attempt)},
                       {"state", word(run.state)},
                       {"pid", run.live() ? Json(run.pid) : Json()},
                       {"started", time_json(run.started)},
                       {"ended", time_json(run.ended)},
                       {"outcome", run.live() ? Json() : Json(word(run.outcome))},
                       {"exit", exit},
                       {"signal", run.signal == 0 ? Json() : Json(run.signal)},
                       {"reason", run.reason},
                       {"error", run.error},
                       {"session", run.session},
                       {"why", run.why},
                       {"cost", cost_json(run.cost_usd)},
                       {"tokens", run.tokens ? Json(*run.tokens) : Json()}});
}

Json event_json(const Event& event) {
  return Json::object({{"seq", event.seq},
                       {"time", iso_time(event.time, true)},
                       {"flow", event.flow == FlowId{} ? std::string() : text(event.flow)},
                       {"event", event.event},
                       {"subject", event.subject},
                       {"role", event.role},
                       {"run", event.run},
                       {"why", event.why}});
}

}  // namespace baton
