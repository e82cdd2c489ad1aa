// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/json/numbers.h"
#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/next_step.h"

// The values for the prompts below schemas/ml_workflow/prompts.

namespace baton::ml_workflow {
namespace {

std::string block(const Value& entry, std::string_view name) {
  const std::string text = pretty_text(json::child(entry, name));
  return text.empty() ? text : std::string(name) + ": " + text;
}

/// What the newest validations said, and the newest plan or code.
std::string earlier(const Snapshot& snapshot) {
  std::string text;
  std::array<bool, 8> told{};
  for (std::size_t i = snapshot.entries.size(); i > 0; --i) {
    const Entry& entry = snapshot.entries[i - 1];
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
std::string wanted_changes(const Snapshot& snapshot) {
  const auto decisions = list_at(snapshot.root, kDecisions);
  const Value* const last = decisions.Empty() ? nullptr : &decisions[decisions.Size() - 1];
  return last != nullptr && text_of(*last, "status") == "changes_requested" ? pretty_text(last)
                                                                            : "";
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  const auto snapshot = snapshot_of(view);
  const auto work = parse_work(desired.subject);
  if (!snapshot || !work)
    return brief;
  brief.state_file = snapshot->path;
  const Entry* const entry = snapshot->newest(desired.subject);
  const bool again = entry != nullptr && !entry->completed();
  const std::int64_t instance =
      again ? sum(recovery_attempts(*entry), entry->status == "failed" ? 2 : 1) : 1;
  const std::string step = std::to_string(work->step);
  const std::string folder = snapshot->path.substr(0, snapshot->path.rfind('/'));
  brief.values = {{"step", desired.subject},
                  {"template", std::string(template_of(work->step, work->half))},
                  {"artifacts", view.env.root + "/" + folder + "/artifacts/step_" + step},
                  {"instance", std::to_string(instance)}};
  for (const auto& [name, value] : brief.values)
    brief.env.emplace_back("ML_WORKFLOW_" + upper(name), value);
  brief.values.insert(
      {{"step_number", step},
       {"templates", snapshot->options.templates},
       {"rejected", rejected_lines(view)},
       {"last_error", again ? pretty_text(json::child(*entry->value, "error_info")) : ""},
       {"requirements", pretty_text(json::child(snapshot->root, "requirements"))},
       {"workspace", pretty_text(json::child(snapshot->root, "workspace_context"))},
       {"earlier", earlier(*snapshot)},
       {"answer", snapshot->memo.answer},
       {"wanted_changes", wanted_changes(*snapshot)}});
  return brief;
}

}  // namespace baton::ml_workflow
