#include "dialects/ml_workflow/next_step.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json/numbers.h"
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
/// What is tried before a person is asked. Types that are not listed have nothing to try.
constexpr std::array kErrors = {
    ErrorRow{"agent_timeout", {kExtended, kAnother}},
    ErrorRow{"timeout", {kExtended, kAnother}},
    ErrorRow{"validation_error", {kCorrected, kCorrected}},
    ErrorRow{"resource_exhaustion", {kAnother, kAnother}},
    ErrorRow{"agent_exit", {kAnother, kAnother}},
};

Next work(std::vector<Work> works, std::string why) {
  Next next;
  next.kind = Next::Kind::work;
  next.works = std::move(works);
  next.why = std::move(why);
  return next;
}

Next outcome(Next::Kind kind, std::string why) {
  Next next;
  next.kind = kind;
  next.why = std::move(why);
  return next;
}

Next escalate(std::string limit, std::string why) {
  Next next = outcome(Next::Kind::escalate, std::move(why));
  next.limit = std::move(limit);
  return next;
}

std::int64_t base(const Scene& scene, const std::string& what) {
  const auto found = scene.memo.base.find(what);
  return found == scene.memo.base.end() ? 0 : found->second;
}

/// The newest entry of a half since the code last changed.
const Entry* in_round(const Scene& scene, Half half) {
  for (auto entry = scene.entries.rbegin();
       entry != scene.entries.rend() && !code_change(entry->step); ++entry)
    if (entry->half == half || entry->half == Half::both)
      return &*entry;
  return nullptr;
}

/// 5 after the first code, 7 after a refinement. Others may number it 5 again; then both halves
/// are.
std::int64_t validation_step(const Scene& scene) {
  for (const Half half : {Half::a, Half::b})
    if (const Entry* const other = in_round(scene, half))
      return other->step;
  const auto change = std::find_if(scene.entries.rbegin(), scene.entries.rend(),
                                   [](const Entry& entry) { return code_change(entry.step); });
  return change != scene.entries.rend() && change->step == 6 ? 7 : 5;
}

/// The flag, where no decision outranks it: S10 and S11 ask the same of what follows from it.
bool flag_counts(const Scene& scene, std::string_view approval) {
  const Value* const flag =
      json::at(scene.root, "/human_approvals/" + std::string(approval) + "_approved");
  return flag != nullptr && json::boolean(*flag).value_or(false) &&
         outranks_flag(scene.root, scene.entries, approval).empty();
}

/// Whoever has set a flag in vain is told so.
std::string flag_hint(const Scene& scene, const std::string& approval) {
  const std::string decision(outranks_flag(scene.root, scene.entries, approval));
  return decision.empty() ? ""
                          : "; " + approval + "_approved is true, but the newest decision is " +
                                decision + ", and that counts";
}

/// Asked in this order; nothing: all are given.
std::optional<Next> people(const Scene& scene, std::initializer_list<std::string_view> approvals,
                           std::int64_t revision, Next::Kind rejected) {
  for (const std::string_view approval : approvals) {
    if (!required(scene.view.options, approval))
      continue;
    const std::string said = decided(scene, approval);
    const std::string name(approval);
    if (said.empty()) {
      Next next =
          outcome(Next::Kind::approval,
                  "a person has to decide: `baton approve " + text(scene.view.flow) + " " + name +
                      "`, or `reject` or `revise` instead of approve" + flag_hint(scene, name));
      next.approval = name;
      return next;
    }
    if (said == "changes_requested")
      return work({Work{revision, Half::whole}}, "a person asks for changes (" + name + ")");
    if (said == "rejected")
      return outcome(rejected, "a person has rejected it (" + name + ")");
  }
  return std::nullopt;
}

/// By the file's own word, about the plan that stands: where one was revised, the flag was reset.
bool plan_approved(const Scene& scene) {
  const bool revised = std::any_of(scene.entries.begin(), scene.entries.end(),
                                   [](const Entry& entry) { return entry.step == 3; });
  return flag_counts(scene, "plan") || (!revised && approved(scene.root, scene.entries, "plan"));
}

