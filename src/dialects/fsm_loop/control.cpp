// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/conditions.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

constexpr double kMostPid = 1e9;

/// The values of the start, with those of `--set` on top.
Result<Json> resumed_context(const Loop& loop, const Record& record, const std::string& run_dir,
                             const Value& arguments) {
  Json context = record.context;
  if (const Value* const set = json::child(arguments, "set")) {
    if (!set->IsObject())
      return fail(Errc::usage, "`set` is an object");
    auto complete = complete_context(loop, merged(*context, *set));
    if (!complete)
      return complete;
    context = std::move(*complete);
  }
  if (auto added = add_run_values(loop, run_dir, context); !added)
    return pass_on(added);
  return context;
}

/// Whether a line of the event file is about the loop itself, not about a loop inside it.
bool is_own(const Value& line) {
  return json::integer(line, "depth").value_or(0) == 0;
}

/// The index of the first line of the event file that is newer than the state file. The lines of
/// baton have numbers. In the file of another program, it is the line after the last entry into the
/// state that the state file names.
rapidjson::SizeType first_newer(const Value& lines, const Record& record) {
  rapidjson::SizeType i = lines.Size();
  if (!record.start.empty()) {
    while (i > 0 && json::integer(lines[i - 1], "seq").value_or(0) > record.seq)
      --i;
    return i;
  }
  const auto began = parse_time(record.started_at);
  for (; i > 0; --i) {
    const Value& line = lines[i - 1];
    if (json::text(line, "event") != "state_enter" || !is_own(line) ||
        json::text(line, "state") != record.current_state ||
        json::integer(line, "iteration") != record.iteration)
      continue;
    const auto at = parse_time(json::text(line, "ts").value_or(""));
    // That entry belongs to the run before.
    return began && at && *at < *began ? lines.Size() : i;
  }
  return lines.Size();
}

/// Why the files do not say where the loop stands, if the journal does not know the loop. Empty if
/// they do. `lines` are the last lines of the event file; nullptr: none. baton does not derive
/// progress from events. If they are newer than the state file, a person decides.
std::string lost_progress(const Value* lines, const Record& record) {
  if (record.phase == Phase::action_done)
    return "the action of the state " + quoted_word(record.current_state) +
           " has ended, but its result is in no file";
  const rapidjson::SizeType newer = lines == nullptr ? 0 : first_newer(*lines, record);
  std::string_view newest;
  bool inside = false;
  for (rapidjson::SizeType i = 0; lines != nullptr && i < lines->Size(); ++i) {
    const Value& line = (*lines)[i];
    const std::string_view event = json::text(line, "event").value_or("");
    if (!is_own(line))
      inside = inside || event == "action_complete";
    else if (event == "state_enter" || event == "evaluate" || event == "route")
      inside = false;
    if (i >= newer && is_own(line) && event != "action_start" && event != "action_output")
      newest = event;
  }
  if (!newest.empty())
    return "its state file is older than its event file, which goes on to " + quoted_word(newest) +
           " after the state " + quoted_word(record.current_state) + " was entered";
  return inside ? "it is in the state " + quoted_word(record.current_state) +
                      ", inside another loop whose progress is in no file"
                : std::string();
}

/// The last lines of the event file, if the journal does not know the loop; nullptr: none. If
/// another program's state says that the loop has ended, the state is the newest file and the
/// events do not matter.
const Value* unknown_events(const Snapshot& snapshot) {
  const auto events = snapshot.view.docs.find(snapshot.paths.events());
  const Record& record = snapshot.memo.frames.front().record;
  if (snapshot.owned() || events == snapshot.view.docs.end() ||
      (record.start.empty() && record.status != Status::running))
    return nullptr;
  const Value& lines = events->second.document->root();
  return lines.IsArray() ? &lines : nullptr;
}

/// Answers one request at a time.
class RequestHandler {
 public:
  RequestHandler(Snapshot& snapshot, Machine& machine, Decision& decision)
      : snapshot_(snapshot), machine_(machine), decision_(decision) {}

  void handle(const Request& request) {
    if (const auto bad = snapshot_.view.rejected.find(snapshot_.paths.state());
        bad != snapshot_.view.rejected.end() && !snapshot_.owned())
      return reply(request, false,
                   bad->first + " is not valid: " + first_error(bad->first, bad->second) +
                       "; correct it first, `baton validate " + shell_word(bad->first) +
                       "` checks it");
    if (snapshot_.state == nullptr)
      return reply(request, false,
                   "the loop " + name() + " has not been started; `baton start " +
                       snapshot_.view.flow.name + "` starts it");
    if (request.verb == "stop")
      stop(request);
    else
      resume(request);
  }

 private:
  std::string name() const { return printable(snapshot_.view.flow.name, 80); }
  std::string status() { return std::string(snapshot_.record().status_word()); }

  void reply(const Request& request, bool accepted, std::string message) {
    decision_.replies.push_back(Reply{request.id, accepted, std::move(message)});
    snapshot_.memo.dealt.push_back(request.id);
  }

