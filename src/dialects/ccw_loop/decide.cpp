#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/json/numbers.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/next_action.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

namespace {

// Runs in a row that end well and change nothing.
constexpr std::uint32_t kMostIdle = 2;

/// Which kind of work was done last is told by what a version says that the one before did not: two
/// executors may have two clocks. What one version brings at once comes from one writer, whose
/// times may be compared; what fell back is a copy, and no news.
void note_facts(Scene& scene) {
  constexpr std::array kWork = {Action::develop, Action::debug, Action::validate};
  const Work& work = scene.loop.work;
  const std::array times = {work.developed, work.debugged, work.validated};
  std::vector<std::string> facts;
  facts.reserve(times.size());
  for (const auto& time : times)
    facts.push_back(time ? iso_time(*time, true) : std::string());
  std::vector<std::string>& known = scene.memo.facts;
  if (scene.loop.skill == nullptr || known.size() != facts.size())
    scene.memo.newest.clear();
  std::optional<std::size_t> newest;
  for (std::size_t i = 0; i < facts.size() && known.size() == facts.size(); ++i) {
    const bool news = times.at(i) && times.at(i) > parse_time(known[i]);
    if (news && (!newest || times.at(i) > times.at(*newest)))
      newest = i;
  }
  if (newest)
    scene.memo.newest = word(kWork.at(*newest));
  known = scene.loop.skill == nullptr ? std::vector<std::string>() : facts;
}

void note_versions(Scene& scene) {
  remember(scene.memo.skills, skill_digest(*scene.loop.root));
  std::vector<std::string>& metadata = scene.memo.metadata;
  for (const std::string_view name : kMetadata) {
    const std::string digest = metadata_digest(*scene.loop.root, name);
    if (std::find(metadata.begin(), metadata.end(), digest) == metadata.end())
      remember(metadata, digest);
  }
  remember(scene.memo.states, hex(scene.loop.file->document->digest()));
  note_facts(scene);
  scene.memo.left = scene.live() == nullptr;
  if (scene.memo.left)
    scene.memo.resumed_over.clear();
  scene.memo.hurry = scene.memo.hurry && !scene.memo.left;
  scene.memo.ahead = scene.memo.ahead || ahead(*scene.loop.root, scene.view.wall);
}

/// Whether an iteration is counted for a run: each work key counts once, however many attempts.
bool counts(const Scene& scene, const Run& run) {
  const auto action = parse_action(run.purpose);
  return scene.options.granularity == Granularity::action && action &&
         kActions.at(static_cast<std::size_t>(*action)).counts;
}

/// A run that has just been started: what it finds is remembered, its iteration is counted.
void note_start(Scene& scene, Writes& writes) {
  const Run* const run = scene.live();
  if (run == nullptr || run->id == scene.memo.run)
    return;
  scene.memo.run = run->id;
  scene.memo.work = scene.work_digest();
  scene.memo.judged = false;
  scene.memo.teed = false;
  const std::string key = std::to_string(run->key.generation) + "/" + std::to_string(run->key.turn);
  if (!counts(scene, *run) || scene.memo.counted == key)
    return;
  scene.memo.counted = key;
  writes.set("current_iteration", Json(sum(scene.loop.iteration, 1)));
  writes.because("an executor begins to " + run->purpose);
}

/// The end of the newest run: one that ended well and changed nothing is idle. Of a loop that is
/// halted that is what an executor should do.
void note_end(Scene& scene) {
  Memo& memo = scene.memo;
  if (memo.judged)
    return;
  for (const Run& run : scene.view.runs) {
    if (run.id != memo.run || run.live())
      continue;
    memo.judged = true;
    if (memo.work != scene.work_digest())
      memo.idle = 0;
    else if (run.outcome == Outcome::succeeded && scene.loop.status == Status::running)
      ++memo.idle;
  }
}

/// Names a run in the message of an error.
std::string mark_of(const Run& run) {
  return "(run " + run.id.substr(0, 8) + ")";
}

/// Whether an error of this list is about the run. The list itself tells, no memory: an executor's
/// copy from before the error was entered would take it out for good.
bool noted(const Value& errors, const Run& run) {
  const std::string mark = mark_of(run);
  return std::any_of(errors.Begin(), errors.End(), [&](const Value& error) {
    return text_of(error, "message").find(mark) != std::string::npos;
  });
}

/// Failed attempts are entered as soon as there is a skill_state to hold them.
void note_errors(const Scene& scene, Writes& writes) {
  if (scene.loop.skill == nullptr)
    return;
  const Value& errors = list(*scene.loop.skill, "errors");
  std::vector<const Run*> failures;
  for (const Run& run : scene.view.runs)
    if (failed(run) && !noted(errors, run))
      failures.push_back(&run);
  std::stable_sort(failures.begin(), failures.end(),
                   [](const Run* a, const Run* b) { return a->ended < b->ended; });
  for (const Run* const run : failures) {
    writes.add_error(Json::object(
        {{"action", run->purpose},
         {"message", "the executor ended as " + how_it_ended(*run) + " " + mark_of(*run)},
         {"timestamp", stamp(run->ended)}}));
    writes.because("a failed run is noted");
  }
}

/// One look at a running loop that nobody works on.
class Router {
 public:
  Router(Scene& scene, Writes& writes, Decision& decision)
      : scene_(scene), writes_(writes), decision_(decision) {}

