// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/record.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

/// Answers one request of a person.
class RequestAnswer {
 public:
  RequestAnswer(Snapshot& snapshot, const Request& request, Decision& decision)
      : snapshot_(snapshot),
        request_(request),
        decision_(decision),
        comment_(json::text(*request.arguments, "comment").value_or("")) {}

  std::optional<Reply> answer() {
    if (!request_.subject.empty() && snapshot_.workflow->step(request_.subject) == nullptr)
      return refused(snapshot_.workflow->no_step(request_.subject));
    if (request_.verb == "retry")
      return retry();
    if (request_.verb == "skip")
      return skip();
    return decide();
  }

 private:
  Reply refused(std::string why) const { return Reply{request_.id, false, std::move(why)}; }
  Reply done(std::string what) const { return Reply{request_.id, true, std::move(what)}; }

  /// The steps with this status. With a `subject`, only that step.
  std::vector<std::string> with(Status status, std::string_view subject) const {
    std::vector<std::string> ids;
    for (const Step& step : snapshot_.workflow->steps())
      if (snapshot_.record(step.id).status == status && (subject.empty() || subject == step.id))
        ids.push_back(step.id);
    return ids;
  }

  /// Adds the failed items of failed loops, and the loops of failed items.
  std::vector<std::string> with_items(std::vector<std::string> ids) const {
    const auto add = [&](const std::string& id) {
      if (snapshot_.record(id).status == Status::failed &&
          std::find(ids.begin(), ids.end(), id) == ids.end())
        ids.push_back(id);
    };
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Step& step = *snapshot_.workflow->step(ids[i]);
      for (const Step* const item : items_of(snapshot_, step))
        add(item->id);
      if (!step.of.empty())
        add(step.of);
    }
    return ids;
  }

  void say(Word event, const std::string& step) {
    decision_.notices.push_back(
        Notice{std::move(event), step,
               "by " + (request_.by.empty() ? "a person" : printable(request_.by, 80)) +
                   (comment_.empty() ? "" : ": " + printable(comment_, 300))});
  }

  /// Starts failed steps again with fresh attempts.
  std::optional<Reply> retry() {
    const std::vector<std::string> ids = with_items(with(Status::failed, request_.subject));
    if (ids.empty())
      return std::nullopt;
    for (const std::string& id : ids) {
      StepRecord& record = snapshot_.record(id);
      const Step& step = *snapshot_.workflow->step(id);
      if (!items_of(snapshot_, step).empty()) {
        resume_items(snapshot_, step);
        say("retried", id);
        continue;
      }
      make_pending(record);
      record.attempts = 0;
      // A person rejected all items together, so the loop starts over.
      if (record.loop_completed)
        record.restart_loop();
      snapshot_.memo.steps[id].failed_ms = 0;
      say("retried", id);
    }
    return done("will be tried again: " + join(ids, ", "));
  }

  Reply skip() {
    if (request_.subject.empty())
      return refused("name a step: `baton skip " + snapshot_.view.flow.name + " STEP`");
    StepRecord& record = snapshot_.record(request_.subject);
    if (record.status != Status::pending && record.status != Status::failed)
      return refused("the step " + quoted_word(request_.subject) + " is " +
                     std::string(record.row().word) +
                     "; only PENDING and FAILED steps can be skipped" +
                     (record.status == Status::waiting_on_human
                          ? "; it waits for `baton approve` or `baton reject`"
                          : ""));
    record.status = Status::skipped;
    snapshot_.memo.steps[request_.subject].cancelled = false;
    skip_items(*snapshot_.workflow->step(request_.subject));
    say("skipped", request_.subject);
    return done(request_.subject + " is skipped; steps that need it may start");
  }

  /// A loop without its failed item goes on. Items of a loop that is skipped are skipped.
  void skip_items(const Step& step) {
    for (const Step* const item : items_of(snapshot_, step))
      if (StepRecord& record = snapshot_.record(item->id); !record.done())
        record.status = Status::skipped;
    const Step* const loop = step.of.empty() ? nullptr : snapshot_.workflow->step(step.of);
    if (loop == nullptr || snapshot_.record(loop->id).status != Status::failed)
      return;
    const auto items = items_of(snapshot_, *loop);
    if (std::none_of(items.begin(), items.end(), [&](const Step* item) {
          return snapshot_.record(item->id).status == Status::failed;
        }))
      resume_items(snapshot_, *loop);
  }

  Reply decide() {
    const std::vector<std::string> ids = with(Status::waiting_on_human, request_.subject);
    if (ids.size() != 1)
      return refused(nobody_asked(ids));
    const Step& step = *snapshot_.workflow->step(ids.front());
    const auto verdict = given_verdict();
    if (!verdict)
      return refused("the step " + quoted_word(step.id) +
                     " needs a decision: `baton approve` or `baton reject`; or `baton answer` with "
                     "a comment that begins with approve or reject, or is what a manual input may "
                     "be: {\"approved\": true, \"comments\": TEXT}");
    Json answer = Json::object({{"decision", verdict->approved ? "approve" : "reject"}});
    if (!verdict->comment.empty())
      answer.set("comments", Json(verdict->comment));
    answer.set("by", Json(request_.by));
    answer.set("at", Json(stamp(snapshot_.view.wall)));
    decision_.updates.emplace_back(
        Create{snapshot_.paths.archived_input(step.id, decision_label(snapshot_, step.id)),
               answer.pretty(), "the decision of a person"});
    apply_verdict(snapshot_, step, *verdict, decision_);
    return done(step.id + (verdict->approved ? " is approved" : " is rejected"));
  }

  std::string nobody_asked(const std::vector<std::string>& ids) const {
    if (!ids.empty())
      return "name one step; these wait: " + join(ids, ", ");
    const std::vector<std::string> others = with(Status::waiting_on_human, {});
    return others.empty() ? "no step of the run waits for a person"
                          : "the step " + quoted_word(request_.subject) +
                                " does not wait for a person; these do: " + join(others, ", ");
  }

  /// The decision in the request. Empty if its words decide nothing.
  std::optional<Verdict> given_verdict() const {
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

  Snapshot& snapshot_;
  const Request& request_;
  Decision& decision_;
  std::string comment_;
};

}  // namespace

std::optional<Reply> answer_request(Snapshot& snapshot, const Request& request,
                                    Decision& decision) {
  return RequestAnswer(snapshot, request, decision).answer();
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
  const DecisionRow* const row = row_of(kDecision, upper(word));
  return row == nullptr ? std::nullopt : std::optional(row->approved);
}

}  // namespace baton::agent_run
