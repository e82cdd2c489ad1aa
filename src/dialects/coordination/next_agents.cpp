// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "core/run_text.h"
#include "dialects/coordination/decide.h"
#include "dialects/coordination/snapshot.h"

namespace baton::coordination {
namespace {

// How often each may happen since the last help. Above these limits baton asks for help.
constexpr std::int64_t kMostDeveloper = 5;
constexpr std::int64_t kMostQa = 3;
constexpr std::int64_t kMostReviews = 3;
constexpr std::size_t kMostInterventions = 2;
// After so many successful turns without a result baton asks another role.
constexpr std::uint32_t kMostTurns = 2;

/// One pass over the groups. Each function stands for a few rows of the transition table; the first
/// match wins.
class Router {
 public:
  Router(Snapshot& snapshot, Writes& writes, Decision& decision)
      : snapshot_(snapshot), writes_(writes), decision_(decision), slots_(snapshot) {}

  void route() {
    // Groups in progress first; pending groups get the remaining slots (row 4).
    for (const Group& group : snapshot_.plan.groups)
      if (group.status != Status::pending)
        route(group);
    for (const Group& group : snapshot_.plan.groups)
      if (group.status == Status::pending)
        route(group);
  }

 private:
  void route(const Group& group) {
    if (group.status == Status::complete || snapshot_.present(group.id) != nullptr ||
        writes_.touched(group.id))
      return;
    if (!snapshot_.plan.planned(group)) {
      hold(group, "", Situation::not_planned, group.id + " is not in the plan",
           command("answer", snapshot_.view.flow, group.id));
      return;
    }
    // While the plan changes, pending groups do not start.
    const bool planning = snapshot_.live(Subject(kSession)) != nullptr || manager_wanted() ||
                          (group.status == Status::pending && snapshot_.live_manager() != nullptr);
    if (planning) {
      const Run* const manager = snapshot_.live_manager();
      hold(group, "", Situation::planning,
           "the project manager works on the plan" +
               (manager == nullptr ? "" : " (" + run_name(*manager) + ")"));
      return;
    }
    const Word stage = stage_of(snapshot_, group);
    if (stage == "dev")
      developer_bound(group);
    else if (stage == "blocked")
      blocked(group);
    else if (stage == "qa")
      testing(group);
    else
      reviewing(group);
  }

  /// Whether this decision wants the project manager for the session, which goes before the groups.
  bool manager_wanted() const {
    return std::any_of(decision_.desired.begin(), decision_.desired.end(),
                       [](const Desired& desired) { return desired.subject == kSession; });
  }

  GroupMemo& memo(const Group& group) { return snapshot_.memo.groups[group.id]; }

  void hold(const Group& group, std::string_view role, Situation situation, std::string why,
            std::string action = {}) {
    decision_.holds.push_back(
        Hold{Role(role), group.id, cause_of(situation), std::move(why), std::move(action)});
  }

  void add_desired(const Group& group, std::string_view role, Word purpose, std::string why) {
    Desired desired;
    desired.role = role;
    desired.subject = group.id;
    desired.purpose = std::move(purpose);
    const Job job = snapshot_.job(role, group.id);
    desired.turn = job.turn;
    desired.repeats = job.fresh > 0;
    desired.claims.push_back(Claim{"group " + text(snapshot_.view.flow) + "#" + group.id, 1});
    if (role == kManager)
      desired.claims.push_back(manager_claim(snapshot_));
    if (role == kDeveloper)
      for (Claim& claim : slots_.claims(group))
        desired.claims.push_back(std::move(claim));
    desired.why = std::move(why) + faults_to_fix(snapshot_, group.id);
    decision_.desired.push_back(std::move(desired));
    slots_.take(group, role);
  }

  /// Rows 3, 14, 17 and other dead ends: asks the project manager. After two interventions of the
  /// project manager it asks a person. `job`: whose last run the person hears of.
  void ask_manager(const Group& group, Word purpose, const std::string& why, const Job& job) {
    if (memo(group).interventions.size() < kMostInterventions) {
      add_desired(group, kManager, std::move(purpose), why);
      return;
    }
    hold(group, kManager, Situation::stuck,
         why + named_run(job) + ", and the project manager has stepped in " +
             std::to_string(kMostInterventions) + " times",
         command("answer", snapshot_.view.flow, group.id) + " --comment TEXT");
  }

