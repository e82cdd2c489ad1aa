// SPDX-License-Identifier: Apache-2.0
#include "session_mutants.h"

#include <algorithm>
#include <variant>

#include "config/registry.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

const Dialect& right() {
  return *dialect("coordination");
}

/// Decides as if there were no files of the kinds for which `unseen` says so.
Decision decide_without(const View& view, bool (*unseen)(std::string_view kind)) {
  FlowState docs = view.docs;
  std::erase_if(docs, [&](const auto& row) { return unseen(row.second.kind); });
  return right().decide(with(view, docs, view.memo, view.options));
}

bool is_mail(std::string_view kind) {
  return kind == "dev_to_qa" || kind == "qa_to_techlead" || kind == "techlead_to_dev";
}

Admission admit_but(const View& view, const Change& change, bool open) {
  return open ? Admission{} : right().admit(view, change);
}

Decision without_updates(Decision decision, std::string_view path) {
  std::erase_if(decision.updates, [&](const Update& update) {
    const auto* const set = std::get_if<SetMembers>(&update);
    return set != nullptr && set->path == path;
  });
  return decision;
}

/// Nothing of a memo but what `keep` leaves.
Decision decide_with_memo(const View& view, const Json& memo) {
  return right().decide(with(view, view.docs, memo, view.options));
}

/// Dependencies are gone from the plan.
Decision decide_without_order(const View& view) {
  FlowState docs = view.docs;
  for (auto& [path, accepted] : docs) {
    if (accepted.kind != "pm_state")
      continue;
    Json plan(accepted.document->root());
    Json groups = Json::array();
    if (const Value* const old = json::child(*plan, "task_groups"); old != nullptr)
      for (const Value& task : old->GetArray())
        groups.push(Json(task).set("depends_on", Json::array()));
    if (auto loaded = load_document(plan.set("task_groups", groups).dump(), Format::json))
      accepted.document = *loaded;
  }
  return right().decide(with(view, docs, view.memo, view.options));
}

/// A message is read as soon as somebody was started.
Decision decide_and_read(const View& view) {
  Decision decision = right().decide(view);
  for (const auto& [path, accepted] : view.docs) {
    const Value* const list =
        is_mail(accepted.kind) ? json::child(accepted.document->root(), "messages") : nullptr;
    if (list == nullptr || list->Empty())
      continue;
    const std::string last = "/messages/" + std::to_string(list->Size() - 1) + "/read";
    const auto read = json::boolean((*list)[list->Size() - 1], "read").value_or(false);
    if (!read)
      decision.updates.emplace_back(
          SetMembers{path, accepted.document->digest(), {{last, "true"}}, "read at once"});
  }
  return decision;
}

/// What was read is taken out of its mailbox, and nowhere put.
Decision decide_and_drop(const View& view) {
  Decision decision = right().decide(view);
  for (const auto& [path, accepted] : view.docs) {
    const Value* const list =
        is_mail(accepted.kind) ? json::child(accepted.document->root(), "messages") : nullptr;
    if (list != nullptr && !list->Empty() && json::boolean((*list)[0], "read").value_or(false))
      decision.updates.emplace_back(
          SetMembers{path, accepted.document->digest(), {{"/messages/0", ""}}, "was read"});
  }
  return decision;
}

/// What was accepted of a group before is not known any more.
Admission admit_without_history(const View& view, const Change& change) {
  Json memo = view.memo;
  if (memo->IsObject())
    memo.set("groups", Json::object());
  return right().admit(with(view, view.docs, memo, view.options), change);
}

/// Whatever comes may be a person's word.
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

std::vector<SessionMutant> made() {
  return {
      {"last_writer_wins", admitting(nullptr)},
      {"messages_overwritten", admitting([](const View& view, const Change& change) {
         return admit_but(view, change, is_mail(change.kind));
       })},
      {"old_plans_taken", admitting([](const View& view, const Change& change) {
         return admit_but(view, change, change.kind == "pm_state");
       })},
      {"state_open_to_all", admitting([](const View& view, const Change& change) {
         return admit_but(view, change, change.kind == "orchestrator_state");
       })},
      {"copies_unknown", admitting(admit_without_history)},
      {"anybody_approves", admitting(admit_from_anybody)},
      {"messages_unseen", deciding([](const View& view) { return decide_without(view, is_mail); })},
      {"inbox_unseen", deciding([](const View& view) {
         return decide_without(view, [](std::string_view kind) { return kind == "inbox"; });
       })},
      {"order_unseen", deciding(decide_without_order)},
      {"starts_uncounted", deciding([](const View& view) {
         return without_updates(right().decide(view), "coordination/orchestrator_state.json");
       })},
      {"no_memory", deciding([](const View& view) { return decide_with_memo(view, Json()); })},
      {"claims_dropped", deciding([](const View& view) {
         Decision decision = right().decide(view);
         for (Desired& desired : decision.desired)
           desired.claims.clear();
         return decision;
       })},
      {"read_at_once", deciding(decide_and_read)},
      {"dropped_when_read", deciding(decide_and_drop)},
  };
}

}  // namespace

const std::vector<SessionMutant>& session_mutants() {
  static const std::vector<SessionMutant> all = made();
  return all;
}

}  // namespace baton::testing
