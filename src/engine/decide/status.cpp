#include "engine/decide/status.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/json/document.h"
#include "core/run_text.h"

namespace baton {
namespace {

constexpr std::array kWords = {
    std::pair{Process::running, std::string_view("running")},
    std::pair{Process::waiting, std::string_view("waiting")},
    std::pair{Process::held, std::string_view("held")},
    std::pair{Process::paused, std::string_view("paused")},
    std::pair{Process::stopped, std::string_view("stopped")},
    std::pair{Process::idle, std::string_view("idle")},
    std::pair{Process::failed, std::string_view("failed")},
    std::pair{Process::gone, std::string_view("gone")},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (static_cast<std::size_t>(kWords.at(i).first) != i)
      return false;
  return true;
}
static_assert(in_order());

/// The reasons of holds that end by themselves.
constexpr std::array kPassing = {
    std::string_view("backing_off"),   std::string_view("no_place"),
    std::string_view("claimed"),       std::string_view("cannot_start"),
    std::string_view("cannot_look"),   std::string_view("no_daemon"),
    std::string_view("draining"),      std::string_view("disk_full"),
    std::string_view("rate_breaker"),  std::string_view("condition"),
    std::string_view("write_pending"), std::string_view("gave_way"),
    std::string_view("unseen"),        std::string_view("being_written"),
    std::string_view("given_up"),
};

bool passing(const Hold& hold) {
  return std::find(kPassing.begin(), kPassing.end(), hold.reason) != kPassing.end();
}

/// The first five texts, and how many more there are.
std::string some_of(const std::vector<std::string>& all, std::string_view between) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(all.size(), kMost);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : std::string(between)) + all[i];
  return all.size() > shown ? text + " and " + std::to_string(all.size() - shown) + " more" : text;
}

