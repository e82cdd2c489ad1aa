// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/json/numbers.h"
#include "core/run_text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/conditions.h"
#include "dialects/ccw_loop/next_action.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

namespace {

/// baton pauses the loop after so many runs in a row that succeed and change nothing.
constexpr std::uint32_t kMaxIdleRuns = 2;

/// Finds the kind of work that arrived last: its time is newer than in the version before. If
/// several times are newer, the latest one counts, because one writer wrote them all. Different
/// kinds of work are not compared across versions, because two executors may have two clocks. A
/// time that went back comes from an old copy and does not count.
void note_facts(Snapshot& snapshot) {
  constexpr std::array kWork = {Action::develop, Action::debug, Action::validate};
  const Work& work = snapshot.loop.work;
  const std::array times = {work.developed, work.debugged, work.validated};
  std::vector<std::string> facts;
  facts.reserve(times.size());
  for (const auto& time : times)
    facts.push_back(time ? iso_time(*time, true) : std::string());
  std::vector<std::string>& known = snapshot.memo.facts;
  if (snapshot.loop.skill == nullptr || known.size() != facts.size())
    snapshot.memo.newest.clear();
  std::optional<std::size_t> newest;
  for (std::size_t i = 0; i < facts.size() && known.size() == facts.size(); ++i) {
    const bool news = times.at(i) && times.at(i) > parse_time(known[i]);
    if (news && (!newest || times.at(i) > times.at(*newest)))
      newest = i;
  }
  if (newest)
    snapshot.memo.newest = word(kWork.at(*newest));
  known = snapshot.loop.skill == nullptr ? std::vector<std::string>() : facts;
}

void note_versions(Snapshot& snapshot) {
  remember(snapshot.memo.skills, skill_digest(*snapshot.loop.root));
  std::vector<std::string>& metadata = snapshot.memo.metadata;
  for (const std::string_view name : kMetadata) {
    const std::string digest = metadata_digest(*snapshot.loop.root, name);
    if (std::find(metadata.begin(), metadata.end(), digest) == metadata.end())
      remember(metadata, digest);
  }
  remember(snapshot.memo.states, hex(snapshot.loop.file->document->digest()));
  note_facts(snapshot);
  snapshot.memo.left = snapshot.live() == nullptr;
  if (snapshot.memo.left)
    snapshot.memo.resumed_over.clear();
  snapshot.memo.hurry = snapshot.memo.hurry && !snapshot.memo.left;
  snapshot.memo.ahead = snapshot.memo.ahead || ahead(*snapshot.loop.root, snapshot.view.wall);
}

/// Whether the run counts as an iteration. With granularity `run` the executor counts itself.
bool counts(const Snapshot& snapshot, const Run& run) {
  const auto action = parse_action(run.purpose);
  return snapshot.options.granularity == Granularity::action && action &&
         kActions.at(static_cast<std::size_t>(*action)).counts;
}

/// If a run has just started: remembers the work it found, and counts an iteration. All attempts of
/// one turn count as one iteration.
void note_start(Snapshot& snapshot, Writes& writes) {
  const Run* const run = snapshot.live();
  if (run == nullptr || run->id == snapshot.memo.run)
    return;
  snapshot.memo.run = run->id;
  snapshot.memo.work = snapshot.work_digest();
  snapshot.memo.judged = false;
  snapshot.memo.debug_log_done = false;
  const std::string key = std::to_string(run->key.generation) + "/" + std::to_string(run->key.turn);
  if (!counts(snapshot, *run) || snapshot.memo.counted == key)
    return;
  snapshot.memo.counted = key;
  writes.set("current_iteration", Json(sum(snapshot.loop.iteration, 1)));
  writes.because("an executor begins to " + run->purpose);
}

/// If the newest run has ended: the run was idle if it succeeded and changed nothing. In a paused
/// loop an executor rightly changes nothing, so its run does not count as idle.
void note_end(Snapshot& snapshot) {
  Memo& memo = snapshot.memo;
  if (memo.judged)
    return;
  for (const Run& run : snapshot.view.runs) {
    if (run.id != memo.run || run.live())
      continue;
    memo.judged = true;
    if (memo.work != snapshot.work_digest())
      memo.idle = 0;
    else if (run.outcome == Outcome::succeeded && snapshot.loop.status == Status::running)
      ++memo.idle;
  }
}

/// The text that names a run in the message of an error.
std::string mark_of(const Run& run) {
  return "(run " + run.id.substr(0, 8) + ")";
}

/// Whether the list has an error for this run. The list itself is searched, because an executor may
/// write an old copy without the error.
bool noted(Value::ConstArray errors, const Run& run) {
  const std::string mark = mark_of(run);
  return std::any_of(errors.begin(), errors.end(), [&](const Value& error) {
    return text_of(error, "message").find(mark) != std::string::npos;
  });
}

/// Adds failed attempts to `errors` of skill_state, if the loop has a skill_state.
void note_errors(const Snapshot& snapshot, Writes& writes) {
  if (snapshot.loop.skill == nullptr)
    return;
  const auto errors = items_in(*snapshot.loop.skill, "errors");
  std::vector<const Run*> failures;
  for (const Run& run : snapshot.view.runs)
    if (failed(run) && !noted(errors, run))
      failures.push_back(&run);
  std::stable_sort(failures.begin(), failures.end(),
                   [](const Run* a, const Run* b) { return a->ended < b->ended; });
  for (const Run* const run : failures) {
    writes.add_error(Json::object(
        {{"action", run->purpose},
         {"message", "the executor ended as " + how_it_ended(*run) + " " + mark_of(*run)},
         {"timestamp", iso_time(run->ended, true)}}));
    writes.because("a failed run is noted");
  }
}

/// Decides what comes next in a running loop without an executor.
class NextStep {
 public:
  NextStep(Snapshot& snapshot, Writes& writes, Decision& decision)
      : snapshot_(snapshot), writes_(writes), decision_(decision) {}