  void route() {
    const Job& job = scene_.job;
    if (job.exhausted) {
      const std::string times = std::to_string(job.failures) + " times";
      fail("errors",
           "the executor failed " + times +
               (job.last == nullptr ? "" : ", the last time as " + how_it_ended(*job.last)));
    } else if (scene_.interactive() && scene_.loop.skill != nullptr) {
      route_chosen();
    } else if (scene_.memo.idle >= kMostIdle) {
      pause("no_progress", "the executor has ended well " + std::to_string(scene_.memo.idle) +
                               " times in a row and changed nothing" + resumes());
    } else {
      follow(choose(scene_.loop, scene_.options,
                    {job.debugged_in_a_row, done(), parse_action(scene_.memo.newest), hint()}));
    }
  }

 private:
  /// Where executors go on by themselves, only they know what they did last.
  std::optional<Action> done() const {
    const bool ours = scene_.options.granularity == Granularity::action && scene_.job.done;
    return ours ? scene_.job.done : scene_.loop.last_action;
  }
  /// What the last executor proposed, if its action is the newest fact.
  std::optional<Action> hint() const {
    if (scene_.options.granularity == Granularity::run || scene_.job.last == nullptr)
      return std::nullopt;
    return proposed(result_block(scene_.job.last->output));
  }

  void route_chosen() {
    if (scene_.memo.choice_key == scene_.job.key()) {
      want(*parse_action(scene_.memo.choice), "a person chose it");
      return;
    }
    const bool used_up = static_cast<double>(scene_.loop.iteration) >= scene_.loop.max_iterations;
    decision_.holds.push_back(Hold{
        Role(kExecutor), Subject(kMain), "awaiting_choice",
        "the loop is interactive: `baton answer " + text(scene_.view.flow) +
            " --comment develop` (or debug, validate, status, complete, exit)" +
            (used_up ? "; its max_iterations are used up, which ends no interactive loop" : "")});
  }

  std::string resumes() const { return "; `baton resume " + text(scene_.view.flow) + "` goes on"; }

  void follow(const Choice& choice) {
    switch (choice.kind) {
      case Choice::Kind::act:
        want(choice.action, choice.why);
        break;
      case Choice::Kind::limit:
        at_limit(choice);
        break;
      case Choice::Kind::no_tests:
        untested(choice);
        break;
      case Choice::Kind::stuck:
        pause("debugging_stuck", choice.why + resumes());
        break;
    }
  }