/// The reasons of all holds, each once. A reason that several subjects share follows their names.
std::string join_holds(const std::vector<const Hold*>& holds) {
  std::vector<std::pair<std::string, std::vector<std::string>>> whys;
  for (const Hold* const hold : holds) {
    auto row = std::find_if(whys.begin(), whys.end(),
                            [&](const auto& known) { return known.first == hold->why; });
    if (row == whys.end())
      row = whys.insert(whys.end(), {hold->why, {}});
    const bool named = hold->subject.empty() || hold->subject == "main" ||
                       hold->why.find(hold->subject) != std::string::npos;
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

void explain(FlowStatus& status, Process process, Word waiting_for, std::string why) {
  status.process = process;
  status.waiting_for = std::move(waiting_for);
  status.why = std::move(why);
}

/// The holds, first those for which a person has to act.
std::vector<const Hold*> in_order(const std::vector<Hold>& holds) {
  std::vector<const Hold*> all;
  all.reserve(holds.size());
  for (const Hold& hold : holds)
    all.push_back(&hold);
  std::stable_partition(all.begin(), all.end(), [](const Hold* hold) { return !passing(*hold); });
  return all;
}

void explain_running(FlowStatus& status, const FlowRecord& record, const Plan& plan) {
  std::string why;
  for (const Run& run : record.runs) {
    if (!run.live())
      continue;
    const bool stopping = run.state == RunState::stopping;
    const bool planned = std::any_of(plan.stops.begin(), plan.stops.end(),
                                     [&](const Stop& stop) { return stop.run == run.id; });
    why += (why.empty() ? "" : "; ") + run.key.role +
           (run.key.subject == "main" ? "" : " for " + run.key.subject) +
           (!stopping ? ": " + run.why
            : planned ? " is to be ended: " + run.stop_why
                      : " is being ended: " + run.stop_why);
  }
  // The note about the operator's pause covers these holds.
  std::vector<Hold> holds = record.holds;
  std::erase_if(holds, [](const Hold& hold) { return hold.reason == "paused"; });
  if (!holds.empty())
    why += "; held: " + join_holds(in_order(holds));
  explain(status, Process::running, "agent", why);
}

/// The reason of a control. Adds how to go on if baton itself paused the flow in a dispute.
std::string why_of(const FlowStatus& status, const ControlRow& control) {
  if (control.reason != "disputed")
    return control.why;
  return control.why + "; once its writer keeps to the rules, `baton resume " + text(status.flow) +
         "` goes on";
}

/// Says that after the running agents nothing more starts. A stop needs no such note, because its
/// agents are shown as being ended.
bool note_pause(FlowStatus& status, const ControlRow& control, const std::string& whose) {
  if (control.control != Control::pause)
    return false;
  status.why = why_of(status, control) + whose + "; " + std::to_string(status.agents) +
               (status.agents == 1 ? " agent" : " agents") + " may finish: " + status.why;
  return true;
}

/// Shows a pause or stop that is in force. False: there is none.
bool explain_control(FlowStatus& status, const ControlRow& control, const std::string& whose) {
  if (control.control == Control::run || control.control == Control::idle)
    return false;
  const bool stopped = control.control == Control::stop;
  // baton itself paused the flow for these reasons, so a person has to look.
  const bool held = control.reason == "existing" || control.reason == "disputed";
  const bool failed = at_cap(control.reason);
  const Process process = failed    ? Process::failed
                          : held    ? Process::held
                          : stopped ? Process::stopped
                                    : Process::paused;
  explain(status, process, held || failed ? control.reason : Word("resume"),
          why_of(status, control) + whose);
  status.since = std::max(status.since, control.since);
  return true;
}

void explain_holds(FlowStatus& status, const FlowRecord& record) {
  const std::vector<const Hold*> holds = in_order(record.holds);
  const bool lasting = !holds.empty() && !passing(*holds.front());
  if (record.failed)
    explain(status, Process::failed, lasting ? holds.front()->reason : Word(""),
            lasting                            ? join_holds(holds)
            : record.decision.standing.empty() ? "the flow has failed by its own account"
                                               : record.decision.standing);
  else if (!holds.empty())
    explain(status, lasting ? Process::held : Process::waiting, holds.front()->reason,
            join_holds(holds));
}

/// Adds rejected files, and a missing one, to the reason of any other state unless it names them
/// already. A rejected file makes an idle flow `held`, but not a completed one. If an agent ended
/// without a change of the stage and left a rejected file, the file is what to look at.
void explain_files(FlowStatus& status, const FlowRecord& record) {
  if (record.held && record.held->reason == "gone" && status.process != Process::gone)
    status.why += "; " + record.held->why;
  if (record.rejected.empty())
    return;
  // The reason may also name a file as the place of a write. That does not count.
  const auto says = [&](std::string_view word) {
    return status.why.find(word) != std::string::npos;
  };
  const bool notified = says("rejected") || says("not valid") || says("refused");
  std::vector<std::string> paths;
  for (const auto& [path, row] : record.rejected)
    if (!notified || !says(path))
      paths.push_back(path);
  const std::string why = some_of(paths, ", ") + (paths.size() == 1 ? " is" : " are") +
                          " rejected; `baton explain " + text(record.id) + "` says why";
  if (status.process == Process::idle && record.decision.declared == kCompleted)
    status.why += paths.empty() ? "" : "; " + why;
  else if (status.process == Process::idle)
    explain(status, Process::held, "valid_file", paths.empty() ? status.why : why);
  else if (!paths.empty())
    status.why = why + "; " + status.why;
  if (status.waiting_for == "ended_without_change")
    status.waiting_for = "valid_file";
}

void explain_quiet(FlowStatus& status, const FlowRecord& record) {
  switch (record.decision.control) {
    case Control::pause:
      return explain(status, Process::paused, "change", "the flow's own files say pause");
    case Control::stop:
      return explain(status, Process::stopped, "change", "the flow's own files say stop");
    case Control::run:
    case Control::idle:
      return explain(status, Process::idle, "change",
                     record.decision.standing.empty() ? "nothing is to be done as the files stand"
                                                      : record.decision.standing);
  }
}

/// Everything but the files. The first state that fits wins.
void explain_flow(FlowStatus& status, const FlowRecord& record, const Plan& plan,
                  const ControlRow& root) {
  explain_quiet(status, record);
  if (status.agents > 0) {
    explain_running(status, record, plan);
    if (!note_pause(status, record.control, ""))
      note_pause(status, root, " (the whole root)");
    return;
  }
  if (record.held && record.held->reason == "gone")
    return explain(status, Process::gone, "gone", record.held->why);
  if (explain_control(status, record.control, "") ||
      explain_control(status, root, " (the whole root)"))
    return;
  const auto start = std::find_if(plan.starts.begin(), plan.starts.end(),
                                  [&](const Start& s) { return s.key.flow == record.id; });
  if (start != plan.starts.end())
    explain(status, Process::waiting, "start", start->desired.why);
  else if (record.held)
    explain(status, passing(*record.held) ? Process::waiting : Process::held, record.held->reason,
            record.held->why);
  explain_holds(status, record);
}

}  // namespace

std::string first_message(const RejectedRow& row) {
  const auto findings = parse_json(row.findings);
  if (!findings || !(*findings)->IsArray() || (*findings)->Empty())
    return "is rejected";
  return std::string(json::text(*(*findings)->Begin(), "message").value_or(""));
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

std::string_view word(Process process) {
  return kWords.at(static_cast<std::size_t>(process)).second;
}

std::optional<Process> parse_process(std::string_view word) {
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const auto& row) { return row.second == word; });
  if (found == kWords.end())
    return std::nullopt;
  return found->first;
}

