// SPDX-License-Identifier: Apache-2.0
#include "core/flow_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
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

/// `ended as failed (exit_1): "the last line that it wrote"`.
std::string ended_as(const Run& run) {
  const std::string said = last_words(run);
  if (run.outcome == Outcome::unknown && run.reason == "shim_killed")
    return "its end is not known: its supervisor was killed (shim_killed)" +
           (said.empty() ? "" : ": " + said);
  return "ended as " + repeated_as(run) + (said.empty() ? "" : ": " + said);
}

/// The last run of the role and subject that was not voided; nullptr: there is none.
const Run* newest_of(std::span<const Run> runs, const Key& key) {
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const Run& run) {
    return run.key.role == key.role && run.key.subject == key.subject &&
           run.outcome != Outcome::voided;
  });
  return found == runs.rend() ? nullptr : &*found;
}

/// What the runs of one key say.
struct Record {
  bool live = false;
  std::uint32_t done = 0;        ///< runs that succeeded and left the stage as it was
  std::uint32_t hollow = 0;      ///< the same, but they were denied something or answered nothing
  std::uint32_t attempts = 0;    ///< the highest attempt number that was used up and not forgiven
  std::uint32_t failures = 0;    ///< failed attempts that were not forgiven
  std::uint32_t voids = 0;       ///< voided starts since the last attempt that ran, without `races`
  std::uint32_t races = 0;       ///< voided starts that lost a race for a shared file
  std::uint32_t transients = 0;  ///< see `transients_in_a_row`
  const Run* last = nullptr;     ///< the last start
};