  void stop(const Request& request) {
    if (!snapshot_.owned())
      return reply(request, false, "another program runs the loop; stop it there");
    const Status now = snapshot_.record().status;
    if (now != Status::running && now != Status::awaiting_continuation)
      return reply(request, true, "the loop has ended: " + status());
    snapshot_.memo.spawn.clear();
    snapshot_.memo.stopped_by =
        word(request.agent.empty() ? Situation::stopped_by_operator : Situation::stopped_by_agent);
    snapshot_.memo.stopper = request.agent;
    machine_.halt(Status::user_stopped, "user_stopped");
    reply(request, true,
          snapshot_.live() == nullptr ? "stopped" : "stopped; its running action is being ended");
  }

  /// Why the loop cannot be resumed. Empty if it can.
  std::string obstacle(const Record& record) {
    const StatusRow& row = kStatus.at(static_cast<std::size_t>(record.status));
    if (!row.resumable)
      return "the loop is " + std::string(row.word) +
             (record.error.empty() ? "" : ": " + record.error) +
             "; it cannot be resumed. `baton start " + snapshot_.view.flow.name +
             "` starts a new run";
    if (!snapshot_.owned() && record.status == Status::running &&
        owner_of(snapshot_) != Owner::dead)
      return owner_of(snapshot_) == Owner::alive
                 ? "another program is running the loop; stop it there first"
                 : "another program may be running the loop: no lock, state or .pid file names its "
                   "process. If none runs it, set status to \"interrupted\" in " +
                       snapshot_.paths.state();
    return {};
  }

  /// Why the loop cannot enter the state where it stopped. Empty if it can.
  static std::string lost_state(const Loop& loop, const Record& record) {
    const std::string& stands =
        record.limited_state.empty() ? record.current_state : record.limited_state;
    if (loop.state(stands) != nullptr)
      return {};
    return "the loop is in the state " + quoted_word(stands) +
           ", which the definition does not have any more; add it, or start a new run";
  }

  /// Whether the resumed loop enters a state first. Otherwise it continues with an action that has
  /// ended, and checks the limits after that.
  bool enters(const Record& record, bool redo) const {
    return redo || snapshot_.memo.frames.back().work.step != Step::judge ||
           !record.limited_state.empty();
  }

  /// Why a limit would end the loop again at once. Empty if none would.
  static std::string limit(const Loop& loop, const Record& record,
                           std::optional<std::int64_t> max_steps) {
    const std::int64_t steps = max_steps.value_or(loop.max_steps);
    const LoopState* const state =
        loop.state(record.limited_state.empty() ? record.current_state : record.limited_state);
    if (record.iteration >= steps && (state == nullptr || !state->terminal))
      return "the loop has used all its " + std::to_string(steps) +
             " steps; use a higher max_steps in its definition or --max-steps here, or start a new "
             "run";
    if (loop.maintain && loop.max_passes && record.passes >= *loop.max_passes)
      return "the loop has used all its " + std::to_string(*loop.max_passes) +
             " passes; use a higher max_iterations in its definition, or start a new run";
    return out_of_time(loop, record);
  }

  static std::string out_of_time(const Loop& loop, const Record& record) {
    if (loop.timeout == Millis(0) || Millis(record.accumulated_ms) <= loop.timeout)
      return {};
    return "the loop has used up its timeout; use a longer `timeout` in its definition, or start a "
           "new run";
  }

  /// Why the loop cannot continue with the present definition. Empty if it can.
  std::string obstacle_by(const Loop& loop, bool redo, std::optional<std::int64_t> max_steps) {
    const Record& record = snapshot_.record();
    if (std::string lost = lost_state(loop, record); !lost.empty())
      return lost;
    const bool enters = this->enters(record, redo);
    // A resume drops the summary state of a limit, and with it a loop inside that state.
    const bool inside = snapshot_.memo.frames.size() > 1 && record.limited_state.empty();
    if (enters && !inside)
      return limit(loop, record, max_steps);
    // The timeout of a loop also applies to the loops inside its states.
    return enters ? out_of_time(loop, record) : std::string();
  }

