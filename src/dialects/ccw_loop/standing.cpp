// SPDX-License-Identifier: Apache-2.0

// How a loop stands, and what a person can do about it.

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/conditions.h"
#include "dialects/kinds.h"

namespace baton::ccw_loop {

namespace {

/// The words in Memo::hold for what baton did. They stay in journals, so they never change.
struct HoldRow {
  std::string_view word;
  Situation paused;
  Situation failed;
};
constexpr std::array kHolds = {
    HoldRow{"no_progress", Situation::no_progress, Situation::declared_failed},
    HoldRow{"debugging_stuck", Situation::debugging_stuck, Situation::declared_failed},
    HoldRow{"no_tests", Situation::no_tests, Situation::declared_failed},
    HoldRow{"max_iterations", Situation::limit_paused, Situation::limit_failed},
    HoldRow{"errors", Situation::paused_by_files, Situation::errors},
};

/// What baton did to the loop; nullptr: nothing. A failure_reason that another program wrote counts
/// more than what baton did before.
const HoldRow* hold_of(const Snapshot& snapshot) {
  const bool others = snapshot.loop.status == Status::failed &&
                      !snapshot.memo.hold_why.starts_with(snapshot.loop.text("failure_reason"));
  return others ? nullptr : row_of(kHolds, snapshot.memo.hold);
}

/// The state of a loop that is not running.
Situation situation_of(const Snapshot& snapshot) {
  const Memo& memo = snapshot.memo;
  const HoldRow* const hold = hold_of(snapshot);
  const bool agent = !memo.asking_agent.empty();
  switch (snapshot.loop.status) {
    case Status::created:
    case Status::running:
      return Situation::created;
    case Status::completed:
      return Situation::completed;
    case Status::user_exit:
      return memo.exit_asked && !agent ? Situation::exit_by_operator : Situation::exit_by_agent;
    case Status::paused:
      if (hold != nullptr)
        return hold->paused;
      return !memo.pause_asked ? Situation::paused_by_files
             : agent           ? Situation::paused_by_agent
                               : Situation::paused_by_operator;
    case Status::failed:
      break;
  }
  if (snapshot.loop.broken())
    return hold == nullptr ? Situation::declared_failed : hold->failed;
  return snapshot.loop.text("failure_reason").empty() ? Situation::stopped_by_files
         : agent                                      ? Situation::stopped_by_agent
                                                      : Situation::stopped_by_operator;
}

std::string why_of(Situation situation, const Snapshot& snapshot) {
  const Loop& loop = snapshot.loop;
  const std::string agent = "the agent " + printable(snapshot.memo.asking_agent, 120);
  switch (situation) {
    case Situation::created:
      return "the loop is created and has not been started";
    case Situation::completed:
      return "the loop is completed: " + loop.summary();
    case Situation::paused_by_operator:
      return "a person paused the loop";
    case Situation::paused_by_agent:
      return agent + " paused the loop";
    case Situation::paused_by_files:
      return "the master state says paused";
    case Situation::declared_failed:
      if (hold_of(snapshot) == nullptr)
        return "the master state says failed: " + printable(loop.text("failure_reason"), 300);
      break;
    case Situation::stopped_by_operator:
      return "a person stopped the loop";
    case Situation::stopped_by_agent:
      return agent + " stopped the loop";
    case Situation::stopped_by_files:
      return "the master state says failed and gives no reason";
    case Situation::exit_by_operator:
      return "a person put the loop aside";
    case Situation::exit_by_agent:
      return snapshot.memo.exit_asked ? agent + " put the loop aside"
                                      : "the executor put the loop aside (user_exit)";
    case Situation::no_progress:
    case Situation::debugging_stuck:
    case Situation::no_tests:
    case Situation::limit_paused:
    case Situation::awaiting_choice:
    case Situation::executor_lives:
    case Situation::errors:
    case Situation::limit_failed:
    case Situation::state_rejected:
    case Situation::state_gone:
      break;
  }
  return snapshot.memo.hold_why;
}

std::string raise_limit(const Snapshot& snapshot, const char* verb) {
  return "raise `max_iterations` in " + snapshot.loop.path + ", check it with `baton validate " +
         shell_word(snapshot.loop.path) + "`, then `" + command(verb, snapshot.view.flow) + "`";
}

std::string action_of(Situation situation, const Snapshot& snapshot) {
  const FlowId& flow = snapshot.view.flow;
  if (situation == Situation::limit_paused)
    return raise_limit(snapshot, "resume");
  if (situation == Situation::limit_failed)
    return raise_limit(snapshot, "retry");
  switch (snapshot.loop.status) {
    case Status::created:
      return command("start", flow);
    case Status::paused:
    case Status::user_exit:
      return command("resume", flow);
    case Status::failed:
      return snapshot.loop.broken() ? command("retry", flow)
                                    : command("start", flow) + " --set force=true";
    case Status::running:
    case Status::completed:
      break;
  }
  return {};
}

/// While the state file has a rejected version, that file is the cause: the executor cannot be
/// heard. The file has to be corrected before the loop goes on.
void name_rejected_file(Situation situation, const Snapshot& snapshot, Standing& standing) {
  const std::string& path = snapshot.loop.path;
  const auto bad = snapshot.view.rejected.find(path);
  if (bad == snapshot.view.rejected.end() ||
      (situation != Situation::errors && situation != Situation::no_progress))
    return;
  standing.action = "correct " + path + ", check it with `baton validate " + shell_word(path) +
                    "`, then `" + standing.action + "`";
  if (situation != Situation::no_progress)
    return;
  standing.cause = cause_of(Situation::state_rejected);
  standing.why += "; its master state was rejected: " + first_error(path, bad->second);
}

}  // namespace

std::optional<Standing> standing_of(const Snapshot& snapshot) {
  if (snapshot.loop.status == Status::running)
    return std::nullopt;
  const Situation situation = situation_of(snapshot);
  Standing standing{
      cause_of(situation), why_of(situation, snapshot), action_of(situation, snapshot), {}};
  name_rejected_file(situation, snapshot, standing);
  return standing;
}

Standing standing_without_state(const View& view) {
  const std::string path = options_of(view.options).path + "/" + view.flow.name + ".json";
  if (const auto bad = view.rejected.find(path); bad != view.rejected.end())
    return {cause_of(Situation::state_rejected),
            "the loop's master state is not valid: " + first_error(path, bad->second),
            "correct " + path + "; `baton validate " + shell_word(path) + "` checks it",
            {}};
  return {cause_of(Situation::state_gone),
          "the loop's master state " + path + " is missing",
          command("recover", view.flow) + " --write",
          {}};
}

std::optional<Progress> progress_of(const Loop& loop) {
  constexpr double kMost = 1e15;
  if (loop.iteration < 0 || !(loop.max_iterations >= 1 && loop.max_iterations < kMost))
    return std::nullopt;
  return Progress{static_cast<std::uint64_t>(loop.iteration),
                  static_cast<std::uint64_t>(loop.max_iterations), "iterations"};
}

}  // namespace baton::ccw_loop
