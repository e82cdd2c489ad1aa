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

/// The values of the start, with those of `--set` laid over them.
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

/// One request after the other, on the loop as its files have it.
class Desk {
 public:
  Desk(Scene& scene, Machine& machine, Decision& decision)
      : scene_(scene), machine_(machine), decision_(decision) {}

  void deal(const Request& request) {
    if (const auto bad = scene_.view.rejected.find(scene_.places.state());
        bad != scene_.view.rejected.end() && !scene_.driven())
      return reply(request, false,
                   "what stands in " + bad->first + " is not valid; `baton explain " + bad->first +
                       "` says why. Put it right first");
    if (scene_.state == nullptr)
      return reply(request, false,
                   "the loop " + name() + " has no state: nothing was begun; `baton start " +
                       scene_.view.flow.name + "` begins it");
    if (request.verb == "stop")
      stop(request);
    else
      resume(request);
  }

 private:
  std::string name() const { return printable(scene_.view.flow.name, 80); }
  std::string status() { return std::string(scene_.record().status_word()); }

  void reply(const Request& request, bool accepted, std::string message) {
    decision_.replies.push_back(Reply{request.id, accepted, std::move(message)});
    scene_.memo.dealt.push_back(request.id);
  }

  void stop(const Request& request) {
    if (!scene_.driven())
      return reply(request, false, "the loop belongs to another program, which has to stop it");
    const Status now = scene_.record().status;
    if (now != Status::running && now != Status::awaiting_continuation)
      return reply(request, true, "it has ended: " + status());
    scene_.memo.spawn.clear();
    machine_.halt(Status::user_stopped, "user_stopped");
    reply(request, true,
          scene_.live() == nullptr ? "stopped" : "stopped; what runs for it is being ended");
  }

  /// Why it cannot go on; empty when it can.
  std::string obstacle(const Record& record) {
    const StatusRow& row = kStatus.at(static_cast<std::size_t>(record.status));
    if (!row.resumable)
      return "the loop is " + std::string(row.word) +
             (record.error.empty() ? "" : ": " + record.error) +
             "; nothing is left to resume, `baton start " + scene_.view.flow.name +
             "` begins it anew";
    if (!scene_.driven() && record.status == Status::running && owner_of(scene_) != Owner::dead)
      return owner_of(scene_) == Owner::alive
                 ? "another program is running the loop; stop it there first"
                 : "another program may be running the loop, and neither its lock nor its state "
                   "nor a .pid file says which; if none is, set status to \"interrupted\" in " +
                       scene_.places.state();
    return {};
  }

  /// Why it cannot go on where it stands; empty when the state is still there.
  static std::string lost_state(const Loop& loop, const Record& record) {
    const std::string& stands =
        record.limited_state.empty() ? record.current_state : record.limited_state;
    if (loop.state(stands) != nullptr)
      return {};
    return "the loop stands in the state " + quoted_word(stands) +
           ", which is not in the definition any more; put it there, or begin the loop anew";
  }

  /// Whether a state is the next thing that is entered. Else it goes on with what has ended in the
  /// one that it stands in, and the limits are looked at when that is left.
  bool enters(const Retraced& stands, bool redo) const {
    const bool judged =
        scene_.memo.frames.back().work.step == Step::judge || stands.result || stands.verdict;
    return redo || !judged || !stands.record.limited_state.empty();
  }

  /// Why a limit would end it again at once; empty when none would.
  static std::string limit(const Loop& loop, const Record& record,
                           std::optional<std::int64_t> max_steps) {
    const std::int64_t steps = max_steps.value_or(loop.max_steps);
    const LoopState* const state =
        loop.state(record.limited_state.empty() ? record.current_state : record.limited_state);
    if (record.iteration >= steps && (state == nullptr || !state->terminal))
      return "the loop has made all its " + std::to_string(steps) +
             " steps; raise max_steps in its definition, or here with --max-steps, or begin it "
             "anew";
    if (loop.maintain && state != nullptr && state->terminal && loop.max_passes &&
        record.passes + 1 >= *loop.max_passes)
      return "the loop has made all its " + std::to_string(*loop.max_passes) +
             " passes; raise max_iterations in its definition, or begin it anew";
    return out_of_time(loop, record);
  }

  static std::string out_of_time(const Loop& loop, const Record& record) {
    if (loop.timeout == Millis(0) || Millis(record.accumulated_ms) <= loop.timeout)
      return {};
    return "the loop has used up its timeout; raise `timeout` in its definition, or begin it anew";
  }

