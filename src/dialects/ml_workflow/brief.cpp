#include "dialects/ml_workflow/brief.h"

#include <algorithm>
#include <array>

#include "base/json/numbers.h"
#include "dialects/ml_workflow/next_step.h"

namespace baton::ml_workflow {
namespace {

constexpr std::array<std::string_view, 8> kTasks = {
    "",
    "Write the implementation plan: what is to be made, where, and how it fits in.",
    "Judge the plan. Give scores from 0 to 10.",
    "Revise the plan: deal with every point of the last validation and of the people below.",
    "Write the code that the plan describes.",
    "Judge the code. Give scores from 0 to 10.",
    "Put the code right: deal with every point of the last validation and of the people below.",
    "Judge the refined code. Give scores from 0 to 10.",
};

void section(std::string& prompt, std::string_view title, const std::string& text) {
  if (!text.empty())
    prompt += "\n## " + std::string(title) + "\n\n" + text + (text.ends_with('\n') ? "" : "\n");
}

std::string block(const Value* value) {
  return value == nullptr || value->IsNull() ? std::string()
                                             : "```json\n" + Json(*value).pretty() + "```\n";
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
           block(json::child(*entry.value, "output")) +
           block(json::child(*entry.value, "validation_scores")) + text;
    if (code_change(entry.step) || entry.step == 3)
      break;
  }
  return text;
}

/// What people have asked for since the newest validation.
std::string people(const Snapshot& snapshot) {
  std::string text = snapshot.memo.answer.empty() ? "" : snapshot.memo.answer + "\n";
  const auto decisions = list_at(snapshot.root, "/human_approvals/approval_history");
  if (!decisions.empty() && json::text(*decisions.back(), "status") == "changes_requested")
    text += block(decisions.back());
  return text;
}

std::string faults(const Snapshot& snapshot) {
  if (snapshot.file.rejected.empty())
    return {};
  std::string text = "The file as it stands was rejected; put this right first:\n";
  const auto findings = parse_json(snapshot.file.rejected);
  if (findings && (*findings)->IsArray())
    for (const Value& finding : (*findings)->GetArray())
      text += "- " + std::string(json::text(finding, "pointer").value_or("")) + ": " +
              std::string(json::text(finding, "message").value_or("")) + "\n";
  return text;
}

std::string ending(const Snapshot& snapshot, const Work& work, const std::string& file,
                   const std::string& form) {
  const bool scores = plan_validation(work.step) || code_validation(work.step);
  std::string text = "Your entry is the one of `step_history` in " + snapshot.view.env.root + "/" +
                     snapshot.path + " with step_number " + std::to_string(work.step) +
                     ", template " + form +
                     " and status in_progress. Change nothing but this entry and `artifacts`:\n"
                     "- done: `output` (an object), ";
  if (scores)
    text += "`validation_scores` (alignment_score, standardization_score, compatibility_score), ";
  text +=
      "then `status` \"completed\"\n"
      "- you cannot do it: `error_info` with `error_type` (validation_error, "
      "resource_exhaustion, critical_error) and `error_message`, `status` \"failed\"\n"
      "Others may write the file at the same time; `\"$BATON_EXE\" set FILE POINTER=JSON ...` "
      "locks, checks and writes at once.\n"
      "Files you make for people go below " +
      file + ".\n";
  return text;
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  const auto snapshot = snapshot_of(view);
  const auto work = parse_work(desired.subject);
  if (!snapshot || !work)
    return brief;
  brief.state_file = snapshot->path;
  const std::string folder = snapshot->path.substr(0, snapshot->path.rfind('/'));
  const std::string artifacts =
      view.env.root + "/" + folder + "/artifacts/step_" + std::to_string(work->step);
  const std::string form(template_of(work->step, work->half));
  const Entry* const entry = snapshot->newest(desired.subject);
  const bool again = entry != nullptr && !entry->completed();
  const std::int64_t instance =
      again ? sum(recovery_attempts(*entry), entry->status == "failed" ? 2 : 1) : 1;
  std::string& prompt = brief.prompt;
  prompt = "You are the " + desired.role + " of the workflow " + view.flow.name + " in " +
           view.env.root + ". You are started for one step and remember nothing of earlier ones. " +
           "Do it, write down the result, end.\n";
  section(prompt, "Your step: " + desired.subject,
          std::string(kTasks.at(static_cast<std::size_t>(work->step))) +
              "\nThe template for it is " + snapshot->options.templates + "/" + form +
              ", if your project has it.");
  section(prompt, "Why you were started", desired.why);
  section(prompt, "What was wrong", faults(*snapshot));
  if (again)
    section(prompt, "The last try", block(json::child(*entry->value, "error_info")));
  section(prompt, "Requirements", block(json::child(snapshot->root, "requirements")));
  section(prompt, "Workspace", block(json::child(snapshot->root, "workspace_context")));
  section(prompt, "What was done", earlier(*snapshot));
  section(prompt, "What people say", people(*snapshot));
  section(prompt, "How to end", ending(*snapshot, *work, artifacts, form));
  brief.values = {{"step", desired.subject},
                  {"template", form},
                  {"artifacts", artifacts},
                  {"instance", std::to_string(instance)}};
  for (const auto& [name, value] : brief.values) {
    std::string variable = "ML_WORKFLOW_" + name;
    std::transform(variable.begin(), variable.end(), variable.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    brief.env.emplace_back(std::move(variable), value);
  }
  return brief;
}

}  // namespace baton::ml_workflow
