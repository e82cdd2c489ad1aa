// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

constexpr std::uint32_t kMostSessionTurns = 2;
constexpr const char* kRejectedPlan =
    "the newest plan was rejected because of its groups or dependencies";

const Subject& session() {
  static const Subject subject(kSession);
  return subject;
}

bool claimed_in_plan(const Snapshot& snapshot, const Value& pm) {
  if (plan_says_completed(pm, snapshot.options))
    return true;
  const auto percent = json::number(pm, "completion_percentage");
  const auto is_empty = [&](std::string_view list) {
    return member(pm, list).IsArray() && items_in(pm, list).Empty();
  };
  // A full percentage counts only if it was written after the final check began.
  const Accepted* const file = find(snapshot.view.docs, "pm_state");
  return percent && *percent >= 100.0 && is_empty("pending_groups") &&
         is_empty("in_progress_groups") && !snapshot.memo.final_pm.empty() &&
         hex(file->document->digest()) != snapshot.memo.final_pm;
}

/// Whether the word stands alone in the output, with no letter or digit next to it. The letter of a
/// JSON escape such as `\n` is allowed before it.
bool contains_word(const std::string& output, const std::string& wanted) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (auto at = output.find(wanted); at != std::string::npos; at = output.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    const bool escape = at >= 2 && output[at - 2] == '\\';
    if ((at == 0 || escape || !letter(output[at - 1])) &&
        (end == output.size() || !letter(output[end])))
      return true;
  }
  return false;
}

/// A successful run of the project manager that printed the completion word and that baton has not
/// refused; nullptr: none.
const Run* run_with_completion_word(const Snapshot& snapshot) {
  for (const Run& run : snapshot.view.runs)
    if (run.key.subject == kSession && run.key.role == kManager &&
        run.outcome == Outcome::succeeded && !run.forgiven && !snapshot.forgotten(run) &&
        !snapshot.memo.refused_words.contains(run.id) &&
        contains_word(run.output, snapshot.options.completion_word))
      return &run;
  return nullptr;
}

/// Whether a finished phase waits for the project manager, and the next has not begun.
bool phase_to_check(const Snapshot& snapshot) {
  if (!snapshot.options.advance_by_manager)
    return false;
  const std::int64_t next = snapshot.plan.present_phase();
  bool finished = false;
  for (const Group& group : snapshot.plan.groups) {
    finished = finished || (group.phase < next && group.status == Status::complete);
    if (group.phase == next && group.status != Status::pending)
      return false;
  }
  return finished && snapshot.memo.phase_checked < next;
}

void add_desired_manager(const Snapshot& snapshot, Word purpose, std::uint32_t turn,
                         std::string why, Decision& decision) {
  Desired desired;
  desired.role = kManager;
  desired.subject = kSession;
  desired.purpose = std::move(purpose);
  desired.turn = turn;
  // The stage of a session is the same for many questions.
  const Job job = snapshot.job(kManager, session());
  desired.repeats = job.fresh > 0 && job.last != nullptr && job.last->purpose == desired.purpose;
  desired.claims.push_back(manager_claim(snapshot));
  desired.why = std::move(why) + faults_to_fix(snapshot, session());
  decision.desired.push_back(std::move(desired));
}

void hold(Situation situation, std::string why, std::string action, Decision& decision) {
  decision.holds.push_back(Hold{Role(kManager), Subject(kSession), cause_of(situation),
                                std::move(why), std::move(action)});
}

/// A question to the project manager. If a run brings no result, baton asks again, and then it asks
/// a person.
struct Question {
  Word purpose;
  std::string why;
  Situation situation;
  std::string gave_up;
  std::string action;  ///< empty: an answer
  std::uint32_t most_turns = kMostSessionTurns;
};
void ask(const Snapshot& snapshot, const Question& question, Decision& decision) {
  if (snapshot.present(session()) != nullptr)
    return;
  const Job job = snapshot.job(kManager, session());
  if (job.fresh < question.most_turns) {
    add_desired_manager(snapshot, question.purpose, job.turn, question.why, decision);
    return;
  }
  hold(question.situation, question.gave_up + named_run(job),
       question.action.empty() ? command("answer", snapshot.view.flow) + " --comment TEXT"
                               : question.action,
       decision);
}

