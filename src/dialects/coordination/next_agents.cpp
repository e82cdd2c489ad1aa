#include <algorithm>
#include <set>

#include "base/text.h"
#include "dialects/coordination/decide.h"
#include "dialects/coordination/snapshot.h"

namespace baton::coordination {
namespace {

// Strictly more than these, since the last help.
constexpr std::int64_t kMostDeveloper = 5;
constexpr std::int64_t kMostQa = 3;
constexpr std::int64_t kMostReviews = 3;
constexpr std::size_t kMostInterventions = 2;
// Turns that end well and change nothing, before somebody else is asked.
constexpr std::uint32_t kMostTurns = 2;

/// One pass over the groups. Each function is a few rows of the table; the first that fits wins.
class Router {
 public:
  Router(Scene& scene, Writes& writes, Decision& decision)
      : scene_(scene), writes_(writes), decision_(decision), places_(scene) {}

  void route() {
    // Those under way first: they take the places, what is left is for pending ones (row 4).
    for (const Group& group : scene_.plan.groups)
      if (group.status != Status::pending)
        route(group);
    for (const Group& group : scene_.plan.groups)
      if (group.status == Status::pending)
        route(group);
  }

 private:
  void route(const Group& group) {
    if (group.status == Status::complete || scene_.present(group.id) != nullptr ||
        writes_.touched(group.id))
      return;
    if (!scene_.plan.planned(group)) {
      hold(group, "", "not_planned",
           "the plan does not know this group: plan it again, or `baton answer " +
               text(scene_.view.flow) + " " + group.id + "` drops it");
      return;
    }
    // While a plan is being changed, what has not begun does not begin.
    const bool planning = scene_.live(Subject(kSession)) != nullptr || manager_wanted() ||
                          (group.status == Status::pending && scene_.live_manager() != nullptr);
    if (planning) {
      hold(group, "", "pm_live", "the project manager is at work on the plan");
      return;
    }
    const Word stage = stage_of(scene_, group);
    if (stage == "dev")
      developer_bound(group);
    else if (stage == "blocked")
      blocked(group);
    else if (stage == "qa")
      testing(group);
    else
      reviewing(group);
  }

  /// For the session as a whole; its plan comes first.
  bool manager_wanted() const {
    return std::any_of(decision_.desired.begin(), decision_.desired.end(),
                       [](const Desired& desired) { return desired.subject == kSession; });
  }

  GroupMemo& memo(const Group& group) { return scene_.memo.groups[group.id]; }

  void hold(const Group& group, std::string_view role, Word reason, std::string why) {
    decision_.holds.push_back(Hold{Role(role), group.id, std::move(reason), std::move(why)});
  }

  void want(const Group& group, std::string_view role, Word purpose, std::string why) {
    Desired desired;
    desired.role = role;
    desired.subject = group.id;
    desired.purpose = std::move(purpose);
    desired.turn = scene_.job(role, group.id).turn;
    desired.claims.push_back(Claim{"group " + text(scene_.view.flow) + "#" + group.id, 1});
    if (role == kManager)
      desired.claims.push_back(manager_claim(scene_));
    if (role == kDeveloper)
      for (Claim& claim : places_.claims(group))
        desired.claims.push_back(std::move(claim));
    desired.why = std::move(why) + amiss(scene_, group.id);
    decision_.desired.push_back(std::move(desired));
    places_.take(group, role);
  }

  /// Row 3, 14, 17 and wherever nobody else gets any further. After the second time a person has
  /// to look.
  void ask_manager(const Group& group, Word purpose, const std::string& why) {
    if (memo(group).interventions.size() < kMostInterventions) {
      want(group, kManager, std::move(purpose), why);
      return;
    }
    hold(group, kManager, "stuck",
         why + ", and the project manager has stepped in " + std::to_string(kMostInterventions) +
             " times; look at it, then `baton answer " + text(scene_.view.flow) + " " + group.id +
             "` with a comment");
    decision_.failed = true;
  }

