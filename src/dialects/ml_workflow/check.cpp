#include "dialects/ml_workflow/check.h"

#include <algorithm>
#include <optional>

#include "dialects/ml_workflow/files.h"
#include "dialects/ml_workflow/scene.h"
#include "dialects/ml_workflow/words.h"
#include "dialects/moments.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kNoSuchDay = "S22";

bool flag(const Value& root, const std::string& pointer) {
  const Value* const found = json::at(root, pointer);
  return found != nullptr && json::boolean(*found).value_or(false);
}

/// The newest decision of a type, as approval_history has it.
struct Decided {
  std::string_view word;
  std::optional<Time> when;
};
std::optional<Decided> newest_decision(const Value& root, std::string_view approval) {
  std::optional<Decided> newest;
  for (const Value* const decision : list_at(root, "/human_approvals/approval_history"))
    if (json::text(*decision, "approval_type") == approval)
      newest =
          Decided{json::text(*decision, "status").value_or(""), moment(*decision, "timestamp")};
  return newest;
}

std::string flag_pointer(std::string_view approval) {
  return "/human_approvals/" + std::string(approval) + "_approved";
}

/// What was decided about has been made anew since (a plan by step 3, code by 4 or 6), so the
/// decision is spent. The flag was reset then, and says what came later. Where a time is missing,
/// any revision is taken for one that came later.
bool spent(const Decided& decision, const std::vector<Entry>& entries, std::string_view approval) {
  const bool plan = approval == "plan";
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    const auto start = moment(*entry.value, "started_at");
    const auto began = start ? start : end_of(entry);
    if (!began || !decision.when)
      return entry.step == (plan ? 3 : 6);
    return (plan ? entry.step == 3 : code_change(entry.step)) && *began >= *decision.when;
  });
}

}  // namespace

bool approved(const Value& root, const std::vector<Entry>& entries, std::string_view approval) {
  const auto decision = newest_decision(root, approval);
  if (!decision || (decision->word == "changes_requested" && spent(*decision, entries, approval)))
    return flag(root, flag_pointer(approval));
  return decision->word == "approved";
}

std::string_view outranks_flag(const Value& root, const std::vector<Entry>& entries,
                               std::string_view approval) {
  const auto decision = newest_decision(root, approval);
  const bool overruled = flag(root, flag_pointer(approval)) && !approved(root, entries, approval);
  return overruled && decision ? decision->word : std::string_view();
}

namespace {

/// Back from phase_2, and the new plan was not begun: current_step is what was worked on last.
bool sent_back(const Value& root, const std::vector<Entry>& entries) {
  const std::size_t first = first_of_plan(root);
  return first > 0 && (entries.empty() || entries.back().index < first);
}

/// Behind a sentence that nobody has approved, where the flag says so.
std::string overruled(const Value& root, const std::vector<Entry>& entries,
                      std::string_view approval) {
  const std::string decision(outranks_flag(root, entries, approval));
  return decision.empty() ? ""
                          : ": the newest decision is " + decision + ", which outranks the flag";
}

/// The nearest place that exists.
std::string place(const Value& root, std::string pointer) {
  while (json::at(root, pointer) == nullptr)
    pointer.erase(pointer.rfind('/'));
  return pointer;
}

void name_rule(const std::string& path, const Value& root, const Json& options,
               FindingList& findings) {
  const auto folder = workflow_of_path(path, options);
  const auto id = json::text(root, "workflow_id");
  if (folder && id && *folder != *id)
    findings.error("S16", "/workflow_id",
                   "the workflow is called " + shown(*id) + ", but its folder " + shown(*folder),
                   json::child(root, "workflow_id"), shown(*folder));
}

void phase_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const bool code = json::text(root, "current_phase") == "phase_2";
  const std::int64_t current = json::integer(root, "current_step").value_or(0);
  const bool converged = flag(root, "/convergence_status/phase_1_converged");
  if (code && !converged)
    findings.error("S2", "/convergence_status/phase_1_converged",
                   "the workflow is in phase_2, but phase_1_converged is false",
                   json::at(root, "/convergence_status/phase_1_converged"), "true");
  const Value* const phase = json::child(root, "current_phase");
  if (!code) {
    const std::size_t first = first_of_plan(root);
    const auto early = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.index >= first && entry.step >= kFirstCodeStep;
    });
    if (early != entries.end() || (current >= kFirstCodeStep && !sent_back(root, entries)))
      findings.error("S1", "/current_phase",
                     "step " + std::to_string(early != entries.end() ? early->step : current) +
                         " belongs to phase_2",
                     phase, "phase_2");
    return;
  }
  // Between the last plan validation and the first line of code the phase is ahead of the step.
  const bool hand_over = converged && !entries.empty() && entries.back().completed();
  if (current < kFirstCodeStep && !hand_over)
    findings.error("S1", "/current_phase",
                   "step " + std::to_string(current) + " belongs to phase_1", phase, "phase_1");
}