  /// Why it cannot go on by the definition of now; empty when it can.
  std::string obstacle_by(const Loop& loop, const Retraced& stands, bool redo,
                          std::optional<std::int64_t> max_steps) {
    const Record& record = stands.record;
    if (std::string lost = lost_state(loop, record); !lost.empty())
      return lost;
    const bool enters = this->enters(stands, redo);
    // What a limit ran is left behind, and then it is no state of a loop inside that is entered.
    const bool inside = scene_.memo.frames.size() > 1 && record.limited_state.empty();
    if (enters && !inside)
      return limit(loop, record, max_steps);
    // Its time holds within loops inside its states as well. And of one that has timed out each
    // resume would carry out one more command.
    return enters || record.status == Status::timed_out ? out_of_time(loop, record) : std::string();
  }

  /// Where it stands: of a loop that is not run here the event file may know more than the state.
  Retraced retraced(const Loop& loop, bool redo) {
    const auto events = scene_.view.docs.find(scene_.places.events());
    const bool known = events != scene_.view.docs.end() && !scene_.driven() && !redo;
    return retrace(loop, scene_.record(), known ? &events->second.document->root() : nullptr);
  }

  void resume(const Request& request) {
    if (scene_.driven() && scene_.record().status == Status::running)
      return reply(request, true, "it is running");
    if (const std::string why = obstacle(scene_.record()); !why.empty()) {
      // Of a loop that has ended, or is another program's, nothing but baton's own hold can be
      // lifted, but that can.
      const bool held = scene_.view.control == Control::pause;
      return reply(request, held, (held ? "baton does not hold it any more; " : "") + why);
    }
    if (const std::string why = scene_.definition_fault(); !why.empty())
      return reply(request, false, "the definition is not valid: " + why);
    const std::string path = scene_.definition();
    if (path.empty())
      return reply(request, false, "the definition of the loop " + name() + " is gone");
    Loaded loaded = scene_.loaded(path);
    if (!loaded.definition)
      return reply(request, false, "the definition is not valid: " + loaded.error);
    const Loop loop = loop_of(**loaded.definition);
    const auto asked = json::integer(*request.arguments, "max_steps");
    if (json::child(*request.arguments, "max_steps") != nullptr && asked.value_or(0) < 1)
      return reply(request, false, "max_steps is a count from 1 on");
    const bool redo = json::boolean(*request.arguments, "redo") == true;
    Retraced stands = retraced(loop, redo);
    if (const std::string why = obstacle_behind(stands); !why.empty())
      return reply(request, false, why);
    const auto max_steps = asked ? asked : stands.record.max_steps;
    if (const std::string why = obstacle_by(loop, stands, redo, max_steps); !why.empty())
      return reply(request, false, why);
    auto context = resumed_context(loop, stands.record, *request.arguments);
    if (!context)
      return reply(request, false, context.error().message);
    const bool ours = scene_.driven();
    Record& record = scene_.record();
    record = std::move(stands.record);
    record.context = std::move(*context);
    record.max_steps = max_steps;
    Memo& memo = scene_.memo;
    memo.driven = true;
    memo.scope.clear();
    if (!ours) {
      // From now on it is this run of baton's, whatever stood there.
      record.start = request.id;
      memo.start = request.id;
    }
    ++memo.resumes;
    memo.frames.front().definition = std::move(*loaded.definition);
    if (redo)
      memo.frames.back().work = Work{};
    machine_.go_on(record.status == Status::awaiting_continuation);
    machine_.take_up(std::move(stands));
    reply(request, true, ours ? "resumed" : "taken over and resumed");
  }

  /// The same of what only the event file tells.
  std::string obstacle_behind(const Retraced& stands) {
    if (scene_.driven())
      return {};
    if (!kStatus.at(static_cast<std::size_t>(stands.record.status)).resumable)
      return "its events say that it has ended: " + obstacle(stands.record);
    if (!stands.lost.empty())
      return stands.lost + "; `baton resume " + scene_.view.flow.name +
             " --redo` carries the action out again, `baton start " + scene_.view.flow.name +
             "` begins the loop anew";
    return {};
  }

  Scene& scene_;
  Machine& machine_;
  Decision& decision_;
};