Next after_plan_validation(const Scene& scene) {
  const Round round = judge_round(scene.root, scene.entries, true);
  if (round.pass || !scene.plan_phase()) {
    // Who has handed the plan over has taken its approval for given.
    const bool given = !scene.plan_phase() && plan_approved(scene);
    if (auto asked = given ? std::nullopt : people(scene, {"plan"}, 3, Next::Kind::cancelled)) {
      // Step 3 is none of phase_2.
      if (asked->kind == Next::Kind::work && !scene.plan_phase())
        return outcome(Next::Kind::phase_1, asked->why);
      return *asked;
    }
    if (scene.plan_phase())
      return outcome(Next::Kind::phase_2, "the plan is good enough and approved");
    return work({Work{4, Half::whole}}, "the plan is good enough and approved");
  }
  const std::int64_t made = attempts(scene, "phase_1") - base(scene, "phase_1");
  if (made >= scene.options.plan_attempts)
    return escalate("phase_1", "max_iterations_reached: " + std::to_string(made) +
                                   " plans were not good enough; the last one: " + round.why);
  return work({Work{3, Half::whole}}, round.why);
}

Next after_code_validation(const Scene& scene) {
  const Round round = judge_round(scene.root, scene.entries, false);
  if (round.pass) {
    if (auto asked = people(scene, {"code", "final"}, 6, Next::Kind::failed))
      return *asked;
    return outcome(Next::Kind::completed, "the code is good enough and approved");
  }
  const std::int64_t made = attempts(scene, "phase_2") - base(scene, "phase_2");
  if (made >= scene.options.code_attempts)
    return escalate("phase_2", "max_iterations_reached: the code was not good enough " +
                                   std::to_string(made) + " times; the last time: " + round.why);
  return work({Work{6, Half::whole}}, round.why);
}

/// Steps 4 to 7: each half is validated once since the code last changed.
Next validation(const Scene& scene) {
  const std::int64_t step = validation_step(scene);
  std::vector<Work> missing;
  bool working = false;
  for (const Half half : {Half::a, Half::b}) {
    const Entry* const entry = in_round(scene, half);
    if (entry == nullptr)
      missing.push_back(Work{step, half});
    else
      working = working || !entry->completed();
  }
  if (missing.empty())
    return working ? Next{} : after_code_validation(scene);
  if (!scene.options.parallel)
    missing.resize(working ? 0 : 1);
  if (missing.empty())
    return {};
  std::string which = subject_of(missing.front());
  if (missing.size() > 1)
    which += " and " + subject_of(missing.back());
  return work(missing, "the code is to be validated: " + which);
}

/// What failed and was not made again: the last entry, or the halves of a round.
std::vector<const Entry*> failures(const Scene& scene) {
  std::vector<const Entry*> failed;
  const Entry& last = *scene.last();
  if (!code_validation(last.step)) {
    if (last.status == "failed")
      failed.push_back(&last);
    return failed;
  }
  for (const Half half : {Half::a, Half::b})
    if (const Entry* const entry = in_round(scene, half);
        entry != nullptr && entry->status == "failed" &&
        std::find(failed.begin(), failed.end(), entry) == failed.end())
      failed.push_back(entry);
  return failed;
}

std::string error_of(const Entry& entry, std::string_view member) {
  const Value* const error = json::child(*entry.value, "error_info");
  return error == nullptr ? std::string() : std::string(json::text(*error, member).value_or(""));
}

std::optional<Next> recovery(const Scene& scene) {
  const auto failed = failures(scene);
  if (failed.empty())
    return std::nullopt;
  std::vector<Work> again;
  std::string why;
  for (const Entry* const entry : failed) {
    const std::string strategy = next_strategy(scene, *entry);
    const std::string what = "step " + subject_of(*entry) + " failed (" +
                             error_of(*entry, "error_type") + ": " +
                             error_of(*entry, "error_message") + ")";
    if (strategy.empty())
      return escalate("recovery", what);
    again.push_back(Work{entry->step, entry->half});
    why += (why.empty() ? "" : "; ") + strategy + ": " + what;
  }
  return work(again, why);
}