FlowStatus status_of(const FlowRecord& record, const Plan& plan, const ControlRow& root) {
  FlowStatus status;
  status.flow = record.id;
  status.declared = record.decision.declared;
  status.details = record.decision.details;
  status.last_activity = record.last_activity;
  for (const auto& [subject, state] : record.stages)
    status.since = std::max(status.since, state.since);
  for (const Run& run : record.runs) {
    status.agents += run.live() ? 1U : 0U;
    status.last_activity = std::max({status.last_activity, run.started, run.ended});
    if (run.cost_usd)
      status.cost = status.cost.value_or(0) + *run.cost_usd;
  }
  explain_flow(status, record, plan, root);
  explain_files(status, record);
  return status;
}

namespace {

/// The status of the root itself: which of its folders are faulty, and why.
FlowStatus status_of_root(const FlowRecord& record) {
  FlowStatus status;
  std::vector<std::string> whys;
  for (const auto& [folder, row] : record.rejected) {
    status.since = std::max(status.since, row.time);
    whys.push_back(folder + ": " + first_message(row));
  }
  explain(status, Process::held, "valid_file", some_of(whys, "; "));
  status.last_activity = status.since;
  return status;
}

}  // namespace

std::vector<FlowStatus> statuses(const FlowRecords& records, const Plan& plan) {
  const auto root = records.find(FlowId{});
  const ControlRow whole = root == records.end() ? ControlRow{} : root->second.control;
  std::vector<FlowStatus> all;
  if (root != records.end() && !root->second.rejected.empty())
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

}  // namespace

Json status_json(const FlowStatus& status) {
  return Json::object({{"flow", status.flow == FlowId{} ? std::string() : text(status.flow)},
                       {"declared", status.declared},
                       {"process", word(status.process)},
                       {"since", time_json(status.since)},
                       {"last_activity", time_json(status.last_activity)},
                       {"waiting_for", status.waiting_for},
                       {"why", status.why},
                       {"agents", static_cast<std::uint64_t>(status.agents)},
                       {"cost", status.cost ? Json(*status.cost) : Json()},
                       {"details", status.details}});
}

std::string ending_text(const Run& run) {
  // The word `voided` would not say much to people.
  if (run.outcome != Outcome::voided)
    return outcome_text(run);
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
                       {"why", run.why},
                       {"cost", run.cost_usd ? Json(*run.cost_usd) : Json()},
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
