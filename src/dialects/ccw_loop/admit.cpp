// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/digest.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/memo.h"
#include "dialects/findings.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

constexpr std::array<std::string_view, 2> kIdentity = {"loop_id", "created_at"};
constexpr std::array<std::string_view, 3> kControl = {"status", "completed_at", "failure_reason"};

bool same(const Value& before, const Value& after, std::string_view name) {
  return json::equal(member(before, name), member(after, name));
}

bool has(const std::vector<std::string>& history, const std::string& digest) {
  return std::find(history.begin(), history.end(), digest) != history.end();
}

/// The id of a task that was completed before and is not completed now; empty: none.
std::string undone_task(const Value& before, const Value& after) {
  const auto tasks = items_in(member(after, "develop"), "tasks");
  for (const Value& task : items_in(member(before, "develop"), "tasks")) {
    if (json::text(task, "status") != "completed")
      continue;
    const Value* const now = item_of(tasks, json::text(task, "id").value_or(""));
    if (now == nullptr || json::text(*now, "status") != "completed")
      return text_of(task, "id");
  }
  return {};
}

/// Whether the work in `after` is behind that in `before`.
bool went_back(const Value& before, const Value& after) {
  if (!before.IsObject())
    return false;
  if (!after.IsObject() || !undone_task(before, after).empty())
    return true;
  for (const auto& [part, name] :
       {std::pair("develop", "last_progress_at"), std::pair("debug", "last_analysis_at"),
        std::pair("validate", "last_run_at")})
    if (timestamp(member(after, part), name) < timestamp(member(before, part), name))
      return true;
  const auto shrank = [&](std::string_view name) {
    return items_in(after, name).Size() < items_in(before, name).Size();
  };
  return shrank("completed_actions") || shrank("errors");
}

/// Compares two versions and collects the corrections of the newer one.
class Comparison {
 public:
  Comparison(const View& view, const Change& change)
      : change_(change),
        memo_(memo_of(view.memo)),
        before_(change.before->root()),
        after_(change.after.root()),
        old_(loop_of(before_)),
        new_(loop_of(after_)) {}

  Admission judge() {
    identity();
    progress();
    metadata();
    status();
    return admission();
  }

 private:
  void put_back(std::string_view name) {
    const Value* const value = json::child(before_, name);
    edits_.push_back(
        json::Edit{"/" + std::string(name), value == nullptr ? "" : json::dump(*value)});
  }

  template <std::size_t kSize>
  void put_back(const std::array<std::string_view, kSize>& names) {
    for (const std::string_view name : names)
      if (!same(before_, after_, name))
        put_back(name);
  }

  void broken(std::string_view rule, std::string_view name, const std::string& why) {
    findings_.error(rule, "/" + std::string(name), why);
    why_ += (why_.empty() ? "" : "; ") + why;
  }

  /// T3: members that never change.
  void identity() {
    for (const std::string_view name : kIdentity)
      if (!same(before_, after_, name)) {
        broken("T3", name, "`" + std::string(name) + "` never changes");
        put_back(name);
      }
  }

  /// T5: current_iteration never falls. T7: baton puts back a skill_state that is an old copy, and
  /// it does not count as new work.
  void progress() {
    skill_changed_ = !same(before_, after_, "skill_state");
    iteration_changed_ = new_.iteration != old_.iteration;
    const std::string undone =
        undone_task(member(before_, "skill_state"), member(after_, "skill_state"));
    if (skill_changed_ && has(memo_.skills, skill_digest(after_)) &&
        went_back(member(before_, "skill_state"), member(after_, "skill_state"))) {
      broken("T7", "skill_state", "skill_state is an old copy");
      put_back("skill_state");
      stale_skill_ = true;
    } else if (!undone.empty()) {
      warning_ = "task " + undone + " was completed and is not any more (ccw_loop/T7)";
    }
    if (new_.iteration < old_.iteration) {
      broken("T5", "current_iteration",
             "current_iteration went back from " + std::to_string(old_.iteration) + " to " +
                 std::to_string(new_.iteration));
      put_back("current_iteration");
    }
  }

  /// T4: metadata that changes together with the work comes from an executor's old copy, so baton
  /// puts it back. At the daemon's first look, a person may have changed the metadata and an
  /// executor the work. Then baton puts back only a value that an earlier version had.
  void metadata() {
    if (!skill_changed_ && !iteration_changed_)
      return;
    for (const std::string_view name : kMetadata)
      if (!same(before_, after_, name) &&
          (!change_.first_look || has(memo_.metadata, metadata_digest(after_, name)))) {
        broken("T4", name, "`" + std::string(name) + "` must not be changed by the executor");
        put_back(name);
      }
  }