Record record_of(std::span<const Run> runs, const Key& key) {
  Record record;
  for (const Run& run : runs) {
    if (run.key != key)
      continue;
    record.live = record.live || run.live();
    // By the order of the runs, not by times: two daemons may have used two clocks.
    record.last = &run;
    if (run.outcome == Outcome::voided) {
      const bool lost_race = (run.reason == "file_changed" || run.reason == "write_refused") &&
                             record.races < kLostRaces;
      ++(lost_race ? record.races : record.voids);
      continue;
    }
    record.voids = 0;
    record.races = 0;
    if (run.forgiven || says_nothing(run.outcome))
      continue;
    record.attempts = std::max(record.attempts, run.attempt);
    if (run.live())
      continue;
    if (run.outcome == Outcome::succeeded)
      ++(run.error.empty() ? record.done : record.hollow);
    else if (run.outcome != Outcome::stopped)
      ++record.failures;
  }
  record.transients = transients_in_a_row(runs, key);
  // The dialect has put the work back under another key.
  if (record.last == nullptr && record.transients > 0)
    record.last = newest_of(runs, key);
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

  void hold(const Desired& desired, Cause cause, std::string why, std::string action = {},
            std::optional<Time> until = {}) {
    plan_.holds.push_back(
        Hold{desired.role, desired.subject, cause, std::move(why), std::move(action), until});
  }
  void hold(const Desired& desired, const Hold& whole) {
    hold(desired, whole.cause, whole.why, whole.action, whole.until);
    plan_.holds.back().cap = whole.cap;
  }

  /// Checks everything that concerns this flow alone. The reason that lasts longest comes first.
  void consider(const Desired& desired) {
    const auto stage = flow_.stages.find(desired.subject);
    const bool known = stage != flow_.stages.end();
    Candidate candidate{&desired, {}, {}, {}, 1, known ? stage->second.arrival : 0};
    candidate.key = Key{flow_.flow, desired.role, desired.subject,
                        known ? stage->second.generation : 0, desired.turn};
    candidate.rank = desired.rank;
    Record record = record_of(flow_.runs, candidate.key);
    if (record.live)
      return;
    const OnNoChange otherwise = on_no_change(desired);
    // An agent that was denied something, or that answered nothing, has not done its work. One that
    // is nudged gets one further turn, whatever it answered.
    (otherwise == OnNoChange::nudge ? record.done : record.failures) += record.hollow;
    if (otherwise == OnNoChange::retry)
      record.failures += std::exchange(record.done, 0);
    if (record.done > (otherwise == OnNoChange::nudge ? 1U : 0U))
      return unchanged(desired, *record.last);
    Choice choice = choose(desired);
    const AgentFault* const fault = choice.fault;
    if (fault != nullptr && !desired.counts_refusal)
      return hold(desired, Reason::agent_unusable, fault->why, fault->action);
    if (!played(desired) || !in_force(desired) || !may_attempt(candidate, record))
      return;
    if (fault != nullptr)
      return refuse(candidate, fault->why);
    if (const Hold* const closed =
            settings_.closed.of(desired.action ? "" : player(desired.role), rule_of(flow_.flow))) {
      // The engine wakes at the opening: the wall clock decides, and it may be set.
      plan_.waiting = true;
      return hold(desired, *closed);
    }
    if (choice.agent.empty() && choice.parked)
      return park(desired, *choice.parked);
    candidate.agent = choice.agent;
    // The stand-in may have to wait for something else, and longer than the agent itself.
    if (choice.parked && choice.parked->until) {
      sooner(plan_.wake, *choice.parked->until);
      candidate.parked = std::move(choice.parked);
    }
    if (const auto refused = flow_.refused.find(candidate.key); refused != flow_.refused.end()) {
      if (desired.counts_refusal)
        return refuse(candidate, refused->second);
      return hold(desired, Reason::cannot_launch, refused->second,
                  "correct `command:`, `before:`, `cwd:` or `prompt:` of the agent `" +
                      player(desired.role) +
                      "` in the configuration, then `baton reload`; `baton doctor` checks it");
    }
    // Two entries may desire the same work, which starts only once.
    if (std::any_of(plan_.candidates.begin(), plan_.candidates.end(),
                    [&](const Candidate& other) { return other.key == candidate.key; }))
      return;
    candidate.attempt = std::max(record.attempts + 1, desired.first_attempt);
    plan_.candidates.push_back(candidate);
  }

  void unchanged(const Desired& desired, const Run& last) {
    // A file of the flow cannot be judged yet, and may be what the agent changed.
    if (flow_.held && flow_.held->cause.reason == Reason::settling)
      return hold(desired, Reason::settling, flow_.held->why, "");
    const std::string said = last_words(last);
    hold(desired, Reason::no_change,
         run_name(last) + " ended well and left the stage as it was" +
             (said.empty() ? "" : ": " + said),
         command("retry", flow_.flow, desired.subject));
  }

  OnNoChange on_no_change(const Desired& desired) const {
    const auto found = settings_.on_no_change.find(player(desired.role));
    return desired.action || found == settings_.on_no_change.end() ? OnNoChange::hold
                                                                   : found->second;
  }

  bool configured(const Role& role) const {
    return settings_.usable_roles.contains(role) || settings_.unusable_roles.contains(role);
  }

  /// The name of the agent that plays the role.
  Role player(const Role& role) const {
    return configured(role) || !settings_.default_role ? role : Role("default");
  }

  /// Which agent does the work, or why none can. No member is set for an action, and if no agent is
  /// configured.
  struct Choice {
    Role agent;
    std::optional<Hold> parked;         ///< why the agents before it, or all of them, wait
    const AgentFault* fault = nullptr;  ///< set only if none can and none waits
  };

  /// Two agents that wait: the earlier time decides, and both reasons are named.
  static Hold sooner_of(Hold first, Hold second) {
    if (second.until && (!first.until || *second.until < *first.until))
      std::swap(first, second);
    if (first.why.find(second.why) == std::string::npos)
      first.why += "; " + second.why;
    if (first.action.empty())
      first.action = second.action;
    return first;
  }

  /// The agent of the role, else the first one that stands in for it and can start now.
  Choice choose(const Desired& desired) const {
    if (desired.action)
      return {};
    std::vector<Role> agents = {player(desired.role)};
    if (const auto others = settings_.stand_ins.find(agents.front());
        others != settings_.stand_ins.end())
      agents.insert(agents.end(), others->second.begin(), others->second.end());
    Choice choice;
    for (const Role& agent : agents) {
      const auto bad = settings_.unusable_roles.find(agent);
      const auto parked = settings_.parked.find(agent);
      if (bad != settings_.unusable_roles.end()) {
        if (choice.fault == nullptr)
          choice.fault = &bad->second;
      } else if (const Hold* const closed = settings_.closed.of_agent(agent);
                 closed != nullptr && agent != agents.front()) {
        // A stand-in keeps its own hours. Outside those of the agent itself nobody stands in.
        choice.parked = choice.parked ? sooner_of(*std::move(choice.parked), *closed) : *closed;
      } else if (parked != settings_.parked.end()) {
        choice.parked =
            choice.parked ? sooner_of(*std::move(choice.parked), parked->second) : parked->second;
      } else {
        choice.agent = agent;
        break;
      }
    }
    if (!choice.agent.empty() || choice.parked)
      choice.fault = nullptr;
    return choice;
  }

  /// The start waits for the provider.
  void park(const Desired& desired, const Hold& parked) {
    hold(desired, parked);
    if (!parked.until)
      return;
    sooner(plan_.wake, *parked.until);
    plan_.waiting = true;
  }

  bool played(const Desired& desired) {
    if (desired.action || settings_.default_role || configured(desired.role))
      return true;
    hold(desired, Reason::role_missing,
         "no agent is configured for the role `" + desired.role + "`",
         "add `" + desired.role +
             ": { command: [...] }` below `agents:` in the configuration, then `baton reload`; "
             "`baton doctor` checks it");
    return false;
  }

  /// The start is due but impossible. baton reports it to the dialect, which counts it.
  void refuse(const Candidate& candidate, const std::string& why) {
    if (settings_.held) {
      hold(*candidate.desired, *settings_.held);
      plan_.waiting = true;
      return;
    }
    plan_.refused.emplace(candidate.key, why);
  }

  bool in_force(const Desired& desired) {
    if (flow_.control != Control::run) {
      hold(desired, cause_of(flow_.control, flow_.control_reason), flow_.control_why,
           flow_.control_action.empty() ? command("resume", flow_.flow) : flow_.control_action);
      return false;
    }
    if (flow_.held) {
      hold(desired, *flow_.held);
      return false;
    }
    if (flow_.decision.control != Control::run) {
      const Condition condition = flow_.decision.control == Control::stop    ? Condition::stopped
                                  : flow_.decision.control == Control::pause ? Condition::paused
                                                                             : Condition::idle;
      hold(desired, condition == Condition::idle ? Cause() : Cause(condition, Reason::files),
           "the flow's own files do not say run");
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
    hold(desired, Reason::could_not_stop,
         run_name(*left) + " left processes that could not be ended; end them first",
         command("retry", flow_.flow, desired.subject));
    return false;
  }

  /// The attempts that failed under a former name, if they still count: the subject has not entered
  /// a stage since.
  const FormerAttempts* former_attempts(const Desired& desired) const {
    const auto stage = flow_.stages.find(desired.subject);
    if (flow_.origin == nullptr || stage == flow_.stages.end())
      return nullptr;
    const auto& all = flow_.origin->attempts;
    const auto found = std::find_if(all.begin(), all.end(), [&](const FormerAttempts& one) {
      return one.role == desired.role && one.subject == desired.subject &&
             one.stage == stage->second.stage && stage->second.since <= one.at;
    });
    return found == all.end() ? nullptr : &*found;
  }

  /// Whether the attempts under the former name leave one. The larger of both counts, and what
  /// failed since.
  bool has_attempts_left(const Candidate& candidate, std::uint32_t most) {
    const Desired& desired = *candidate.desired;
    const FormerAttempts* const former = former_attempts(desired);
    if (former == nullptr)
      return true;
    const auto since = static_cast<std::uint32_t>(
        std::count_if(flow_.runs.begin(), flow_.runs.end(), [&](const Run& run) {
          return run.key == candidate.key && run.started >= former->at && is_failed_attempt(run);
        }));
    const std::uint32_t used = former->failures + since;
    if (used < most)
      return true;
    hold(desired, Reason::attempts_exhausted,
         std::to_string(used) + " of " + std::to_string(most) + " attempts failed, " +
             std::to_string(former->failures) + " of them as " + text(former->flow) +
             ", as its file was named before",
         command("retry", flow_.flow, desired.subject));
    return false;
  }

  bool may_attempt(const Candidate& candidate, const Record& record) {
    if (!stands_alone(*candidate.desired))
      return false;
    const Desired& desired = *candidate.desired;
    const RetryLimits limits = retry_limits(desired);
    if (!has_attempts_left(candidate, limits.max_attempts))
      return false;
    if (record.last == nullptr)
      return true;
    if (record.last->outcome == Outcome::interrupted && !record.last->forgiven &&
        settings_.on_interrupted != OnInterrupted::retry) {
      // Waiting for a person is not a failure. With `fail` no person is expected to look.
      const bool fails = settings_.on_interrupted == OnInterrupted::fail;
      hold(desired, {fails ? Condition::failed : Condition::blocked, Reason::interrupted},
           run_name(*record.last) + " was interrupted (" + record.last->reason +
               ") and may have done its work" +
               (fails ? "; it counts as failed (on_interrupted: fail)" : ""),
           command("retry", flow_.flow, desired.subject));
      return false;
    }
    // A run that is to be nudged has used up an attempt, too.
    const std::uint32_t used = record.failures + record.done;
    if (used >= limits.max_attempts && record.done > 0 &&
        record.last->outcome == Outcome::succeeded) {
      unchanged(desired, *record.last);
      return false;
    }
    if (used >= limits.max_attempts) {
      hold(desired, Reason::attempts_exhausted,
           std::to_string(used) + " of " + std::to_string(limits.max_attempts) +
               " attempts failed; the last one, " + run_name(*record.last) + ", " +
               ended_as(*record.last),
           retry_of(desired, *record.last));
      return false;
    }
    const bool transient = record.last->outcome == Outcome::transient;
    const std::uint32_t waits = transient ? record.transients : record.failures + record.voids;
    if (waits == 0 || record.last->forgiven || (is_put_back(record.last->outcome) && !transient))
      return true;
    const Time due = record.last->ended + backoff_delay(limits, waits, record.last->id);
    if (now_ >= due)
      return true;
    sooner(plan_.wake, due);
    plan_.waiting = true;
    hold(desired, transient ? Reason::transient : Reason::back_off,
         (record.last->outcome == Outcome::voided
              ? "the last start did not run (" + reason_text(*record.last) + ")"
          : transient ? run_name(*record.last) + " " + ended_as(*record.last) + ", time " +
                            std::to_string(record.transients) + " in a row"
                      : "attempt " + std::to_string(record.attempts) + " of " +
                            std::to_string(limits.max_attempts + desired.first_attempt - 1 +
                                           stopped_attempts(flow_.runs, record.last->key)) +
                            ", " + run_name(*record.last) + ", " + ended_as(*record.last)) +
             "; next start at " + iso_time(due),
         "", due);
    return false;
  }

  /// The command for a further attempt, and what has to be done before it.
  std::string retry_of(const Desired& desired, const Run& last) const {
    const std::string retry = command("retry", flow_.flow, desired.subject);
    const auto program = settings_.usable_roles.find(player(desired.role));
    if (last.reason != "exec_failed" || desired.action || program == settings_.usable_roles.end())
      return retry;
    return "correct " + printable(program->second, 200) + ", or install what it needs, then `" +
           retry + "`";
  }

  RetryLimits retry_limits(const Desired& desired) const {
    if (desired.retry)
      return *desired.retry;
    return of_role(settings_.role_retry, desired.role, settings_.retry);
  }

  const FlowSituation& flow_;
  const PlanSettings& settings_;
  const Time now_;
  FlowPlan plan_;
};

}  // namespace

