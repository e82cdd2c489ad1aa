#include <algorithm>

#include "dialects/findings.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/library.h"
#include "dialects/fsm_loop/loop.h"

namespace baton::fsm_loop {

namespace {

constexpr Millis kLookAgain{30'000};  ///< whether the owner of a foreign loop still lives

/// What the memory of a run that has just begun is made of.
void begin(Scene& scene, Machine& machine, EventLog& events) {
  Frame& frame = scene.memo.frames.front();
  if (!frame.definition.is_null())
    return;
  Loaded loaded = scene.loaded(scene.definition());
  frame.since_ms = scene.now_ms();
  // Read again right after it was found good; somebody may have been faster.
  if (!loaded.definition) {
    frame.definition = Json::object();
    machine.finish(Status::failed, "error", "the definition is not valid: " + loaded.error);
    return;
  }
  frame.definition = std::move(*loaded.definition);
  events.add("loop_start", Json::object({{"loop", frame.record.loop_name}}));
}

/// A loop of another program: looked at, and nothing is done to its files.
Decision observe(Scene& scene, Decision decision) {
  decision.control = Control::idle;
  decision.standing = standing(scene);
  decision.claims = claims_of_another(scene);
  if (!decision.claims.empty())
    decision.wake = scene.view.now + kLookAgain;
  if (scene.state == nullptr)
    return decision;
  const Record& record = scene.record();
  decision.declared = Word(record.status_word());
  if (record.status == Status::running && scene.state->present) {
    const Owner owner = owner_of(scene);
    if (owner == Owner::dead)
      decision.notices.push_back(Notice{"owner_dead", "",
                                        "the program that ran the loop is dead; `baton resume " +
                                            scene.view.flow.name + "` takes it over"});
    if (owner == Owner::alive)
      decision.wake = scene.view.now + kLookAgain;
  }
  const auto role = json::text(*scene.view.options, "when_interrupted");
  const StageState* const stage = scene.view.stages.contains(Subject(kSubject))
                                      ? &scene.view.stages.at(Subject(kSubject))
                                      : nullptr;
  if (role && stage != nullptr && stage->stage == foreign_stage(scene)) {
    decision.control = Control::run;
    decision.desired.push_back(Desired{.role = std::string(*role),
                                       .subject = std::string(kSubject),
                                       .purpose = "interrupted",
                                       .why = "a loop of another program was interrupted"});
  }
  return decision;
}

/// After a handoff: an agent is told to go on.
void spawn(Scene& scene, EventLog& events, Decision& decision) {
  if (scene.memo.spawn.empty())
    return;
  decision.control = Control::run;
  decision.desired.push_back(Desired{.role = "agent",
                                     .subject = std::string(kHandoff),
                                     .purpose = "handoff",
                                     .why = "the loop was handed over"});
  for (const Run& run : scene.view.runs)
    if (run.key.subject == kHandoff && run.live() && scene.memo.spawned != run.id) {
      if (scene.memo.spawned.empty())
        // The agent goes on with the flow, wherever within it the handoff came from.
        events.add("handoff_spawned",
                   Json::object({{"pid", run.pid}, {"state", scene.record().current_state}}), 0);
      scene.memo.spawned = run.id;
    }
}

void write(Scene& scene, const EventLog& events, Decision& decision) {
  const Value& root = scene.state->document->root();
  Json state = json_of(scene.record(), &root);
  // Of a program that ran it before; who runs it now says the lock.
  state.erase("pid");
  if (scene.memo.frames.size() > 1)
    state.set("active_sub_loop", scene.memo.frames.back().record.loop_name);
  else
    state.erase("active_sub_loop");
  const bool stage_moves = scene.view.stages.contains(Subject(kSubject))
                               ? scene.view.stages.at(Subject(kSubject)).stage != scene.memo.stage
                               : !scene.memo.stage.empty();
  if (json::equal(*state, root) && events.lines().empty() && !stage_moves)
    return;
  state.set("updated_at", stamp(scene.view.wall));
  if (!events.lines().empty())
    decision.updates.emplace_back(
        Append{scene.places.events(), kAtEnd, events.lines(), "what the loop did"});
  decision.updates.emplace_back(Replace{scene.places.state(), scene.state->document->digest(),
                                        state.pretty(), "the loop has moved on"});
}

std::string trouble(const Scene& scene) {
  if (!scene.state->present)
    return scene.places.state() + " is gone; `baton recover` writes it anew";
  if (!scene.state->rejected.empty())
    return scene.places.state() +
           " was changed by somebody and is not valid any more; `baton explain " +
           scene.places.state() + "` says why. Put it right, and the loop goes on";
  return {};
}

Admission put_back(std::string why) {
  FindingList findings("fsm_loop");
  findings.error("S45", "", "the state of a loop that baton runs was changed by somebody else", {});
  Admission admission;
  admission.verdict = Admission::Verdict::restore;
  admission.why = std::move(why);
  admission.findings = findings.take();
  return admission;
}

/// Whether both are about the same entry of the same state.
bool same_entry(const Record& one, const Record& other) {
  return one.loop_name == other.loop_name && one.started_at == other.started_at &&
         one.current_state == other.current_state && one.iteration == other.iteration;
}

/// The original stops a loop by writing the whole state anew, with the members that it knows: the
/// word is obeyed, and the rest is baton's own. A stop is the safe side.
Admission with_status(const Document& accepted, std::string_view status) {
  auto text = json::splice(accepted.text(), {json::Edit{"/status", json::dump(*Json(status))}});
  if (!text)
    return put_back(text.error().message);
  Admission admission;
  admission.verdict = Admission::Verdict::merged;
  admission.why = "the loop is told to end; the rest of its state is baton's own to write";
  admission.text = std::move(*text);
  return admission;
}

/// Somebody wrote the control word into the file.
void obey(Scene& scene, Machine& machine) {
  // Nobody is to go on with it by himself, either.
  scene.memo.spawn.clear();
  machine.halt(scene.record().status, "user_stopped");
}

bool is_stop(Status status) {
  return status == Status::user_stopped || status == Status::interrupted;
}

/// A write to the state of a run that has ended. It is past: whoever begins another one owns that.
/// Of the same run this may be an old copy, as an agent writes that was told to end, or the stop of
/// the original, which crossed with the end.
Admission admit_after_end(const Document& accepted, const Record& stands, const Record& now) {
  if (now.status == Status::running && now.start == stands.start)
    return put_back(
        "the loop has ended, and no copy of its state sets it going again; `baton "
        "resume` goes on with it, `baton start` begins it anew");
  if (now.loop_name != stands.loop_name || now.started_at != stands.started_at)
    return {};
  // An edit of what stands there, and no copy from before: somebody wants it so.
  if (now.start == stands.start && now.seq == stands.seq)
    return {};
  // Of what baton began, every other version is from before; else it may be another program's.
  if (!is_stop(now.status) && (stands.start.empty() || now.start != stands.start))
    return {};
  // It has not ended yet: somebody was to go on with it.
  if (stands.status == Status::awaiting_continuation && same_entry(stands, now))
    return with_status(accepted, now.status_word());
  return put_back(
      "the loop had ended already; neither a stop that comes later nor an older copy of its state "
      "changes anything about that");
}

}  // namespace

Decision decide(const View& view) {
  Scene scene(view);
  Decision decision;
  EventLog events(scene);
  Machine machine(scene, events, decision);
  const bool fresh = scene.driven() && scene.memo.frames.front().definition.is_null();
  if (fresh)
    begin(scene, machine, events);
  if (scene.driven())
    if (const std::string why = trouble(scene); !why.empty()) {
      decision.holds.push_back(Hold{"", "", "bad_state", why});
      decision.memo = json_of(scene.memo);
      decision.declared = Word(scene.record().status_word());
      return decision;
    }
  answer(scene, machine, decision);
  if (!scene.driven()) {
    decision.memo = json_of(scene.memo);
    return observe(scene, std::move(decision));
  }
  Record& record = scene.record();
  if (record.status == Status::running)
    machine.run();
  else if (!scene.memo.stage.starts_with(std::string(record.status_word()) + "#"))
    obey(scene, machine);
  decision.declared = Word(record.status_word());
  decision.failed = record.status == Status::failed || record.status == Status::timed_out;
  decision.standing = standing(scene);
  if (record.status != Status::running) {
    decision.control =
        scene.live() != nullptr && scene.memo.spawn.empty() ? Control::stop : Control::idle;
    decision.desired.clear();
    spawn(scene, events, decision);
  }
  claim(scene, decision);
  scene.keep_clock();
  write(scene, events, decision);
  decision.memo = json_of(scene.memo);
  return decision;
}

std::vector<std::string> reads(const View& view) {
  Scene scene(view);
  const bool asked = std::any_of(view.requests.begin(), view.requests.end(), [&](const Request& r) {
    return r.flow == view.flow && (r.verb == "resume" || r.verb == "start");
  });
  const bool running = scene.driven() && scene.record().status == Status::running;
  const bool begun = running && !scene.memo.frames.front().definition.is_null();
  const auto nests = [](const Frame& frame) {
    const Loop loop = loop_of(*frame.definition);
    return std::any_of(loop.states.begin(), loop.states.end(),
                       [](const LoopState& state) { return !state.loop.empty(); });
  };
  if (begun && !asked && std::none_of(scene.memo.frames.begin(), scene.memo.frames.end(), nests))
    return {};
  const std::string path = scene.definition();
  if (!asked && !running)
    return {};
  // That of the loop it is an instance of is a file of another flow.
  std::vector<std::string> all =
      path.empty() ? scene.places.definitions() : wanted(path, library_of(view.docs));
  // What no journal knows: see retrace.h.
  if (asked && !scene.driven() && scene.state != nullptr)
    all.push_back(scene.places.events());
  return all;
}

Brief brief(const View& view, const Desired& desired) {
  const Scene scene(view);
  Brief brief;
  brief.state_file = scene.places.state();
  if (scene.state == nullptr || scene.memo.frames.empty())
    return brief;
  const Frame& frame = scene.memo.frames.back();
  const auto put = [&](const char* name, std::string value) {
    brief.env.emplace_back(name, std::move(value));
  };
  put("LOOP_NAME", frame.record.loop_name);
  put("LOOP_STATE", frame.record.current_state);
  put("LOOP_ITERATION", std::to_string(frame.record.iteration));
  if (!frame.record.continuation_prompt.empty())
    put("LOOP_CONTINUATION", frame.record.continuation_prompt);
  brief.values = {{"loop", frame.record.loop_name},
                  {"state", frame.record.current_state},
                  {"iteration", std::to_string(frame.record.iteration)},
                  {"model", frame.work.model}};
  if (desired.subject == kHandoff)
    brief.prompt = "Go on with the loop " + view.flow.name + ": run `baton resume " +
                   view.flow.name + "`.\n\n" + scene.memo.spawn + "\n";
  else if (desired.purpose == "judge")
    brief.prompt = frame.work.asked;
  else
    brief.prompt = frame.work.action;
  return brief;
}

/// A state that is gone: as it was accepted last, which is where the loop stands.
std::vector<Create> rebuild(const View& view) {
  const Scene scene(view);
  if (!scene.driven())
    return {};
  return {Create{scene.places.state(), scene.state->document->text(),
                 "from the version that was accepted last"}};
}

Admission admit(const View& view, const Change& change) {
  if (change.kind != "state" || change.before == nullptr)
    return {};
  Scene scene(view);
  if (!scene.driven())
    return {};
  Json before(change.before->root());
  Json after(change.after.root());
  const Record now = record_of(*after);
  if (scene.record().status != Status::running)
    return admit_after_end(*change.before, scene.record(), now);
  const bool ends = is_stop(now.status);
  for (Json* const each : {&before, &after}) {
    each->erase("updated_at");
    if (ends)
      each->erase("status");
  }
  if (before == after)
    return {};
  if (ends && same_entry(scene.record(), now))
    return with_status(*change.before, now.status_word());
  return put_back(
      "baton runs this loop, and its state is baton's own to write; `baton stop` and `baton "
      "resume` change it, and so does the status \"user_stopped\"");
}

}  // namespace baton::fsm_loop