  void decide() {
    const Job& job = snapshot_.job;
    if (job.exhausted) {
      const std::string times = std::to_string(job.failures) + " times";
      fail("errors",
           "the executor failed " + times +
               (job.last == nullptr ? "" : ", the last time as " + how_it_ended(*job.last)));
    } else if (snapshot_.interactive() && snapshot_.loop.skill != nullptr) {
      run_chosen();
    } else if (snapshot_.memo.idle >= kMaxIdleRuns) {
      pause("no_progress", "the executor has ended well " + std::to_string(snapshot_.memo.idle) +
                               " times in a row and changed nothing");
    } else {
      apply(next());
    }
  }

 private:
  NextAction next() const {
    return next_action(
        snapshot_.loop, snapshot_.options,
        {snapshot_.job.debugged_in_a_row, done(), parse_action(snapshot_.memo.newest), proposal()});
  }

  /// With granularity `run` only the executor knows what it did last.
  std::optional<Action> done() const {
    const bool ours = snapshot_.options.granularity == Granularity::action && snapshot_.job.done;
    return ours ? snapshot_.job.done : snapshot_.loop.last_action;
  }
  /// The proposal of the last executor.
  std::optional<Action> proposal() const {
    if (snapshot_.options.granularity == Granularity::run || snapshot_.job.last == nullptr)
      return std::nullopt;
    return proposed(result_block(snapshot_.job.last->output));
  }

  void run_chosen() {
    if (snapshot_.memo.choice_key == snapshot_.job.key()) {
      want(*parse_action(snapshot_.memo.choice), "a person chose it");
      return;
    }
    const bool used_up =
        static_cast<double>(snapshot_.loop.iteration) >= snapshot_.loop.max_iterations;
    decision_.holds.push_back(Hold{
        Role(kExecutor), Subject(kMain), cause_of(Situation::awaiting_choice),
        "the loop is interactive and waits for the next action: develop, debug, validate, "
        "status, complete or exit" +
            std::string(used_up
                            ? "; max_iterations is reached, which does not end an interactive loop"
                            : ""),
        command("answer", snapshot_.view.flow) + " --comment " + std::string(suggestion())});
  }

  /// An action that is possible now, best first.
  std::string_view suggestion() const {
    const Action best = next().action;
    return word(obstacle(snapshot_.loop, best).empty() ? best : Action::complete);
  }