Cause cause_of(Control control, const Word& reason) {
  // baton itself pauses flows for these reasons. The last three are words of an older journal.
  static constexpr std::array kOwn = {
      std::pair{std::string_view("existing"), Reason::existing},
      std::pair{std::string_view("moved"), Reason::moved},
      std::pair{std::string_view("left"), Reason::unconfigured},
      std::pair{std::string_view("write_conflict"), Reason::write_conflict},
      std::pair{std::string_view("cap_reached"), Reason::cap_reached},
      std::pair{std::string_view("disputed"), Reason::write_conflict},
      std::pair{std::string_view("spawns_per_hour"), Reason::cap_reached},
      std::pair{std::string_view("cost_per_hour"), Reason::cap_reached},
  };
  const auto* const own =
      std::find_if(kOwn.begin(), kOwn.end(), [&](const auto& row) { return row.first == reason; });
  if (own != kOwn.end())
    return own->second;
  return {control == Control::stop ? Condition::stopped : Condition::paused,
          reason == word(Reason::agent) ? Reason::agent : Reason::by_operator};
}

FlowPlan flow_plan_of(const FlowSituation& flow, const PlanSettings& settings, Time now) {
  return FlowPlanner(flow, settings, now).plan();
}

std::uint32_t transients_in_a_row(std::span<const Run> runs, const Key& key) {
  std::uint32_t count = 0;
  for (const Run& run : runs)
    if (run.key.role == key.role && run.key.subject == key.subject && !run.live() &&
        run.outcome != Outcome::voided)
      count = run.outcome == Outcome::transient ? count + 1 : 0;
  return count;
}