  /// Rows 3, 5 to 9, 12, 13, 16, 17.
  void developer_bound(const Group& group) {
    const Job job = scene_.job(kDeveloper, group.id);
    if (job.exhausted) {
      block(group, "troubleshoot",
            "the developer's run has failed " + std::to_string(job.failures) + " times" +
                (job.last == nullptr || job.last->reason.empty() ? std::string()
                                                                 : " (" + job.last->reason + ")"));
      return;
    }
    // An attempt that failed, or of which nothing ran, is made again as it was: the status it was
    // given by then says nothing.
    if (job.first != nullptr) {
      const bool stopped = job.last != nullptr && job.last->outcome == Outcome::stopped;
      want(group, kDeveloper, job.first->purpose,
           job.failures > 0 ? "the last attempt failed"
           : stopped        ? "the last run was stopped"
                            : "the last start came to nothing");
      return;
    }
    const GroupMemo& known = memo(group);
    if (const auto rounds = group.counters.developer - known.base_developer;
        rounds > kMostDeveloper) {
      ask_manager(
          group, "stuck",
          "the developer has tried " + std::to_string(rounds) + " times since the last help");
      return;
    }
    if (group.status == Status::qa_failed && group.counters.qa - known.base_qa > kMostQa) {
      explain_tests(group);
      return;
    }
    if (group.status == Status::changes_requested &&
        group.counters.tech_lead - known.base_tech_lead > kMostReviews) {
      ask_manager(group, "mediate",
                  "more than " + std::to_string(kMostReviews) + " reviews have asked for changes");
      return;
    }
    if (job.fresh >= kMostTurns) {
      block(group, "guidance",
            "the developer has ended " + std::to_string(job.fresh) +
                " times without handing the group on");
      return;
    }
    start_developer(group, job);
  }

  void start_developer(const Group& group, const Job& job) {
    switch (group.status) {
      case Status::pending:
        if (const auto [reason, why] = places_.obstacle(group); !reason.empty()) {
          hold(group, kDeveloper, reason, why);
          return;
        }
        want(group, kDeveloper, "implement", group.id + " is pending");
        break;
      case Status::qa_failed:
        want(group, kDeveloper, "fix_tests", "the tests of " + group.id + " fail");
        break;
      case Status::changes_requested:
        want(group, kDeveloper, "revise", "the review of " + group.id + " asks for changes");
        break;
      case Status::dev_blocked:
        want(group, kDeveloper, "continue_with_solution", group.id + " is unblocked");
        break;
      case Status::dev_working:
      case Status::waiting_qa:
      case Status::qa_testing:
      case Status::waiting_review:
      case Status::tech_review:
      case Status::complete:
        want(group, kDeveloper, "continue",
             job.fresh == 0 ? group.id + " is dev_working and nobody works on it"
                            : left("developer", group));
        break;
    }
  }

  /// An agent has ended well and the group stands where it stood.
  static std::string left(std::string_view who, const Group& group) {
    return "the " + std::string(who) + " ended and left " + group.id + " as it was";
  }

  /// Row 13: a tech lead explains, then a developer has another go.
  void explain_tests(const Group& group) {
    const Job job = scene_.job(kTechLead, group.id);
    if (job.exhausted)
      ask_manager(group, "stuck", "nobody could explain the failing tests");
    else
      want(group, kTechLead, "explain_tests",
           "the tests of " + group.id + " have failed " +
               std::to_string(group.counters.qa - memo(group).base_qa) +
               " times since the last help");
  }

  /// Rows 7 and 8: what the developer should have said itself is written down in its place.
  void block(const Group& group, Word purpose, const std::string& why) {
    Json blockers = Json::array();
    if (group.entry != nullptr)
      for (const Value* const blocker : items(*group.entry, "blockers"))
        blockers.push(Json(*blocker));
    blockers.push(Json::object({{"description", why}, {"resolved", false}, {"resolution", ""}}));
    writes_.set(
        scene_, group,
        {{"status", word(Status::dev_blocked)}, {"current_agent", "none"}, {"blockers", blockers}});
    writes_.because(group.id + " is blocked: " + why);
    memo(group).block = std::move(purpose);
    memo(group).blocker = why;
  }