  void resume(const Request& request) {
    if (snapshot_.owned() && snapshot_.record().status == Status::running)
      return reply(request, true, "it is running");
    if (const std::string why = obstacle(snapshot_.record()); !why.empty()) {
      // The loop cannot be resumed, but the request lifts baton's own pause of it.
      const bool paused = snapshot_.view.control == Control::pause;
      return reply(request, paused, (paused ? "baton has lifted its pause; " : "") + why);
    }
    if (const std::string why = snapshot_.definition_fault(); !why.empty())
      return reply(request, false, "the definition is not valid: " + why);
    const std::string path = snapshot_.definition();
    if (path.empty())
      return reply(request, false, "the definition of the loop " + name() + " is gone");
    const bool ignore_unsupported =
        snapshot_.record().ignore_unsupported ||
        json::boolean(*request.arguments, "ignore_unsupported").value_or(false);
    Loaded loaded = snapshot_.loaded(path, ignore_unsupported);
    if (!loaded.definition)
      return reply(request, false, why_not(loaded));
    const Loop loop = loop_of(**loaded.definition);
    const auto asked = json::integer(*request.arguments, "max_steps");
    if (json::child(*request.arguments, "max_steps") != nullptr && asked.value_or(0) < 1)
      return reply(request, false, "max_steps must be an integer of 1 or more");
    const bool redo = json::boolean(*request.arguments, "redo") == true;
    Record& record = snapshot_.record();
    const Value* const events = unknown_events(snapshot_);
    if (const std::string why = redo ? std::string() : lost_progress(snapshot_); !why.empty())
      return reply(request, false,
                   why + "; `baton resume " + snapshot_.view.flow.name +
                       " --redo` runs the action of that state again, `baton start " +
                       snapshot_.view.flow.name + "` starts a new run");
    const auto max_steps = asked ? asked : record.max_steps;
    if (const std::string why = obstacle_by(loop, redo, max_steps); !why.empty())
      return reply(request, false, why);
    auto context = resumed_context(
        loop, record, snapshot_.view.env.root + "/" + snapshot_.paths.run_folder(record.started_at),
        *request.arguments);
    if (!context)
      return reply(request, false, context.error().message);
    const bool ours = snapshot_.owned();
    // Counts on from the last line, so that no two lines have the same number.
    if (events != nullptr && !events->Empty())
      record.seq = std::max(record.seq, json::integer(*(events->End() - 1), "seq").value_or(0));
    record.context = std::move(*context);
    record.max_steps = max_steps;
    record.ignore_unsupported = ignore_unsupported;
    Memo& memo = snapshot_.memo;
    memo.owned = true;
    memo.scope.clear();
    if (!ours) {
      // From now on this is a run of baton.
      record.start = request.id;
      memo.start = request.id;
    }
    ++memo.resumes;
    memo.frames.front().definition = std::move(*loaded.definition);
    if (redo)
      memo.frames.back().work = Work{};
    machine_.resume_loop(record.status == Status::awaiting_continuation);
    reply(request, true, ours ? "resumed" : "taken over and resumed");
  }

  Snapshot& snapshot_;
  Machine& machine_;
  Decision& decision_;
};

std::optional<std::int64_t> pid_in(const Value& root) {
  const auto pid = json::integer(root, "pid");
  return pid && *pid > 0 ? pid : std::nullopt;
}

std::optional<std::int64_t> locking_pid(const Snapshot& snapshot) {
  const Accepted* const lock = snapshot.present(snapshot.paths.lock());
  return lock == nullptr ? std::nullopt : pid_in(lock->document->root());
}

}  // namespace

std::optional<std::int64_t> owning_pid(const Snapshot& snapshot) {
  // The .pid file may be old, so a living owner of the lock comes first.
  const auto locking = locking_pid(snapshot);
  if (locking && other_program_holds_lock(snapshot))
    return locking;
  if (const Accepted* const file = snapshot.present(snapshot.paths.pid()))
    if (const auto number = decimal(file->document->text()); number && *number >= 1)
      return static_cast<std::int64_t>(std::min(*number, kMostPid));
  if (locking)
    return locking;
  return snapshot.state == nullptr ? std::nullopt : pid_in(snapshot.state->document->root());
}

Owner owner_of(const Snapshot& snapshot) {
  const Environment& env = snapshot.view.env;
  if (!env.alive)
    return Owner::unknown;
  const auto pid = owning_pid(snapshot);
  if (!pid)
    return Owner::unknown;
  // The number is now that of this daemon, so the process that wrote it is gone.
  if (*pid == env.pid)
    return Owner::dead;
  return env.alive(*pid) ? Owner::alive : Owner::dead;
}

std::string lost_progress(const Snapshot& snapshot) {
  return snapshot.owned()
             ? std::string()
             : lost_progress(unknown_events(snapshot), snapshot.memo.frames.front().record);
}

bool other_program_holds_lock(const Snapshot& snapshot) {
  const auto pid = locking_pid(snapshot);
  return pid && snapshot.view.env.alive && *pid != snapshot.view.env.pid &&
         snapshot.view.env.alive(*pid);
}

void answer(Snapshot& snapshot, Machine& machine, Decision& decision) {
  std::erase_if(snapshot.memo.dealt, [&](const std::string& id) {
    return std::none_of(snapshot.view.requests.begin(), snapshot.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  RequestHandler handler(snapshot, machine, decision);
  for (const Request& request : snapshot.view.requests) {
    const bool ours =
        std::find(kVerbs.begin(), kVerbs.end(), std::string_view(request.verb)) != kVerbs.end();
    const std::vector<std::string>& dealt = snapshot.memo.dealt;
    if (ours && request.flow == snapshot.view.flow &&
        std::find(dealt.begin(), dealt.end(), request.id) == dealt.end())
      handler.handle(request);
  }
}

}  // namespace baton::fsm_loop
