// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/next_step.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json/numbers.h"
#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/tables.h"
#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

struct ErrorRow {
  std::string_view word;
  std::array<std::string_view, 2> strategies;
};
constexpr std::string_view kExtended = "retry_with_extended_timeout";
constexpr std::string_view kAnother = "retry_with_different_agent_instance";
constexpr std::string_view kCorrected = "retry_with_corrected_input";
constexpr std::string_view kPerson = "escalate_to_human";
/// What baton tries before it asks a person. For other error types it asks at once.
constexpr std::array kErrors = {
    ErrorRow{"agent_timeout", {kExtended, kAnother}},
    ErrorRow{"timeout", {kExtended, kAnother}},
    ErrorRow{"validation_error", {kCorrected, kCorrected}},
    ErrorRow{"resource_exhaustion", {kAnother, kAnother}},
    ErrorRow{kAgentExit, {kAnother, kAnother}},
};

NextStep work(std::vector<Work> works, std::string why) {
  return {.kind = NextStep::Kind::work, .works = std::move(works), .why = std::move(why)};
}

NextStep outcome(NextStep::Kind kind, std::string why) {
  return {.kind = kind, .why = std::move(why)};
}

NextStep end(std::string_view status, std::string why) {
  NextStep next = outcome(NextStep::Kind::end, std::move(why));
  next.status = status;
  return next;
}

NextStep escalate(std::string limit, std::string why) {
  NextStep next = outcome(NextStep::Kind::escalate, std::move(why));
  next.limit = std::move(limit);
  return next;
}

std::int64_t base(const Snapshot& snapshot, const std::string& what) {
  const auto found = snapshot.memo.base.find(what);
  return found == snapshot.memo.base.end() ? 0 : found->second;
}

/// The newest entry of a half since the code last changed.
const Entry* in_round(const Snapshot& snapshot, Half half) {
  for (auto entry = snapshot.entries.rbegin();
       entry != snapshot.entries.rend() && !code_change(entry->step); ++entry)
    if (entry->half == half || entry->half == Half::both)
      return &*entry;
  return nullptr;
}

/// The number of the due code validation: 5 after the first code, 7 after a refinement. Other
/// programs may write 5 after a refinement too, so the second half takes the number of the first
/// one.
std::int64_t validation_step(const Snapshot& snapshot) {
  for (const Half half : {Half::a, Half::b})
    if (const Entry* const other = in_round(snapshot, half))
      return other->step;
  const auto change = std::find_if(snapshot.entries.rbegin(), snapshot.entries.rend(),
                                   [](const Entry& entry) { return code_change(entry.step); });
  return change != snapshot.entries.rend() && change->step == 6 ? 7 : 5;
}

/// Whether the flag says approved and no newer decision contradicts it (as in S10 and S11).
bool flag_counts(const Snapshot& snapshot, std::string_view approval) {
  return flag_at(snapshot.root, "/human_approvals/" + std::string(approval) + "_approved") &&
         outranks_flag(snapshot.root, snapshot.entries, approval).empty();
}

/// Explains why a flag that a person set does not count.
std::string flag_hint(const Snapshot& snapshot, const std::string& approval) {
  const std::string decision(outranks_flag(snapshot.root, snapshot.entries, approval));
  return decision.empty() ? ""
                          : "; " + approval + "_approved is true, but the newest decision is " +
                                decision + ", which counts";
}

/// `plan`, `code`, or for `final` the result.
std::string what_is_approved(const std::string& approval) {
  return approval == "final" ? "result (final)" : approval;
}

/// Looks at the approvals in this order and returns what follows from the first one that is missing
/// or negative. Not set: all are given.
std::optional<NextStep> ask_people(const Snapshot& snapshot,
                                   std::initializer_list<std::string_view> approvals,
                                   std::int64_t revision, std::string_view rejected) {
  for (const std::string_view approval : approvals) {
    if (!required(snapshot.view.options, approval))
      continue;
    const std::string decision = decided(snapshot, approval);
    const std::string name(approval);
    if (decision.empty()) {
      NextStep next =
          outcome(NextStep::Kind::approval, "a person has to approve the " +
                                                what_is_approved(name) + flag_hint(snapshot, name));
      next.approval = name;
      return next;
    }
    if (decision == "changes_requested")
      return work({Work{revision, Half::whole}}, "a person asked for changes (" + name + ")");
    if (decision == "rejected")
      return end(rejected, "a person has rejected the " + what_is_approved(name));
  }
  return std::nullopt;
}

