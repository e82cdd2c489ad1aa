#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

constexpr Millis kLinger{60'000};
constexpr Millis kPauseGrace{60'000};
constexpr std::uint32_t kMostRejected = 3;
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kDecisions = {
    std::pair<std::string_view, std::string_view>{"approve", "approved"},
    {"reject", "rejected"},
    {"revise", "changes_requested"}};
constexpr std::array<std::string_view, 8> kPurposes = {
    "",          "planning",      "validate_plan", "revise_plan",
    "implement", "validate_code", "refine",        "validate_code"};

void hold(Decision& decision, Word reason, std::string why, Subject subject = "") {
  decision.holds.push_back(Hold{"", std::move(subject), std::move(reason), std::move(why)});
}

/// Twice the time of the run that had too little of it.
std::optional<RunLimits> extended(const Scene& scene, const Entry* entry) {
  if (entry == nullptr)
    return std::nullopt;
  const auto tried = list_at(*entry->value, "/error_info/recovery_strategies");
  const std::string strategy =
      entry->status == "failed" ? next_strategy(scene, *entry)
      : tried.empty()           ? std::string()
                                : std::string(json::text(*tried.back(), "strategy").value_or(""));
  if (strategy != "retry_with_extended_timeout")
    return std::nullopt;
  RunLimits limits;
  const Value* const had = json::at(*entry->value, "/error_info/error_details/timeout_duration");
  const std::int64_t timeout_s = had == nullptr ? 0 : json::integer(*had).value_or(0);
  constexpr std::int64_t kDay = 86'400;
  if (timeout_s > 0)
    limits.timeout = Millis(std::min(timeout_s, kDay) * 2'000);
  else
    limits.timeout *= 2;
  for (const Run& run : scene.view.runs)
    if (run.key.subject == subject_of(*entry) &&
        run.key.generation < scene.generation(run.key.subject)) {
      limits = run.limits;
      limits.timeout *= 2;
    }
  limits.idle_timeout *= 2;
  return limits;
}

/// The time the options give a step; nothing: the role's own limits.
std::optional<RunLimits> own_limits(const Scene& scene, const Work& work) {
  const Value* const given = json::child(*scene.view.options, "timeouts");
  const auto text = given == nullptr ? std::nullopt : json::text(*given, std::to_string(work.step));
  const auto timeout = text ? parse_duration(*text) : std::nullopt;
  if (!timeout)
    return std::nullopt;
  const auto& roles = scene.view.env.role_limits;
  const auto role = roles.find(Role(agent_of(work.step)));
  RunLimits limits = role == roles.end() ? RunLimits{} : role->second;
  limits.timeout = *timeout;
  return limits;
}

void want(const Scene& scene, const Work& work, const std::string& why, Decision& decision) {
  Desired desired;
  desired.role = agent_of(work.step);
  desired.subject = subject_of(work);
  desired.purpose = kPurposes.at(static_cast<std::size_t>(work.step));
  // An agent that has said that it failed may still be there.
  desired.claims.push_back(Claim{"step " + text(scene.view.flow) + "#" + desired.subject, 1});
  desired.limits = extended(scene, scene.newest(desired.subject));
  if (!desired.limits)
    desired.limits = own_limits(scene, work);
  desired.why = why;
  decision.desired.push_back(std::move(desired));
}

void pause_for_a_person(Scene& scene, const std::string& limit, const std::string& why,
                        Edits& edits, Decision& decision) {
  edits.set("/status", "paused");
  edits.because(why);
  scene.memo.escalated = limit;
  ++scene.memo.escalations;
  const auto decisions = list_at(scene.root, "/human_approvals/approval_history").size();
  edits.set("/metrics/human_interventions",
            Json(static_cast<std::int64_t>(decisions) + scene.memo.escalations));
  decision.notices.push_back(Notice{"escalated", "", why});
}

bool has_ended(const Scene& scene) {
  return kStatuses.at(static_cast<std::size_t>(scene.status)).ended;
}

/// What the last word of a workflow that has ended was about; empty where nothing was judged, or
/// where it has not ended.
std::string ended_with(const Scene& scene) {
  if (!has_ended(scene))
    return {};
  const bool plan = scene.status == Status::cancelled && (scene.plan_phase() || handed_over(scene));
  return round_end(scene, plan) < 0 ? "" : plan ? "plan" : "final";
}

/// Back from phase_2. The new plan and its code may be tried as often as the first.
void return_to_plan(Scene& scene, Edits& edits) {
  record_return(scene, edits);
  for (const char* const phase : {"phase_1", "phase_2"})
    scene.memo.base[phase] = attempts(scene, phase);
}

/// What comes of a word about a plan or code: approve, reject or revise.
Reply decide_by(Scene& scene, const Request& request, std::string_view status, const Next& found,
                Edits& edits) {
  const std::string comment(json::text(*request.arguments, "comment").value_or(""));
  const auto taken = [&](std::string_view approval, const std::string& message) {
    record_decision(scene, approval, status, request.by, comment, edits);
    if (scene.status != Status::running)
      edits.set("/status", "running");
    return Reply{request.id, true, message};
  };
  const bool revises = request.verb == "revise";
  const std::string ended = ended_with(scene);
  const std::string about = !request.subject.empty() ? request.subject
                            : ended.empty()          ? found.approval
                                                     : ended;
  if (revises && about == "plan" && !scene.plan_phase()) {
    return_to_plan(scene, edits);
    return taken("plan", "the workflow goes back to phase_1; plan is to be revised");
  }
  if (revises && !ended.empty() && (request.subject.empty() || request.subject == ended))
    return taken(ended, "the workflow goes on; " + ended + " is to be revised");
  if (found.kind != Next::Kind::approval)
    return {request.id, false,
            "the workflow does not wait for an approval now (" +
                std::string(json::text(scene.root, "status").value_or("")) + ")" +
                (!ended.empty()     ? "; `baton revise` asks for changes"
                 : has_ended(scene) ? "; `baton resume` lets it go on where it stood"
                                    : "")};
  if (!request.subject.empty() && request.subject != found.approval)
    return {request.id, false,
            "it is `" + found.approval + "` that waits for a decision, not " +
                quoted_word(request.subject)};
  return taken(found.approval,
               found.approval + " is " + (revises ? "to be revised" : std::string(status)));
}

/// What comes of `answer` and `resume`.
Reply let_go_on(Scene& scene, const Request& request, Edits& edits) {
  const bool answers = request.verb == "answer";
  if (answers && (scene.status != Status::paused || scene.memo.escalated.empty()))
    return {request.id, false,
            "baton has asked nobody about it; a plan or code is decided about with "
            "`baton approve`, `reject` or `revise`"};
  if (answers)
    scene.memo.answer = json::text(*request.arguments, "comment").value_or("");
  edits.set("/status", "running");
  edits.because(request.by + (answers ? " has answered" : " lets it go on"));
  return {request.id, true, "the workflow goes on"};
}

/// What comes of `resume` where the workflow has failed or was cancelled: it goes on where it
/// stood, unless it would only end again.
Reply reopen(Scene& scene, const Request& request, Edits& edits) {
  Scene as_if = scene;
  as_if.status = Status::running;
  const Next found = next(as_if);
  if (scene.status == Status::completed || found.kind == Next::Kind::failed ||
      found.kind == Next::Kind::cancelled)
    return {request.id, false,
            "the workflow has ended (" +
                std::string(json::text(scene.root, "status").value_or("")) + "); `baton revise " +
                text(scene.view.flow) + "` asks for changes"};
  for (const Entry& entry : scene.entries)
    if (entry.status == "failed")
      scene.memo.base[helped(entry)] = 1;
  edits.set("/status", "running");
  edits.because(request.by + " lets it go on");
  return {request.id, true, "the workflow goes on"};
}

/// Whether `resume` is about what the file says. What lifts the operator's own pause is no
/// answer to what baton has asked since, for nobody can have seen that.
bool lets_go_on(const Scene& scene) {
  const bool commanded = scene.view.control != Control::run;
  return scene.status == Status::paused ? scene.memo.escalated.empty() || !commanded
                                        : has_ended(scene) && !commanded;
}

/// What people asked for by command. One that changes something ends the round: the next one sees
/// what came of it.
bool hear(Scene& scene, const Next& found, Edits& edits, Decision& decision) {
  std::vector<std::string>& heard = scene.memo.heard;
  std::erase_if(heard, [&](const std::string& id) {
    return std::none_of(scene.view.requests.begin(), scene.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  for (const Request& request : scene.view.requests) {
    const auto* const row =
        std::find_if(kDecisions.begin(), kDecisions.end(),
                     [&](const auto& decided) { return decided.first == request.verb; });
    const bool resumes = request.verb == "resume";
    if ((row == kDecisions.end() && request.verb != "answer" && !resumes) ||
        request.flow != scene.view.flow ||
        std::find(heard.begin(), heard.end(), request.id) != heard.end())
      continue;
    heard.push_back(request.id);
    if (resumes && !lets_go_on(scene))
      continue;  // the engine's to answer
    decision.replies.push_back(row != kDecisions.end()
                                   ? decide_by(scene, request, row->second, found, edits)
                               : resumes && has_ended(scene) ? reopen(scene, request, edits)
                                                             : let_go_on(scene, request, edits));
    if (decision.replies.back().accepted)
      return true;
  }
  return false;
}

/// Nothing is decided upon a file that is not as it was accepted last.
void hear_later(const Scene& scene, const std::string& why, Decision& decision) {
  for (const Request& request : scene.view.requests) {
    const bool decides =
        request.verb == "answer" || (request.verb == "resume" && lets_go_on(scene)) ||
        std::any_of(kDecisions.begin(), kDecisions.end(),
                    [&](const auto& decided) { return decided.first == request.verb; });
    if (decides && request.flow == scene.view.flow)
      decision.replies.push_back(Reply{request.id, false, scene.path + why});
  }
}

/// A person is asked, and asked again; nobody decides by waiting. Paused at most.
void ask(Scene& scene, const Next& found, Edits& edits, Decision& decision) {
  const Judged about = judged(scene, found.approval);
  const std::int64_t now = scene.view.now.time_since_epoch().count();
  Asked& asked = scene.memo.asked;
  if (asked.approval != found.approval || asked.entry != about.entry)
    asked = Asked{found.approval, about.entry, now};
  const Millis waited(std::max<std::int64_t>(0, now - asked.since_ms));
  const Time since{Millis(asked.since_ms)};
  const Options& options = scene.options;
  if (options.approval_patience > Millis(0)) {
    if (waited >= options.approval_patience)
      return pause_for_a_person(scene, "approval",
                                found.approval + " was not decided about within " +
                                    duration_text(options.approval_patience),
                                edits, decision);
    decision.tidy = since + options.approval_patience;
  }
  hold(decision, "approval", found.why, found.approval);
  std::string why = found.why;
  if (options.reminders > Millis(0)) {
    const auto times = waited / options.reminders;
    if (times > 0)
      why += " (it has waited for " + duration_text(times * options.reminders) + ")";
    const Time again = since + (times + 1) * options.reminders;
    decision.tidy = std::min(decision.tidy.value_or(again), again);
  }
  decision.notices.push_back(Notice{"approval_wanted", found.approval, why});
}

void enter_phase_2(const Scene& scene, Edits& edits) {
  const Round round = judge_round(scene.root, scene.entries, true);
  Json scores = Json::object();
  for (const auto& [name, score] : round.scores)
    scores.set(name, Json(score));
  const bool asked = required(scene.view.options, "plan");
  edits.append("/phase_transitions",
               Json::object({{"from_phase", "phase_1"},
                             {"to_phase", "phase_2"},
                             {"trigger", "convergence_achieved"},
                             {"timestamp", scene.now()},
                             {"validation_scores", scores},
                             {"human_approval_required", Json(asked)},
                             {"human_approval_status", asked ? Json("approved") : Json()}}));
  edits.set("/current_phase", "phase_2");
}

void act(Scene& scene, const Next& found, Edits& edits, Decision& decision) {
  switch (found.kind) {
    case Next::Kind::nothing:
      break;
    case Next::Kind::work:
      for (const Work& work : found.works)
        want(scene, work, found.why, decision);
      break;
    case Next::Kind::approval:
      ask(scene, found, edits, decision);
      break;
    case Next::Kind::phase_2:
      enter_phase_2(scene, edits);
      edits.because(found.why);
      break;
    case Next::Kind::phase_1:
      return_to_plan(scene, edits);
      edits.because(found.why);
      break;
    case Next::Kind::escalate:
      pause_for_a_person(scene, found.limit, found.why, edits, decision);
      break;
    case Next::Kind::completed:
    case Next::Kind::failed:
    case Next::Kind::cancelled: {
      const std::string_view word = found.kind == Next::Kind::completed ? "completed"
                                    : found.kind == Next::Kind::failed  ? "failed"
                                                                        : "cancelled";
      edits.set("/status", Json(word));
      edits.because(found.why);
      break;
    }
  }
}

/// An agent's work that is under way: it is wanted until it says that it is done.
void go_on(const Scene& scene, Decision& decision) {
  for (const Entry& entry : scene.entries)
    if (entry.status == "in_progress")
      want(scene, Work{entry.step, entry.half}, "step " + subject_of(entry) + " is not done",
           decision);
}

/// The file as it stands was rejected, so baton does not write over it. The agent that left it so
/// is told what is wrong and may put it right; otherwise a person has to.
void rejected(const Scene& scene, Decision& decision) {
  bool working = false;
  for (const Entry& entry : scene.entries) {
    const Subject subject = subject_of(entry);
    if (entry.status != "in_progress" || scene.status == Status::paused)
      continue;
    std::uint32_t ended = 0;
    for (const Run& run : scene.view.runs)
      if (run.key.subject == subject && run.key.generation == scene.generation(subject) &&
          !run.live() && run.outcome != Outcome::voided)
        ++ended;
    working = working || scene.live(subject) != nullptr;
    if (scene.live(subject) != nullptr || ended == 0 || ended >= kMostRejected)
      continue;
    want(scene, Work{entry.step, entry.half},
         "retry_with_corrected_input: the file was left in a form that was rejected", decision);
    decision.desired.back().turn = ended;
  }
  if (decision.desired.empty() && !working)
    hold(decision, "rejected",
         scene.path + " as it stands was rejected; put it right (`baton explain " + scene.path +
             "` says what is wrong), or `baton recover " + text(scene.view.flow) + "`");
}

void note(Scene& scene) {
  for (const std::string_view approval : kApprovals)
    if (Judged about = judged(scene, approval); about.entry >= 0)
      scene.memo.judged[std::string(approval)] = about;
  scene.memo.decisions =
      static_cast<std::int64_t>(list_at(scene.root, "/human_approvals/approval_history").size());
}

/// "step 3 failed: critical_error: no such project", for whoever has to look.
std::string newest_failure(const Scene& scene) {
  const auto failed = std::find_if(scene.entries.rbegin(), scene.entries.rend(),
                                   [](const Entry& entry) { return entry.status == "failed"; });
  if (failed == scene.entries.rend())
    return {};
  std::string text = "; step " + std::to_string(failed->step) + " failed";
  if (const Value* const error = json::child(*failed->value, "error_info"))
    for (const std::string_view member : {"error_type", "error_message"})
      if (const auto said = json::text(*error, member); said && !said->empty())
        text += ": " + printable(*said, 200);
  return text;
}

void paused(Scene& scene, Decision& decision) {
  decision.control = Control::pause;
  if (scene.memo.paused_ms == 0)
    scene.memo.paused_ms = scene.view.now.time_since_epoch().count();
  decision.end_at = Time(Millis(scene.memo.paused_ms)) + kPauseGrace;
  if (scene.memo.escalated.empty())
    return;
  decision.failed = true;
  hold(decision, "escalated",
       "baton has paused the workflow, for a person has to look (" + scene.memo.escalated +
           (scene.memo.escalated == "recovery" ? newest_failure(scene) : "") +
           "); then `baton answer " + text(scene.view.flow) + "` with a comment");
}

void route(Scene& scene, Edits& edits, Decision& decision) {
  if (scene.status == Status::paused && !scene.memo.escalated.empty()) {
    // One answer is for all that has failed by then.
    record_ends(scene, edits);
    if (!edits.empty())
      return;
  }
  if (scene.status != Status::paused) {
    scene.memo.paused_ms = 0;
    record_starts(scene, edits);
    record_ends(scene, edits);
    if (!edits.empty())
      return;
    record_rounds(scene, edits);
    record_counters(scene, edits);
    if (!edits.empty())
      return;
  }
  Scene as_if = scene;
  if (scene.status == Status::paused && scene.memo.escalated == "approval")
    as_if.status = Status::running;  // what it was paused for may be decided still
  const Next found = next(as_if);
  if (hear(scene, found, edits, decision))
    return;
  if (scene.status == Status::paused) {
    paused(scene, decision);
    return;
  }
  go_on(scene, decision);
  act(scene, found, edits, decision);
}

/// Whose end is known, and who is not wanted any more.
void look_at_runs(Scene& scene, Decision& decision) {
  decision.releases.push_back(Release{
      "", "", false, kLinger, "the work was handed on and the process did not leave by itself"});
  Memo& memo = scene.memo;
  memo.over.clear();
  std::set<RunId> gave_up;
  for (const Run& run : scene.view.runs) {
    if (!run.live()) {
      memo.over.insert(run.id);
      continue;
    }
    if (memo.gave_up.contains(run.id))
      gave_up.insert(run.id);
    if (scene.generation(run.key.subject) == 0)
      decision.releases.push_back(Release{run.key.role, run.key.subject, true, Millis(0),
                                          "its step was given up: the plan is made anew"});
  }
  memo.gave_up = std::move(gave_up);
}

void ended(const Scene& scene, Decision& decision) {
  const auto& runs = scene.view.runs;
  decision.control =
      std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.live(); })
          ? Control::stop
          : Control::idle;
  decision.failed = scene.status == Status::failed;
}

/// The file is gone: what would be decided now could be written nowhere.
void gone(Scene& scene, Decision& decision) {
  if (scene.status == Status::paused)
    paused(scene, decision);
  else if (has_ended(scene))
    ended(scene, decision);
  else
    go_on(scene, decision);
  hear_later(
      scene,
      " is gone: put it back first (`baton recover " + text(scene.view.flow) + " --write` does)",
      decision);
}

}  // namespace

Decision decide(const View& view) {
  Decision decision;
  decision.memo = view.memo;
  auto scene = scene_of(view);
  if (!scene) {
    decision.control = Control::idle;
    return decision;
  }
  decision.declared = json::text(scene->root, "status").value_or("");
  look_at_runs(*scene, decision);
  Edits edits(*scene);
  if (!scene->file.present) {
    gone(*scene, decision);
  } else if (!scene->file.rejected.empty()) {
    if (scene->status == Status::paused)
      paused(*scene, decision);
    rejected(*scene, decision);
    hear_later(*scene,
               " as it stands was rejected (`baton explain " + scene->path +
                   "` says why): put it right first",
               decision);
  } else if (has_ended(*scene)) {
    (void)hear(*scene, Next{}, edits, decision);
    ended(*scene, decision);
  } else if (view.being_written) {
    go_on(*scene, decision);
    hear_later(*scene, " is being written: say it again in a moment", decision);
  } else {
    note(*scene);
    route(*scene, edits, decision);
  }
  decision.updates = edits.updates();
  if (edits.empty() && scene->file.present && scene->file.rejected.empty())
    keep_copies(*scene, decision);
  decision.details = report(*scene);
  decision.memo = json_of(scene->memo);
  return decision;
}

}  // namespace baton::ml_workflow