  /// Rows 3, 5 to 9, 12, 13, 16, 17: it is the developer's turn.
  void developer_bound(const Group& group) {
    const Job job = snapshot_.job(kDeveloper, group.id);
    if (job.exhausted) {
      block(group, "troubleshoot",
            "the developer's run has failed " + std::to_string(job.failures) + " times" +
                (job.last == nullptr || job.last->reason.empty() ? std::string()
                                                                 : " (" + job.last->reason + ")"));
      return;
    }
    // An attempt at this turn exists and did not succeed. baton repeats it with the same purpose,
    // because the status does not show that.
    if (job.first != nullptr) {
      const bool stopped = job.last != nullptr && job.last->outcome == Outcome::stopped;
      const bool kept_off = job.last != nullptr && says_nothing(job.last->outcome);
      add_desired(group, kDeveloper, job.first->purpose,
                  job.failures > 0 ? "the last attempt failed"
                  : stopped        ? "the last run was stopped"
                  : kept_off       ? "the provider kept the last run from its work"
                                   : "the last start did not run");
      return;
    }
    const GroupMemo& known = memo(group);
    if (const auto rounds = group.counters.developer - known.base_developer;
        rounds > kMostDeveloper) {
      ask_manager(
          group, "stuck",
          "the developer has tried " + std::to_string(rounds) + " times since the last help", job);
      return;
    }
    if (group.status == Status::qa_failed && group.counters.qa - known.base_qa > kMostQa) {
      explain_tests(group);
      return;
    }
    if (group.status == Status::changes_requested &&
        group.counters.tech_lead - known.base_tech_lead > kMostReviews) {
      ask_manager(group, "mediate",
                  "more than " + std::to_string(kMostReviews) + " reviews have asked for changes",
                  job);
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
        if (const auto obstacle = slots_.obstacle(group)) {
          hold(group, kDeveloper, obstacle->situation, obstacle->why);
          return;
        }
        add_desired(group, kDeveloper, "implement", group.id + " is pending");
        break;
      case Status::qa_failed:
        add_desired(group, kDeveloper, "fix_tests", "the tests of " + group.id + " fail");
        break;
      case Status::changes_requested:
        add_desired(group, kDeveloper, "revise", "the review of " + group.id + " asks for changes");
        break;
      case Status::dev_blocked:
        add_desired(group, kDeveloper, "continue_with_solution", group.id + " is unblocked");
        break;
      case Status::dev_working:
      case Status::waiting_qa:
      case Status::qa_testing:
      case Status::waiting_review:
      case Status::tech_review:
      case Status::complete:
        add_desired(group, kDeveloper, "continue",
                    job.fresh == 0 ? group.id + " is dev_working and nobody works on it"
                                   : unchanged_text("developer", group));
        break;
    }
  }

  /// The reason to start an agent again after it succeeded but left the group unchanged.
  static std::string unchanged_text(std::string_view who, const Group& group) {
    return "the " + std::string(who) + " ended but " + group.id + " is unchanged";
  }

  /// Row 13: a tech lead explains, then a developer tries again.
  void explain_tests(const Group& group) {
    const Job job = snapshot_.job(kTechLead, group.id);
    if (job.exhausted)
      ask_manager(group, "stuck", "the tech lead could not explain the failing tests", job);
    else
      add_desired(group, kTechLead, "explain_tests",
                  "the tests of " + group.id + " have failed " +
                      std::to_string(group.counters.qa - memo(group).base_qa) +
                      " times since the last help");
  }

  /// Rows 7 and 8: writes the blocker that the developer should have written.
  void block(const Group& group, Word purpose, const std::string& why) {
    Json blockers;
    if (group.entry != nullptr)
      blockers = Json(member(*group.entry, "blockers"));
    blockers.push(Json::object({{"description", why}, {"resolved", false}, {"resolution", ""}}));
    writes_.set(
        snapshot_, group,
        {{"status", word(Status::dev_blocked)}, {"current_agent", "none"}, {"blockers", blockers}});
    writes_.add_reason(group.id + " is blocked: " + why);
    memo(group).block = std::move(purpose);
    memo(group).blocker = why;
  }