std::string stage_word(const Scene& scene, const Subject& subject, bool due) {
  const Entry* const entry = scene.newest(subject);
  const std::size_t count = scene.count(subject);
  if (entry == nullptr)
    return "run 1";
  const bool again = due && entry->status == "failed";
  const std::int64_t repeats = sum(recovery_attempts(*entry), again ? 1 : 0);
  if (due && entry->completed())
    return "run " + std::to_string(count + 1);
  const std::string number =
      std::to_string(count) + (repeats > 0 ? "." + std::to_string(repeats) : "");
  if (entry->completed())
    return "done " + std::to_string(count);
  return (entry->status == "failed" && !due ? "failed " : "run ") + number;
}

/// A person let a workflow go on that baton had paused: what it was paused for counts from here.
void resumed(Scene& scene) {
  const std::string limit = std::exchange(scene.memo.escalated, "");
  if (limit == "approval")
    scene.memo.asked = Asked{};
  else if (limit == "steps")
    scene.memo.base[limit] = static_cast<std::int64_t>(scene.entries.size());
  else if (limit == "recovery")
    for (const Entry& entry : scene.entries) {
      if (entry.status == "failed")
        scene.memo.base[helped(entry)] = 1;
    }
  else if (!limit.empty())
    scene.memo.base[limit] = attempts(scene, limit);
}

}  // namespace

bool handed_over(const Scene& scene) {
  return !scene.plan_phase() && scene.last() != nullptr && scene.last()->step < kFirstCodeStep;
}

std::optional<Scene> scene_of(const View& view) {
  auto scene = Scene::of(view);
  if (scene && scene->status != Status::paused)
    resumed(*scene);
  return scene;
}

std::string helped(const Entry& entry) {
  return "helped " + std::to_string(entry.index);
}

std::string next_strategy(const Scene& scene, const Entry& entry) {
  const ErrorRow* const row = row_of(kErrors, error_of(entry, "error_type"));
  const auto tried = list_at(*entry.value, "/error_info/recovery_strategies");
  // What was tried counts from the last time a person helped.
  std::size_t count = 0;
  for (const Value* const one : tried)
    count = json::text(*one, "strategy") == kPerson ? 0 : count + 1;
  if (tried.empty())
    count = static_cast<std::size_t>(std::max<std::int64_t>(0, recovery_attempts(entry)));
  if (row != nullptr && count < row->strategies.size())
    return std::string(row->strategies.at(count));
  return base(scene, helped(entry)) != 0 ? std::string(kPerson) : std::string();
}

std::int64_t round_end(const Scene& scene, bool plan) {
  std::int64_t end = -1;
  if (plan) {
    for (const Entry& entry : scene.entries)
      if (plan_validation(entry.step) && entry.completed())
        end = static_cast<std::int64_t>(entry.index);
    return end;
  }
  for (const Half half : {Half::a, Half::b}) {
    const Entry* const entry = in_round(scene, half);
    if (entry == nullptr || !entry->completed() || !code_validation(entry->step))
      return -1;
    end = std::max(end, static_cast<std::int64_t>(entry->index));
  }
  return end;
}

bool round_to_record(const Scene& scene, std::string_view phase) {
  const bool plan = phase == "phase_1";
  const std::int64_t end = round_end(scene, plan);
  if (end < 0 || (plan && scene.last()->step != 2))
    return false;
  // Records of baton's own say which round they are about; those of others are counted.
  std::int64_t foreign = 0;
  for (const Value* const record : list_at(scene.root, "/convergence_status/convergence_history")) {
    if (json::text(*record, "phase") != phase)
      continue;
    const auto entry = json::integer(*record, "entry");
    if (entry == end)
      return false;
    foreign += entry ? 0 : 1;
  }
  std::int64_t rounds = 0;
  for (const Entry& entry : scene.entries)
    if (entry.completed() &&
        (plan ? plan_validation(entry.step) : code_validation(entry.step) && entry.half != Half::a))
      ++rounds;
  return foreign < rounds;
}

