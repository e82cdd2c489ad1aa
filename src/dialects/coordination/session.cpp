#include <algorithm>
#include <array>
#include <utility>

#include "base/digest.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

constexpr std::uint32_t kMostSessionTurns = 2;
constexpr const char* kRejectedPlan =
    "the newest plan was rejected for its groups or their dependencies";

const Subject& session() {
  static const Subject subject(kSession);
  return subject;
}

bool claimed_in_plan(const Scene& scene, const Value& pm) {
  if (plan_says_completed(pm, scene.options))
    return true;
  const auto percent = json::number(pm, "completion_percentage");
  const Value* const pending = json::child(pm, "pending_groups");
  const Value* const running = json::child(pm, "in_progress_groups");
  // A full percentage counts as a word only when it was written after a final check was asked for.
  const Accepted* const file = find(scene.view.docs, "pm_state");
  return percent && *percent >= 100.0 && pending != nullptr && pending->IsArray() &&
         pending->Empty() && running != nullptr && running->IsArray() && running->Empty() &&
         !scene.memo.final_pm.empty() && hex(file->document->digest()) != scene.memo.final_pm;
}

/// The word stands by itself: no letter or digit beside it, but for the escape of a line break in
/// output that is JSON.
bool says(const std::string& output, const std::string& wanted) {
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

/// A run of the project manager that ended well and said the completion word, which was not refused
/// yet; nullptr when there is none.
const Run* said_word(const Scene& scene) {
  for (const Run& run : scene.view.runs)
    if (run.key.subject == kSession && run.key.role == kManager &&
        run.outcome == Outcome::succeeded && !run.forgiven && !scene.forgotten(run) &&
        !scene.memo.refused_words.contains(run.id) &&
        says(run.output, scene.options.completion_word))
      return &run;
  return nullptr;
}

/// A finished phase the project manager has not looked at yet, with the next one untouched.
bool phase_to_check(const Scene& scene) {
  if (!scene.options.advance_by_manager)
    return false;
  const std::int64_t next = scene.plan.present_phase();
  bool finished = false;
  for (const Group& group : scene.plan.groups) {
    finished = finished || (group.phase < next && group.status == Status::complete);
    if (group.phase == next && group.status != Status::pending)
      return false;
  }
  return finished && scene.memo.phase_checked < next;
}

void want_manager(const Scene& scene, Word purpose, std::uint32_t turn, std::string why,
                  Decision& decision) {
  Desired desired;
  desired.role = kManager;
  desired.subject = kSession;
  desired.purpose = std::move(purpose);
  desired.turn = turn;
  desired.claims.push_back(manager_claim(scene));
  desired.why = std::move(why) + amiss(scene, session());
  decision.desired.push_back(std::move(desired));
}

void hold(Word reason, std::string why, Decision& decision) {
  decision.holds.push_back(
      Hold{Role(kManager), Subject(kSession), std::move(reason), std::move(why)});
}

std::string list(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : "; ") + part;
  return text;
}

/// A step of the project manager's own: asked for, once more when nothing came of it, then a
/// person.
struct Question {
  Word purpose;
  std::string why;
  Word hold;
  std::string gave_up;
  std::uint32_t most_turns = kMostSessionTurns;
};
void ask(const Scene& scene, const Question& question, Decision& decision) {
  if (scene.present(session()) != nullptr)
    return;
  const Job job = scene.job(kManager, session());
  if (job.fresh < question.most_turns) {
    want_manager(scene, question.purpose, job.turn, question.why, decision);
    return;
  }
  hold(question.hold, question.gave_up + "; `baton answer` with a comment asks again", decision);
  decision.failed = true;
}

}  // namespace

std::string_view word(Standing standing) {
  switch (standing) {
    case Standing::none:
      return "";
    case Standing::no_requirements:
      return "no_requirements";
    case Standing::planning:
      return "planning";
    case Standing::working:
      return "working";
    case Standing::phase_check:
      return "phase_check";
    case Standing::final_check:
      return "final_check";
    case Standing::completed:
      return "completed";
  }
  return "";
}

bool plan_says_completed(const Value& pm, const Options& options) {
  if (json::text(pm, "signal") == options.completion_word)
    return true;
  // No schema names this member: what the lenient profile adds is told by the option alone.
  const auto status = options.lenient ? word_of(pm, "status") : json::text(pm, "status");
  return status == "complete" || status == "COMPLETE" || status == "all_complete";
}

bool completion_claimed(const Scene& scene) {
  const Value* const state = root(scene.view.docs, "orchestrator_state");
  if (state != nullptr && json::text(*state, "status") == "completed")
    return true;
  if (scene.memo.written_word || !scene.memo.word.empty() || said_word(scene) != nullptr)
    return true;
  const Value* const pm = root(scene.view.docs, "pm_state");
  return pm != nullptr && claimed_in_plan(scene, *pm);
}

namespace {

/// The project manager hears of it, also when what was wrong is put right by then.
void refuse(Scene& scene, const std::vector<std::string>& faults) {
  scene.memo.refused = true;
  if (scene.memo.refusal == faults)
    return;
  scene.memo.refusal = faults;
  scene.memo.refusal_told.clear();
}

}  // namespace

void note_end(Scene& scene, Standing standing) {
  Memo& memo = scene.memo;
  const bool before = std::exchange(memo.completed, standing == Standing::completed);
  if (memo.completed) {
    memo.refused = false;
    memo.refusal.clear();
    memo.refusal_told.clear();
  }
  // It was true, so nobody is to blame that there is more to do by now. Of that it says nothing.
  memo.used_up = !memo.completed && (before || memo.used_up) && completion_claimed(scene);
}

