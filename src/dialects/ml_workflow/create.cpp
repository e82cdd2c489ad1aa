// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/snapshot.h"

namespace baton::ml_workflow {
namespace {

std::string fresh(const std::string& name, std::string_view requirements, Time wall) {
  Json criteria = Json::object();
  for (const ScoreRow& row : kScores)
    criteria.set(row.threshold, Json(row.least));
  Json approvals = Json::object();
  for (const std::string_view approval : kApprovals)
    approvals.set(std::string(approval) + "_approved", Json(false));
  approvals.set("approval_history", Json::array());
  return Json::object(
             {{"workflow_id", name},
              {"workflow_name", name},
              {"created_at", iso_time(wall)},
              {"updated_at", iso_time(wall)},
              {"status", "initialized"},
              {"current_phase", "phase_1"},
              {"current_step", 0},
              {"last_completed_step", 0},
              {"total_execution_time", 0},
              {"step_history", Json::array()},
              {"convergence_status", Json::object({{"phase_1_converged", false},
                                                   {"phase_2_converged", false},
                                                   {"convergence_criteria", criteria},
                                                   {"convergence_history", Json::array()}})},
              {"human_approvals", approvals},
              {"workspace_context", Json::object({{"developer_type", "shared"}})},
              {"requirements", Json::object({{"initial_requirements", requirements}})},
              {"artifacts", Json::object()},
              {"metrics", Json::object()},
              {"phase_transitions", Json::array()},
              {"step_transitions", Json::array()}})
      .pretty();
}

/// Whether `--set` may set this member. It may not set the progress of a workflow.
bool may_be_set(std::string_view pointer) {
  for (const std::string_view part : {"/requirements", "/workspace_context", "/workflow_name",
                                      "/convergence_status/convergence_criteria"})
    if (pointer == part || pointer.starts_with(std::string(part) + "/"))
      return true;
  return false;
}

Result<std::vector<json::Edit>> settings(const Request& request) {
  std::vector<json::Edit> edits;
  for (const auto& member : members_in(*request.arguments, "set")) {
    const std::string pointer = member.name.GetString();
    if (!may_be_set(pointer))
      return fail(Errc::usage,
                  "`" + printable(pointer, 100) +
                      "` cannot be set at the start; allowed are /workflow_name and members of "
                      "/requirements, /workspace_context and "
                      "/convergence_status/convergence_criteria");
    edits.push_back({pointer, json::dump(member.value)});
  }
  return edits;
}

}  // namespace

Result<std::vector<Update>> create(const Request& request, const View& view) {
  if (request.arguments->IsObject())
    for (const auto& member : request.arguments->GetObject())
      if (const std::string_view name = member.name.GetString();
          name != "requirements" && name != "set")
        return fail(Errc::usage, "a workflow takes only --requirements and --set, not `" +
                                     printable(name, 80) + "`");
  const std::string_view wanted = json::text(*request.arguments, "requirements").value_or("");
  auto edits = settings(request);
  if (!edits)
    return pass_on(edits);
  if (const auto snapshot = Snapshot::of(view)) {
    const std::string has = text_of(member(snapshot->root, "requirements"), "initial_requirements");
    if ((!wanted.empty() && wanted != has) || !edits->empty())
      return fail(Errc::usage,
                  "the workflow exists and has other requirements; use another "
                  "name for a new one",
                  snapshot->path + "#/requirements");
    return std::vector<Update>{};
  }
  if (wanted.empty())
    return fail(Errc::usage, "a new workflow needs --requirements");
  auto text = json::splice(fresh(view.flow.name, wanted, view.wall), *edits);
  if (!text)
    return pass_on(text);
  return std::vector<Update>{
      Create{state_path(view.flow.name, view.options), std::move(*text), "a new workflow"}};
}

}  // namespace baton::ml_workflow
