#include <algorithm>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/values.h"

namespace baton::fsm_loop {

namespace {

constexpr double kMostPid = 1e9;

/// The values of the start, merged with those of `--set`.
Result<Json> resumed_context(const Loop& loop, const Record& record, const Value& arguments) {
  const Value* const set = json::child(arguments, "set");
  if (set == nullptr)
    return record.context;
  if (!set->IsObject())
    return fail(Errc::usage, "`set` is an object");
  Json context = merged(*record.context, *set);
  if (auto fits = fill_parameters(loop, context); !fits)
    return pass_on(fits);
  if (auto whole = check_required(loop, *merged(*loop.context, *context)); !whole)
    return pass_on(whole);
  return context;
}

/// Answers one request after the other.
class RequestHandler {
 public:
  RequestHandler(Snapshot& snapshot, Machine& machine, Decision& decision)
      : snapshot_(snapshot), machine_(machine), decision_(decision) {}

  void handle(const Request& request) {
    if (const auto bad = snapshot_.view.rejected.find(snapshot_.paths.state());
        bad != snapshot_.view.rejected.end() && !snapshot_.owned())
      return reply(request, false,
                   "what stands in " + bad->first + " is not valid; `baton explain " + bad->first +
                       "` says why. Put it right first");
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
    machine_.halt(Status::user_stopped, "user_stopped");
    reply(request, true,
          snapshot_.live() == nullptr ? "stopped" : "stopped; its running action is being ended");
  }

  /// Why the loop cannot be resumed; empty: it can.
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

  /// Why the state where it stopped cannot be entered; empty: it can.
  static std::string lost_state(const Loop& loop, const Record& record) {
    const std::string& stands =
        record.limited_state.empty() ? record.current_state : record.limited_state;
    if (loop.state(stands) != nullptr)
      return {};
    return "the loop is in the state " + quoted_word(stands) +
           ", which the definition does not have any more; add it, or start a new run";
  }

  /// Whether resuming enters a state. Otherwise it continues with an action that has ended, and the
  /// limits are checked after it.
  bool enters(const Rebuilt& stands, bool redo) const {
    const bool judged =
        snapshot_.memo.frames.back().work.step == Step::judge || stands.result || stands.verdict;
    return redo || !judged || !stands.record.limited_state.empty();
  }