void note_word(Scene& scene, Decision& decision) {
  const std::vector<std::string> faults = completion_faults(scene);
  const bool ready = faults.empty();
  scene.memo.written_word = scene.memo.written_word && ready;
  if (!ready && !scene.memo.word.empty())
    scene.memo.refused_words.insert(std::exchange(scene.memo.word, {}));
  while (const Run* const run = said_word(scene)) {
    if (ready) {
      scene.memo.word = run->id;
      break;
    }
    // Said of another state of things: it does not count later either.
    scene.memo.refused_words.insert(run->id);
    refuse(scene, faults);
    decision.notices.push_back(Notice{"premature_completion", session(),
                                      "the project manager said " + scene.options.completion_word +
                                          ", which is refused: " + list(faults)});
  }
  std::erase_if(scene.memo.refused_words, [&](const RunId& id) {
    return std::none_of(scene.view.runs.begin(), scene.view.runs.end(),
                        [&](const Run& run) { return run.id == id; });
  });
}

std::vector<std::string> completion_faults(const Scene& scene) {
  std::vector<std::string> faults;
  if (scene.plan.groups.empty())
    faults.emplace_back("there are no groups");
  for (const Group& group : scene.plan.groups) {
    if (group.status != Status::complete)
      faults.push_back(group.id + " is " + std::string(word(group.status)) +
                       (scene.plan.planned(group) ? ""
                                                  : " and not in the plan: remove " + group.id +
                                                        " from group_status.json or plan it "
                                                        "again"));
    else if (scene.options.reviews && !group.approved)
      faults.push_back(group.id + " is complete, but no review has approved it");
  }
  return faults;
}

Standing standing(const Scene& scene) {
  if (!scene.plan.known)
    return Standing::none;
  if (!scene.plan.decided && scene.plan.requirements.empty())
    return Standing::no_requirements;
  if (!scene.plan.decided || scene.plan.groups.empty())
    return Standing::planning;
  if (std::all_of(scene.plan.groups.begin(), scene.plan.groups.end(), [&](const Group& group) {
        return group.status == Status::complete || !scene.plan.planned(group);
      })) {
    const auto stage = scene.view.stages.find(session());
    const bool ended =
        stage != scene.view.stages.end() && stage->second.stage == word(Standing::completed);
    const bool checked = ended || (stage != scene.view.stages.end() &&
                                   stage->second.stage == word(Standing::final_check) &&
                                   scene.job(kManager, session()).turn > 0);
    const bool may_end = completion_claimed(scene) && completion_faults(scene).empty();
    const bool doubtful = scene.memo.refused || scene.memo.used_up;
    return may_end && (checked || !doubtful) ? Standing::completed : Standing::final_check;
  }
  return phase_to_check(scene) ? Standing::phase_check : Standing::working;
}

std::string bad_plan(const Scene& scene) {
  const Accepted* const pm = find(scene.view.docs, "pm_state");
  if (pm == nullptr)
    return {};
  static constexpr std::array kRules = {std::string_view("\"coordination/S1\""),
                                        std::string_view("\"coordination/S2\""),
                                        std::string_view("\"coordination/S24\"")};
  const bool bad = std::any_of(kRules.begin(), kRules.end(), [&](std::string_view rule) {
    return pm->rejected.find(rule) != std::string::npos;
  });
  return bad ? pm->rejected : std::string();
}

/// A group that is complete and was never approved comes back to nobody by itself.
std::string approval_hint(const Scene& scene) {
  for (const Group& group : scene.plan.groups)
    if (group.status == Status::complete && !group.approved && scene.options.reviews)
      return "; when somebody has reviewed " + group.id + ", say so: `baton approve " +
             text(scene.view.flow) + " " + group.id + "`";
  return {};
}

void route_session(Scene& scene, Standing standing, Decision& decision) {
  const std::vector<std::string> faults = completion_faults(scene);
  const bool claimed = completion_claimed(scene) && !scene.memo.used_up;
  if (claimed && !faults.empty() && standing != Standing::none) {
    refuse(scene, faults);
    hold("premature_completion", "completion was claimed and is refused: " + list(faults),
         decision);
  }
  switch (standing) {
    case Standing::none:
    case Standing::completed:
      break;
    case Standing::no_requirements:
      hold("no_requirements",
           "original_requirements of pm_state are empty; say what is wanted: `baton start " +
               scene.view.flow.name + " --requirements TEXT` (or @FILE)",
           decision);
      break;
    case Standing::planning:
      ask(scene,
          {bad_plan(scene).empty() ? "planning" : "repair_plan",
           bad_plan(scene).empty() ? "the requirements are to be planned" : kRejectedPlan,
           "planning_failed", "the project manager has ended twice without a plan"},
          decision);
      break;
    case Standing::working:
      if (!bad_plan(scene).empty() && scene.live_manager() == nullptr)
        ask(scene,
            {"repair_plan", kRejectedPlan, "bad_plan",
             "the plan is still rejected for its groups or their dependencies", 1},
            decision);
      break;
    case Standing::phase_check: {
      const Job job = scene.job(kManager, session());
      if (job.fresh > 0)
        scene.memo.phase_checked = scene.plan.present_phase();
      else
        ask(scene,
            {"phase_completion",
             "a phase is finished; phase " + std::to_string(scene.plan.present_phase()) +
                 " comes next",
             "phase_completion", "the phase is not released"},
            decision);
      break;
    }
    case Standing::final_check:
      ask(scene,
          {"final_check", "every group of the plan is complete", "no_completion_word",
           "the project manager has neither said that the session is completed nor planned more" +
               (faults.empty() ? std::string() : " (" + list(faults) + ")") + approval_hint(scene)},
          decision);
      break;
  }
}

}  // namespace baton::coordination