bool is_failed_attempt(const Run& run) {
  return !run.forgiven && !run.live() && run.outcome != Outcome::voided &&
         run.outcome != Outcome::succeeded && run.outcome != Outcome::stopped &&
         !says_nothing(run.outcome);
}

std::uint32_t stopped_attempts(std::span<const Run> runs, const Key& key) {
  return static_cast<std::uint32_t>(std::count_if(runs.begin(), runs.end(), [&](const Run& run) {
    return run.key == key && run.outcome == Outcome::stopped && !run.forgiven;
  }));
}

std::uint32_t starts_per_hour(const FlowSituation& flow, const PlanSettings& settings) {
  return flow.decision.spawns_per_hour.value_or(settings.spawns_per_hour);
}

bool has_starts_left(const FlowSituation& flow, const PlanSettings& settings, Time now,
                     std::uint32_t further) {
  const std::uint32_t most = starts_per_hour(flow, settings);
  if (most == 0)
    return true;
  const auto used = static_cast<std::uint32_t>(
      std::count_if(flow.runs.begin(), flow.runs.end(), [&](const Run& run) {
        // Runs that start in the step that resumes the flow count for the new hour.
        return run.outcome != Outcome::voided && run.key.role != kActionRole &&
               run.started > now - kHour && run.started >= flow.resumed_at;
      }));
  return used + further < most;
}

