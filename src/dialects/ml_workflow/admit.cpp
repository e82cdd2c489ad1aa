// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/snapshot.h"

namespace baton::ml_workflow {
namespace {

/// Fixed at creation.
constexpr std::array<std::string_view, 3> kFixed = {"/workflow_id", "/created_at",
                                                    "/convergence_status/convergence_criteria"};
/// While an agent runs, baton puts back all changes of these members.
constexpr std::array<std::string_view, 10> kOwn = {
    "/current_phase",        "/current_step",      "/last_completed_step", "/convergence_status",
    "/human_approvals",      "/metrics",           "/phase_transitions",   "/step_transitions",
    "/total_execution_time", "/recovery_metadata",
};

/// What people want from the workflow. An agent that reports its work may not change that in the
/// same write.
constexpr std::array<std::string_view, 3> kAsked = {"/requirements", "/workspace_context",
                                                    "/workflow_name"};
/// Lists that parallel validators add to.
constexpr std::array<std::string_view, 2> kGathered = {"/artifacts/validation_reports",
                                                       "/artifacts/revision_history"};

/// Builds the version that the file should have.
class Merge {
 public:
  Merge(const View& view, const Change& change)
      : view_(view),
        before_(change.before->root()),
        after_(change.after.root()),
        memo_(memo_of(view.memo)),
        writers_(writers()),
        live_(change.unseen.has_value() || !writers_.empty()),
        side_by_side_(live_ && options_of(view.options).parallel),
        unseen_(change.unseen.has_value()),
        reports_(live_ && report()),
        refused_(memo_.refused),
        gave_up_(memo_.gave_up) {
    refused_.erase("/status");
    const auto snapshot = Snapshot::of(view);
    if (!snapshot)
      return;
    for (const Entry& entry : snapshot->entries)
      for (const Run& run : view.runs)
        if (snapshot->works_on(run, subject_of(entry)) && run.outcome != Outcome::voided)
          begun_.insert(entry.index);
  }

  Admission result(const Document& old, const Document& now) {
    status();
    for (const std::string_view pointer : kFixed)
      keep(pointer, "T3", "is fixed at creation");
    if (live_)
      for (const std::string_view pointer : kOwn)
        keep(pointer, pointer == "/human_approvals" ? "T5" : "T4",
             pointer == "/human_approvals" ? "does not change while an agent runs; people "
                                             "decide with `baton approve`"
                                           : "is kept by baton");
    else
      decisions();
    for (const std::string_view pointer : kAsked)
      refuse(std::string(pointer), live_, "T4",
             "must not be changed by the agent that reports its work");
    if (side_by_side_)
      gather();
    phase();
    entries();
    Admission admission;
    if (refused_ != memo_.refused || gave_up_ != memo_.gave_up) {
      Memo memo = memo_;
      memo.refused = refused_;
      memo.gave_up = gave_up_;
      admission.memo = json_of(memo);
    }
    if (edits_.empty())
      return admission;
    auto text = json::splice(now.text(), edits_);
    if (!text)
      return admission;
    const auto built = parse_json(*text);
    const bool nothing_new = built && **built == old.root();
    admission.why = why_;
    admission.findings = findings_.take();
    admission.verdict = nothing_new ? Admission::Verdict::restore : Admission::Verdict::merged;
    admission.text = std::move(*text);
    return admission;
  }

 private:
  /// The runs that may have written the file. baton often sees the last write of an agent together
  /// with the end of the agent, or later.
  std::set<RunId> writers() const {
    const bool known = json::child(*view_.memo, "over") != nullptr;
    std::set<RunId> all;
    for (const Run& run : view_.runs)
      if (run.live() || (known && !memo_.over.contains(run.id)))
        all.insert(run.id);
    return all;
  }

  void say(std::string_view rule, std::string_view pointer, const std::string& why) {
    const std::string message = std::string(pointer.substr(1)) + " " + why;
    why_ += (why_.empty() ? "" : "; ") + message;
    findings_.error(rule, std::string(pointer), message);
  }

  void put(std::string_view pointer, const Value* value) {
    edits_.push_back({std::string(pointer), value == nullptr ? "" : json::dump(*value)});
  }

