#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/submit_request.h"
#include "engine/decide/status.h"
#include "io/files/lock.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kWaitEvery{250};

/// What to wait for.
struct Goal {
  std::string flow;
  std::string until;  ///< "": the flow's end
  /// the state in which a wait for a person was last reported
  Process notified = Process::running;
};

/// Whether the flow has the status: the state of its processes, its declared status, or the stage
/// of all its subjects.
bool has_status(const FlowStatus& status, const FlowRecord& record, const std::string& until) {
  if (until.empty())
    return status.process == Process::idle;
  if (until == word(status.process) || until == status.declared)
    return true;
  bool any = false;
  for (const auto& [subject, state] : record.stages) {
    if (state.stage.empty())
      continue;
    any = true;
    if (state.stage != until)
      return false;
  }
  return any;
}

bool has_ended(Process process) {
  return process == Process::failed || process == Process::stopped || process == Process::gone;
}

/// Tells the user that the flow waits for a person.
void tell_person(Goal& goal, Process process, const std::string& what) {
  const bool persons = process == Process::held || process == Process::paused;
  if (goal.until.empty() && persons && std::exchange(goal.notified, process) != process)
    complain(what);
  if (!persons)
    goal.notified = process;
}

/// Looks once. Nothing: the goal is not reached yet.
std::optional<ExitCode> look(Goal& goal, const Context& context) {
  const auto roots = rehearse(context);
  if (!roots)
    return complain(roots.error());
  const auto place = choose_flow(goal.flow, *roots);
  if (!place)
    return complain(place.error());
  const FlowId& flow = place->flow;
  const auto& rehearsal = (*roots)[place->root].rehearsal;
  const FlowRecord& record = rehearsal->records().at(flow);
  const FlowStatus status = status_of(record, rehearsal->plan(), rehearsal->root_control());
  if (has_status(status, record, goal.until))
    return ExitCode::fine;
  const std::string now =
      printable(text(flow), 200) + " is " + std::string(word(status.process)) +
      (status.declared.empty() ? "" : " (" + printable(status.declared, 200) + ")");
  if (has_ended(status.process)) {
    complain(now + ": " + printable(status.why));
    return ExitCode::failed;
  }
  if (!rehearsal->daemon()) {
    complain(now + ", and no daemon serves this root: run `baton run`");
    return ExitCode::unreachable;
  }
  tell_person(goal, status.process, now + ": " + printable(status.why));
  return std::nullopt;
}

}  // namespace

ExitCode await_end(Places places, const std::string& root, const FlowId& flow) {
  places.root = root;
  Goal goal{text(flow), ""};
  for (;;) {
    const auto context = Context::open_anyway(places);
    if (!context)
      return complain(context.error());
    const auto state = context->state_folder();
    if (!state && state.error().code != Errc::not_found)
      return complain(state.error());
    if (!state || !daemon_lives(*state)) {
      complain("no daemon serves this root, so the flow will not change: run `baton run`");
      return ExitCode::unreachable;
    }
    if (const auto code = look(goal, *context))
      return *code;
    std::this_thread::sleep_for(kWaitEvery);
  }
}

ExitCode wait_command(Words words) {
  Places places;
  Goal goal;
  std::string longest;
  Options options(
      "wait",
      "Waits until a flow has the given STATUS: the state of its processes (idle, paused\n"
      "...), the status in its files, or the stage of all its subjects.",
      "  0    the flow has the status\n"
      "  1    the flow has failed, was stopped, or is gone\n"
      "  2    wrong usage or configuration; no such flow\n"
      "  3    no daemon serves the root, so the flow will not get there\n"
      "  124  the time is over");
  options.word("FLOW", goal.flow, "dialect/name, or the name alone if it is unique");
  options.value("--until", goal.until, "STATUS", "The status to wait for");
  options.value("--timeout", longest, "TIME",
                "Give up after this time, such as 90s or 10m (default: never)");
  options.places(places);
  if (const auto left = options.parse(words))
    return *left;
  if (goal.until.empty()) {
    complain("--until STATUS is missing, for example --until idle");
    return ExitCode::usage;
  }
  std::optional<Millis> timeout;
  if (!longest.empty()) {
    timeout = parse_duration(longest);
    if (!timeout) {
      complain("--timeout takes a duration such as 90s or 10m, not " + printable(longest, 60));
      return ExitCode::usage;
    }
  }
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    // Open it each time: the configuration may have changed and been reloaded.
    const auto context = Context::open_anyway(places);
    if (!context)
      return complain(context.error());
    if (const auto code = look(goal, *context))
      return *code;
    if (timeout && std::chrono::steady_clock::now() - began >= *timeout) {
      complain("not " + printable(goal.until, 60) + " within " + duration_text(*timeout));
      return ExitCode::timed_out;
    }
    std::this_thread::sleep_for(kWaitEvery);
  }
}

}  // namespace baton
