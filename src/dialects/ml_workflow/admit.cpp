#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

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
    for (const Entry& entry : snapshot->entries) {
      const Subject subject = subject_of(entry);
      for (const Run& run : view.runs)
        if (run.key.subject == subject && run.key.generation == snapshot->generation(subject) &&
            run.outcome != Outcome::voided)
          begun_.insert(entry.index);
    }
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
    admission.findings = std::move(findings_);
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
    Finding finding;
    finding.rule = "ml_workflow/" + std::string(rule);
    finding.pointer = pointer;
    finding.message = std::string(pointer.substr(1)) + " " + why;
    why_ += (why_.empty() ? "" : "; ") + finding.message;
    findings_.push_back(std::move(finding));
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
    constexpr std::string_view kList = "/human_approvals/approval_history";
    const auto old = list_at(before_, kList);
    const auto now = list_at(after_, kList);
    bool kept = old.size() <= now.size();
    for (std::size_t i = 0; kept && i < old.size(); ++i)
      kept = json::equal(*old[i], *now[i]);
    if (!kept)
      keep("/human_approvals", "T5", "lost or changed a decision");
  }

  static bool same(const Value& one, const Value& other) {
    for (const std::string_view member : {"step_number", "template", "started_at"}) {
      const Value* const a = json::child(one, member);
      const Value* const b = json::child(other, member);
      if ((a == nullptr || a->IsNull()) != (b == nullptr || b->IsNull()) ||
          (a != nullptr && b != nullptr && !json::equal(*a, *b)))
        return false;
    }
    return true;
  }

  /// The new entry, with the record of errors and recoveries that baton has written into the old
  /// one.
  static Json with_recovery(const Value& old, const Value& now) {
    Json entry(now);
    const Value* const had = json::child(old, "error_info");
    const Value* const has = json::child(now, "error_info");
    if (had == nullptr || !had->IsObject())
      return entry;
    Json error(*had);
    if (has != nullptr && has->IsObject())
      for (const auto& member : has->GetObject())
        if (const std::string_view name = member.name.GetString();
            name != "recovery_attempts" && name != "recovery_strategies")
          error.set(name, member.value);
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
    for (const Value* const entry : list_at(before_, "/step_history")) {
      bool there = false;
      for (const Value* const each : now) {
        const bool its_own = same(*entry, *each);
        there = there || its_own;
        if (update_of(*entry, *each) || (its_own && json::text(*each, "status") != "in_progress" &&
                                         !json::equal(*entry, *each)))
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
      const auto has = [](const std::vector<const Value*>& list, const Value& item) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Value* each) { return json::equal(*each, item); });
      };
      const auto old = list_at(before_, pointer);
      Json all = Json::array();
      bool lost = false;
      for (const Value* const item : old) {
        all.push(Json(*item));
        lost = lost || !has(now, *item);
      }
      for (const Value* const item : now)
        if (!has(old, *item))
          all.push(Json(*item));
      if (!lost)
        continue;
      put(pointer, &*all);
      say("T4", pointer, "lost what another validator added");
    }
  }

  /// The index of the same entry in the new version, unless it is used already.
  static std::optional<std::size_t> counterpart(const Value& entry,
                                                const std::vector<const Value*>& now,
                                                const std::vector<bool>& used) {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (!used[i] && same(entry, *now[i]))
        return i;
    return std::nullopt;
  }

  /// An entry in progress as its agent left it: in place, or as an added entry.
  Json worked_on(std::size_t own, const Value& entry, std::optional<std::size_t> at,
                 const std::vector<const Value*>& now, std::vector<bool>& used) const {
    Json taken = at ? with_recovery(entry, *now[*at]) : Json(entry);
    if (!live_ || !begun_.contains(own))
      return taken;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (used[i] || !update_of(entry, *now[i]))
        continue;
      used[i] = true;
      for (const auto& member : now[i]->GetObject())
        taken.set(member.name.GetString(), member.value);
      taken = with_recovery(entry, *taken);
    }
    return taken;
  }

  /// The accepted entries, kept or completed. Sets `lost` to what is wrong in the new version.
  Json kept_entries(const std::vector<const Value*>& now, std::vector<bool>& used,
                    std::string& lost) const {
    Json kept = Json::array();
    const auto old = list_at(before_, "/step_history");
    for (std::size_t own = 0; own < old.size(); ++own) {
      const Value& entry = *old[own];
      const auto at = counterpart(entry, now, used);
      if (at)
        used[*at] = true;
      const bool open = json::text(entry, "status") == "in_progress";
      const Json taken = open ? worked_on(own, entry, at, now, used) : Json(entry);
      if (!at)
        lost = "lost an entry";
      else if (!(taken == Json(*now[*at])))
        lost = "changed an entry that has ended";
      kept.push(taken);
    }
    return kept;
  }

  void entries() {
    const auto now = list_at(after_, "/step_history");
    std::vector<bool> used(now.size(), false);
    std::string lost;
    Json merged = kept_entries(now, used, lost);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (!used[i] && live_ && json::text(*now[i], "status") != "skipped")
        lost = "has an entry that baton did not add";
      else if (!used[i])
        merged.push(Json(*now[i]));
    const Value* const list = json::child(after_, "step_history");
    const bool same_list = list == nullptr ? merged->Empty() : merged == Json(*list);
    if (same_list)
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
  Findings findings_;
  std::string why_;
};

}  // namespace

Admission admit(const View& view, const Change& change) {
  if (change.before == nullptr)
    return {};
  return Merge(view, change).result(*change.before, change.after);
}

}  // namespace baton::ml_workflow
