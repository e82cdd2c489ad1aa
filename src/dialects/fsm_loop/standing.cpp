// SPDX-License-Identifier: Apache-2.0

// How a loop stands, and what a person can do about it.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/conditions.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/verdict.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

constexpr std::size_t kMostTextShown = 300;
constexpr std::array kStopped = {Situation::stopped_by_agent, Situation::stopped_by_signal,
                                 Situation::stopped_by_operator, Situation::stopped_by_files};

/// Of a journal without the memo, only the file says who stopped the loop.
Situation stopped(const Memo& memo, const Record& record) {
  for (const Situation each : kStopped)
    if (word(each) == memo.stopped_by)
      return each;
  return record.terminated_by == "interrupted" ? Situation::stopped_by_signal
                                               : Situation::stopped_by_files;
}

bool is_limit(std::string_view terminated_by) {
  return terminated_by == "max_steps" || terminated_by == "max_iterations" ||
         terminated_by == "max_iterations_reached";
}

Loop own_loop(const Snapshot& snapshot) {
  return loop_of(*snapshot.memo.frames.front().definition);
}

/// The state of a loop that baton runs and that is not running now.
Situation ended(Snapshot& snapshot) {
  const Record& record = snapshot.record();
  switch (record.status) {
    case Status::completed:
      return Situation::completed;
    case Status::timed_out:
      return Situation::timed_out;
    case Status::awaiting_continuation:
      return Situation::awaiting_continuation;
    case Status::failed:
      if (record.terminated_by == "cycle_detected")
        return Situation::cycle_detected;
      if (record.terminated_by == "handoff")
        return Situation::handoff_terminated;
      return record.terminated_by == "error" ? Situation::error : Situation::failure_terminal;
    case Status::running:
    case Status::interrupted:
    case Status::user_stopped:
      break;
  }
  if (!is_limit(record.terminated_by))
    return stopped(snapshot.memo, record);
  return own_loop(snapshot).maintain ? Situation::last_pass : Situation::max_steps;
}

/// ` (run 1a2b3c4d: failed (exit_1), "no such file")`; empty if no run led to the end.
std::string by_run(const Memo& memo) {
  return memo.last_run.empty() ? "" : " (" + memo.last_run + ")";
}

/// `; its last run: run 1a2b3c4d: failed (exit_1), "no such file"`; empty if there is none.
std::string after_run(const Memo& memo) {
  return memo.last_run.empty() ? "" : "; its last run: " + memo.last_run;
}

/// `: TEXT`; empty if the text is.
std::string said(std::string_view text) {
  return text.empty() ? "" : ": " + printable(text, kMostTextShown);
}

std::string why_limited(const Snapshot& snapshot, const Record& record) {
  const Loop loop = own_loop(snapshot);
  if (record.terminated_by == "max_iterations_reached")
    return "the loop repeats for ever and has made its last pass" +
           (loop.max_passes ? " of " + std::to_string(*loop.max_passes) + " (max_iterations)"
                            : std::string());
  const std::int64_t most = record.max_steps.value_or(loop.max_steps);
  return "the loop has used up its " + std::to_string(most) + (most == 1 ? " step" : " steps") +
         // The word of the definition, where it is not the plain one.
         (record.terminated_by == "max_iterations" ? " (max_iterations)" : "") +
         "; it stands in the state " +
         quoted_word(record.limited_state.empty() ? record.current_state : record.limited_state) +
         after_run(snapshot.memo);
}

std::string why_stopped(Situation situation, const Snapshot& snapshot, const Record& record) {
  const std::string state = " in the state " + quoted_word(record.current_state);
  const std::string& stopper = snapshot.memo.stopper;
  if (situation == Situation::stopped_by_agent && !stopper.empty())
    return "the agent " + printable(stopper, kMostTextShown) + " stopped the loop" + state;
  if (situation == Situation::stopped_by_agent)
    return "an agent asked for the end of the loop" + state + " (LOOP_STOP)" + said(record.error) +
           by_run(snapshot.memo);
  if (situation == Situation::stopped_by_signal)
    return (record.error.empty() ? "the action was ended by a signal" + state
                                 : printable(record.error, kMostTextShown)) +
           by_run(snapshot.memo);
  return situation == Situation::stopped_by_operator
             ? "a person stopped the loop" + state
             : "the state file says " + std::string(record.status_word());
}