  /// Row 10.
  void blocked(const Group& group) {
    const Job job = scene_.job(kTechLead, group.id);
    if (job.fresh >= kMostTurns || job.exhausted) {
      ask_manager(group, "stuck", "the tech lead could not unblock " + group.id);
      return;
    }
    const Word given = memo(group).block;
    const auto open = open_blockers(group);
    want(group, kTechLead, given.empty() ? Word("unblock") : given,
         group.id + " is blocked" + (open.empty() ? "" : ": " + open.front()));
  }

  /// Rows 11 and 14.
  void testing(const Group& group) {
    const Job job = scene_.job(kQa, group.id);
    if (job.fresh < kMostTurns && !job.exhausted) {
      want(group, kQa, "test",
           job.fresh == 0 ? group.id + " waits for its tests" : left("QA expert", group));
      return;
    }
    const std::string why = "the QA expert gets no result for " + group.id;
    const Job help = scene_.job(kTechLead, group.id);
    if (help.turn == 0 && !help.exhausted)
      want(group, kTechLead, "qa_blocked", why);
    else
      ask_manager(group, "stuck", why + ", nor could the tech lead help");
  }

  /// Rows 11b, 14 and 15.
  void reviewing(const Group& group) {
    if (!scene_.options.reviews) {
      writes_.set(scene_, group, {{"status", word(Status::complete)}, {"current_agent", "none"}});
      writes_.because(group.id + " is complete: reviews are switched off");
      return;
    }
    const Job job = scene_.job(kTechLead, group.id);
    if (job.fresh < kMostTurns && !job.exhausted)
      want(group, kTechLead, "review",
           job.fresh == 0 ? group.id + " waits for its review" : left("tech lead", group));
    else
      ask_manager(group, "review_blocked", "the tech lead comes to no verdict on " + group.id);
  }

