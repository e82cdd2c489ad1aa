#include "core/flow_plan.h"

#include <algorithm>
#include <utility>

#include "core/run_text.h"

namespace baton {
namespace {

constexpr Millis kHour{3'600'000};
/// A start can fail because another writer changed a shared file first. baton retries this many
/// such failures in a row at once, because the next try usually works. Further failures wait.
constexpr std::uint32_t kLostRaces = 3;
/// The shim ends an agent that exceeds its limits. If the agent still lives this long after that,
/// the shim hangs.
constexpr Millis kOverdue{60'000};

/// What the runs of one key say.
struct Record {
  bool live = false;
  bool done = false;
  std::uint32_t attempts = 0;  ///< the highest attempt number that was used up
  std::uint32_t failures = 0;  ///< failed attempts that were not forgiven
  std::uint32_t voids = 0;     ///< voided starts since the last attempt that ran, without `races`
  std::uint32_t races = 0;     ///< voided starts that lost a race for a shared file
  const Run* last = nullptr;   ///< the last start of the highest attempt
};

Record record_of(std::span<const Run> runs, const Key& key) {
  Record record;
  for (const Run& run : runs) {
    if (run.key != key)
      continue;
    record.live = record.live || run.live();
    // Compare attempts, not times: two daemons may have used two clocks.
    if (record.last == nullptr || run.attempt >= record.last->attempt)
      record.last = &run;
    if (run.outcome == Outcome::voided) {
      const bool lost_race = run.reason == "write_refused" && record.races < kLostRaces;
      ++(lost_race ? record.races : record.voids);
      continue;
    }
    record.voids = 0;
    record.races = 0;
    record.attempts = std::max(record.attempts, run.attempt);
    if (run.forgiven || run.live())
      continue;
    if (run.outcome == Outcome::succeeded)
      record.done = true;
    else if (run.outcome != Outcome::stopped)
      ++record.failures;
  }
  return record;
}

void sooner(std::optional<Time>& wake, Time time) {
  if (!wake || time < *wake)
    wake = time;
}

class FlowPlanner {
 public:
  FlowPlanner(const FlowSituation& flow, const PlanSettings& settings, Time now)
      : flow_(flow), settings_(settings), now_(now) {}

  FlowPlan plan() {
    count();
    stops();
    for (const Desired& desired : flow_.decision.desired)
      consider(desired);
    std::stable_sort(plan_.candidates.begin(), plan_.candidates.end(),
                     [](const auto& a, const auto& b) { return a.entered < b.entered; });
    return std::move(plan_);
  }

 private:
  void count() {
    const auto take = [&](const std::vector<Claim>& claims) {
      for (const Claim& claim : claims)
        plan_.resources.push_back(resource_of(claim));
    };
    take(flow_.decision.claims);
    for (const Run& run : flow_.runs) {
      if (!run.live())
        continue;
      ++plan_.running;
      take(run.claims);
    }
  }

  void stop(const Run& run, Word reason, std::string why) {
    const bool planned = std::any_of(plan_.stops.begin(), plan_.stops.end(),
                                     [&](const Stop& other) { return other.run == run.id; });
    if (run.state == RunState::started && !planned)
      plan_.stops.push_back(Stop{run.id, std::move(reason), std::move(why)});
  }

  void stops() {
    for (const Run& run : flow_.runs) {
      if (!run.live())
        continue;
      if (flow_.control == Control::stop)
        stop(run, "stopped",
             flow_.control_why.empty() ? "the flow was stopped" : flow_.control_why);
      else if (flow_.decision.control == Control::stop)
        stop(run, "stopped", "the flow's own files say stop");
      else if (flow_.decision.control == Control::pause && flow_.decision.end_at) {
        if (now_ >= *flow_.decision.end_at)
          stop(run, "paused", "the flow is paused and the agent did not leave by itself");
        else
          sooner(plan_.wake, *flow_.decision.end_at);
      }
      for (const Release& release : flow_.decision.releases)
        consider(release, run);
      overdue(run);
    }
  }

  void overdue(const Run& run) {
    const Time from = std::max(run.started, settings_.since);
    const Millis room = Time::max() - from - run.limits.kill_grace - kOverdue;
    if (run.state != RunState::started || run.limits.timeout == Millis(0) ||
        run.limits.timeout > room)
      return;
    const Time due = from + run.limits.timeout + run.limits.kill_grace + kOverdue;
    if (now_ >= due)
      stop(run, "overdue", "it is long past its timeout, and its shim has not ended it");
    else
      sooner(plan_.wake, due);
  }

  void consider(const Release& release, const Run& run) {
    if (!release.role.empty() && release.role != run.key.role)
      return;
    if (!release.subject.empty() && release.subject != run.key.subject)
      return;
    const auto stage = flow_.stages.find(run.key.subject);
    if (!release.any_generation && stage != flow_.stages.end() &&
        run.key.generation >= stage->second.generation)
      return;
    const Time since = stage == flow_.stages.end() ? run.started : stage->second.since;
    const Time due = std::max(since, run.started) + release.after;
    if (now_ >= due)
      stop(run, "released", release.why);
    else
      sooner(plan_.wake, due);
  }

  void hold(const Desired& desired, Word reason, std::string why) {
    plan_.holds.push_back(Hold{desired.role, desired.subject, std::move(reason), std::move(why)});
  }

  /// Checks everything that concerns this flow alone. The reason that lasts longest comes first.
  void consider(const Desired& desired) {
    const auto stage = flow_.stages.find(desired.subject);
    const bool known = stage != flow_.stages.end();
    Candidate candidate{&desired, {}, 1, known ? stage->second.arrival : 0};
    candidate.key = Key{flow_.flow, desired.role, desired.subject,
                        known ? stage->second.generation : 0, desired.turn};
    const Record record = record_of(flow_.runs, candidate.key);
    if (record.live)
      return;
    if (record.done) {
      hold(desired, "ended_without_change",
           "the agent ended well and left the stage as it was; change the file, or `baton retry`");
      return;
    }
    const std::string* const fault = fault_of(desired);
    if (fault != nullptr && !desired.counts_refusal)
      return hold(desired, "agent_unusable", *fault);
    if (!played(desired) || !in_force(desired) || !may_attempt(candidate, record))
      return;
    if (fault != nullptr)
      return refuse(candidate, *fault);
    if (const auto refused = flow_.refused.find(candidate.key); refused != flow_.refused.end()) {
      if (desired.counts_refusal)
        return refuse(candidate, refused->second);
      plan_.failed = true;
      return hold(desired, "cannot_launch", refused->second);
    }
    // Two entries may desire the same work, which starts only once.
    if (std::any_of(plan_.candidates.begin(), plan_.candidates.end(),
                    [&](const Candidate& other) { return other.key == candidate.key; }))
      return;
    candidate.attempt = record.attempts + 1;
    plan_.candidates.push_back(candidate);
  }

  bool configured(const Role& role) const {
    return settings_.usable_roles.contains(role) || settings_.unusable_roles.contains(role);
  }

  /// Why the agent of the role cannot be started; nullptr if it can, or if no agent is configured.
  const std::string* fault_of(const Desired& desired) const {
    if (desired.action)
      return nullptr;
    const auto bad = settings_.unusable_roles.find(
        configured(desired.role) || !settings_.default_role ? desired.role : Role("default"));
    return bad == settings_.unusable_roles.end() ? nullptr : &bad->second;
  }

  bool played(const Desired& desired) {
    if (desired.action || settings_.default_role || configured(desired.role))
      return true;
    hold(desired, "missing_role",
         "no agent is configured for the role `" + desired.role + "`; name it below `agents:`");
    return false;
  }

  /// The start is due but impossible. baton reports it to the dialect, which counts it.
  void refuse(const Candidate& candidate, const std::string& why) {
    if (settings_.held) {
      hold(*candidate.desired, settings_.held->reason, settings_.held->why);
      plan_.waiting = true;
      return;
    }
    plan_.refused.emplace(candidate.key, why);
  }

  bool in_force(const Desired& desired) {
    if (flow_.control != Control::run) {
      if (at_cap(flow_.control_reason))
        plan_.failed = true;
      hold(desired, flow_.control_reason.empty() ? Word("paused") : flow_.control_reason,
           flow_.control_why);
      return false;
    }
    if (flow_.held) {
      hold(desired, flow_.held->reason, flow_.held->why);
      return false;
    }
    if (flow_.decision.control != Control::run) {
      hold(desired, "not_running", "the flow's own files do not say run");
      return false;
    }
    return true;
  }

  /// Nothing starts for a subject while processes of an earlier run may still live: two agents at
  /// once are worse than none.
  bool stands_alone(const Desired& desired) {
    const auto left = std::find_if(flow_.runs.begin(), flow_.runs.end(), [&](const Run& run) {
      return run.key.subject == desired.subject && left_something(run);
    });
    if (left == flow_.runs.end())
      return true;
    plan_.failed = true;
    hold(desired, kCouldNotStop,
         "run " + left->id.substr(0, 8) +
             " left processes that could not be ended; end them, then `baton retry`");
    return false;
  }

  bool may_attempt(const Candidate& candidate, const Record& record) {
    if (!stands_alone(*candidate.desired))
      return false;
    if (record.last == nullptr)
      return true;
    const Desired& desired = *candidate.desired;
    const RetryLimits limits = retry_limits(desired);
    if (record.last->outcome == Outcome::interrupted && !record.last->forgiven &&
        settings_.on_interrupted != OnInterrupted::retry) {
      // Waiting for a person is not a failure. With `fail` no person is expected to look.
      const bool fails = settings_.on_interrupted == OnInterrupted::fail;
      if (fails)
        plan_.failed = true;
      hold(desired, "interrupted",
           "run " + record.last->id.substr(0, 8) + " was interrupted (" + record.last->reason +
               ") and may have done its work" +
               (fails ? "; it counts as failed (on_interrupted: fail), until `baton retry`"
                      : "; look, then `baton retry`"));
      return false;
    }
    if (record.failures >= limits.max_attempts) {
      plan_.failed = true;
      hold(desired, "attempts_exhausted",
           std::to_string(record.failures) + " of " + std::to_string(limits.max_attempts) +
               " attempts failed, the last one: " + outcome_text(*record.last) + "; see " +
               logs_command(*record.last) + ", then `baton retry`");
      return false;
    }
    const std::uint32_t waits = record.failures + record.voids;
    if (waits == 0 || record.last->forgiven || record.last->outcome == Outcome::stopped)
      return true;
    const Time due = record.last->ended + backoff_delay(limits, waits, record.last->id);
    if (now_ >= due)
      return true;
    sooner(plan_.wake, due);
    plan_.waiting = true;
    hold(desired, "backing_off",
         (record.last->outcome == Outcome::voided
              ? "the last start did not run (" + reason_text(*record.last) + ")"
              : "attempt " + std::to_string(record.attempts) + " ended as " +
                    std::string(word(record.last->outcome))) +
             "; next start at " + iso_time(due));
    return false;
  }

  RetryLimits retry_limits(const Desired& desired) const {
    if (desired.retry)
      return *desired.retry;
    const auto found = settings_.role_retry.find(desired.role);
    return found == settings_.role_retry.end() ? settings_.retry : found->second;
  }

  const FlowSituation& flow_;
  const PlanSettings& settings_;
  const Time now_;
  FlowPlan plan_;
};

}  // namespace

FlowPlan flow_plan_of(const FlowSituation& flow, const PlanSettings& settings, Time now) {
  return FlowPlanner(flow, settings, now).plan();
}

std::uint32_t starts_per_hour(const FlowSituation& flow, const PlanSettings& settings) {
  return flow.decision.spawns_per_hour.value_or(settings.spawns_per_hour);
}

bool has_starts_left(const FlowSituation& flow, const PlanSettings& settings, Time now,
                     std::uint32_t further) {
  const auto used = static_cast<std::uint32_t>(
      std::count_if(flow.runs.begin(), flow.runs.end(), [&](const Run& run) {
        // Runs that start in the step that resumes the flow count for the new hour.
        return run.outcome != Outcome::voided && run.key.role != kActionRole &&
               run.started > now - kHour && run.started >= flow.resumed_at;
      }));
  return used + further < starts_per_hour(flow, settings);
}

bool has_cost_left(const FlowSituation& flow, const PlanSettings& settings, Time now) {
  double spent = 0;
  for (const Run& run : flow.runs)
    if (const Time at = run.live() ? now : run.ended;
        run.cost_usd && at > now - kHour && at >= flow.resumed_at)
      spent += *run.cost_usd;
  return spent < settings.cost_per_hour;
}

std::string resource_of(const Claim& claim) {
  const bool slash = claim.resource.starts_with(kPathClaim) && claim.resource.ends_with('/');
  return claim.resource.substr(0, claim.resource.size() - (slash ? 1 : 0));
}

Millis backoff_delay(const RetryLimits& limits, std::uint32_t failures, const RunId& last) {
  Millis delay = limits.backoff;
  for (std::uint32_t i = 1; i < failures && delay < limits.max_backoff; ++i)
    delay *= 2;
  delay = std::min(delay, limits.max_backoff);
  // FNV-1a over the run id: repeatable for one run, spread over different runs.
  std::uint32_t seed = 2166136261U;
  for (const char c : last)
    seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
  const auto permille = static_cast<std::int64_t>(seed % 401U) - 200;
  return delay + delay * permille / 1000;
}

}  // namespace baton