std::int64_t attempts(const Scene& scene, std::string_view phase) {
  std::int64_t count = round_to_record(scene, phase) ? 1 : 0;
  for (const Value* const record : list_at(scene.root, "/convergence_status/convergence_history"))
    count += json::text(*record, "phase") == phase ? 1 : 0;
  return count;
}

Judged judged(const Scene& scene, std::string_view approval) {
  const std::int64_t end = round_end(scene, approval == "plan");
  const auto known = scene.memo.judged.find(std::string(approval));
  if (known != scene.memo.judged.end() && known->second.entry == end)
    return known->second;
  // Seen for the first time. What was there before is spent; what came together with it counts if
  // it says that it is newer.
  Judged fresh;
  fresh.entry = end;
  const auto decisions = list_at(scene.root, "/human_approvals/approval_history");
  std::optional<Time> done;
  for (const Entry& entry : scene.entries)
    if (static_cast<std::int64_t>(entry.index) == end)
      done = end_of(entry);
  const auto newer = [&](const Value& object, std::string_view member) {
    const auto when = moment(object, member);
    return when && done && *when >= *done;
  };
  fresh.from = static_cast<std::int64_t>(decisions.size());
  for (std::size_t i = decisions.size(); i > static_cast<std::size_t>(scene.memo.decisions); --i)
    if (newer(*decisions[i - 1], "timestamp"))
      fresh.from = static_cast<std::int64_t>(i) - 1;
  const std::string name(approval);
  const Value* const approvals = json::child(scene.root, "human_approvals");
  fresh.flag = approvals != nullptr &&
               json::boolean(*approvals, name + "_approved").value_or(false) &&
               !newer(*approvals, name + "_approval_timestamp");
  return fresh;
}

std::string decided(const Scene& scene, std::string_view approval) {
  const Judged about = judged(scene, approval);
  if (about.entry < 0)
    return {};
  const auto decisions = list_at(scene.root, "/human_approvals/approval_history");
  std::string newest;
  for (std::size_t i = static_cast<std::size_t>(about.from); i < decisions.size(); ++i)
    if (json::text(*decisions[i], "approval_type") == approval)
      newest = json::text(*decisions[i], "status").value_or("");
  if (!newest.empty() || about.flag)
    return newest;
  return flag_counts(scene, approval) ? "approved" : "";
}

Next next(const Scene& scene) {
  if (scene.status != Status::initialized && scene.status != Status::running)
    return {};
  if (scene.last() == nullptr)
    return work({Work{1, Half::whole}}, "the workflow begins");
  if (scene.plan_phase() && scene.last()->index < first_of_plan(scene.root))
    return work({Work{3, Half::whole}}, "a person asks for another plan");
  if (auto recover = recovery(scene))
    return *recover;
  const Entry& last = *scene.last();
  Next found;
  if (code_validation(last.step) || (code_change(last.step) && last.completed()))
    found = validation(scene);
  else if (!last.completed() || (plan_validation(last.step) && !has_verdict(last)))
    return {};
  else if (plan_validation(last.step))
    found = after_plan_validation(scene);
  else
    found = work({Work{2, Half::whole}}, "the plan is to be validated");
  const auto steps = static_cast<std::int64_t>(scene.entries.size()) - base(scene, "steps");
  if (found.kind == Next::Kind::work && steps >= scene.options.max_steps)
    return escalate("steps", "the workflow has made " + std::to_string(steps) +
                                 " steps (max_steps of the dialect's options)");
  return found;
}

Stages stages(const View& view) {
  Stages stages;
  const auto scene = scene_of(view);
  if (!scene)
    return stages;
  for (const Entry& entry : scene->entries)
    stages[subject_of(entry)] = stage_word(*scene, subject_of(entry), false);
  if (const Next found = next(*scene); found.kind == Next::Kind::work)
    for (const Work& work : found.works)
      stages[subject_of(work)] = stage_word(*scene, subject_of(work), true);
  return stages;
}

}  // namespace baton::ml_workflow