  /// Why a limit would end the loop again at once; empty: none would.
  static std::string limit(const Loop& loop, const Record& record,
                           std::optional<std::int64_t> max_steps) {
    const std::int64_t steps = max_steps.value_or(loop.max_steps);
    const LoopState* const state =
        loop.state(record.limited_state.empty() ? record.current_state : record.limited_state);
    if (record.iteration >= steps && (state == nullptr || !state->terminal))
      return "the loop has used all its " + std::to_string(steps) +
             " steps; use a higher max_steps in its definition or --max-steps here, or start a new "
             "run";
    if (loop.maintain && state != nullptr && state->terminal && loop.max_passes &&
        record.passes + 1 >= *loop.max_passes)
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

  /// Why the present definition does not let it continue; empty: it does.
  std::string obstacle_by(const Loop& loop, const Rebuilt& stands, bool redo,
                          std::optional<std::int64_t> max_steps) {
    const Record& record = stands.record;
    if (std::string lost = lost_state(loop, record); !lost.empty())
      return lost;
    const bool enters = this->enters(stands, redo);
    // The summary state of a limit is dropped, and with it the loop inside.
    const bool inside = snapshot_.memo.frames.size() > 1 && record.limited_state.empty();
    if (enters && !inside)
      return limit(loop, record, max_steps);
    // The timeout applies within loops inside its states as well. Without this check each resume of
    // a loop that has timed out would run one more command.
    return enters || record.status == Status::timed_out ? out_of_time(loop, record) : std::string();
  }

  /// For a loop of another program the event file may be newer than the state.
  Rebuilt rebuilt(const Loop& loop, bool redo) {
    const auto events = snapshot_.view.docs.find(snapshot_.paths.events());
    const bool known = events != snapshot_.view.docs.end() && !snapshot_.owned() && !redo;
    return rebuild_progress(loop, snapshot_.record(),
                            known ? &events->second.document->root() : nullptr);
  }

  void resume(const Request& request) {
    if (snapshot_.owned() && snapshot_.record().status == Status::running)
      return reply(request, true, "it is running");
    if (const std::string why = obstacle(snapshot_.record()); !why.empty()) {
      // Such a loop cannot be resumed, but baton's own hold on it can be lifted.
      const bool held = snapshot_.view.control == Control::pause;
      return reply(request, held, (held ? "baton has released its hold; " : "") + why);
    }
    if (const std::string why = snapshot_.definition_fault(); !why.empty())
      return reply(request, false, "the definition is not valid: " + why);
    const std::string path = snapshot_.definition();
    if (path.empty())
      return reply(request, false, "the definition of the loop " + name() + " is gone");
    Loaded loaded = snapshot_.loaded(path);
    if (!loaded.definition)
      return reply(request, false, "the definition is not valid: " + loaded.error);
    const Loop loop = loop_of(**loaded.definition);
    const auto asked = json::integer(*request.arguments, "max_steps");
    if (json::child(*request.arguments, "max_steps") != nullptr && asked.value_or(0) < 1)
      return reply(request, false, "max_steps must be an integer of 1 or more");
    const bool redo = json::boolean(*request.arguments, "redo") == true;
    Rebuilt stands = rebuilt(loop, redo);
    if (const std::string why = obstacle_behind(stands); !why.empty())
      return reply(request, false, why);
    const auto max_steps = asked ? asked : stands.record.max_steps;
    if (const std::string why = obstacle_by(loop, stands, redo, max_steps); !why.empty())
      return reply(request, false, why);
    auto context = resumed_context(loop, stands.record, *request.arguments);
    if (!context)
      return reply(request, false, context.error().message);
    const bool ours = snapshot_.owned();
    Record& record = snapshot_.record();
    record = std::move(stands.record);
    record.context = std::move(*context);
    record.max_steps = max_steps;
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
    machine_.continue_from(std::move(stands));
    reply(request, true, ours ? "resumed" : "taken over and resumed");
  }

  /// Why the event file does not let it continue; empty: it does.
  std::string obstacle_behind(const Rebuilt& stands) {
    if (snapshot_.owned())
      return {};
    if (!kStatus.at(static_cast<std::size_t>(stands.record.status)).resumable)
      return "its event file says that the loop has ended: " + obstacle(stands.record);
    if (!stands.lost.empty())
      return stands.lost + "; `baton resume " + snapshot_.view.flow.name +
             " --redo` runs the action again, `baton start " + snapshot_.view.flow.name +
             "` starts a new run";
    return {};
  }

  Snapshot& snapshot_;
  Machine& machine_;
  Decision& decision_;
};

std::optional<std::int64_t> pid_in(const Value& root) {
  const auto pid = json::integer(root, "pid");
  return pid && *pid > 0 ? pid : std::nullopt;
}

/// A document that exists; nullptr: none.
const Document* present(const Snapshot& snapshot, const std::string& path) {
  const auto found = snapshot.view.docs.find(path);
  return found == snapshot.view.docs.end() || !found->second.present ? nullptr
                                                                     : found->second.document.get();
}

std::optional<std::int64_t> locking_pid(const Snapshot& snapshot) {
  const Document* const lock = present(snapshot, snapshot.paths.lock());
  return lock == nullptr ? std::nullopt : pid_in(lock->root());
}

std::optional<std::int64_t> owning_pid(const Snapshot& snapshot) {
  // The .pid file may be old, so a living owner of the lock counts first.
  const auto locking = locking_pid(snapshot);
  if (locking && other_program_holds_lock(snapshot))
    return locking;
  if (const Document* const file = present(snapshot, snapshot.paths.pid()))
    if (const auto number = decimal(file->text()); number && *number >= 1)
      return static_cast<std::int64_t>(std::min(*number, kMostPid));
  if (locking)
    return locking;
  return snapshot.state == nullptr ? std::nullopt : pid_in(snapshot.state->document->root());
}

/// What to do about a loop that does not run.
std::string how_to_go_on(const Snapshot& snapshot, const Record& record) {
  const std::string& name = snapshot.view.flow.name;
  if (!kStatus.at(static_cast<std::size_t>(record.status)).resumable)
    return "`baton start " + name + "` starts a new run";
  std::string text = "`baton resume " + name + "` continues it";
  if (record.terminated_by == "max_steps" || record.terminated_by == "max_iterations")
    text += ", with a higher --max-steps or max_steps in its definition";
  else if (record.terminated_by == "max_iterations_reached")
    text += ", with a higher max_iterations in its definition";
  else if (record.terminated_by == "timeout")
    text += " once the `timeout` in its definition is longer";
  return text;
}

std::string why_of_other_program(const Snapshot& snapshot, const Record& record) {
  const std::string& name = snapshot.view.flow.name;
  if (record.status != Status::running)
    return "another program has ended it; " + how_to_go_on(snapshot, record);
  switch (owner_of(snapshot)) {
    case Owner::alive:
      return "another program (process " + std::to_string(owning_pid(snapshot).value_or(0)) +
             ") runs it";
    case Owner::dead:
      return "the program that ran it is not running any more; `baton resume " + name +
             "` takes it over";
    case Owner::unknown:
      break;
  }
  return "another program may be running it; no file names its process";
}

}  // namespace

Owner owner_of(const Snapshot& snapshot) {
  const Environment& env = snapshot.view.env;
  if (!env.alive)
    return Owner::unknown;
  const auto pid = owning_pid(snapshot);
  if (!pid)
    return Owner::unknown;
  // The number is this daemon's, so the process that wrote it is gone.
  if (*pid == env.pid)
    return Owner::dead;
  return env.alive(*pid) ? Owner::alive : Owner::dead;
}

std::string why_not_running(Snapshot& snapshot) {
  if (snapshot.state == nullptr)
    return "it has not been started; `baton start " + snapshot.view.flow.name + "` starts it";
  const Record& record = snapshot.record();
  if (!snapshot.owned())
    return why_of_other_program(snapshot, record);
  if (record.status == Status::running || record.status == Status::completed)
    return {};
  // The status alone does not say why: a limit and a signal are both `interrupted`.
  return "it ended" + (record.terminated_by.empty() ? "" : " by " + record.terminated_by) +
         (record.error.empty() ? "" : ": " + record.error) + "; " + how_to_go_on(snapshot, record);
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