  /// Whoever resumes the loop has added tests, or says so: they are run.
  void untested(const Choice& choice) {
    std::string& paused = scene_.memo.untested;
    if (scene_.options.no_tests == NoTests::fail) {
      fail("no_tests", choice.why);
    } else if (!paused.empty() && scene_.job.turn == 0 && paused != scene_.job.key()) {
      want(Action::validate, choice.why + " and the loop was resumed");
    } else {
      paused = scene_.job.key();
      pause("no_tests",
            choice.why + ": debugging cannot help" + resumes() + " and validates again");
    }
  }

  void at_limit(const Choice& choice) {
    switch (scene_.options.on_max_iterations) {
      case AtLimit::complete:
        if (scene_.job.completing)
          fail("max_iterations", choice.why);
        else
          want(Action::complete, choice.why + ": one more action, for the summary");
        break;
      case AtLimit::fail:
        fail("max_iterations", choice.why);
        break;
      case AtLimit::pause:
        pause("max_iterations",
              choice.why + "; raise it, then `baton resume " + text(scene_.view.flow) + "`");
        break;
      case AtLimit::ignore:
        break;
    }
  }

  void want(Action action, const std::string& why) {
    Desired desired;
    desired.role = Role(kExecutor);
    desired.subject = Subject(kMain);
    desired.purpose = Word(word(action));
    desired.turn = scene_.job.turn;
    desired.claims.push_back(Claim{"loop " + text(scene_.view.flow), 1});
    desired.why = why;
    decision_.desired.push_back(std::move(desired));
  }

  void pause(Word reason, const std::string& why) {
    writes_.status(scene_, Status::paused);
    keep(std::move(reason), why);
  }

  void fail(Word reason, const std::string& why) {
    writes_.status(scene_, Status::failed, why);
    keep(std::move(reason), why);
  }

  void keep(Word reason, const std::string& why) {
    writes_.because(why);
    scene_.memo.hold = std::move(reason);
    scene_.memo.hold_why = why;
    scene_.memo.idle = 0;
  }

