// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

struct DecisionRow {
  std::string_view word;  ///< the verb
  std::string_view status;
};
constexpr std::array kVerbs = {DecisionRow{"approve", "approved"},
                               DecisionRow{"reject", "rejected"},
                               DecisionRow{"revise", "changes_requested"}};

/// What the end of a workflow was about: `plan` or `final`. Empty if it has not ended, or ended
/// without a validation.
std::string ended_with(const Snapshot& snapshot) {
  if (!snapshot.has_ended())
    return {};
  const bool plan =
      snapshot.status == Status::cancelled && (snapshot.plan_phase() || handed_over(snapshot));
  return round_end(snapshot, plan) < 0 ? "" : plan ? "plan" : "final";
}

/// Carries out approve, reject or revise.
Reply decide_by(Snapshot& snapshot, const Request& request, std::string_view status,
                const NextStep& found, Edits& edits) {
  const std::string comment = text_of(*request.arguments, "comment");
  const auto taken = [&](std::string_view approval, const std::string& message) {
    record_decision(snapshot, approval, status, request.by, comment, edits);
    if (snapshot.status != Status::running)
      edits.set("/status", "running");
    return Reply{request.id, true, message};
  };
  const bool revises = request.verb == "revise";
  const std::string ended = ended_with(snapshot);
  const std::string about = !request.subject.empty() ? request.subject
                            : ended.empty()          ? found.approval
                                                     : ended;
  if (revises && about == "plan" && !snapshot.plan_phase()) {
    record_return(snapshot, edits);
    return taken("plan", "the workflow returns to phase_1; the plan will be revised");
  }
  if (revises && !ended.empty() && (request.subject.empty() || request.subject == ended))
    return taken(ended, "the workflow continues; " + ended + " will be revised");
  if (found.kind != NextStep::Kind::approval)
    return {request.id, false,
            "the workflow does not wait for an approval (" + text_of(snapshot.root, "status") +
                ")" +
                (!ended.empty()         ? "; `baton revise` asks for changes"
                 : snapshot.has_ended() ? "; `baton resume` continues it"
                                        : "")};
  if (!request.subject.empty() && request.subject != found.approval)
    return {request.id, false,
            "`" + found.approval + "` waits for a decision, not " + quoted_word(request.subject)};
  return taken(found.approval,
               found.approval + " " + (revises ? "will be revised" : "is " + std::string(status)));
}

/// Carries out `answer` and `resume`.
Reply continue_workflow(Snapshot& snapshot, const Request& request, Edits& edits) {
  const bool answers = request.verb == "answer";
  if (answers && (snapshot.status != Status::paused || snapshot.memo.escalated.empty()))
    return {request.id, false,
            "baton did not ask a question; decide about a plan or code with "
            "`baton approve`, `reject` or `revise`"};
  if (answers)
    snapshot.memo.answer = text_of(*request.arguments, "comment");
  edits.set("/status", "running");
  edits.add_reason(request.by + (answers ? " answered" : " resumed the workflow"));
  return {request.id, true, "the workflow continues"};
}

/// Carries out `resume` of a failed or cancelled workflow. baton refuses it if the workflow would
/// end again at once.
Reply reopen(Snapshot& snapshot, const Request& request, Edits& edits) {
  if (snapshot.status == Status::completed || is_rejection(next_when_running(snapshot)))
    return {request.id, false,
            "the workflow has ended (" + text_of(snapshot.root, "status") + "); `" +
                command("revise", snapshot.view.flow) + "` asks for changes"};
  for (const Entry& entry : snapshot.entries)
    if (entry.status == "failed")
      snapshot.memo.base[helped(entry)] = 1;
  edits.set("/status", "running");
  edits.add_reason(request.by + " resumed the workflow");
  return {request.id, true, "the workflow continues"};
}

/// Whether `resume` concerns the state file. A `resume` that lifts an operator's own pause does not
/// answer a question that baton has asked.
bool resumes_file(const Snapshot& snapshot) {
  const bool commanded = snapshot.view.control != Control::run;
  return snapshot.status == Status::paused ? snapshot.memo.escalated.empty() || !commanded
                                           : snapshot.has_ended() && !commanded;
}

}  // namespace

bool answer_requests(Snapshot& snapshot, const NextStep& found, Edits& edits, Decision& decision) {
  std::vector<std::string>& answered = snapshot.memo.answered;
  std::erase_if(answered, [&](const std::string& id) {
    return std::none_of(snapshot.view.requests.begin(), snapshot.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  for (const Request& request : snapshot.view.requests) {
    const DecisionRow* const row = row_of(kVerbs, request.verb);
    const bool resumes = request.verb == "resume";
    if ((row == nullptr && request.verb != "answer" && !resumes) ||
        request.flow != snapshot.view.flow ||
        std::find(answered.begin(), answered.end(), request.id) != answered.end())
      continue;
    answered.push_back(request.id);
    if (resumes && !resumes_file(snapshot))
      continue;  // the engine answers it
    decision.replies.push_back(
        row != nullptr                    ? decide_by(snapshot, request, row->status, found, edits)
        : resumes && snapshot.has_ended() ? reopen(snapshot, request, edits)
                                          : continue_workflow(snapshot, request, edits));
    if (decision.replies.back().accepted)
      return true;
  }
  return false;
}

void refuse_requests(const Snapshot& snapshot, const std::string& why, Decision& decision) {
  for (const Request& request : snapshot.view.requests) {
    const bool decides = request.verb == "answer" ||
                         (request.verb == "resume" && resumes_file(snapshot)) ||
                         row_of(kVerbs, request.verb) != nullptr;
    if (decides && request.flow == snapshot.view.flow)
      decision.replies.push_back(Reply{request.id, false, snapshot.path + why});
  }
}

}  // namespace baton::ml_workflow