/// Whether the file says that the present plan is approved. After a revision only the flag counts,
/// because an earlier decision may be about an older plan.
bool plan_approved(const Snapshot& snapshot) {
  const bool revised = std::any_of(snapshot.entries.begin(), snapshot.entries.end(),
                                   [](const Entry& entry) { return entry.step == 3; });
  return flag_counts(snapshot, "plan") ||
         (!revised && approved(snapshot.root, snapshot.entries, "plan"));
}

NextStep after_plan_validation(const Snapshot& snapshot) {
  const Round round = judge_round(snapshot.root, snapshot.entries, true);
  if (round.pass || !snapshot.plan_phase()) {
    // If another program has moved the workflow to phase_2, the approval in the file is enough.
    const bool given = !snapshot.plan_phase() && plan_approved(snapshot);
    if (auto approval_step =
            given ? std::nullopt : ask_people(snapshot, {"plan"}, 3, "cancelled")) {
      // Step 3 belongs to phase_1, so the workflow goes back there first.
      if (approval_step->kind == NextStep::Kind::work && !snapshot.plan_phase())
        return outcome(NextStep::Kind::phase_1, approval_step->why);
      return *approval_step;
    }
    if (snapshot.plan_phase())
      return outcome(NextStep::Kind::phase_2, "the plan passed and is approved");
    return work({Work{4, Half::whole}}, "the plan passed and is approved");
  }
  const std::int64_t made = attempts(snapshot, "phase_1") - base(snapshot, "phase_1");
  if (made >= snapshot.options.plan_attempts)
    return escalate("phase_1", "max_iterations_reached: " + std::to_string(made) +
                                   " plans did not pass; the last one: " + round.why);
  return work({Work{3, Half::whole}}, round.why);
}

NextStep after_code_validation(const Snapshot& snapshot) {
  const Round round = judge_round(snapshot.root, snapshot.entries, false);
  if (round.pass) {
    if (auto approval_step = ask_people(snapshot, {"code", "final"}, 6, "failed"))
      return *approval_step;
    return end("completed", "the code passed and is approved");
  }
  const std::int64_t made = attempts(snapshot, "phase_2") - base(snapshot, "phase_2");
  if (made >= snapshot.options.code_attempts)
    return escalate("phase_2", "max_iterations_reached: the code did not pass " +
                                   std::to_string(made) + " times; the last time: " + round.why);
  return work({Work{6, Half::whole}}, round.why);
}

/// Steps 4 to 7: after each change of the code, both halves are validated once.
NextStep validation(const Snapshot& snapshot) {
  const std::int64_t step = validation_step(snapshot);
  std::vector<Work> missing;
  bool working = false;
  for (const Half half : {Half::a, Half::b}) {
    const Entry* const entry = in_round(snapshot, half);
    if (entry == nullptr)
      missing.push_back(Work{step, half});
    else
      working = working || !entry->completed();
  }
  if (missing.empty())
    return working ? NextStep{} : after_code_validation(snapshot);
  if (!snapshot.options.parallel)
    missing.resize(working ? 0 : 1);
  if (missing.empty())
    return {};
  std::string which = subject_of(missing.front());
  if (missing.size() > 1)
    which += " and " + subject_of(missing.back());
  return work(missing, "validate the code: " + which);
}

/// Failed entries that were not repeated: the last entry, or the halves of a round.
std::vector<const Entry*> failures(const Snapshot& snapshot) {
  std::vector<const Entry*> failed;
  const Entry& last = *snapshot.last();
  if (!code_validation(last.step)) {
    if (last.status == "failed")
      failed.push_back(&last);
    return failed;
  }
  for (const Half half : {Half::a, Half::b})
    if (const Entry* const entry = in_round(snapshot, half);
        entry != nullptr && entry->status == "failed" &&
        std::find(failed.begin(), failed.end(), entry) == failed.end())
      failed.push_back(entry);
  return failed;
}

std::optional<NextStep> recovery(const Snapshot& snapshot) {
  const auto failed = failures(snapshot);
  if (failed.empty())
    return std::nullopt;
  std::vector<Work> works;
  std::string why;
  for (const Entry* const entry : failed) {
    const std::string strategy = next_strategy(snapshot, *entry);
    const std::string what =
        "step " + subject_of(*entry) + " failed (" + failure_text(*entry) + ")";
    if (strategy.empty())
      return escalate("recovery", what);
    works.push_back(Work{entry->step, entry->half});
    why += (why.empty() ? "" : "; ") + strategy + ": " + what;
  }
  return work(works, why);
}

/// How often baton has repeated an entry since the last answer of a person.
std::int64_t repeats_since_answer(const Entry& entry) {
  const auto tried = recoveries(entry);
  if (tried.Empty())
    return std::max<std::int64_t>(0, recovery_attempts(entry));
  std::int64_t count = 0;
  for (const Value& one : tried)
    count = json::text(one, "strategy") == kPerson ? 0 : count + 1;
  return count;
}

