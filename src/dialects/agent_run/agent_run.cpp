// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/agent_run.h"

#include <algorithm>
#include <utility>

#include "dialects/agent_run/conditions.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/record.h"
#include "dialects/agent_run/snapshot.h"
#include "dialects/dialects.h"
#include "dialects/findings.h"

namespace baton {
namespace agent_run {

Admission admit(const View& view, const Change& change) {
  Admission admission;
  if (change.before == nullptr || !memo_of(view.memo).driven)
    return admission;
  FindingList findings("agent_run");
  if (change.kind == "run_state") {
    if (same_record(change.before->root(), change.after.root()))
      return admission;
    admission.why =
        "only baton writes the steps of this run; to change them use "
        "`baton start`, `approve`, `reject` or `retry`";
    findings.error("S27", "", "another program changed the steps; baton puts them back", {});
  } else if (change.kind == "workflow" || change.kind == "prompt") {
    if (change.before->text() == change.after.text())
      return admission;
    admission.why = "the run uses the copy from its start";
    findings.error("S28", "", "the copy that the run uses was changed; baton puts it back", {});
  } else {
    return admission;
  }
  admission.verdict = Admission::Verdict::restore;
  admission.findings = findings.take();
  return admission;
}

std::vector<Create> rebuild(const View& view) {
  const Snapshot snapshot(view);
  if (snapshot.state == nullptr || !snapshot.memo.driven)
    return {};
  return {Create{snapshot.paths.state(), snapshot.state->document->text(),
                 "from the last accepted version"}};
}

namespace {

/// The names that brief.cpp puts into Brief::values.
constexpr std::string_view kPlaceholders[] = {"agent", "manual_input", "model",        "prompt",
                                              "repo",  "report",       "step_attempt", "step_id"};
constexpr std::array<std::string_view, 5> kVerbs = {"approve", "reject", "answer", "skip", "retry"};

Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> /*wall*/) {
  const Value& root = accepted.document->root();
  const RunFile run_file = run_file_of(options, accepted.kind, path);
  if (accepted.kind == "workflow")
    return check_workflow(root);
  if (accepted.kind == "run_state")
    return check_run_state(root, run_file);
  if (accepted.kind == "report")
    return check_report(root, run_file);
  if (accepted.kind == "manual_input")
    return check_manual_input(root);
  if (accepted.kind == "gate_state")
    return check_gate_state(root);
  return {};
}

bool is_own(const Snapshot& snapshot, const Request& request) {
  return request.flow == snapshot.view.flow &&
         std::find(kVerbs.begin(), kVerbs.end(), request.verb) != kVerbs.end();
}

/// Answers the requests of people, each once.
void answer(Snapshot& snapshot, Decision& decision) {
  std::vector<std::string> answered;
  for (const Request& request : snapshot.view.requests) {
    if (!is_own(snapshot, request))
      continue;
    const auto& before = snapshot.memo.answered;
    if (std::find(before.begin(), before.end(), request.id) == before.end()) {
      auto reply = answer_request(snapshot, request, decision);
      if (!reply)
        continue;
      decision.replies.push_back(*std::move(reply));
    }
    answered.push_back(request.id);
  }
  snapshot.memo.answered = std::move(answered);
}

void refuse(const Snapshot& snapshot, const std::string& why, Decision& decision) {
  for (const Request& request : snapshot.view.requests)
    if (is_own(snapshot, request))
      decision.replies.push_back(Reply{request.id, false, why});
}

/// The steps that are done. A step that `baton stop` left out has reached no end.
void note_progress(const Snapshot& snapshot, Decision& decision) {
  for (const auto& [id, step] : snapshot.run.steps)
    if (step.done() && !snapshot.step_memo(id).cancelled)
      decision.ends.push_back(id);
  decision.progress = Progress{decision.ends.size(), snapshot.run.steps.size(), "steps"};
  if (snapshot.workflow)
    for (const Step& step : snapshot.workflow->steps()) {
      decision.order.push_back(step.id);
      decision.attempts_max[step.id] = static_cast<std::uint32_t>(snapshot.max_attempts(step));
    }
}

/// A wrong report fails its attempt, so no person has to correct it.
void take_on_reports(const Snapshot& snapshot, Decision& decision) {
  for (const auto& [id, step] : snapshot.run.steps)
    if (std::string path = snapshot.paths.report(id); snapshot.view.rejected.contains(path))
      decision.own_faults.push_back(std::move(path));
}

/// Shows a run of another program and starts nothing.
Decision observe(const Snapshot& snapshot) {
  Decision decision;
  decision.control = Control::idle;
  decision.memo = snapshot.view.memo;
  refuse(snapshot, "another program runs this workflow; baton only shows it", decision);
  if (snapshot.state == nullptr) {
    decision.standing.cause = cause_of(Situation::no_run);
    decision.standing.why = snapshot.paths.state() + " is not there, so no run has begun";
    return decision;
  }
  const auto status = json::text(snapshot.state->document->root(), "status");
  decision.declared = status ? Word(*status) : summary(snapshot.run);
  decision.standing.cause = cause_of(Situation::other_program);
  decision.standing.why = "another program runs this workflow; baton only shows it";
  note_progress(snapshot, decision);
  return decision;
}

/// Warns if the workflow file differs from the copy that the run uses.
void compare_workflow(const Snapshot& snapshot, Decision& decision) {
  const auto path = workflow_source(snapshot);
  const Accepted* const now = path ? snapshot.document(*path) : nullptr;
  const Accepted* const pinned = snapshot.document(snapshot.paths.workflow());
  if (now != nullptr && pinned != nullptr && now->document->text() != pinned->document->text())
    decision.notices.push_back(
        Notice{"workflow_changed", "",
               *path + " has changed; this run still uses the copy from its start (" +
                   snapshot.paths.workflow() + ")"});
}

Decision drive(Snapshot& snapshot) {
  Decision decision;
  if (const auto trouble = snapshot.trouble()) {
    decision.holds.push_back(Hold{"", "", trouble->cause, trouble->why, trouble->action});
    // A run without its state is no idle one, even if none of its files is left.
    if (!snapshot.state->present)
      decision.standing = *trouble;
    // A run that has reached its end stays done, whatever becomes of its files.
    note_progress(snapshot, decision);
    if (snapshot.run.status == RunStatus::completed)
      take_standing(snapshot, decision);
    refuse(snapshot, trouble->why + "; to go on: " + trouble->action, decision);
    decision.memo = json_of(snapshot.memo);
    decision.declared = word(snapshot.run.status);
    return decision;
  }
  const auto items_read = steps_wanting_items(snapshot);
  answer(snapshot, decision);
  advance(snapshot, decision);
  plan_next_steps(snapshot, items_read, decision);
  compare_workflow(snapshot, decision);
  const Value& root = snapshot.state->document->root();
  if (auto all = edits(root, snapshot.run, stamp(snapshot.view.wall)); !all.empty())
    decision.updates.emplace_back(SetMembers{snapshot.paths.state(),
                                             snapshot.state->document->digest(), std::move(all),
                                             "steps of the run changed"});
  decision.memo = json_of(snapshot.memo);
  decision.declared = word(snapshot.run.status);
  note_progress(snapshot, decision);
  take_on_reports(snapshot, decision);
  take_standing(snapshot, decision);
  if (snapshot.run.status == RunStatus::completed)
    decision.control = Control::idle;
  return decision;
}

Decision decide(const View& view) {
  Snapshot snapshot(view);
  if (snapshot.state == nullptr || !snapshot.memo.driven)
    return observe(snapshot);
  return drive(snapshot);
}

std::vector<std::string> reads(const View& view) {
  const Snapshot snapshot(view);
  std::vector<std::string> paths;
  if (snapshot.state == nullptr || !snapshot.memo.driven || !snapshot.workflow)
    return paths;
  if (const auto source = workflow_source(snapshot))
    paths.push_back(*source);
  if (const auto gates = gate_file(snapshot); gates && *gates != snapshot.paths.gates())
    paths.push_back(*gates);
  if (snapshot.settings.daily_cost_limit)
    paths.push_back(daily_stats(snapshot));
  for (const std::string& id : steps_wanting_reports(snapshot))
    paths.push_back(snapshot.paths.report(id));
  for (const std::string& id : steps_wanting_items(snapshot))
    for (std::string& path : item_files(snapshot, *snapshot.workflow->step(id)))
      paths.push_back(std::move(path));
  return paths;
}

/// The archives, and the empty files that keep folders.
std::vector<std::string> own_files(const Json& options) {
  const std::string run = runs_folder(options) + "/{flow}/";
  return {run + "{part}/.keep", run + "reports/archive/{part}.json",
          run + "manual_inputs/archive/{part}.json"};
}

}  // namespace
}  // namespace agent_run

const Dialect& agent_run_dialect() {
  static const Dialect dialect = {
      .name = "agent_run",
      .files = agent_run::files,
      .reads = agent_run::reads,
      .own_files = agent_run::own_files,
      .check = agent_run::check,
      .admit = agent_run::admit,
      .stages = agent_run::stages,
      .decide = agent_run::decide,
      .states = agent_run::kStates,
      .words = [](const FlowId& /*flow*/, const Json& /*options*/) { return agent_run::words(); },
      .verbs = agent_run::kVerbs,
      .brief = agent_run::brief,
      .placeholders = agent_run::kPlaceholders,
      .create = agent_run::create,
      .rebuild = agent_run::rebuild,
  };
  return dialect;
}

}  // namespace baton
