#include <algorithm>
#include <vector>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/words.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

/// One request and what it is about.
class Hearing {
 public:
  Hearing(Scene& scene, const Request& request, Decision& decision)
      : scene_(scene),
        request_(request),
        decision_(decision),
        comment_(json::text(*request.arguments, "comment").value_or("")) {}

  std::optional<Reply> answer() {
    if (!request_.subject.empty() && scene_.workflow->step(request_.subject) == nullptr) {
      const auto ids = scene_.workflow->ids();
      const std::string near = near_word(request_.subject, ids);
      return refused("the workflow has no step " + quoted_word(request_.subject) + "; it has " +
                     any_of_words(ids) + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (request_.verb == "retry")
      return retry();
    if (request_.verb == "skip")
      return skip();
    return decide();
  }

 private:
  Reply refused(std::string why) const { return Reply{request_.id, false, std::move(why)}; }
  Reply done(std::string what) const { return Reply{request_.id, true, std::move(what)}; }

  std::vector<std::string> with(Status status) const {
    std::vector<std::string> ids;
    for (const Step& step : scene_.workflow->steps())
      if (scene_.record(step.id).status == status &&
          (request_.subject.empty() || request_.subject == step.id))
        ids.push_back(step.id);
    return ids;
  }

  void say(Word event, const std::string& step) {
    decision_.notices.push_back(
        Notice{std::move(event), step,
               "by " + (request_.by.empty() ? "a person" : printable(request_.by, 80)) +
                   (comment_.empty() ? "" : ": " + printable(comment_, 300))});
  }

  /// Of steps that have failed: as if they had not been tried.
  std::optional<Reply> retry() {
    const std::vector<std::string> ids = with(Status::failed);
    if (ids.empty())
      return std::nullopt;
    for (const std::string& id : ids) {
      StepRecord& record = scene_.record(id);
      again(record);
      record.attempts = 0;
      // What was refused is all that the items have made: there is no item left to go on with.
      if (record.loop_completed)
        record.restart_loop();
      scene_.memo.steps[id].failed_ms = 0;
      say("retried", id);
    }
    return done("to be tried again: " + join(ids, ", "));
  }

  Reply skip() {
    if (request_.subject.empty())
      return refused("which step? `baton skip " + scene_.view.flow.name + " STEP`");
    StepRecord& record = scene_.record(request_.subject);
    if (record.status != Status::pending && record.status != Status::failed)
      return refused("the step " + quoted_word(request_.subject) + " is " +
                     std::string(record.row().word) +
                     "; what can be left out is PENDING or FAILED" +
                     (record.status == Status::waiting_on_human
                          ? "; it waits for `baton approve` or `baton reject`"
                          : ""));
    record.status = Status::skipped;
    scene_.memo.steps[request_.subject].cancelled = false;
    say("skipped", request_.subject);
    return done(request_.subject + " is left out; what needs it may begin");
  }

  Reply decide() {
    const std::vector<std::string> ids = with(Status::waiting_on_human);
    if (ids.size() != 1)
      return refused(nobody_asked(ids));
    const Step& step = *scene_.workflow->step(ids.front());
    const auto verdict = said();
    if (!verdict)
      return refused("the step " + quoted_word(step.id) +
                     " needs a decision: `baton approve` or `baton reject`; or `baton answer` with "
                     "a comment that begins with approve or reject, or is what a manual input may "
                     "be: {\"approved\": true, \"comments\": TEXT}");
    Json answer = Json::object({{"decision", verdict->approved ? "approve" : "reject"}});
    if (!verdict->comment.empty())
      answer.set("comments", Json(verdict->comment));
    answer.set("by", Json(request_.by));
    answer.set("at", Json(stamp(scene_.view.wall)));
    decision_.updates.emplace_back(
        Create{scene_.places.archived_input(step.id, decision_label(scene_, step.id)),
               answer.pretty(), "a person has decided"});
    settle(scene_, step, *verdict, decision_);
    return done(step.id + (verdict->approved ? " is approved" : " is rejected"));
  }

  std::string nobody_asked(const std::vector<std::string>& ids) const {
    if (!ids.empty())
      return "which step? Waiting: " + join(ids, ", ");
    std::vector<std::string> others;
    for (const Step& step : scene_.workflow->steps())
      if (scene_.record(step.id).status == Status::waiting_on_human)
        others.push_back(step.id);
    return others.empty() ? "no step of the run waits for a person"
                          : "the step " + quoted_word(request_.subject) +
                                " does not wait for a person; waiting: " + join(others, ", ");
  }

  /// The decision; nothing when the words decide nothing.
  std::optional<Verdict> said() const {
    if (request_.verb != "answer")
      return Verdict{request_.verb == "approve", comment_};
    if (const auto object = parse_json(comment_); object && (*object)->IsObject())
      return verdict_of(**object);
    const std::string word = upper(comment_.substr(0, comment_.find_first_of(" :,.\n")));
    const auto rest = comment_.find_first_not_of(" :,.\n", word.size());
    const auto approved = decision_word(word);
    if (!approved)
      return std::nullopt;
    return Verdict{*approved, rest == std::string::npos ? "" : comment_.substr(rest)};
  }

  Scene& scene_;
  const Request& request_;
  Decision& decision_;
  std::string comment_;
};

}  // namespace

std::optional<Reply> heard(Scene& scene, const Request& request, Decision& decision) {
  return Hearing(scene, request, decision).answer();
}

std::optional<Verdict> verdict_of(const Value& input) {
  for (const Finding& finding : check_manual_input(input))
    if (finding.severity == Severity::error)
      return std::nullopt;
  std::optional<bool> approved = json::boolean(input, "approved");
  for (const char* const name : {"status", "decision"})
    if (const auto word = json::text(input, name))
      approved = decision_word(*word);
  if (!approved)
    return std::nullopt;
  Verdict verdict{*approved, {}};
  for (const char* const name : {"comments", "notes"})
    if (verdict.comment.empty())
      verdict.comment = json::text(input, name).value_or("");
  return verdict;
}

std::optional<bool> decision_word(std::string_view word) {
  const std::string said = upper(word);
  if (const DecisionRow* const row = row_of(kStatusDecision, said))
    return row->approved;
  if (const DecisionRow* const row = row_of(kDecision, said))
    return row->approved;
  return std::nullopt;
}

}  // namespace baton::agent_run