HourlyCaps hourly_caps(const FlowId& flow, const PlanSettings& settings) {
  HourlyCaps caps{settings.cost_per_hour, settings.tokens_per_hour, settings.shell_per_hour};
  const auto own = settings.rules.find(rule_of(flow));
  if (own == settings.rules.end())
    return caps;
  return {own->second.cost_per_hour.value_or(caps.cost_usd),
          own->second.tokens_per_hour.value_or(caps.tokens),
          own->second.shell_per_hour.value_or(caps.shell)};
}

namespace {

/// What the flow's runs of the last hour have reported, since a person resumed it.
template <class Number>
Number reported_within_hour(const FlowSituation& flow, Time now,
                            std::optional<Number> Run::*reported) {
  Number sum = 0;
  for (const Run& run : flow.runs)
    if (const Time at = run.live() ? now : run.ended;
        run.*reported && at > now - kHour && at >= flow.resumed_at)
      sum += *(run.*reported);
  return sum;
}

}  // namespace

bool has_cost_left(const FlowSituation& flow, const PlanSettings& settings, Time now) {
  const double most = hourly_caps(flow.flow, settings).cost_usd;
  return most == 0 || reported_within_hour(flow, now, &Run::cost_usd) < most;
}

bool has_tokens_left(const FlowSituation& flow, const PlanSettings& settings, Time now) {
  const std::int64_t most = hourly_caps(flow.flow, settings).tokens;
  return most == 0 || reported_within_hour(flow, now, &Run::tokens) < most;
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
  // 20 % less to 20 % more.
  return delay - delay / 5 + varied(delay * 2 / 5, last);
}

}  // namespace baton
