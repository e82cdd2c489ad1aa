#include <array>

#include "base/json/numbers.h"
#include "dialects/kinds.h"
#include "dialects/members.h"
#include "dialects/ml_workflow/decide.h"
#include "dialects/ml_workflow/next.h"

// The values for the prompts below schemas/ml_workflow/prompts.

namespace baton::ml_workflow {
namespace {

std::string block(const Value& entry, std::string_view name) {
  const std::string text = pretty_text(json::child(entry, name));
  return text.empty() ? text : "```json\n" + text + "```\n";
}

/// What the newest validations said, and the newest plan or code.
std::string earlier(const Scene& scene) {
  std::string text;
  std::array<bool, 8> told{};
  for (std::size_t i = scene.entries.size(); i > 0; --i) {
    const Entry& entry = scene.entries[i - 1];
    bool& known = told.at(static_cast<std::size_t>(entry.step));
    const bool pair = code_validation(entry.step) && entry.half != Half::b;
    if (!entry.completed() || (known && !pair))
      continue;
    known = true;
    text = "Step " + subject_of(entry) + ", " + std::string(entry.agent) + ":\n" +
           block(*entry.value, "output") + block(*entry.value, "validation_scores") + text;
    if (code_change(entry.step) || entry.step == 3)
      break;
  }
  return text;
}

/// The last decision of a person, where it asks for changes.
std::string wanted_changes(const Scene& scene) {
  const auto decisions = list_at(scene.root, "/human_approvals/approval_history");
  const bool wanted =
      !decisions.empty() && json::text(*decisions.back(), "status") == "changes_requested";
  return wanted ? pretty_text(decisions.back()) : "";
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  const auto scene = scene_of(view);
  const auto work = parse_work(desired.subject);
  if (!scene || !work)
    return brief;
  brief.state_file = scene->path;
  const Entry* const entry = scene->newest(desired.subject);
  const bool again = entry != nullptr && !entry->completed();
  const std::int64_t instance =
      again ? sum(recovery_attempts(*entry), entry->status == "failed" ? 2 : 1) : 1;
  const std::string step = std::to_string(work->step);
  brief.values = {
      {"step", desired.subject},
      {"template", std::string(template_of(work->step, work->half))},
      {"artifacts", view.env.root + "/" + scene->path.substr(0, scene->path.rfind('/')) +
                        "/artifacts/step_" + step},
      {"instance", std::to_string(instance)}};
  brief.env = {{"ML_WORKFLOW_STEP", brief.values["step"]},
               {"ML_WORKFLOW_TEMPLATE", brief.values["template"]},
               {"ML_WORKFLOW_ARTIFACTS", brief.values["artifacts"]},
               {"ML_WORKFLOW_INSTANCE", brief.values["instance"]}};
  brief.parts = {{"step_number", step},
                 {"templates", scene->options.templates},
                 {"rejected", rejected_lines(view)},
                 {"last_error", again ? pretty_text(json::child(*entry->value, "error_info")) : ""},
                 {"requirements", pretty_text(json::child(scene->root, "requirements"))},
                 {"workspace", pretty_text(json::child(scene->root, "workspace_context"))},
                 {"earlier", earlier(*scene)},
                 {"answer", scene->memo.answer},
                 {"wanted_changes", wanted_changes(*scene)}};
  return brief;
}

}  // namespace baton::ml_workflow