  /// Row 10: a tech lead unblocks the group.
  void blocked(const Group& group) {
    const Job job = snapshot_.job(kTechLead, group.id);
    if (job.fresh >= kMostTurns || job.exhausted) {
      ask_manager(group, "stuck", "the tech lead could not unblock " + group.id, job);
      return;
    }
    const Word given = memo(group).block;
    const auto open = open_blockers(group.entry);
    add_desired(group, kTechLead, given.empty() ? Word("unblock") : given,
                group.id + " is blocked" + (open.empty() ? "" : ": " + open.front()));
  }

  /// Rows 11 and 14: the group is tested.
  void testing(const Group& group) {
    const Job job = snapshot_.job(kQa, group.id);
    if (job.fresh < kMostTurns && !job.exhausted) {
      add_desired(
          group, kQa, "test",
          job.fresh == 0 ? group.id + " waits for its tests" : unchanged_text("QA expert", group));
      return;
    }
    const std::string why = "the QA expert has no result for " + group.id;
    const Job help = snapshot_.job(kTechLead, group.id);
    if (help.turn == 0 && !help.exhausted)
      add_desired(group, kTechLead, "qa_blocked", why);
    else
      ask_manager(group, "stuck", why + ", and the tech lead could not help", help);
  }

  /// Rows 11b, 14 and 15: the group is reviewed.
  void reviewing(const Group& group) {
    if (!snapshot_.options.reviews) {
      writes_.set(snapshot_, group,
                  {{"status", word(Status::complete)}, {"current_agent", "none"}});
      writes_.add_reason(group.id + " is complete: reviews are switched off");
      return;
    }
    const Job job = snapshot_.job(kTechLead, group.id);
    if (job.fresh < kMostTurns && !job.exhausted)
      add_desired(
          group, kTechLead, "review",
          job.fresh == 0 ? group.id + " waits for its review" : unchanged_text("tech lead", group));
    else
      ask_manager(group, "review_blocked", "the tech lead has no verdict on " + group.id, job);
  }