std::optional<std::int64_t> pid_in(const Value& root) {
  const auto pid = json::integer(root, "pid");
  return pid && *pid > 0 ? pid : std::nullopt;
}

/// A document that is there, or nullptr.
const Document* present(const Scene& scene, const std::string& path) {
  const auto found = scene.view.docs.find(path);
  return found == scene.view.docs.end() || !found->second.present ? nullptr
                                                                  : found->second.document.get();
}

std::optional<std::int64_t> locking_pid(const Scene& scene) {
  const Document* const lock = present(scene, scene.places.lock());
  return lock == nullptr ? std::nullopt : pid_in(lock->root());
}

std::optional<std::int64_t> owning_pid(const Scene& scene) {
  // The .pid file may be an old one: who has the lock and lives goes before it.
  const auto locking = locking_pid(scene);
  if (locking && lock_of_another(scene))
    return locking;
  if (const Document* const file = present(scene, scene.places.pid()))
    if (const auto number = decimal(file->text()); number && *number >= 1)
      return static_cast<std::int64_t>(std::min(*number, kMostPid));
  if (locking)
    return locking;
  return scene.state == nullptr ? std::nullopt : pid_in(scene.state->document->root());
}

/// How to go on with a loop that does not run.
std::string way_on(const Scene& scene, const Record& record) {
  const std::string& name = scene.view.flow.name;
  if (!kStatus.at(static_cast<std::size_t>(record.status)).resumable)
    return "`baton start " + name + "` begins it anew";
  std::string way = "`baton resume " + name + "` goes on with it";
  if (record.terminated_by == "max_steps" || record.terminated_by == "max_iterations")
    way += ", with a higher --max-steps or max_steps in its definition";
  else if (record.terminated_by == "max_iterations_reached")
    way += ", with a higher max_iterations in its definition";
  else if (record.terminated_by == "timeout")
    way += " once the `timeout` in its definition is longer";
  return way;
}

std::string of_another(const Scene& scene, const Record& record) {
  const std::string& name = scene.view.flow.name;
  if (record.status != Status::running)
    return "another program left it so; " + way_on(scene, record);
  switch (owner_of(scene)) {
    case Owner::alive:
      return "another program (process " + std::to_string(owning_pid(scene).value_or(0)) +
             ") runs it";
    case Owner::dead:
      return "the program that ran it is dead; `baton resume " + name + "` takes it over";
    case Owner::unknown:
      break;
  }
  return "another program may be running it; nothing says which";
}

}  // namespace

Owner owner_of(const Scene& scene) {
  const Environment& env = scene.view.env;
  if (!env.alive)
    return Owner::unknown;
  const auto pid = owning_pid(scene);
  if (!pid)
    return Owner::unknown;
  // A process of the same number wrote it, and is gone: this one does not run the loop.
  if (*pid == env.pid)
    return Owner::dead;
  return env.alive(*pid) ? Owner::alive : Owner::dead;
}

std::string standing(Scene& scene) {
  if (scene.state == nullptr)
    return "it was not begun; `baton start " + scene.view.flow.name + "` begins it";
  const Record& record = scene.record();
  if (!scene.driven())
    return of_another(scene, record);
  if (record.status == Status::running || record.status == Status::completed)
    return {};
  // The word of the status need not say why: a limit and a signal are both interruptions.
  return "it ended" + (record.terminated_by.empty() ? "" : " by " + record.terminated_by) +
         (record.error.empty() ? "" : ": " + record.error) + "; " + way_on(scene, record);
}

bool lock_of_another(const Scene& scene) {
  const auto pid = locking_pid(scene);
  return pid && scene.view.env.alive && *pid != scene.view.env.pid && scene.view.env.alive(*pid);
}

void answer(Scene& scene, Machine& machine, Decision& decision) {
  std::erase_if(scene.memo.dealt, [&](const std::string& id) {
    return std::none_of(scene.view.requests.begin(), scene.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  Desk desk(scene, machine, decision);
  for (const Request& request : scene.view.requests) {
    const bool ours =
        std::find(kVerbs.begin(), kVerbs.end(), std::string_view(request.verb)) != kVerbs.end();
    const std::vector<std::string>& dealt = scene.memo.dealt;
    if (ours && request.flow == scene.view.flow &&
        std::find(dealt.begin(), dealt.end(), request.id) == dealt.end())
      desk.deal(request);
  }
}

}  // namespace baton::fsm_loop
