// SPDX-License-Identifier: Apache-2.0
#include "workflow_mutants.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "config/registry.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

const Dialect& right() {
  return *dialect("ml_workflow");
}

Decision decide(const View& view, const FlowState& docs) {
  return right().decide(with(view, docs, view.memo, view.options));
}

Decision decide_by(const View& view, const Json& options) {
  return right().decide(with(view, view.docs, view.memo, options));
}

/// The documents as somebody sees them who makes `edits` of the state file in his mind. What is
/// written refers to the file as it stands.
Decision decide_seeing(const View& view, std::vector<json::Edit> (*edits)(const Value& root)) {
  FlowState docs = view.docs;
  Digest seen{};
  Digest stands{};
  for (auto& [path, accepted] : docs) {
    if (accepted.kind != "state" || accepted.document == nullptr)
      continue;
    auto text = json::splice(accepted.document->text(), edits(accepted.document->root()));
    if (!text)
      continue;
    auto document = load_document(std::move(*text), Format::json);
    if (!document)
      continue;
    seen = (*document)->digest();
    stands = accepted.document->digest();
    accepted.document = *document;
  }
  Decision decision = decide(view, docs);
  for (Update& update : decision.updates)
    if (auto* const set = std::get_if<SetMembers>(&update); set != nullptr && set->assumes == seen)
      set->assumes = stands;
  return decision;
}

/// Each entry of step_history for which `wanted` says so, with something else in it.
std::vector<json::Edit> in_entries(const Value& root, bool (*wanted)(const Value& entry),
                                   const std::string& member, const std::string& text) {
  std::vector<json::Edit> edits;
  const Value* const list = json::child(root, "step_history");
  for (rapidjson::SizeType i = 0; list != nullptr && list->IsArray() && i < list->Size(); ++i)
    if (wanted((*list)[i]))
      edits.push_back({"/step_history/" + std::to_string(i) + "/" + member, text});
  return edits;
}

/// Whatever b says, a counts.
std::vector<json::Edit> without_b(const Value& root) {
  return in_entries(
      root,
      [](const Value& entry) {
        return json::text(entry, "status") == "completed" &&
               json::text(entry, "template").value_or("").starts_with("step5b");
      },
      "validation_scores",
      R"({"alignment_score": 10, "standardization_score": 10, "compatibility_score": 10})");
}

/// What has failed is not seen to have failed.
std::vector<json::Edit> without_failures(const Value& root) {
  return in_entries(
      root, [](const Value& entry) { return json::text(entry, "status") == "failed"; },
      "error_info/recovery_attempts", "0");
}

/// Whatever is paused or at its end goes on.
std::vector<json::Edit> always_running(const Value& root) {
  const auto status = json::text(root, "status");
  return status == "initialized" ? std::vector<json::Edit>{}
                                 : std::vector<json::Edit>{{"/status", "\"running\""}};
}

/// Every decision is about whatever was validated last.
Decision decide_by_old_approvals(const View& view) {
  Json memo = view.memo;
  if (const Value* const judged = json::child(*memo, "judged")) {
    Json all(*judged);
    for (const auto& member : judged->GetObject())
      all.set(member.name.GetString(), Json(member.value).set("from", Json(0)).set("flag", false));
    memo.set("judged", all);
  }
  return right().decide(with(view, view.docs, memo, view.options));
}

Decision decide_without_memory(const View& view) {
  const Json nothing;
  Decision decision = right().decide(with(view, view.docs, nothing, view.options));
  decision.memo = Json();
  return decision;
}

/// Without what is written to a member.
Decision without_edits(Decision decision, std::string_view pointer) {
  for (Update& update : decision.updates)
    if (auto* const set = std::get_if<SetMembers>(&update))
      std::erase_if(set->edits, [&](const json::Edit& edit) { return edit.pointer == pointer; });
  return decision;
}

Decision without_backups(const View& view) {
  Decision decision = right().decide(view);
  std::erase_if(decision.updates,
                [](const Update& update) { return std::holds_alternative<Backup>(update); });
  return decision;
}

/// Nobody is at work while somebody writes: whatever comes is a person's.
Admission admit_from_anybody(const View& view, const Change& change) {
  View other = with(view, view.docs, view.memo, view.options);
  other.runs = {};
  return right().admit(other, change);
}

Dialect deciding(Decision (*decide)(const View&)) {
  Dialect changed = right();
  changed.decide = decide;
  return changed;
}

Dialect admitting(Admission (*admit)(const View&, const Change&)) {
  Dialect changed = right();
  changed.admit = admit;
  return changed;
}

std::vector<WorkflowMutant> made() {
  return {
      {"last_writer_wins", admitting(nullptr)},
      {"anybody_approves", admitting(admit_from_anybody)},
      {"old_approvals_count", deciding(decide_by_old_approvals)},
      {"nobody_is_asked", deciding([](const View& view) {
         return decide_by(view, Json(view.options).set("approvals", Json::array()));
       })},
      {"no_limit", deciding([](const View& view) {
         return decide_by(view, Json(view.options).set("plan_attempts", Json(1000)));
       })},
      {"higher_score_counts",
       deciding([](const View& view) { return decide_seeing(view, without_b); })},
      {"failures_uncounted",
       deciding([](const View& view) { return decide_seeing(view, without_failures); })},
      {"never_halts",
       deciding([](const View& view) { return decide_seeing(view, always_running); })},
      {"no_memory", deciding(decide_without_memory)},
      {"rounds_unrecorded", deciding([](const View& view) {
         return without_edits(right().decide(view), "/convergence_status/convergence_history/-");
       })},
      {"steps_unrecorded", deciding([](const View& view) {
         return without_edits(right().decide(view), "/step_transitions/-");
       })},
      {"no_backups", deciding(without_backups)},
  };
}

}  // namespace

const std::vector<WorkflowMutant>& workflow_mutants() {
  static const std::vector<WorkflowMutant> all = made();
  return all;
}

}  // namespace baton::testing