/// Where the newest plan is wrong.
std::string plan_error(const Snapshot& snapshot) {
  const Accepted* const pm = find(snapshot.view.docs, "pm_state");
  return pm == nullptr ? "" : first_error(path_of(snapshot.options, "pm_state"), pm->rejected);
}

/// Whether the newest plan was rejected for its groups.
bool is_bad_plan(const Snapshot& snapshot) {
  const Accepted* const pm = find(snapshot.view.docs, "pm_state");
  constexpr std::array<std::string_view, 3> kRules = {"\"coordination/S1\"", "\"coordination/S2\"",
                                                      "\"coordination/S24\""};
  return pm != nullptr && std::any_of(kRules.begin(), kRules.end(), [&](std::string_view rule) {
           return pm->rejected.find(rule) != std::string::npos;
         });
}

}  // namespace

std::string_view word(SessionStage stage) {
  static constexpr std::array<std::string_view, 7> kWords = {
      "", "no_requirements", "planning", "working", "phase_check", "final_check", "completed"};
  return kWords.at(static_cast<std::size_t>(stage));
}

bool plan_says_completed(const Value& pm, const Options& options) {
  if (json::text(pm, "signal") == options.completion_word)
    return true;
  // No schema describes this member, so a strict file may have aliases here. Only the option allows
  // them.
  const auto status = options.lenient ? word_of(pm, "status") : json::text(pm, "status");
  return status == "complete" || status == "COMPLETE" || status == "all_complete";
}

bool completion_claimed(const Snapshot& snapshot) {
  return json::text(root(snapshot.view.docs, "orchestrator_state"), "status") == "completed" ||
         snapshot.memo.written_word || !snapshot.memo.word.empty() ||
         run_with_completion_word(snapshot) != nullptr ||
         claimed_in_plan(snapshot, root(snapshot.view.docs, "pm_state"));
}

namespace {

/// Refuses a claim. The project manager learns of the faults, even if they are corrected by then.
void refuse(Snapshot& snapshot, const std::vector<std::string>& faults) {
  snapshot.memo.refused = true;
  if (snapshot.memo.refusal == faults)
    return;
  snapshot.memo.refusal = faults;
  snapshot.memo.refusal_informed.clear();
}

}  // namespace

void note_end(Snapshot& snapshot, SessionStage stage) {
  Memo& memo = snapshot.memo;
  const bool before = std::exchange(memo.completed, stage == SessionStage::completed);
  if (memo.completed) {
    memo.refused = false;
    memo.refusal.clear();
    memo.refusal_informed.clear();
  }
  // The claim was true when it was made, so it is not refused.
  memo.used_up = !memo.completed && (before || memo.used_up) && completion_claimed(snapshot);
}

void note_word(Snapshot& snapshot, Decision& decision) {
  const std::vector<std::string> faults = completion_faults(snapshot);
  const bool ready = faults.empty();
  snapshot.memo.written_word = snapshot.memo.written_word && ready;
  if (!ready && !snapshot.memo.word.empty())
    snapshot.memo.refused_words.insert(std::exchange(snapshot.memo.word, {}));
  while (const Run* const run = run_with_completion_word(snapshot)) {
    if (ready) {
      snapshot.memo.word = run->id;
      break;
    }
    // The word was about an earlier state of the session, so it never counts.
    snapshot.memo.refused_words.insert(run->id);
    refuse(snapshot, faults);
    decision.notices.push_back(Notice{"premature_completion", session(),
                                      "the project manager said " +
                                          snapshot.options.completion_word +
                                          " too early: " + join(faults, "; ")});
  }
  std::erase_if(snapshot.memo.refused_words, [&](const RunId& id) {
    return std::none_of(snapshot.view.runs.begin(), snapshot.view.runs.end(),
                        [&](const Run& run) { return run.id == id; });
  });
}

std::vector<std::string> completion_faults(const Snapshot& snapshot) {
  std::vector<std::string> faults;
  if (snapshot.plan.groups.empty())
    faults.emplace_back("there are no groups");
  for (const Group& group : snapshot.plan.groups) {
    if (group.status != Status::complete)
      faults.push_back(group.id + " is " + std::string(word(group.status)) +
                       (snapshot.plan.planned(group) ? ""
                                                     : " and not in the plan: remove " + group.id +
                                                           " from group_status.json or add it to "
                                                           "the plan"));
    else if (snapshot.options.reviews && !group.approved)
      faults.push_back(group.id + " is complete, but no review has approved it");
  }
  return faults;
}