std::string stage_word(const Snapshot& snapshot, const Subject& subject, bool due) {
  const Entry* const entry = snapshot.newest(subject);
  const std::size_t count = snapshot.count(subject);
  if (entry == nullptr)
    return "run 1";
  const bool repeated = due && entry->status == "failed";
  const std::int64_t repeats = sum(recovery_attempts(*entry), repeated ? 1 : 0);
  if (due && entry->completed())
    return "run " + std::to_string(count + 1);
  const std::string number =
      std::to_string(count) + (repeats > 0 ? "." + std::to_string(repeats) : "");
  if (entry->completed())
    return "done " + std::to_string(count);
  return (entry->status == "failed" && !due ? "failed " : "run ") + number;
}

/// If a person has resumed a workflow that baton had paused: the limit counts from now.
void resumed(Snapshot& snapshot) {
  const std::string limit = std::exchange(snapshot.memo.escalated, "");
  if (limit == "approval")
    snapshot.memo.asked_approval = AskedApproval{};
  else if (limit == "steps")
    snapshot.memo.base[limit] = static_cast<std::int64_t>(snapshot.entries.size());
  else if (limit == "recovery")
    for (const Entry& entry : snapshot.entries) {
      if (entry.status == "failed")
        snapshot.memo.base[helped(entry)] = 1;
    }
  else if (!limit.empty())
    snapshot.memo.base[limit] = attempts(snapshot, limit);
}

}  // namespace

bool handed_over(const Snapshot& snapshot) {
  return !snapshot.plan_phase() && snapshot.last() != nullptr &&
         snapshot.last()->step < kFirstCodeStep;
}

std::optional<Snapshot> snapshot_of(const View& view) {
  auto snapshot = Snapshot::of(view);
  if (snapshot && snapshot->status != Status::paused)
    resumed(*snapshot);
  return snapshot;
}

std::string helped(const Entry& entry) {
  return "helped " + std::to_string(entry.index);
}

std::string next_strategy(const Snapshot& snapshot, const Entry& entry) {
  const ErrorRow* const row = row_of(kErrors, text_of(error_of(entry), "error_type"));
  const auto count = static_cast<std::size_t>(repeats_since_answer(entry));
  if (row != nullptr && count < row->strategies.size())
    return std::string(row->strategies.at(count));
  return base(snapshot, helped(entry)) != 0 ? std::string(kPerson) : std::string();
}

std::int64_t attempt_at(const Snapshot& snapshot, const Entry* entry) {
  if (entry == nullptr || entry->completed())
    return 1;
  const bool due = entry->status == "failed";
  if (due && next_strategy(snapshot, *entry) == kPerson)
    return 1;
  return sum(repeats_since_answer(*entry), due ? 2 : 1);
}

std::string failure_text(const Entry& entry) {
  std::string text;
  for (const std::string_view member : {"error_type", "error_message"})
    if (const std::string detail = text_of(error_of(entry), member);
        !detail.empty() && detail != kAgentExit)
      text += (text.empty() ? "" : ": ") + printable(detail, 200);
  return text;
}

std::int64_t attempts_max(const Entry& entry) {
  const std::string type = text_of(error_of(entry), "error_type");
  // If the agent of a step that has not failed yet ends without a result, that is this error.
  const ErrorRow* const row = row_of(kErrors, type.empty() ? kAgentExit : std::string_view(type));
  return row == nullptr ? 0 : static_cast<std::int64_t>(row->strategies.size()) + 1;
}

std::int64_t round_end(const Snapshot& snapshot, bool plan) {
  if (plan) {
    const Entry* const newest = newest_plan(snapshot.entries);
    return newest == nullptr ? -1 : static_cast<std::int64_t>(newest->index);
  }
  std::int64_t end = -1;
  for (const Half half : {Half::a, Half::b}) {
    const Entry* const entry = in_round(snapshot, half);
    if (entry == nullptr || !entry->completed() || !code_validation(entry->step))
      return -1;
    end = std::max(end, static_cast<std::int64_t>(entry->index));
  }
  return end;
}