  /// T1, T2, T6: changes of the status.
  void status() {
    const bool touched = skill_changed_ || iteration_changed_;
    const bool worked = (skill_changed_ && !stale_skill_) || new_.iteration > old_.iteration;
    if (old_.status == new_.status) {
      knows_of_resume_ = worked && new_.status == Status::running && !memo_.resumed_over.empty();
      return;
    }
    // A stop is the safe choice, so baton accepts it even from an outdated copy.
    const bool stop = new_.status == Status::failed && old_.status != Status::completed;
    if (stop && parked() && (touched || change_.unseen))
      return;
    if (const auto why = touched ? lost_word() : old_word(); !why.empty())
      refuse(touched ? "T6" : "T1", std::string(why));
    else if (worked ? new_.status == Status::created : !legal_move(old_.status, new_.status))
      refuse("T1", "this change of the status is not allowed in the file");
  }

  /// Why a status that comes with an executor's work does not count; empty: it counts.
  std::string_view lost_word() const {
    if (parked())
      return "an old copy of an executor does not change that";
    if (from_before_resume())
      return "a copy of an executor from before the start does not change that";
    return {};
  }

  /// Why a status that comes without work does not count; empty: it counts.
  std::string_view old_word() const {
    if (parked() && change_.unseen)
      return "its writer had not seen that";
    if (parked() && old_copy())
      return "an old copy of the whole file";
    if (asked_to_pause() && new_.status == Status::running)
      return "a request paused the loop, and an executor from before that is running";
    return {};
  }

  void refuse(std::string_view rule, const std::string& why) {
    broken(rule, "status",
           "the loop is " + std::string(word(old_.status)) + ", not " +
               std::string(word(new_.status)) + ": " + why);
    put_back(kControl);
  }

  /// Whether the whole file is an old version. A version that baton has corrected always is. Any
  /// other earlier version counts as old only until baton has seen the executor leave. After that,
  /// only a person can bring it back, and means it.
  bool old_copy() const {
    const std::string digest = hex(change_.after.digest());
    return has(memo_.corrected, digest) || (!memo_.left && has(memo_.states, digest));
  }

  /// A request paused the loop, and an executor that has not seen the pause may still be alive. Its
  /// old copy looks like a person who resumes the loop, so only a request may resume it.
  bool asked_to_pause() const {
    return old_.status == Status::paused && memo_.pause_asked && !memo_.left;
  }

  /// Whether an executor brings back the status from before a request set the loop to running. It
  /// is no person's pause: a person does not change the work in the same write.
  bool from_before_resume() const {
    const bool aside = new_.status == Status::paused || new_.status == Status::user_exit;
    return old_.status == Status::running && aside && !memo_.left &&
           memo_.resumed_over == word(new_.status);
  }

  bool parked() const { return old_.status != Status::running && old_.status != Status::created; }

  Admission admission() {
    Admission admission;
    const bool told = memo_.warning != warning_;
    memo_.warning = warning_;
    if (knows_of_resume_)
      memo_.resumed_over.clear();
    if (told || knows_of_resume_)
      admission.memo = json_of(memo_);
    if (edits_.empty())
      return admission;
    // If the same bytes come again, they are an old copy.
    remember(memo_.corrected, hex(change_.after.digest()));
    admission.memo = json_of(memo_);
    auto text = json::splice(change_.after.text(), edits_);
    if (!text)
      return admission;
    admission.why = why_;
    admission.findings = findings_.take();
    admission.verdict =
        nothing_new(*text) ? Admission::Verdict::restore : Admission::Verdict::merged;
    admission.text = std::move(*text);
    return admission;
  }

  /// Whether the corrected version equals the accepted one, except for updated_at.
  bool nothing_new(const std::string& text) const {
    auto parsed = parse_json(text);
    if (!parsed)
      return false;
    Json now = *parsed;
    now.set("updated_at", member(before_, "updated_at"));
    return now == Json(before_);
  }

  const Change& change_;
  Memo memo_;
  const Value& before_;
  const Value& after_;
  Loop old_;
  Loop new_;
  bool skill_changed_ = false;
  bool iteration_changed_ = false;
  bool stale_skill_ = false;
  bool knows_of_resume_ = false;
  std::vector<json::Edit> edits_;
  FindingList findings_{kDialect};
  std::string why_;
  std::string warning_;
};

}  // namespace

Admission admit(const View& view, const Change& change) {
  if (change.kind != "state" || change.before == nullptr)
    return {};
  return Comparison(view, change).judge();
}

}  // namespace baton::ccw_loop