SessionStage session_stage(const Snapshot& snapshot) {
  if (!snapshot.plan.known)
    return SessionStage::none;
  if (!snapshot.plan.decided && snapshot.plan.requirements.empty())
    return SessionStage::no_requirements;
  if (!snapshot.plan.decided || snapshot.plan.groups.empty())
    return SessionStage::planning;
  if (std::all_of(snapshot.plan.groups.begin(), snapshot.plan.groups.end(),
                  [&](const Group& group) {
                    return group.status == Status::complete || !snapshot.plan.planned(group);
                  })) {
    const auto stage = snapshot.view.stages.find(session());
    const bool ended =
        stage != snapshot.view.stages.end() && stage->second.stage == word(SessionStage::completed);
    const bool checked = ended || (stage != snapshot.view.stages.end() &&
                                   stage->second.stage == word(SessionStage::final_check) &&
                                   snapshot.job(kManager, session()).turn > 0);
    const bool may_end = completion_claimed(snapshot) && completion_faults(snapshot).empty();
    const bool doubtful = snapshot.memo.refused || snapshot.memo.used_up;
    return may_end && (checked || !doubtful) ? SessionStage::completed : SessionStage::final_check;
  }
  return phase_to_check(snapshot) ? SessionStage::phase_check : SessionStage::working;
}

/// The command for the first group that keeps the session from its end and for which baton starts
/// no agent: one that is complete without approval, or one that is not in the plan. Empty without
/// one.
std::string command_for_group(const Snapshot& snapshot) {
  for (const Group& group : snapshot.plan.groups) {
    if (group.status == Status::complete && !group.approved && snapshot.options.reviews)
      return command("approve", snapshot.view.flow, group.id);
    if (group.status != Status::complete && !snapshot.plan.planned(group))
      return command("answer", snapshot.view.flow, group.id);
  }
  return {};
}

void route_session(Snapshot& snapshot, SessionStage stage, Decision& decision) {
  const std::vector<std::string> faults = completion_faults(snapshot);
  const bool claimed = completion_claimed(snapshot) && !snapshot.memo.used_up;
  std::string too_early;
  if (claimed && !faults.empty() && stage != SessionStage::none) {
    refuse(snapshot, faults);
    too_early = "completion was claimed too early: " + join(faults, "; ");
    decision.standing.why = too_early;
  }
  switch (stage) {
    case SessionStage::none:
    case SessionStage::completed:
      break;
    case SessionStage::no_requirements:
      hold(Situation::no_requirements,
           "no requirements yet (" + path_of(snapshot.options, "pm_state") + ")",
           command("start", snapshot.view.flow) + " --requirements TEXT", decision);
      break;
    case SessionStage::planning:
      ask(snapshot,
          {is_bad_plan(snapshot) ? "repair_plan" : "planning",
           is_bad_plan(snapshot) ? kRejectedPlan : "plan the requirements",
           Situation::planning_failed,
           std::string("the project manager has ended twice without a plan") +
               (is_bad_plan(snapshot) ? "; its newest one is wrong: " + plan_error(snapshot) : ""),
           ""},
          decision);
      break;
    case SessionStage::working:
      if (is_bad_plan(snapshot) && snapshot.live_manager() == nullptr)
        ask(snapshot,
            {"repair_plan", kRejectedPlan, Situation::bad_plan,
             "the plan is still rejected: " + plan_error(snapshot), "", 1},
            decision);
      break;
    case SessionStage::phase_check: {
      const Job job = snapshot.job(kManager, session());
      if (job.fresh > 0)
        snapshot.memo.phase_checked = snapshot.plan.present_phase();
      else if (snapshot.present(session()) == nullptr)
        add_desired_manager(snapshot, "phase_completion", job.turn,
                            "a phase is finished; phase " +
                                std::to_string(snapshot.plan.present_phase()) + " comes next",
                            decision);
      break;
    }
    case SessionStage::final_check:
      ask(snapshot,
          {"final_check", "every group of the plan is complete", Situation::no_completion_word,
           !too_early.empty()
               ? too_early
               : "the project manager neither said the completion word nor planned more" +
                     (faults.empty() ? std::string() : ": " + join(faults, "; ")),
           command_for_group(snapshot)},
          decision);
      break;
  }
}

}  // namespace baton::coordination
