// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/snapshot.h"

#include <algorithm>

#include "dialects/findings.h"
#include "dialects/memo_fields.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kStepDigits = "1234567";

/// A code validation that does not name its half counts as the half that its round lacks.
void assign_halves(std::vector<Entry>& entries) {
  bool first = false;
  for (Entry& entry : entries) {
    if (!code_validation(entry.step)) {
      first = false;
      continue;
    }
    if (entry.half == Half::whole)
      entry.half = first ? Half::b : Half::a;
    if (entry.completed())
      first = entry.half == Half::a;
  }
}

std::int64_t positive(const Value& options, std::string_view name, std::int64_t otherwise) {
  const auto number = json::integer(options, name);
  return number && *number > 0 ? *number : otherwise;
}

}  // namespace

Options options_of(const Json& given_options) {
  const Value& given = *given_options;
  Options options;
  options.parallel = json::text(given, "validators") == "parallel";
  options.plan_attempts = positive(given, "plan_attempts", options.plan_attempts);
  options.code_attempts = positive(given, "code_attempts", options.code_attempts);
  options.max_steps = positive(given, "max_steps", options.max_steps);
  if (const auto folder = json::text(given, "templates"); folder && !folder->empty())
    options.templates = *folder;
  const auto duration = [&](std::string_view name, std::string_view otherwise) {
    const auto time = parse_duration(json::text(given, name).value_or(otherwise));
    return time.value_or(Millis(0));
  };
  options.reminders = duration("reminders", "24h");
  options.approval_patience = duration("approval_patience", "0s");
  return options;
}

bool required(const Json& options, std::string_view approval) {
  const Value* const wanted = json::child(*options, "approvals");
  return wanted != nullptr ? lists(wanted, approval) : approval != "code";
}

template <class Visit>
void fields(ValidationMark& mark, Visit visit) {
  visit("entry", mark.entry);
  visit("from", mark.from);
  visit("flag", mark.flag);
}

template <class Visit>
void fields(AskedApproval& asked, Visit visit) {
  visit("approval", asked.approval);
  visit("entry", asked.entry);
  visit("since_ms", asked.since_ms);
}

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("decisions", memo.decisions);
  visit("judged", memo.marks);
  visit("base", memo.base);
  visit("escalated", memo.escalated);
  visit("escalations", memo.escalations);
  visit("paused_ms", memo.paused_ms);
  visit("asked", memo.asked_approval);
  visit("answer", memo.answer);
  visit("heard", memo.answered);
  visit("backups", memo.backups);
  visit("backup_ms", memo.backup_ms);
  visit("folders", memo.folders);
  visit("over", memo.over);
  visit("gave_up", memo.gave_up);
  visit("refused", memo.refused);
}

Memo memo_of(const Json& json) {
  Memo memo;
  memo.fresh = !json->IsObject();
  read_memo(*json, memo);
  return memo;
}

Json json_of(const Memo& memo) {
  return write_memo(memo);
}

Subject subject_of(const Work& work) {
  return std::to_string(work.step) + (work.half == Half::a ? "a" : work.half == Half::b ? "b" : "");
}

Subject subject_of(const Entry& entry) {
  return subject_of(Work{entry.step, entry.half});
}

std::optional<Work> parse_work(std::string_view subject) {
  if (subject.empty() || kStepDigits.find(subject[0]) == std::string_view::npos)
    return std::nullopt;
  Work work{subject[0] - '0', Half::whole};
  if (subject.size() == 2 && code_validation(work.step))
    work.half = subject[1] == 'a' ? Half::a : Half::b;
  return subject_of(work) == subject ? std::optional(work) : std::nullopt;
}

std::optional<Snapshot> Snapshot::of(const View& view) {
  const auto found = std::find_if(view.docs.begin(), view.docs.end(),
                                  [](const auto& row) { return row.second.kind == "state"; });
  if (found == view.docs.end())
    return std::nullopt;
  const Value& root = found->second.document->root();
  const auto status = parse_status(json::text(root, "status").value_or(""));
  if (!status)
    return std::nullopt;
  Snapshot snapshot{
      view,    found->second, root, found->first, options_of(view.options), memo_of(view.memo),
      *status, history(root)};
  assign_halves(snapshot.entries);
  return snapshot;
}

const Entry* Snapshot::newest(const Subject& subject) const {
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [&](const Entry& entry) { return subject_of(entry) == subject; });
  return found == entries.rend() ? nullptr : &*found;
}

std::size_t Snapshot::count(const Subject& subject) const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const Entry& entry) { return subject_of(entry) == subject; }));
}

std::uint64_t Snapshot::generation(const Subject& subject) const {
  const auto found = view.stages.find(subject);
  return found == view.stages.end() || found->second.stage.empty() ? 0 : found->second.generation;
}

bool Snapshot::works_on(const Run& run, const Subject& subject) const {
  return run.key.subject == subject && run.key.generation == generation(subject);
}

const Run* Snapshot::live(const Subject& subject) const {
  for (const Run& run : view.runs)
    if (run.live() && works_on(run, subject))
      return &run;
  return nullptr;
}

bool Snapshot::plan_phase() const {
  return json::text(root, "current_phase") != "phase_2";
}

std::string Snapshot::now() const {
  return iso_time(view.wall);
}

}  // namespace baton::ml_workflow