std::string why_ended(Situation situation, Snapshot& snapshot) {
  const Record& record = snapshot.record();
  const std::string state = quoted_word(record.current_state);
  switch (situation) {
    case Situation::completed:
      return "the loop has reached its end, the state " + state;
    case Situation::failure_terminal:
      if (record.terminated_by != "terminal")
        return "the state file says failed" + said(record.error);
      return "the loop has reached the failure state " + state + by_run(snapshot.memo);
    case Situation::error:
    case Situation::cycle_detected:
      return "the loop ended by an error in the state " + state + said(record.error) +
             by_run(snapshot.memo);
    case Situation::handoff_terminated:
      return "an agent handed the loop over in the state " + state +
             ", and `on_handoff: terminate` ends the loop" + by_run(snapshot.memo);
    case Situation::timed_out: {
      const Loop loop = own_loop(snapshot);
      return "the loop has used up its time" +
             (loop.timeout == Millis(0) ? std::string() : " of " + duration_text(loop.timeout)) +
             "; it stands in the state " + state + after_run(snapshot.memo);
    }
    case Situation::awaiting_continuation:
      return "an agent handed the loop over in the state " + state +
             said(record.continuation_prompt) + by_run(snapshot.memo);
    case Situation::max_steps:
    case Situation::last_pass:
      return why_limited(snapshot, record);
    case Situation::stopped_by_agent:
    case Situation::stopped_by_signal:
    case Situation::stopped_by_operator:
    case Situation::stopped_by_files:
      return why_stopped(situation, snapshot, record);
    case Situation::not_started:
    case Situation::other_program:
    case Situation::owner_dead:
    case Situation::pausing:
    case Situation::definition_rejected:
    case Situation::state_rejected:
    case Situation::state_gone:
    case Situation::shell_forbidden:
      break;  // not an end
  }
  return {};
}

/// Where the definition is, or was; else where it may be.
std::string definition_path(const Snapshot& snapshot) {
  const std::vector<std::string> paths = snapshot.paths.definitions();
  const auto there = std::find_if(paths.begin(), paths.end(), [&](const std::string& path) {
    return snapshot.present(path) != nullptr;
  });
  const auto known = std::find_if(paths.begin(), paths.end(), [&](const std::string& path) {
    return snapshot.view.docs.contains(path);
  });
  return there != paths.end() ? *there : known != paths.end() ? *known : paths.front();
}

/// `baton validate PATH`, in backticks.
std::string validation(const std::string& path) {
  return "`baton validate " + shell_word(path) + "`";
}

/// `:7`, if the file is among the documents and has this member.
std::string line_of(const Snapshot& snapshot, const std::string& path, std::string_view pointer) {
  const Accepted* const file = snapshot.present(path);
  if (file == nullptr || json::at(file->document->root(), pointer) == nullptr)
    return {};
  return ":" + std::to_string(file->document->locate(pointer).begin.line);
}

std::string plain(const Value& value) {
  return json::text(value) ? std::string(*json::text(value)) : json::dump(value);
}

/// `baton start`, with the inputs that the loop needs. Their values are those of the run before. If
/// there was none, a person has to put them in.
std::string start_again(const Snapshot& snapshot) {
  std::string text = command("start", snapshot.view.flow);
  const auto definition = snapshot.view.docs.find(snapshot.definition());
  if (definition == snapshot.view.docs.end())
    return text;
  const Loop loop = loop_of(definition->second.document->root());
  std::vector<std::string> needed = loop.required_inputs;
  for (const Parameter& each : loop.parameters)
    if (each.required && each.fallback.is_null())
      needed.push_back(each.name);
  const Json* const before =
      snapshot.memo.frames.empty() ? nullptr : &snapshot.memo.frames.front().record.context;
  for (const std::string& name : needed) {
    const Value* const given = before == nullptr ? nullptr : json::child(**before, name);
    if (given != nullptr)
      text += " --set " + shell_word(name + "=" + plain(*given));
    else if (json::child(*loop.context, name) == nullptr)
      text += " --set " + name + "=VALUE";
  }
  return text;
}

/// The command that lets a loop go on that has ended. Empty if nothing is left to do.
std::string going_on(Situation situation, Snapshot& snapshot) {
  const Record& record = snapshot.record();
  const FlowId& flow = snapshot.view.flow;
  if (situation == Situation::completed)
    return {};
  const bool resumable = kStatus.at(static_cast<std::size_t>(record.status)).resumable;
  if (!resumable || record.terminated_by == "max_iterations_reached")
    return start_again(snapshot);
  const std::string resume = command("resume", flow);
  if (snapshot.memo.frames.front().definition.is_null())
    return resume;
  // `baton resume` alone would meet the same limit again.
  const std::int64_t steps = record.max_steps.value_or(own_loop(snapshot).max_steps);
  return record.iteration < steps
             ? resume
             : resume + " --max-steps " + std::to_string(record.iteration + steps);
}