  Snapshot& snapshot_;
  Writes& writes_;
  Decision& decision_;
  DeveloperSlots slots_;
};

/// Adds the decision of a person to the history. No file shows an answer.
void notify(Word event, const Request& request, const Subject& subject, Decision& decision) {
  const std::string comment = text_of(*request.arguments, "comment");
  decision.notices.push_back(
      Notice{std::move(event), subject,
             "by " + (request.by.empty() ? "a person" : printable(request.by, 80)) +
                 (comment.empty() ? "" : ": " + printable(comment, 300))});
}

/// Removes a group that is no longer in the plan, and asks the project manager anew.
void drop(Snapshot& snapshot, const Group& group, const Request& request, Writes& writes,
          Decision& decision) {
  if (snapshot.live(group.id) != nullptr) {
    decision.replies.push_back(
        Reply{request.id, false,
              group.id + " is not in the plan, but an agent works on it; drop it when the "
                         "agent has ended"});
    return;
  }
  writes.put(group.id, Json());
  writes.add_reason(group.id + " is not in the plan; a person dropped it");
  reset_counts(snapshot, Subject(kSession));
  notify("answered", request, group.id, decision);
  decision.replies.push_back(
      Reply{request.id, true, group.id + " was not in the plan and is dropped"});
}

/// Why a person cannot approve now; empty when they can.
std::string not_to_approve(const Snapshot& snapshot, const Group* group, const Subject& subject) {
  if (group == nullptr)
    return subject == kSession ? "which group? name one" : "there is no group " + subject;
  if (snapshot.live(group->id) != nullptr)
    return "an agent works on " + group->id + "; approve it when the agent has ended";
  if (group->status == Status::complete && group->approved)
    return group->id + " is complete and approved already";
  if (group->status == Status::complete || status_row(group->status).stage == "review")
    return "";
  return group->id + " is " + std::string(word(group->status)) + " and cannot be approved";
}

/// Records a person's review like one of the tech lead. The project manager may have given up
/// because of this group, so baton asks anew.
void approve(Snapshot& snapshot, const Request& request, Writes& writes, Decision& decision) {
  const Subject subject = request.subject.empty() ? Subject(kSession) : request.subject;
  const Group* const group = snapshot.plan.find(subject);
  if (std::string why = not_to_approve(snapshot, group, subject); !why.empty()) {
    decision.replies.push_back(Reply{request.id, false, std::move(why)});
    return;
  }
  Json feedback(member(*group->entry, "tech_lead_feedback"));
  std::string comment = text_of(*request.arguments, "comment");
  if (comment.empty())
    comment = "approved by a person" + (request.by.empty() ? "" : ": " + request.by);
  Json given = Json::object({{"iteration", Json(group->counters.tech_lead)},
                             {"decision", "approved"},
                             {"feedback", comment},
                             {"timestamp", iso_time(snapshot.view.wall)}});
  if (!request.by.empty())
    given.set("approver", request.by);
  feedback.push(given);
  writes.set(snapshot, *group,
             {{"status", word(Status::complete)},
              {"current_agent", "none"},
              {"tech_lead_feedback", feedback},
              {"end_time", iso_time(snapshot.view.wall)}});
  writes.add_reason(group->id + " is approved by a person");
  reset_counts(snapshot, Subject(kSession));
  notify("approved", request, group->id, decision);
  decision.replies.push_back(Reply{request.id, true, group->id + " is approved"});
}

/// Tries a group that waits for a person, or the session, again.
void try_again(Snapshot& snapshot, const Request& request, Writes& writes, Decision& decision) {
  const Subject subject = request.subject.empty() ? Subject(kSession) : request.subject;
  const Group* const group = snapshot.plan.find(subject);
  if (group == nullptr && subject != kSession) {
    decision.replies.push_back(Reply{request.id, false, "there is no group " + subject});
    return;
  }
  if (group != nullptr && !snapshot.plan.planned(*group)) {
    drop(snapshot, *group, request, writes, decision);
    return;
  }
  GroupMemo& memo = snapshot.memo.groups[subject];
  memo.answer = text_of(*request.arguments, "comment");
  memo.interventions.clear();
  if (group != nullptr) {
    memo.base_developer = group->counters.developer;
    memo.base_qa = group->counters.qa;
    memo.base_tech_lead = group->counters.tech_lead;
  }
  reset_counts(snapshot, subject);
  notify("answered", request, subject, decision);
  decision.replies.push_back(Reply{request.id, true, subject + " is tried again"});
}

bool is_own(const Snapshot& snapshot, const Request& request) {
  return request.flow == snapshot.view.flow &&
         (request.verb == "approve" || request.verb == "answer");
}

}  // namespace

Claim manager_claim(const Snapshot& snapshot) {
  return Claim{"project manager " + text(snapshot.view.flow), 1};
}

void route_groups(Snapshot& snapshot, SessionStage stage, Writes& writes, Decision& decision) {
  switch (stage) {
    case SessionStage::none:  // without a plan all groups count as planned
    case SessionStage::working:
      Router(snapshot, writes, decision).route();
      break;
    case SessionStage::phase_check:
      for (const Group& group : snapshot.plan.groups)
        if (group.status == Status::pending)
          decision.holds.push_back(Hold{Role(kDeveloper), group.id,
                                        cause_of(Situation::phase_check),
                                        "the project manager checks the finished phase first"});
      break;
    case SessionStage::no_requirements:
    case SessionStage::planning:
    case SessionStage::final_check:
    case SessionStage::completed:
      break;
  }
}

void refuse_answers(const Snapshot& snapshot, Decision& decision) {
  for (const Request& request : snapshot.view.requests)
    if (is_own(snapshot, request))
      decision.replies.push_back(Reply{request.id, false,
                                       path_of(snapshot.options, "group_status") +
                                           " is missing; restore it with `" +
                                           command("recover", snapshot.view.flow) + " --write`"});
}

void answer(Snapshot& snapshot, Writes& writes, Decision& decision) {
  std::vector<std::string> answered;
  for (const Request& request : snapshot.view.requests) {
    if (!is_own(snapshot, request))
      continue;
    answered.push_back(request.id);
    const auto& before = snapshot.memo.answered;
    if (std::find(before.begin(), before.end(), request.id) != before.end())
      continue;
    if (request.verb == "approve")
      approve(snapshot, request, writes, decision);
    else
      try_again(snapshot, request, writes, decision);
  }
  snapshot.memo.answered = std::move(answered);
}

}  // namespace baton::coordination
