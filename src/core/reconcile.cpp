#include "core/reconcile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/run_text.h"

namespace baton {
namespace {

constexpr Millis kHour{3'600'000};
/// So many starts in a row may lose a shared file to another writer before they are put off: the
/// next look usually fits, and agents that share a file would wait for nothing.
constexpr std::uint32_t kLostRaces = 3;
/// An agent is ended by its shim. One that lives so long beyond its limits has a shim that stands
/// still or hangs.
constexpr Millis kOverdue{60'000};

/// What the runs of one key say.
struct Record {
  bool live = false;
  bool done = false;
  std::uint32_t attempts = 0;  ///< the highest attempt number that counts as made
  std::uint32_t failures = 0;  ///< failed attempts in this life of the key
  std::uint32_t voids = 0;     ///< void starts since the last attempt that ran, but for lost races
  std::uint32_t races = 0;     ///< the first ones of those that lost a race for a shared file
  const Run* last = nullptr;   ///< the newest
};

Record record_of(std::span<const Run> runs, const Key& key) {
  Record record;
  for (const Run& run : runs) {
    if (run.key != key)
      continue;
    record.live = record.live || run.live();
    if (record.last == nullptr ||
        std::tie(run.started, run.attempt) >= std::tie(record.last->started, record.last->attempt))
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

/// A start that nothing but room stands against.
struct Candidate {
  const FlowSituation* flow = nullptr;
  const Desired* desired = nullptr;
  Key key;
  std::uint32_t attempt = 1;
  Arrival entered = 0;
};

constexpr std::string_view kPath = "path:";

/// Paths are compared without a slash at their end; the topmost one is empty then.
std::string resource_of(const Claim& claim) {
  const bool slash = claim.resource.starts_with(kPath) && claim.resource.ends_with('/');
  return claim.resource.substr(0, claim.resource.size() - (slash ? 1 : 0));
}

void sooner(std::optional<Time>& wake, Time time) {
  if (!wake || time < *wake)
    wake = time;
}

class Reconciler {
 public:
  explicit Reconciler(const Situation& situation) : s_(situation) {}

  Plan plan() {
    for (const FlowSituation& flow : s_.flows) {
      count(flow);
      stops(flow);
      first_of_flow_ = candidates_.size();
      for (const Desired& desired : flow.decision.desired)
        consider(flow, desired);
    }
    // First come, first served: by the entry into the stage; what came together, as its dialect
    // names it.
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const auto& a, const auto& b) { return a.entered < b.entered; });
    for (const Candidate& candidate : candidates_)
      place(candidate);
    return std::move(plan_);
  }

 private:
  void count(const FlowSituation& flow) {
    for (const Claim& claim : flow.decision.claims)
      ++held_[resource_of(claim)];
    for (const Run& run : flow.runs) {
      if (!run.live())
        continue;
      ++running_;
      for (const Claim& claim : run.claims)
        ++held_[resource_of(claim)];
    }
  }

  void stop(const Run& run, Word reason, std::string why) {
    const bool planned = std::any_of(plan_.stops.begin(), plan_.stops.end(),
                                     [&](const Stop& other) { return other.run == run.id; });
    if (run.state == RunState::started && !planned)
      plan_.stops.push_back(Stop{run.id, std::move(reason), std::move(why)});
  }

  void stops(const FlowSituation& flow) {
    for (const Run& run : flow.runs) {
      if (!run.live())
        continue;
      if (flow.control == Control::stop)
        stop(run, "stopped", flow.control_why.empty() ? "the flow was stopped" : flow.control_why);
      else if (flow.decision.control == Control::stop)
        stop(run, "stopped", "the flow's own files say stop");
      else if (flow.decision.control == Control::pause && flow.decision.end_at) {
        if (s_.now >= *flow.decision.end_at)
          stop(run, "paused", "the flow is paused and the agent did not leave by itself");
        else
          sooner(plan_.wake, *flow.decision.end_at);
      }
      for (const Release& release : flow.decision.releases)
        consider(flow, release, run);
      overdue(run);
    }
  }

  void overdue(const Run& run) {
    const Time from = std::max(run.started, s_.since);
    const Millis room = Time::max() - from - run.limits.kill_grace - kOverdue;
    if (run.state != RunState::started || run.limits.timeout == Millis(0) ||
        run.limits.timeout > room)
      return;
    const Time due = from + run.limits.timeout + run.limits.kill_grace + kOverdue;
    if (s_.now >= due)
      stop(run, "overdue", "it is long past its timeout, and its shim has not ended it");
    else
      sooner(plan_.wake, due);
  }

  void consider(const FlowSituation& flow, const Release& release, const Run& run) {
    if (!release.role.empty() && release.role != run.key.role)
      return;
    if (!release.subject.empty() && release.subject != run.key.subject)
      return;
    const auto stage = flow.stages.find(run.key.subject);
    if (!release.any_generation && stage != flow.stages.end() &&
        run.key.generation >= stage->second.generation)
      return;
    const Time since = stage == flow.stages.end() ? run.started : stage->second.since;
    const Time due = std::max(since, run.started) + release.after;
    if (s_.now >= due)
      stop(run, "released", release.why);
    else
      sooner(plan_.wake, due);
  }

  void hold(const FlowSituation& flow, const Desired& desired, Word reason, std::string why) {
    plan_.holds[flow.flow].push_back(
        Hold{desired.role, desired.subject, std::move(reason), std::move(why)});
  }

  /// The reasons that have nothing to do with room, most lasting first.
  void consider(const FlowSituation& flow, const Desired& desired) {
    const auto stage = flow.stages.find(desired.subject);
    const bool known = stage != flow.stages.end();
    Candidate candidate{&flow, &desired, {}, 1, known ? stage->second.arrival : 0};
    candidate.key = Key{flow.flow, desired.role, desired.subject,
                        known ? stage->second.generation : 0, desired.turn};
    const Record record = record_of(flow.runs, candidate.key);
    if (record.live)
      return;
    if (record.done) {
      hold(flow, desired, "ended_without_change",
           "the agent ended well and left the stage as it was; change the file, or `baton retry`");
      return;
    }
    const std::string* const fault = fault_of(desired);
    if (fault != nullptr && !desired.counts_refusal)
      return hold(flow, desired, "agent_unusable", *fault);
    if (!played(flow, desired) || !in_force(flow, desired) || !may_attempt(candidate, record))
      return;
    if (fault != nullptr)
      return refuse(candidate, *fault);
    if (const auto refused = s_.refused.find(candidate.key); refused != s_.refused.end()) {
      if (desired.counts_refusal)
        return refuse(candidate, refused->second);
      plan_.failed.insert(flow.flow);
      return hold(flow, desired, "cannot_launch", refused->second);
    }
    // Two rows of a table may ask for the same work; it is one work.
    const auto of_flow = candidates_.begin() + static_cast<std::ptrdiff_t>(first_of_flow_);
    if (std::any_of(of_flow, candidates_.end(),
                    [&](const Candidate& other) { return other.key == candidate.key; }))
      return;
    candidate.attempt = record.attempts + 1;
    candidates_.push_back(candidate);
    plan_.wanting.insert(flow.flow);
  }

  bool configured(const Role& role) const {
    return s_.usable_roles.contains(role) || s_.unusable_roles.contains(role);
  }

  /// Why the agent of the role cannot be started; nullptr when it can, or when there is none.
  const std::string* fault_of(const Desired& desired) const {
    if (desired.action)
      return nullptr;
    const auto bad = s_.unusable_roles.find(
        configured(desired.role) || !s_.default_role ? desired.role : Role("default"));
    return bad == s_.unusable_roles.end() ? nullptr : &bad->second;
  }

  bool played(const FlowSituation& flow, const Desired& desired) {
    if (desired.action || s_.default_role || configured(desired.role))
      return true;
    hold(flow, desired, "missing_role",
         "no agent is configured for the role `" + desired.role + "`; name it below `agents:`");
    return false;
  }

  /// It is due, and cannot be started: its dialect counts that.
  void refuse(const Candidate& candidate, const std::string& why) {
    if (s_.held) {
      hold(*candidate.flow, *candidate.desired, s_.held->reason, s_.held->why);
      plan_.waiting = true;
      return;
    }
    plan_.refused[candidate.flow->flow].emplace(candidate.key, why);
    plan_.wanting.insert(candidate.flow->flow);
  }

  bool in_force(const FlowSituation& flow, const Desired& desired) {
    if (flow.control != Control::run) {
      // A pause of baton's own making needs a person.
      if (flow.control_reason == "spawns_per_hour")
        plan_.failed.insert(flow.flow);
      hold(flow, desired, flow.control_reason.empty() ? Word("paused") : flow.control_reason,
           flow.control_why);
      return false;
    }
    if (flow.held) {
      hold(flow, desired, flow.held->reason, flow.held->why);
      return false;
    }
    if (flow.decision.control != Control::run) {
      hold(flow, desired, "not_running", "the flow's own files do not say run");
      return false;
    }
    return true;
  }

  bool may_attempt(const Candidate& candidate, const Record& record) {
    if (record.last == nullptr)
      return true;
    const FlowSituation& flow = *candidate.flow;
    const Desired& desired = *candidate.desired;
    const RetryLimits limits = retry_limits(desired);
    if (record.last->outcome == Outcome::interrupted && !record.last->forgiven &&
        s_.on_interrupted != OnInterrupted::retry) {
      // To wait for a person is no failure; `fail` says that nobody is going to look.
      const bool fails = s_.on_interrupted == OnInterrupted::fail;
      if (fails)
        plan_.failed.insert(flow.flow);
      hold(flow, desired, "interrupted",
           "run " + record.last->id.substr(0, 8) + " was interrupted (" + record.last->reason +
               ") and may have done its work" +
               (fails ? "; it counts as failed (on_interrupted: fail), until `baton retry`"
                      : "; look, then `baton retry`"));
      return false;
    }
    if (record.failures >= limits.max_attempts) {
      plan_.failed.insert(flow.flow);
      hold(flow, desired, "attempts_exhausted",
           std::to_string(record.failures) + " of " + std::to_string(limits.max_attempts) +
               " attempts failed, the last one: " + outcome_text(*record.last) + "; see " +
               logs_command(*record.last) + ", then `baton retry`");
      return false;
    }
    const std::uint32_t waits = record.failures + record.voids;
    if (waits == 0 || record.last->forgiven || record.last->outcome == Outcome::stopped)
      return true;
    const Time due = record.last->ended + backoff_delay(limits, waits, record.last->id);
    if (s_.now >= due)
      return true;
    sooner(plan_.wake, due);
    plan_.waiting = true;
    hold(flow, desired, "backing_off",
         "attempt " + std::to_string(record.attempts) + " ended as " +
             std::string(word(record.last->outcome)) + "; next start at " + iso_time(due));
    return false;
  }

  RetryLimits retry_limits(const Desired& desired) const {
    if (desired.retry)
      return *desired.retry;
    const auto found = s_.role_retry.find(desired.role);
    return found == s_.role_retry.end() ? s_.retry : found->second;
  }

  /// Room: claims, the flow's hourly budget, the number of running agents.
  void place(const Candidate& candidate) {
    const FlowSituation& flow = *candidate.flow;
    const Desired& desired = *candidate.desired;
    if (s_.held) {
      hold(flow, desired, s_.held->reason, s_.held->why);
      plan_.waiting = true;
      return;
    }
    for (const Claim& claim : desired.claims) {
      if (taken(resource_of(claim)) >= claim.capacity) {
        hold(flow, desired, "claimed", "`" + claim.resource + "` is taken; it frees by an exit");
        plan_.waiting = true;
        return;
      }
    }
    if (!budget_left(flow, desired))
      return;
    if (running_ + s_.running_elsewhere >= s_.max_running) {
      // Nothing to arm: a place becomes free by an exit, and an exit decides again.
      hold(flow, desired, "no_place",
           std::to_string(running_ + s_.running_elsewhere) + " of " +
               std::to_string(s_.max_running) + " agents are running");
      plan_.waiting = true;
      return;
    }
    ++running_;
    ++spawned_[flow.flow];
    for (const Claim& claim : desired.claims)
      ++held_[resource_of(claim)];
    plan_.starts.push_back(Start{candidate.key, candidate.attempt, desired});
  }

  /// How often a resource is held; a path also by whoever holds one above or below it.
  std::uint32_t taken(const std::string& resource) const {
    const auto held = [&](const std::string& other) {
      const auto found = held_.find(other);
      return found == held_.end() ? 0U : found->second;
    };
    std::uint32_t count = held(resource);
    if (!resource.starts_with(kPath))
      return count;
    for (auto slash = resource.rfind('/'); slash != std::string::npos && slash >= kPath.size();
         slash = slash == 0 ? std::string::npos : resource.rfind('/', slash - 1))
      count += held(resource.substr(0, slash));
    const std::string below = resource + "/";
    for (auto at = held_.lower_bound(below); at != held_.end() && at->first.starts_with(below);
         ++at)
      count += at->second;
    return count;
  }

  bool budget_left(const FlowSituation& flow, const Desired& desired) {
    if (desired.action && !desired.action->counts_as_spawn)
      return true;
    const std::uint32_t cap = flow.decision.spawns_per_hour.value_or(s_.spawns_per_hour);
    const Time since = std::max(s_.now - kHour, flow.resumed_at);
    const auto used = static_cast<std::uint32_t>(
        std::count_if(flow.runs.begin(), flow.runs.end(), [&](const Run& run) {
          return run.outcome != Outcome::voided && run.key.role != kActionRole &&
                 run.started > since;
        }));
    if (used + spawned_[flow.flow] < cap)
      return true;
    const std::string why =
        "the flow has started " + std::to_string(cap) + (cap == 1 ? " agent" : " agents") +
        " within an hour (spawns_per_hour); `baton resume " + text(flow.flow) + "` to go on";
    hold(flow, desired, "spawns_per_hour", why);
    plan_.failed.insert(flow.flow);
    if (std::none_of(plan_.pauses.begin(), plan_.pauses.end(),
                     [&](const PauseFlow& other) { return other.flow == flow.flow; }))
      plan_.pauses.push_back(PauseFlow{flow.flow, "spawns_per_hour", why});
    return false;
  }

  const Situation& s_;
  Plan plan_;
  std::vector<Candidate> candidates_;
  std::size_t first_of_flow_ = 0;  ///< among the candidates
  std::map<std::string, std::uint32_t> held_;
  std::map<FlowId, std::uint32_t> spawned_;
  std::uint32_t running_ = 0;
};

}  // namespace

Millis backoff_delay(const RetryLimits& limits, std::uint32_t failures, const RunId& last) {
  Millis delay = limits.backoff;
  for (std::uint32_t i = 1; i < failures && delay < limits.max_backoff; ++i)
    delay *= 2;
  delay = std::min(delay, limits.max_backoff);
  // FNV-1a over the id: the same run always waits the same time, different ones spread.
  std::uint32_t seed = 2166136261U;
  for (const char c : last)
    seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
  const auto permille = static_cast<std::int64_t>(seed % 401U) - 200;
  return delay + delay * permille / 1000;
}

Plan reconcile(const Situation& situation) {
  return Reconciler(situation).plan();
}

}  // namespace baton