void end_rules(const Value& root, const std::vector<Entry>& entries, Status status,
               const Json& options, FindingList& findings) {
  if (status != Status::completed)
    return;
  const Value* const word = json::child(root, "status");
  if (!flag(root, "/convergence_status/phase_2_converged"))
    findings.error("S10", "/status", "the workflow is completed, but phase_2_converged is not true",
                   word, "running");
  if (required(options, "final") && !approved(root, entries, "final"))
    findings.error("S10", "/status",
                   "the workflow is completed, but nobody has given the final approval" +
                       overruled(root, entries, "final"),
                   word, "running");
}

void plan_rule(const Value& root, const std::vector<Entry>& entries, const Json& options,
               FindingList& findings) {
  const std::size_t first = first_of_plan(root);
  const bool begun = (json::integer(root, "current_step").value_or(0) >= kFirstCodeStep &&
                      !sent_back(root, entries)) ||
                     std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
                       return entry.index >= first && entry.step >= kFirstCodeStep;
                     });
  if (begun && required(options, "plan") && !approved(root, entries, "plan")) {
    const std::string pointer = place(root, flag_pointer("plan"));
    findings.error("S11", pointer,
                   "code is being written, but nobody has approved the plan" +
                       overruled(root, entries, "plan"),
                   pointer == flag_pointer("plan") ? json::at(root, pointer) : nullptr,
                   "an approved plan before step 4");
  }
}

/// Going back to the plan resets all flags; what was decided before says nothing any more.
bool went_back_since(const Value& root, const Decided& decision) {
  const auto all = list_at(root, "/phase_transitions");
  return std::any_of(all.begin(), all.end(), [&](const Value* each) {
    const auto when = moment(*each, "timestamp");
    return json::text(*each, "to_phase") == "phase_1" &&
           (!when || !decision.when || *when >= *decision.when);
  });
}

void approval_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  for (const std::string_view approval : kApprovals) {
    const auto decision = newest_decision(root, approval);
    const std::string pointer = flag_pointer(approval);
    const Value* const found = json::at(root, pointer);
    if (!decision || found == nullptr)
      continue;
    const bool said = decision->word == "approved";
    const bool given = json::boolean(*found).value_or(false);
    // A rejection says no until another word follows on it, whatever is made after it.
    const bool settled =
        decision->word != "rejected" &&
        (spent(*decision, entries, approval) || (!given && went_back_since(root, *decision)));
    if (given != said && !settled)
      findings.warning("S12", pointer,
                       std::string(approval) + "_approved is " + shown(*found) +
                           ", but the newest decision is " + std::string(decision->word) +
                           "; the decision counts",
                       found, said ? "true" : "false");
  }
}

void time_rules(const Value& root, FindingList& findings) {
  Moments moments;
  moments.look(root, "", {"created_at", "updated_at"}, kNoSuchDay, findings);
  const auto look = [&](const std::string& pointer, std::initializer_list<std::string_view> names) {
    const Value* const list = json::at(root, pointer);
    if (list == nullptr || !list->IsArray())
      return;
    for (rapidjson::SizeType i = 0; i < list->Size(); ++i)
      moments.look((*list)[i], pointer + "/" + std::to_string(i), names, kNoSuchDay, findings);
  };
  look("/step_history", {"started_at", "completed_at"});
  look("/convergence_status/convergence_history", {"timestamp"});
  if (const Value* const approvals = json::child(root, "human_approvals"))
    moments.look(*approvals, "/human_approvals",
                 {"plan_approval_timestamp", "code_approval_timestamp", "final_approval_timestamp"},
                 kNoSuchDay, findings);
  look("/human_approvals/approval_history", {"timestamp"});
  look("/phase_transitions", {"timestamp"});
  look("/step_transitions", {"timestamp"});
  moments.report("S18", findings);
}

void state_rules(const std::string& path, const Value& root, const Json& options,
                 FindingList& findings) {
  const auto status = parse_status(json::text(root, "status").value_or(""));
  if (!status)
    return;
  const std::vector<Entry> entries = history(root);
  name_rule(path, root, options, findings);
  phase_rules(root, entries, findings);
  end_rules(root, entries, *status, options, findings);
  plan_rule(root, entries, options, findings);
  approval_rules(root, entries, findings);
  time_rules(root, findings);
  history_rules(root, entries, findings);
  score_rules(root, entries, findings);
  if (*status != Status::initialized && json::child(root, "step_history") == nullptr)
    findings.warning("S20", "/status",
                     "the workflow is " + std::string(json::text(root, "status").value_or("")) +
                         ", but has no step_history",
                     json::child(root, "status"), "a step_history");
}

}  // namespace

std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope) {
  std::map<std::string, Findings> all;
  if (scope == Scope::flow)
    return all;
  for (const auto& [path, accepted] : docs) {
    FindingList findings(kDialect);
    state_rules(path, accepted.document->root(), options, findings);
    if (Findings found = findings.take(); !found.empty())
      all[path] = std::move(found);
  }
  return all;
}

}  // namespace baton::ml_workflow