  bool keep(std::string_view pointer, std::string_view rule, const std::string& why) {
    const Value* const old = json::at(before_, pointer);
    const Value* const now = json::at(after_, pointer);
    if (old == nullptr ? now == nullptr : now != nullptr && json::equal(*old, *now))
      return false;
    const auto above = pointer.rfind('/');
    if (above != 0 && json::at(after_, pointer.substr(0, above)) == nullptr)
      return false;  // baton puts the parent back as a whole, or the parent never existed
    put(pointer, old);
    say(rule, pointer, why);
    return true;
  }

  /// Puts back what an agent changed besides its work. With `copies`, it also puts the same value
  /// back if it comes again: another program may have copied it in between.
  void refuse(const std::string& pointer, bool copies, std::string_view rule,
              const std::string& why) {
    const Value* const now = json::at(after_, pointer);
    const std::string digest = now == nullptr ? "" : hex(digest_of(json::dump(*now)));
    const auto known = memo_.refused.find(pointer);
    const bool copied = copies && known != memo_.refused.end() && known->second == digest;
    if ((reports_ || copied) && keep(pointer, rule, why))
      refused_[pointer] = digest;
  }

  /// An agent that reports its work may not end the workflow, neither in the same write nor as long
  /// as it runs.
  void give_up() {
    constexpr std::string_view kWhy = "must not be set by the agent that reports its work";
    const bool repeated = std::any_of(writers_.begin(), writers_.end(), [&](const RunId& run) {
      return memo_.gave_up.contains(run);
    });
    if (repeated)
      keep("/status", "T2", std::string(kWhy));
    else
      refuse("/status", unseen_, "T2", std::string(kWhy));
    if (refused_.contains("/status"))
      gave_up_ = writers_;
  }

  void status() {
    const auto old = parse_status(json::text(before_, "status").value_or(""));
    const auto now = parse_status(json::text(after_, "status").value_or(""));
    if (!old || !now || *old == *now)
      return;
    if (kStatuses.at(static_cast<std::size_t>(*old)).ended)
      keep("/status", "T2", "is final; the workflow has ended");
    else if (*now == Status::initialized)
      keep("/status", "T2", "does not return to initialized");
    else if (live_ && (*now == Status::completed || *now == Status::running))
      keep("/status", "T2", "must not be set by the agent");
    else if (*now == Status::failed || *now == Status::cancelled)
      give_up();
  }

  void phase() {
    if (json::text(before_, "current_phase") == "phase_2" && !live_ &&
        json::text(after_, "current_phase") == "phase_1")
      keep("/current_phase", "T4", "does not go back");
  }

  /// People may add decisions, but not remove or change them.
  void decisions() {
    const auto old = list_at(before_, kDecisions);
    const auto now = list_at(after_, kDecisions);
    if (old.Size() > now.Size() || !std::equal(old.begin(), old.end(), now.begin(), json::equal))
      keep("/human_approvals", "T5", "lost or changed a decision");
  }

  static bool same(const Value& one, const Value& other) {
    for (const std::string_view name : {"step_number", "template", "started_at"})
      if (!json::equal(member(one, name), member(other, name)))
        return false;
    return true;
  }

  /// The new entry, with the record of errors and recoveries that baton has written into the old
  /// one.
  static Json with_recovery(const Value& old, const Value& now) {
    Json entry(now);
    const Value& had = member(old, "error_info");
    if (!had.IsObject())
      return entry;
    Json error(had);
    for (const auto& each : members_in(now, "error_info"))
      if (const std::string_view name = json::name(each.name);
          name != "recovery_attempts" && name != "recovery_strategies")
        error.set(name, each.value);
    return entry.set("error_info", error);
  }

  /// Whether an added entry stands for the end of an entry in progress. Some agents add an entry
  /// instead of completing their own.
  static bool update_of(const Value& old, const Value& added) {
    if (json::text(old, "status") != "in_progress" ||
        json::integer(old, "step_number") != json::integer(added, "step_number") ||
        json::text(added, "status") == "in_progress")
      return false;
    const auto name = json::text(added, "template");
    return !name || name == json::text(old, "template");
  }

