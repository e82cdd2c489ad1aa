#include "dialects/agent_run/agent_run.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dialects/agent_run/admit.h"
#include "dialects/agent_run/check.h"
#include "dialects/agent_run/cost.h"
#include "dialects/agent_run/create.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/people.h"
#include "dialects/agent_run/progress.h"
#include "dialects/agent_run/rebuild.h"
#include "dialects/agent_run/reports.h"
#include "dialects/agent_run/routing.h"
#include "dialects/agent_run/scene.h"
#include "dialects/kinds.h"

namespace baton {
namespace {

/// What brief.cpp puts into Brief::values.
constexpr std::string_view kPlaceholders[] = {"agent", "manual_input", "model",        "prompt",
                                              "repo",  "report",       "step_attempt", "step_id"};
constexpr std::array kVerbs = {std::string_view("approve"), std::string_view("reject"),
                               std::string_view("answer"), std::string_view("skip"),
                               std::string_view("retry")};

Findings check_one(const std::string& path, const Accepted& accepted, const Json& options) {
  const Value& root = accepted.document->root();
  const agent_run::Place place = agent_run::place_of(options, accepted.kind, path);
  if (accepted.kind == "workflow")
    return agent_run::check_workflow(root);
  if (accepted.kind == "run_state")
    return agent_run::check_run_state(root, place);
  if (accepted.kind == "report")
    return agent_run::check_report(root, place);
  if (accepted.kind == "manual_input")
    return agent_run::check_manual_input(root);
  if (accepted.kind == "gate_state")
    return agent_run::check_gate_state(root);
  return {};
}

std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope) {
  return check_each(docs, options, scope, check_one);
}

bool is_own(const agent_run::Scene& scene, const Request& request) {
  return request.flow == scene.view.flow &&
         std::find(kVerbs.begin(), kVerbs.end(), request.verb) != kVerbs.end();
}

/// What people have said by command, each once.
void answer(agent_run::Scene& scene, Decision& decision) {
  std::vector<std::string> heard;
  for (const Request& request : scene.view.requests) {
    if (!is_own(scene, request))
      continue;
    const auto& before = scene.memo.heard;
    if (std::find(before.begin(), before.end(), request.id) == before.end()) {
      auto reply = agent_run::heard(scene, request, decision);
      if (!reply)
        continue;
      decision.replies.push_back(*std::move(reply));
    }
    heard.push_back(request.id);
  }
  scene.memo.heard = std::move(heard);
}

void refuse(const agent_run::Scene& scene, const std::string& why, Decision& decision) {
  for (const Request& request : scene.view.requests)
    if (is_own(scene, request))
      decision.replies.push_back(Reply{request.id, false, why});
}

/// A run of another program: looked at, and nothing is done.
Decision observe(const agent_run::Scene& scene) {
  Decision decision;
  decision.control = Control::idle;
  decision.memo = scene.view.memo;
  refuse(scene, "the run belongs to another program, which asks for itself", decision);
  if (scene.state == nullptr)
    return decision;
  const auto status = json::text(scene.state->document->root(), "status");
  decision.declared = status ? Word(*status) : agent_run::summary(scene.run);
  if (scene.run.status != agent_run::RunStatus::completed)
    decision.standing = "the run belongs to another program; " + agent_run::taking_over(scene.view);
  return decision;
}

/// The file the workflow was read from has another text by now.
void compare_workflow(const agent_run::Scene& scene, Decision& decision) {
  const auto path = agent_run::workflow_source(scene);
  const Accepted* const now = path ? scene.document(*path) : nullptr;
  const Accepted* const pinned = scene.document(scene.places.workflow());
  if (now != nullptr && pinned != nullptr && now->document->text() != pinned->document->text())
    decision.notices.push_back(
        Notice{"workflow_changed", "",
               *path + " was changed; this run keeps the version it was started with (" +
                   scene.places.workflow() + ")"});
}

Decision drive(agent_run::Scene& scene) {
  Decision decision;
  if (const std::string trouble = scene.trouble(); !trouble.empty()) {
    decision.holds.push_back(Hold{"", "", "bad_state", trouble});
    refuse(scene, trouble, decision);
    decision.memo = agent_run::json_of(scene.memo);
    decision.declared = agent_run::word(scene.run.status);
    return decision;
  }
  const auto asked = agent_run::wanting_items(scene);
  answer(scene, decision);
  agent_run::progress(scene, decision);
  agent_run::route(scene, asked, decision);
  compare_workflow(scene, decision);
  const Value& root = scene.state->document->root();
  if (auto all = agent_run::edits(root, scene.run, agent_run::stamp(scene.view.wall)); !all.empty())
    decision.updates.emplace_back(SetMembers{scene.places.state(), scene.state->document->digest(),
                                             std::move(all), "the run has moved on"});
  decision.memo = agent_run::json_of(scene.memo);
  decision.declared = agent_run::word(scene.run.status);
  if (scene.run.status == agent_run::RunStatus::completed)
    decision.control = Control::idle;
  return decision;
}

Decision decide(const View& view) {
  agent_run::Scene scene(view);
  if (scene.state == nullptr || !scene.memo.driven)
    return observe(scene);
  return drive(scene);
}

std::vector<std::string> reads(const View& view) {
  const agent_run::Scene scene(view);
  std::vector<std::string> paths;
  if (scene.state == nullptr || !scene.memo.driven || !scene.workflow)
    return paths;
  if (const auto source = agent_run::workflow_source(scene))
    paths.push_back(*source);
  if (const auto gates = agent_run::gate_file(scene); gates && *gates != scene.places.gates())
    paths.push_back(*gates);
  if (scene.settings.daily_cost_limit)
    paths.push_back(agent_run::daily_stats(scene));
  for (const std::string& id : agent_run::wanting_reports(scene))
    paths.push_back(scene.places.report(id));
  for (const std::string& id : agent_run::wanting_items(scene))
    for (std::string& path : agent_run::item_places(scene, *scene.workflow->step(id)))
      paths.push_back(std::move(path));
  return paths;
}

}  // namespace

const Dialect& agent_run_dialect() {
  static const Dialect dialect = {
      .name = "agent_run",
      .verbs = kVerbs,
      .files = agent_run::files,
      .reads = reads,
      .stages = agent_run::stages,
      .decide = decide,
      .check = check,
      .admit = agent_run::admit,
      .create = agent_run::create,
      .brief = agent_run::brief,
      .placeholders = kPlaceholders,
      .rebuild = agent_run::rebuild,
  };
  return dialect;
}

}  // namespace baton