  Scene& scene_;
  Writes& writes_;
  Decision& decision_;
  Places places_;
};

/// The history tells of it: what a person has said is in no file by itself.
void say(Word event, const Request& request, const Subject& subject, Decision& decision) {
  const std::string comment = text_of(*request.arguments, "comment");
  decision.notices.push_back(
      Notice{std::move(event), subject,
             "by " + (request.by.empty() ? "a person" : printable(request.by, 80)) +
                 (comment.empty() ? "" : ": " + printable(comment, 300))});
}

/// Nobody plans the group any more; a person says that it may go.
void drop(const Scene& scene, const Group& group, const Request& request, Writes& writes,
          Decision& decision) {
  if (scene.live(group.id) != nullptr) {
    decision.replies.push_back(
        Reply{request.id, false,
              group.id + " is not in the plan, but an agent works on it; it can be dropped when "
                         "that has ended"});
    return;
  }
  writes.put(group.id, Json());
  writes.because(group.id + " is not in the plan, and a person drops it");
  say("answered", request, group.id, decision);
  decision.replies.push_back(
      Reply{request.id, true, group.id + " is not in the plan and is dropped"});
}

/// Why a person's approval means nothing now; empty when it does.
std::string not_to_approve(const Scene& scene, const Group* group, const Subject& subject) {
  if (group == nullptr)
    return subject == kSession ? "which group? name one" : "there is no group " + subject;
  if (scene.live(group->id) != nullptr)
    return "an agent works on " + group->id + "; it can be approved when that has ended";
  switch (group->status) {
    case Status::waiting_review:
    case Status::tech_review:
      return "";
    case Status::complete:
      return group->approved ? group->id + " is complete and approved already" : "";
    case Status::pending:
    case Status::dev_working:
    case Status::dev_blocked:
    case Status::waiting_qa:
    case Status::qa_testing:
    case Status::qa_failed:
    case Status::changes_requested:
      break;
  }
  return group->id + " is " + std::string(word(group->status)) + ", which is nothing to approve";
}

/// The review of a group by a person: its entry says so as it does of a tech lead's.
void approve(const Scene& scene, const Request& request, Writes& writes, Decision& decision) {
  const Subject subject = request.subject.empty() ? Subject(kSession) : request.subject;
  const Group* const group = scene.plan.find(subject);
  if (std::string why = not_to_approve(scene, group, subject); !why.empty()) {
    decision.replies.push_back(Reply{request.id, false, std::move(why)});
    return;
  }
  Json feedback = Json::array();
  for (const Value* const old : items(*group->entry, "tech_lead_feedback"))
    feedback.push(Json(*old));
  std::string comment = text_of(*request.arguments, "comment");
  if (comment.empty())
    comment = "approved by a person" + (request.by.empty() ? "" : ": " + request.by);
  Json given = Json::object({{"iteration", Json(group->counters.tech_lead)},
                             {"decision", "approved"},
                             {"feedback", comment},
                             {"timestamp", iso_time(scene.view.wall)}});
  if (!request.by.empty())
    given.set("approver", request.by);
  feedback.push(given);
  writes.set(scene, *group,
             {{"status", word(Status::complete)},
              {"current_agent", "none"},
              {"tech_lead_feedback", feedback},
              {"end_time", iso_time(scene.view.wall)}});
  writes.because(group->id + " is approved by a person");
  say("approved", request, group->id, decision);
  decision.replies.push_back(Reply{request.id, true, group->id + " is approved"});
}

/// Of a group that was held, or of the session: it is tried anew.
void try_anew(Scene& scene, const Request& request, Writes& writes, Decision& decision) {
  const Subject subject = request.subject.empty() ? Subject(kSession) : request.subject;
  const Group* const group = scene.plan.find(subject);
  if (group == nullptr && subject != kSession) {
    decision.replies.push_back(Reply{request.id, false, "there is no group " + subject});
    return;
  }
  if (group != nullptr && !scene.plan.planned(*group)) {
    drop(scene, *group, request, writes, decision);
    return;
  }
  GroupMemo& memo = scene.memo.groups[subject];
  memo.answer = text_of(*request.arguments, "comment");
  memo.interventions.clear();
  if (group != nullptr) {
    memo.base_developer = group->counters.developer;
    memo.base_qa = group->counters.qa;
    memo.base_tech_lead = group->counters.tech_lead;
  }
  count_anew(scene, subject);
  say("answered", request, subject, decision);
  decision.replies.push_back(Reply{request.id, true, subject + " is tried anew"});
}

bool is_own(const Scene& scene, const Request& request) {
  return request.flow == scene.view.flow && (request.verb == "approve" || request.verb == "answer");
}

}  // namespace

Claim manager_claim(const Scene& scene) {
  return Claim{"project manager " + text(scene.view.flow), 1};
}

void route_groups(Scene& scene, Standing standing, Writes& writes, Decision& decision) {
  switch (standing) {
    case Standing::none:  // a group_status alone is judged as if the plan held all its groups
    case Standing::working:
      Router(scene, writes, decision).route();
      break;
    case Standing::phase_check:
      for (const Group& group : scene.plan.groups)
        if (group.status == Status::pending)
          decision.holds.push_back(Hold{Role(kDeveloper), group.id, "phase_check",
                                        "the project manager looks at the finished phase first"});
      break;
    case Standing::no_requirements:
    case Standing::planning:
    case Standing::final_check:
    case Standing::completed:
      break;
  }
}

void refuse_answers(const Scene& scene, Decision& decision) {
  for (const Request& request : scene.view.requests)
    if (is_own(scene, request))
      decision.replies.push_back(Reply{request.id, false,
                                       path_of(scene.options, "group_status") +
                                           " is gone; `baton recover " + text(scene.view.flow) +
                                           " --write` puts back what was accepted last"});
}

void answer(Scene& scene, Writes& writes, Decision& decision) {
  std::vector<std::string> heard;
  for (const Request& request : scene.view.requests) {
    if (!is_own(scene, request))
      continue;
    heard.push_back(request.id);
    const auto& before = scene.memo.heard;
    if (std::find(before.begin(), before.end(), request.id) != before.end())
      continue;
    if (request.verb == "approve")
      approve(scene, request, writes, decision);
    else
      try_anew(scene, request, writes, decision);
  }
  scene.memo.heard = std::move(heard);
}

}  // namespace baton::coordination