  /// Whether this version looks like the report of an agent: an entry has ended in it, or an entry
  /// is missing because the agent's copy is older.
  bool report() const {
    const auto now = list_at(after_, "/step_history");
    for (const Value& entry : list_at(before_, "/step_history")) {
      bool there = false;
      for (const Value& each : now) {
        const bool its_own = same(entry, each);
        there = there || its_own;
        if (update_of(entry, each) ||
            (its_own && json::text(each, "status") != "in_progress" && !json::equal(entry, each)))
          return true;
      }
      if (!there)
        return true;
    }
    return false;
  }

  /// Keeps what one validator has added and the copy of the other one lacks.
  void gather() {
    if (json::child(after_, "artifacts") == nullptr) {
      keep("/artifacts", "T4", "was missing");
      return;
    }
    for (const std::string_view pointer : kGathered) {
      const auto now = list_at(after_, pointer);
      const auto old = list_at(before_, pointer);
      const auto has = [](Value::ConstArray list, const Value& item) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Value& each) { return json::equal(each, item); });
      };
      if (std::all_of(old.begin(), old.end(), [&](const Value& item) { return has(now, item); }))
        continue;
      Json all(value_at(before_, pointer));
      for (const Value& item : now)
        if (!has(old, item))
          all.push(Json(item));
      put(pointer, &*all);
      say("T4", pointer, "lost what another validator added");
    }
  }

  /// The same entry in the new version, unless it is used already; nullptr: none.
  const Value* counterpart(const Value& entry) const {
    for (const Value& each : list_at(after_, "/step_history"))
      if (!used_.contains(&each) && same(entry, each))
        return &each;
    return nullptr;
  }

  /// An entry in progress as its agent left it: in place, or as an added entry.
  Json worked_on(std::size_t index, const Value& entry, const Value* now) {
    Json taken = now != nullptr ? with_recovery(entry, *now) : Json(entry);
    if (!live_ || !begun_.contains(index))
      return taken;
    for (const Value& each : list_at(after_, "/step_history")) {
      if (used_.contains(&each) || !update_of(entry, each))
        continue;
      used_.insert(&each);
      for (const auto& member : each.GetObject())
        taken.set(json::name(member.name), member.value);
      taken = with_recovery(entry, *taken);
    }
    return taken;
  }

  /// T1: keeps and completes the accepted entries.
  void entries() {
    std::string lost;  // what is wrong in the new version
    Json merged = Json::array();
    std::size_t index = 0;
    for (const Value& entry : list_at(before_, "/step_history")) {
      const Value* const now = counterpart(entry);
      used_.insert(now);
      const bool open = json::text(entry, "status") == "in_progress";
      const Json taken = open ? worked_on(index, entry, now) : Json(entry);
      if (now == nullptr)
        lost = "lost an entry";
      else if (!json::equal(*taken, *now))
        lost = "changed an entry that has ended";
      merged.push(taken);
      ++index;
    }
    for (const Value& entry : list_at(after_, "/step_history"))
      if (!used_.contains(&entry) && live_ && json::text(entry, "status") != "skipped")
        lost = "has an entry that baton did not add";
      else if (!used_.contains(&entry))
        merged.push(Json(entry));
    const Value* const list = json::child(after_, "step_history");
    if (list == nullptr ? merged->Empty() : json::equal(*merged, *list))
      return;
    put("/step_history", &*merged);
    say("T1", "/step_history", lost.empty() ? "is kept by baton" : lost);
  }

  const View& view_;
  const Value& before_;
  const Value& after_;
  Memo memo_;
  std::set<RunId> writers_;                     ///< runs that may have written it
  bool live_;                                   ///< an agent may have written it
  bool side_by_side_;                           ///< two validators may run at the same time
  bool unseen_;                                 ///< the writer had not seen baton's last write
  bool reports_;                                ///< it looks like the report of an agent
  std::map<std::string, std::string> refused_;  ///< new value of Memo::refused
  std::set<RunId> gave_up_;                     ///< new value of Memo::gave_up
  std::set<std::size_t> begun_;                 ///< entries for which baton has started an agent
  std::vector<json::Edit> edits_;
  FindingList findings_{kDialect};
  std::set<const Value*> used_;  ///< entries of the new version that are handled
  std::string why_;
};

}  // namespace

Admission admit(const View& view, const Change& change) {
  if (change.before == nullptr)
    return {};
  return Merge(view, change).result(*change.before, change.after);
}

}  // namespace baton::ml_workflow