  Scene& scene_;
  Writes& writes_;
  Decision& decision_;
};

/// An executor that goes on by itself beyond the limit is not let go on for ever. What a person
/// chose was wanted in spite of it.
void limit_run(Scene& scene, Decision& decision) {
  const Run* const run = scene.live();
  const bool beyond = run != nullptr && !scene.interactive() &&
                      scene.options.granularity == Granularity::run &&
                      scene.options.on_max_iterations != AtLimit::ignore &&
                      run->purpose != word(Action::complete) &&
                      static_cast<double>(scene.loop.iteration) >= scene.loop.max_iterations;
  if (!beyond) {
    scene.memo.limit_ms = 0;
    return;
  }
  if (scene.memo.limit_ms == 0)
    scene.memo.limit_ms = scene.view.now.time_since_epoch().count();
  const Time due = Time(Millis(scene.memo.limit_ms)) + scene.options.pause_grace;
  const Time since = std::max(scene.since(), run->started);
  decision.releases.push_back(
      Release{Role(kExecutor), Subject(kMain), true, std::max(Millis(0), due - since),
              "the iterations are used up and the executor did not leave by itself"});
}

/// What the status means for an executor that lives.
void apply_status(Scene& scene, Decision& decision) {
  const Status status = scene.loop.status;
  decision.control = kStatuses.at(static_cast<std::size_t>(status)).control;
  decision.declared = word(status);
  if (status == Status::paused)
    decision.end_at = scene.since() + scene.options.pause_grace;
  else if (decision.control == Control::idle)
    decision.releases.push_back(
        Release{"", "", true, scene.memo.hurry ? Millis(0) : scene.options.pause_grace,
                "the loop is " + decision.declared + " and the executor did not leave by itself"});
}

/// Why it stands still, where baton itself or a failure is the cause.
void explain(Scene& scene, bool writing, Decision& decision) {
  Memo& memo = scene.memo;
  const Status status = scene.loop.status;
  // A word that is just being written stands in no file yet.
  if (!writing && status != Status::paused && status != Status::failed) {
    memo.hold.clear();
    memo.hold_why.clear();
    memo.pause_asked = false;
  }
  if (status == Status::failed && !scene.loop.broken())
    return;
  if (status == Status::failed && memo.hold.empty()) {
    memo.hold = "failed";
    memo.hold_why = scene.loop.text("failure_reason");
  }
  if (memo.hold.empty())
    return;
  decision.failed = true;
  const std::string way_on =
      status != Status::failed
          ? ""
          : std::string(memo.hold == "max_iterations" ? "; raise it, then `" : "; `") +
                "baton retry " + text(scene.view.flow) + "` goes on";
  decision.holds.push_back(Hold{"", Subject(kMain), memo.hold, memo.hold_why + way_on});
}

void route(Scene& scene, Writes& writes, Decision& decision) {
  const Run* const live = scene.live();
  if (scene.loop.status != Status::running)
    return;
  if (live == nullptr) {
    Router(scene, writes, decision).route();
    return;
  }
  limit_run(scene, decision);
  if (live->key.generation != scene.job.generation)
    decision.holds.push_back(Hold{Role(kExecutor), Subject(kMain), "executor_lives",
                                  "the executor from before the pause is still at work"});
}

/// What is told once about the versions of this loop; the words stay the same, so that they are not
/// told again with each version.
void warn(const Memo& memo, Decision& decision) {
  const auto tell = [&](const std::string& what) {
    decision.notices.push_back(Notice{"warning", Subject(kMain), what});
  };
  if (!memo.warning.empty())
    tell(memo.warning);
  if (memo.ahead)
    tell(
        "updated_at was more than an hour ahead of this clock: the clock of one of its writers is "
        "wrong; nothing is ordered by it (ccw_loop/S12)");
}

Decision without_state(const View& view) {
  Decision decision;
  decision.control = Control::idle;
  decision.memo = view.memo;
  const std::string path = options_of(view.options).path + "/" + view.flow.name + ".json";
  const std::string recover =
      "`baton recover " + text(view.flow) + "` rebuilds it from what is left";
  decision.holds.push_back(Hold{"", Subject(kMain), "no_state",
                                view.rejected.contains(path)
                                    ? "the loop's master state is refused: `baton explain " +
                                          text(view.flow) + "` says where; mend it, or " + recover
                                    : "the loop's master state is missing; " + recover});
  return decision;
}

}  // namespace

Stages stages(const View& view) {
  Stages stages;
  if (const Loop loop = loop_of(view.docs); loop.root != nullptr)
    stages[Subject(kMain)] = Word(word(loop.status));
  return stages;
}

Decision decide(const View& view) {
  Scene scene(view);
  if (scene.loop.root == nullptr)
    return without_state(view);
  Decision decision;
  Writes writes;
  note_versions(scene);
  answer(scene, writes, decision);
  note_start(scene, writes);
  note_end(scene);
  note_errors(scene, writes);
  // A word that has just been given is written first.
  const bool said = !writes.updates(scene).empty();
  if (!said)
    route(scene, writes, decision);
  apply_status(scene, decision);
  // What is put away is not written to any more.
  if (decision.updates.empty())
    decision.updates = writes.updates(scene);
  explain(scene, !decision.updates.empty(), decision);
  const bool puts_away =
      std::any_of(decision.updates.begin(), decision.updates.end(),
                  [](const Update& update) { return std::holds_alternative<Move>(update); });
  if (!puts_away)
    if (auto printed = tee(scene))
      decision.updates.emplace_back(std::move(*printed));
  warn(scene.memo, decision);
  decision.memo = json_of(scene.memo);
  return decision;
}

}  // namespace baton::ccw_loop