bool round_to_record(const Snapshot& snapshot, std::string_view phase) {
  const bool plan = phase == "phase_1";
  const std::int64_t end = round_end(snapshot, plan);
  if (end < 0 || (plan && snapshot.last()->step != 2))
    return false;
  // A record of baton names the entry where its round ends. A record of another program does not,
  // so baton only counts it.
  std::int64_t foreign = 0;
  for (const Value& record : list_at(snapshot.root, kRounds)) {
    if (json::text(record, "phase") != phase)
      continue;
    const auto entry = json::integer(record, "entry");
    if (entry == end)
      return false;
    foreign += entry ? 0 : 1;
  }
  std::int64_t rounds = 0;
  for (const Entry& entry : snapshot.entries)
    if (entry.completed() &&
        (plan ? plan_validation(entry.step) : code_validation(entry.step) && entry.half != Half::a))
      ++rounds;
  return foreign < rounds;
}

std::int64_t attempts(const Snapshot& snapshot, std::string_view phase) {
  std::int64_t count = round_to_record(snapshot, phase) ? 1 : 0;
  for (const Value& record : list_at(snapshot.root, kRounds))
    count += json::text(record, "phase") == phase ? 1 : 0;
  return count;
}

ValidationMark validation_mark(const Snapshot& snapshot, std::string_view approval) {
  const std::int64_t end = round_end(snapshot, approval == "plan");
  const auto known = snapshot.memo.marks.find(std::string(approval));
  if (known != snapshot.memo.marks.end() && known->second.entry == end)
    return known->second;
  // This validation is new, and decisions from before it do not count. A decision that arrived
  // together with it counts if its time is not before the end of the validation.
  ValidationMark fresh;
  fresh.entry = end;
  const auto decisions = list_at(snapshot.root, kDecisions);
  std::optional<Time> done;
  for (const Entry& entry : snapshot.entries)
    if (static_cast<std::int64_t>(entry.index) == end)
      done = end_of(entry);
  const auto newer = [&](const Value& object, std::string_view member) {
    const auto when = timestamp(object, member);
    return when && done && *when >= *done;
  };
  fresh.from = decisions.Size();
  for (std::int64_t i = decisions.Size(); i > snapshot.memo.decisions; --i)
    if (newer(decisions[static_cast<rapidjson::SizeType>(i - 1)], "timestamp"))
      fresh.from = i - 1;
  const std::string name(approval);
  const Value& approvals = member(snapshot.root, "human_approvals");
  fresh.flag =
      flag_of(approvals, name + "_approved") && !newer(approvals, name + "_approval_timestamp");
  return fresh;
}

std::string decided(const Snapshot& snapshot, std::string_view approval) {
  const ValidationMark about = validation_mark(snapshot, approval);
  if (about.entry < 0)
    return {};
  const auto decisions = list_at(snapshot.root, kDecisions);
  std::string newest;
  std::int64_t index = 0;
  for (const Value& decision : decisions)
    if (index++ >= about.from && json::text(decision, "approval_type") == approval)
      newest = text_of(decision, "status");
  if (!newest.empty() || about.flag)
    return newest;
  return flag_counts(snapshot, approval) ? "approved" : "";
}

NextStep next_step(const Snapshot& snapshot) {
  if (snapshot.status != Status::initialized && snapshot.status != Status::running)
    return {};
  if (snapshot.last() == nullptr)
    return work({Work{1, Half::whole}}, "the workflow starts");
  if (snapshot.plan_phase() && snapshot.last()->index < plan_start(snapshot.root))
    return work({Work{3, Half::whole}}, "a person asked for another plan");
  if (auto recover = recovery(snapshot))
    return *recover;
  const Entry& last = *snapshot.last();
  NextStep found;
  if (code_validation(last.step) || (code_change(last.step) && last.completed()))
    found = validation(snapshot);
  else if (!last.completed() || (plan_validation(last.step) && !has_verdict(last)))
    return {};
  else if (plan_validation(last.step))
    found = after_plan_validation(snapshot);
  else
    found = work({Work{2, Half::whole}}, "validate the plan");
  const auto steps = static_cast<std::int64_t>(snapshot.entries.size()) - base(snapshot, "steps");
  if (found.kind == NextStep::Kind::work && steps >= snapshot.options.max_steps)
    return escalate("steps",
                    "the workflow reached " + std::to_string(steps) + " steps (option max_steps)");
  return found;
}

NextStep next_when_running(const Snapshot& snapshot) {
  Snapshot running = snapshot;
  running.status = Status::running;
  return next_step(running);
}

Stages stages(const View& view) {
  Stages stages;
  const auto snapshot = snapshot_of(view);
  if (!snapshot)
    return stages;
  for (const Entry& entry : snapshot->entries)
    stages[subject_of(entry)] = stage_word(*snapshot, subject_of(entry), false);
  if (const NextStep found = next_step(*snapshot); found.kind == NextStep::Kind::work)
    for (const Work& work : found.works)
      stages[subject_of(work)] = stage_word(*snapshot, subject_of(work), true);
  return stages;
}

}  // namespace baton::ml_workflow