  void apply(const NextAction& choice) {
    switch (choice.kind) {
      case NextAction::Kind::act:
        want(choice.action, choice.why);
        break;
      case NextAction::Kind::limit:
        at_limit(choice);
        break;
      case NextAction::Kind::no_tests:
        untested(choice);
        break;
      case NextAction::Kind::stuck:
        pause("debugging_stuck", choice.why);
        break;
    }
  }

  /// The first time, baton pauses the loop, or it fails. A person who resumes or retries it claims
  /// that there are tests now, so baton validates again.
  void untested(const NextAction& choice) {
    std::string& before = snapshot_.memo.untested;
    if (!before.empty() && snapshot_.job.turn == 0 && before != snapshot_.job.key()) {
      want(Action::validate, choice.why + " and a person lets the loop go on");
      return;
    }
    before = snapshot_.job.key();
    if (snapshot_.options.no_tests == NoTests::fail)
      fail("no_tests", choice.why);
    else
      pause("no_tests", choice.why + ": debugging cannot help");
  }

  void at_limit(const NextAction& choice) {
    switch (snapshot_.options.on_max_iterations) {
      case AtLimit::complete:
        if (snapshot_.job.completing)
          fail("max_iterations", choice.why);
        else
          want(Action::complete, choice.why + ": one more action for the summary");
        break;
      case AtLimit::fail:
        fail("max_iterations", choice.why);
        break;
      case AtLimit::pause:
        pause("max_iterations", choice.why);
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
    desired.turn = snapshot_.job.turn;
    desired.repeats = snapshot_.memo.idle > 0;
    desired.claims.push_back(Claim{"loop " + text(snapshot_.view.flow), 1});
    desired.why = why;
    decision_.desired.push_back(std::move(desired));
  }

  void pause(Word reason, const std::string& why) {
    writes_.status(snapshot_, Status::paused);
    keep(std::move(reason), why);
  }

  void fail(Word reason, const std::string& why) {
    writes_.status(snapshot_, Status::failed, why);
    keep(std::move(reason), why);
  }

  /// The run that led here. The file does not name it, and baton may forget the run.
  std::string last_run() const {
    const Run* const run = snapshot_.job.last;
    if (run == nullptr)
      return {};
    const std::string said = last_words(*run);
    return " (" + run_name(*run) + ": " + outcome_text(*run) + (said.empty() ? "" : ", " + said) +
           ")";
  }

  void keep(Word reason, const std::string& why) {
    writes_.because(why);
    snapshot_.memo.hold = std::move(reason);
    snapshot_.memo.hold_why = why + last_run();
    snapshot_.memo.idle = 0;
  }

  Snapshot& snapshot_;
  Writes& writes_;
  Decision& decision_;
};

/// Ends an executor that goes on although max_iterations is reached. An interactive loop may exceed
/// the limit, because a person chooses each of its actions.
void limit_run(Snapshot& snapshot, Decision& decision) {
  const Run* const run = snapshot.live();
  const bool beyond = run != nullptr && !snapshot.interactive() &&
                      snapshot.options.granularity == Granularity::run &&
                      snapshot.options.on_max_iterations != AtLimit::ignore &&
                      run->purpose != word(Action::complete) &&
                      static_cast<double>(snapshot.loop.iteration) >= snapshot.loop.max_iterations;
  if (!beyond) {
    snapshot.memo.limit_ms = 0;
    return;
  }
  if (snapshot.memo.limit_ms == 0)
    snapshot.memo.limit_ms = snapshot.view.now.time_since_epoch().count();
  const Time due = Time(Millis(snapshot.memo.limit_ms)) + snapshot.options.pause_grace;
  const Time since = std::max(snapshot.since(), run->started);
  decision.releases.push_back(Release{Role(kExecutor), Subject(kMain), true,
                                      std::max(Millis(0), due - since),
                                      "max_iterations is reached and the executor did not exit"});
}

/// What the status means for a running executor.
void apply_status(Snapshot& snapshot, Decision& decision) {
  const Status status = snapshot.loop.status;
  decision.control = kStatuses.at(static_cast<std::size_t>(status)).control;
  decision.declared = word(status);
  if (status == Status::paused)
    decision.end_at = snapshot.since() + snapshot.options.pause_grace;
  else if (decision.control == Control::idle)
    decision.releases.push_back(
        Release{"", "", true, snapshot.memo.hurry ? Millis(0) : snapshot.options.pause_grace,
                "the loop is " + decision.declared + " and the executor did not exit"});
}

/// Says how the loop stands if it does not run. A loop that waits for a person gets a hold.
void stand(Snapshot& snapshot, bool writing, Decision& decision) {
  Memo& memo = snapshot.memo;
  const Status status = snapshot.loop.status;
  // While baton writes a new status, the file has the old one, and the reason must stay.
  if (!writing && status != Status::paused && status != Status::failed) {
    memo.hold.clear();
    memo.hold_why.clear();
    memo.pause_asked = false;
  }
  if (!writing && status != Status::user_exit)
    memo.exit_asked = false;
  if (!writing && status == Status::running)
    memo.asking_agent.clear();
  decision.progress = progress_of(snapshot.loop);
  if (const auto title = snapshot.loop.text("title"); !title.empty())
    decision.details = Json::object({{"title", title}});
  auto standing = standing_of(snapshot);
  if (!standing)
    return;
  decision.standing = std::move(*standing);
  const Standing& now = decision.standing;
  if (now.cause.condition == Condition::done)
    decision.ends.emplace_back(kMain);
  else if (now.cause.condition == Condition::blocked)
    decision.holds.push_back(Hold{"", Subject(kMain), now.cause, now.why, now.action});
}

void decide_next(Snapshot& snapshot, Writes& writes, Decision& decision) {
  const Run* const live = snapshot.live();
  if (snapshot.loop.status != Status::running)
    return;
  if (live == nullptr) {
    NextStep(snapshot, writes, decision).decide();
    return;
  }
  limit_run(snapshot, decision);
  if (live->key.generation != snapshot.job.generation)
    decision.holds.push_back(
        Hold{Role(kExecutor), Subject(kMain), cause_of(Situation::executor_lives),
             "the executor from before the pause, " + run_name(*live) + ", is still running"});
}

/// Warns about versions of this loop. The text of a warning stays the same, so that baton reports
/// it once.
void warn(const Memo& memo, Decision& decision) {
  const auto tell = [&](const std::string& what) {
    decision.notices.push_back(Notice{"warning", Subject(kMain), what});
  };
  if (!memo.warning.empty())
    tell(memo.warning);
  if (memo.ahead)
    tell(
        "updated_at was more than an hour ahead of this clock: the clock of one of its writers is "
        "wrong; baton ignores this time (ccw_loop/S12)");
}

Decision without_state(const View& view) {
  Decision decision;
  decision.control = Control::idle;
  decision.memo = view.memo;
  decision.standing = standing_without_state(view);
  const Standing& now = decision.standing;
  decision.holds.push_back(Hold{"", Subject(kMain), now.cause, now.why, now.action});
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
  Snapshot snapshot(view);
  if (snapshot.loop.root == nullptr)
    return without_state(view);
  Decision decision;
  Writes writes;
  note_versions(snapshot);
  answer(snapshot, writes, decision);
  note_start(snapshot, writes);
  note_end(snapshot);
  note_errors(snapshot, writes);
  // baton writes its changes first. It decides the next action when they are in the file.
  const bool said = !writes.updates(snapshot).empty();
  if (!said)
    decide_next(snapshot, writes, decision);
  apply_status(snapshot, decision);
  // `forget` has put moves of all files into the updates, so baton does not write these files.
  if (decision.updates.empty())
    decision.updates = writes.updates(snapshot);
  stand(snapshot, !decision.updates.empty(), decision);
  const bool puts_away =
      std::any_of(decision.updates.begin(), decision.updates.end(),
                  [](const Update& update) { return std::holds_alternative<Move>(update); });
  if (!puts_away)
    if (auto printed = debug_log_lines(snapshot))
      decision.updates.emplace_back(std::move(*printed));
  warn(snapshot.memo, decision);
  decision.memo = json_of(snapshot.memo);
  return decision;
}

}  // namespace baton::ccw_loop