/// That command, and the edit that it needs first.
std::string after_ended(Situation situation, Snapshot& snapshot) {
  const std::string on = going_on(situation, snapshot);
  const std::string path = definition_path(snapshot);
  if (on.empty())
    return {};
  // The definition of an instance belongs to another flow, so it is not among the documents.
  if (snapshot.definition().empty() && snapshot.view.docs.contains(path))
    return "put " + path + " back, check it with " + validation(path) + ", then `" + on + "`";
  if (situation == Situation::timed_out)
    return "raise `timeout` in " + path + line_of(snapshot, path, "/timeout") + ", check it with " +
           validation(path) + ", then `" + on + "`";
  if (situation == Situation::error && !snapshot.definition().empty() &&
      lacks_target(snapshot.record().error))
    return "correct " + path + ", then `" + on + "`";
  return on;
}

Standing of(Situation situation, std::string why, std::string action = {}) {
  return {cause_of(situation), std::move(why), std::move(action), {}};
}

Standing rejected(Situation situation, const std::string& path, const std::string& why) {
  return of(situation, why, "correct " + path + ", then " + validation(path));
}

Standing of_other_program(const Snapshot& snapshot, const Record& record) {
  const Situation others = Situation::other_program;
  if (record.status != Status::running)
    return of(others,
              "another program has ended it (" + std::string(record.status_word()) + ")" +
                  (kStatus.at(static_cast<std::size_t>(record.status)).resumable
                       ? "; `" + command("resume", snapshot.view.flow) + "` lets baton go on"
                       : ""));
  switch (owner_of(snapshot)) {
    case Owner::alive:
      return of(others, "another program (process " +
                            std::to_string(owning_pid(snapshot).value_or(0)) + ") runs it");
    case Owner::dead: {
      const std::string lost = lost_progress(snapshot);
      return of(Situation::owner_dead,
                "the program that ran it is not running any more, and its action may have been cut "
                "off" +
                    (lost.empty() ? "" : "; " + lost),
                command("resume", snapshot.view.flow) + (lost.empty() ? "" : " --redo"));
    }
    case Owner::unknown:
      break;
  }
  return of(others, "another program may be running it; no file names its process");
}

/// Why the definition as it is would not be started; "" if nothing in it says so.
std::string first_access_fault(const Snapshot& snapshot) {
  const Accepted* const file = snapshot.present(snapshot.definition());
  const Findings all = file == nullptr || file->document == nullptr
                           ? Findings{}
                           : check_access(*file->document, snapshot.view.options);
  return all.empty() ? "" : all.front().message;
}

Standing of_unstarted(const Snapshot& snapshot) {
  const std::string path = snapshot.paths.state();
  if (const auto bad = snapshot.view.rejected.find(path); bad != snapshot.view.rejected.end())
    return rejected(Situation::state_rejected, path,
                    "its state file is not valid: " + first_error(path, bad->second));
  if (const std::string fault = snapshot.definition_fault(); !fault.empty())
    return rejected(Situation::definition_rejected, definition_path(snapshot),
                    "its definition is not valid: " + fault);
  const std::string definition = definition_path(snapshot);
  if (snapshot.definition().empty() && snapshot.view.docs.contains(definition))
    return of(Situation::not_started, "its definition " + definition + " is gone",
              "put " + definition + " back, then `" + start_again(snapshot) + "`");
  if (snapshot.definition().empty())
    return of(Situation::other_program, "another program left files of it without a definition");
  if (const std::string fault = first_access_fault(snapshot); !fault.empty())
    return of(Situation::not_started, "it cannot be started: " + fault, validation(definition));
  return of(Situation::not_started, "it has not been started", start_again(snapshot));
}

}  // namespace

Standing standing_of(Snapshot& snapshot) {
  if (snapshot.state == nullptr)
    return of_unstarted(snapshot);
  if (!snapshot.owned())
    return of_other_program(snapshot, snapshot.record());
  if (snapshot.record().status == Status::running)
    return {};
  const Situation situation = ended(snapshot);
  return of(situation, why_ended(situation, snapshot), after_ended(situation, snapshot));
}

std::optional<Standing> trouble_of(const Snapshot& snapshot) {
  const std::string path = snapshot.paths.state();
  if (!snapshot.state->present)
    return of(Situation::state_gone, "its state file " + path + " is gone",
              command("recover", snapshot.view.flow) + " --write");
  if (!snapshot.state->rejected.empty())
    return rejected(Situation::state_rejected, path,
                    "its state file was changed and is not valid: " +
                        first_error(path, snapshot.state->rejected));
  return std::nullopt;
}

std::optional<Progress> progress_of(Snapshot& snapshot) {
  if (!snapshot.owned() || snapshot.memo.frames.front().definition.is_null())
    return std::nullopt;
  const Record& record = snapshot.record();
  const std::int64_t most = record.max_steps.value_or(own_loop(snapshot).max_steps);
  if (most < 1 || record.iteration < 0)
    return std::nullopt;
  return Progress{static_cast<std::uint64_t>(record.iteration), static_cast<std::uint64_t>(most),
                  "steps"};
}

}  // namespace baton::fsm_loop
