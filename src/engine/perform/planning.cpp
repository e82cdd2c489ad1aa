// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/planning.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/flow_plan.h"
#include "engine/decide/status.h"
#include "engine/perform/hold_notices.h"

namespace baton {
namespace {

/// `root`: the operator's order for the whole root. `daemon_state`: what the running daemon knows,
/// in a rehearsal.
FlowSituation situation_of(const FlowRecord& record, const Dialect* dialect, const ControlRow& root,
                           const DaemonState& daemon_state, const PlanningContext& now) {
  FlowSituation one{record.id,          record.decision,           record.stages,
                    record.runs,        record.control.control,    record.control.reason,
                    record.control.why, record.control.resumed_at, record.held};
  // A pending write is reported even if no start waits for it.
  const auto unwritten = daemon_state.unwritten.find(record.id);
  if (auto open = unwritten == daemon_state.unwritten.end()
                      ? now.pending_writes.hold(record, dialect)
                      : std::optional(unwritten->second)) {
    one.held = std::move(open);
    one.tell_held = true;
  }
  // An agent would read the unfinished file. If baton has rejected the file, its dialect decides.
  if (const auto writing = now.being_written.find(record.id);
      !one.held && writing != now.being_written.end())
    for (const std::string& path : writing->second)
      if (!record.rejected.contains(path))
        one.held = Hold{"", "", Reason::settling,
                        path +
                            " cannot be judged as it stands: it may be being written, or git is "
                            "at work; it is looked at again"};
  if (!one.held && now.unread.contains(record.id))
    one.held = Hold{"", "", Reason::settling,
                    "a file of it has changed and is looked at when its turn comes"};
  // At most one agent works on a file, even if the file belonged to another flow when that agent
  // started.
  const auto agent =
      std::find_if(now.elsewhere.begin(), now.elsewhere.end(),
                   [&](const AgentElsewhere& each) { return each.now == record.id; });
  if (!one.held && agent != now.elsewhere.end())
    one.held = Hold{"", "", Reason::claimed,
                    agent->path + " is still in the hands of an agent of " + text(agent->former)};
  if (root.control != Control::run && one.control != Control::stop) {
    one.control = root.control;
    one.control_reason = root.reason;
    one.control_why = why_all(root);
    one.control_action = kResumeAll;
  }
  if (!record.origin.renames.empty())
    one.origin = &record.origin;
  return one;
}

/// Whether the row keeps the agent from starting. Of a refused login it does not once the login or
/// the configuration has changed since. A change ahead of the clock says nothing: it would stay
/// later than each further refusal.
bool keeps(const Parked& row, const AgentSpec& spec, const PlanningContext& now) {
  const bool changed = row.login && spec.login_changed > row.since + now.ahead &&
                       spec.login_changed <= now.now + now.ahead;
  return holds(row, {spec.provider, spec.account, spec.model}, now.now) && !changed;
}

}  // namespace

std::optional<Hold> Planning::held(const PlanningContext& now) const {
  if (setup_.daemon_state.held)
    return setup_.daemon_state.held;
  if (now.draining)
    return Hold{"", "", Reason::draining, "the daemon is draining: no new starts"};
  if (now.given_up)
    return Hold{"",
                "",
                {Condition::stopped, Reason::by_operator},
                "the configuration names this root no more: nothing is started, and it is given "
                "up when its last agent has ended",
                "name the root in `roots:` again, then `baton reload`"};
  if (!setup_.may_start)
    return Hold{"", "", Reason::no_daemon, "no daemon serves this root; `baton run` does"};
  if (now.disk_full)
    return Hold{"", "", Reason::disk_full,
                "the disk of the journal is full, or has less than 1 MiB left: supervising only"};
  if (!now.blind.empty())
    return Hold{"", "", now.away ? Reason::root_away : Reason::cannot_start,
                now.blind + "; tried again every second"};
  if (now.settling)
    return Hold{"", "", Reason::settling,
                "baton is still looking at the files of the root; nothing is started before"};
  if (now.try_again)
    return Hold{"",
                "",
                now.locked           ? Cause(Reason::journal_locked)
                : now.remedy.empty() ? Cause(Reason::cannot_start)
                                     : Cause(Condition::blocked, Reason::cannot_start),
                now.trouble + "; tried again at " + iso_time(*now.try_again),
                now.remedy,
                *now.try_again};
  return std::nullopt;
}

std::map<Role, AgentFault> Planning::unusable() const {
  std::map<Role, AgentFault> unusable;
  for (const auto& [role, spec] : agents_)
    if (spec.problem)
      unusable.emplace(role, *spec.problem);
  return unusable;
}

PlanSettings Planning::settings(const PlanningContext& now, std::optional<Hold> held) {
  PlanSettings settings;
  settings.since = now.since;
  settings.max_running = setup_.max_running;
  settings.spawns_per_hour = setup_.spawns_per_hour;
  settings.cost_per_hour = setup_.cost_per_hour;
  settings.tokens_per_hour = setup_.tokens_per_hour;
  settings.shell_per_hour = setup_.shell_per_hour;
  settings.rules = setup_.rule_caps;
  settings.on_interrupted = setup_.on_interrupted;
  settings.retry = setup_.retry;
  for (const auto& [role, spec] : agents_) {
    if (spec.problem)
      settings.unusable_roles[role] = *spec.problem;
    else
      settings.usable_roles[role] = spec.argv.empty() ? "" : spec.argv.front();
    settings.role_retry[role] = spec.retry;
  }
  settings.default_role = agents_.contains("default");
  for (const auto& [role, spec] : agents_) {
    settings.stand_ins[role] = spec.fallback;
    settings.providers[role] = spec.provider;
    if (spec.on_no_change != OnNoChange::hold)
      settings.on_no_change[role] = spec.on_no_change;
    for (const Parked& row : now.parked)
      if (keeps(row, spec, now))
        // Of two, the one that lasts longer; a refused login has no end.
        if (const auto known = settings.parked.find(role);
            known == settings.parked.end() ||
            (known->second.until && (!row.until || *row.until > *known->second.until)))
          settings.parked.insert_or_assign(role, hold_of(row, role));
  }
  if (!now.at_any_hour)
    settings.closed = hours_.closed(now.now + now.ahead);
  settings.held = std::move(held);
  return settings;
}

/// Gives the reconciler only the flows that may have changed, so that flows that stand still cost
/// nothing.
void Planning::reconcile(const Draft& next, const PlanningContext& now, const Refused& refused,
                         std::optional<Hold> held) {
  std::set<FlowId> flows = std::exchange(stale_, {});
  // Give these flows again with the next plan. The reconciler refers to the draft's copies of them,
  // or their situation depends on more than their record.
  for (const auto& [flow, record] : next.touched())
    stale_.insert(flow);
  stale_.insert(next.forgotten.begin(), next.forgotten.end());
  for (const auto& [key, why] : refused)
    stale_.insert(key.flow);
  stale_.merge(now.pending_writes.flows());
  for (const auto& [flow, paths] : now.being_written)
    stale_.insert(flow);
  for (const AgentElsewhere& agent : now.elsewhere)
    stale_.insert(agent.now);
  stale_.insert(now.unread.begin(), now.unread.end());
  flows.insert(stale_.begin(), stale_.end());
  const FlowRecord* const whole = next.find(FlowId{});
  const ControlRow root = whole == nullptr ? ControlRow{} : whole->control;
  if (root_ != root) {
    for (const auto& [flow, record] : now.records)
      flows.insert(flow);
    root_ = root;
  }
  renamed_ = renamed_ || std::any_of(flows.begin(), flows.end(), [&](const FlowId& flow) {
               const FlowRecord* const record = next.find(flow);
               return record != nullptr && !record->origin.renames.empty();
             });
  CapSums* const caps = sums(now);
  count_flows(flows, next);
  take_flows(flows, next, now);
  give(flows, next, now, refused);
  reconciler_.put(settings(now, std::move(held)));
  reconciler_.plan(next.now, now.running_elsewhere, caps);
}

/// A new flow is over the cap until `take_flows` has found room for it.
void Planning::count_flows(const std::set<FlowId>& flows, const Draft& next) {
  for (const FlowId& flow : flows) {
    const FlowRecord* const record = flow == FlowId{} ? nullptr : next.find(flow);
    const bool there =
        record != nullptr && std::any_of(record->accepted.begin(), record->accepted.end(),
                                         [](const auto& row) { return row.second.present; });
    if (there ? !there_.insert(flow).second : there_.erase(flow) == 0)
      continue;
    const bool taken = !there && over_.erase(flow) == 0;
    if (there)
      over_.insert(flow);
    else
      may_take_ = true;
    for (const CapPlace& place : places_of(flow)) {
      there ? ++flow_counts_[place] : --flow_counts_[place];
      taken_[place] -= taken ? 1 : 0;
    }
  }
}

namespace {

/// Such a flow goes on, however many there are: it must be able to end.
bool has_begun(const FlowRecord& record) {
  return !record.runs.empty() ||
         std::any_of(record.stages.begin(), record.stages.end(),
                     [](const auto& stage) { return stage.second.generation > 1; });
}

FlowCounts sum_of(FlowCounts counts, const FlowCounts& others) {
  for (const auto& [place, count] : others)
    counts[place] += count;
  return counts;
}

}  // namespace

/// Lets flows begin as long as there are not too many. Those that have begun before come first.
/// Flows that wait already are looked at again only if there may be room.
void Planning::take_flows(std::set<FlowId>& flows, const Draft& next, const PlanningContext& now) {
  if (now.counted == nullptr && !setup_.caps.empty())
    return;
  std::vector<FlowId> waiting;
  if (std::exchange(may_take_, false) || elsewhere_ != now.flows_elsewhere)
    waiting.assign(over_.begin(), over_.end());
  else
    std::set_intersection(flows.begin(), flows.end(), over_.begin(), over_.end(),
                          std::back_inserter(waiting));
  elsewhere_ = now.flows_elsewhere;
  for (const bool begun : {true, false})
    for (const FlowId& flow : waiting)
      if (const FlowRecord* const record = next.find(flow);
          record != nullptr && has_begun(*record) == begun && (begun || !over_cap(flow, now))) {
        over_.erase(flow);
        flows.insert(flow);
        for (const CapPlace& place : places_of(flow))
          ++taken_[place];
      }
}

/// The cap that the flow would exceed.
std::optional<CapReached> Planning::over_cap(const FlowId& flow, const PlanningContext& now) const {
  if (!sums_ || now.counted == nullptr)
    return std::nullopt;
  FlowCounts counts = sum_of(taken_, now.flows_elsewhere);
  for (const CapPlace& place : places_of(flow))
    ++counts[place];
  return sums_->too_many_flows(flow, counts);
}

/// Why the flow waits. It names all flows that are there.
std::optional<Hold> Planning::too_many_flows(const FlowId& flow, const PlanningContext& now) const {
  const auto cap = !sums_ || now.counted == nullptr
                       ? std::nullopt
                       : sums_->too_many_flows(flow, sum_of(flow_counts_, now.flows_elsewhere));
  if (!cap)
    return std::nullopt;
  return Hold{"",
              "",
              Reason::cap_reached,
              cap->why + ": a flow begins when files of others are removed",
              raise_command(cap->place, cap->key, cap->cap),
              std::nullopt,
              cap_name(cap->place, cap->key)};
}

/// The sums of the rows as they are. They stay right until a row changes or leaves a window.
CapSums* Planning::sums(const PlanningContext& now) {
  const bool of_shell = setup_.shell_per_hour > 0 ||
                        std::any_of(setup_.rule_caps.begin(), setup_.rule_caps.end(),
                                    [](const auto& row) { return row.second.shell_per_hour > 0; });
  // Without caps nothing has to be summed up.
  if (now.counted == nullptr || (setup_.caps.empty() && !of_shell && !renamed_))
    return nullptr;
  const std::pair read{now.counted, now.counted->version};
  const bool over = sums_ && sums_->next_change() && *sums_->next_change() <= now.now;
  if (!sums_ || summed_ != read || over || now.now < summed_at_) {
    const auto raises = sums_ ? sums_->raises() : std::vector<CapRaise>{};
    sums_.emplace(setup_.caps, setup_.configuration, *now.counted, now.now);
    may_take_ = may_take_ || sums_->raises() != raises;
    without_cost_ = agents_without_cost(setup_.caps, setup_.configuration, now.counted->runs);
    summed_ = read;
    summed_at_ = now.now;
  }
  return &*sums_;
}

void Planning::give(const std::set<FlowId>& flows, const Draft& next, const PlanningContext& now,
                    const Refused& refused) {
  for (const FlowId& flow : flows) {
    const FlowRecord* const record = flow == FlowId{} ? nullptr : next.find(flow);
    if (record == nullptr) {
      reconciler_.drop(flow);
      continue;
    }
    const Catalog::Entry* const entry = catalog_.entry(flow.dialect);
    FlowSituation one = situation_of(*record, entry == nullptr ? nullptr : entry->dialect, *root_,
                                     setup_.daemon_state, now);
    for (const auto& [key, why] : refused)
      if (key.flow == flow)
        one.refused.emplace(key, why);
    if (!one.held && over_.contains(flow))
      one.held = too_many_flows(flow, now);
    reconciler_.put(std::move(one));
  }
}

std::set<FlowId> Planning::hold_existing(Draft& next, const PlanningContext& now) {
  if (!now.decide_all || !(now.first_start || setup_.act_on_existing))
    return {};
  const std::string why = "more than " + std::to_string(setup_.max_existing) +
                          " flows would start or set something at the first start on this root";
  std::set<FlowId> again;
  if (setup_.act_on_existing) {
    for (const auto& [flow, record] : now.records)
      if (cause_of(record.control.control, record.control.reason).reason == Reason::existing) {
        next.control(next.touch(flow), Control::run, "", "");
        again.insert(flow);
      }
    return again;
  }
  // A flow that only waits until a file is complete counts as well.
  PlanningContext whole = now;
  whole.being_written.clear();
  whole.at_any_hour = true;
  reconcile(next, whole, {}, held(now));
  std::set<FlowId> wanting = plan().wanting;
  for (const auto& [flow, record] : next.touched())
    if (std::any_of(record.decision.holds.begin(), record.decision.holds.end(),
                    [](const Hold& hold) { return hold.cause.reason == Reason::existing; }))
      again.insert(flow);
  wanting.insert(again.begin(), again.end());
  // A flow that somebody starts is no leftover.
  for (const Request& request : next.commit.requests)
    if (request.verb == "start")
      wanting.erase(request.flow);
  if (wanting.size() <= setup_.max_existing)
    return again;
  for (const FlowId& flow : wanting)
    next.control(next.touch(flow), Control::pause, "existing", why);
  next.event("blocked", {}, std::to_string(wanting.size()) + " flows are blocked: " + why);
  return again;
}

Result<std::vector<Launch>> Planning::settle(Draft& next, const PlanningContext& now) {
  Refused refused;
  std::set<Role> looked;
  const std::optional<Hold> whole = held(now);
  // A rehearsal shows what is wrong with each start, even if nothing at all may start now.
  if (setup_.rehearsal && whole)
    if (auto tried = plan(next, now, std::nullopt, refused, looked); !tried)
      return tried;
  return plan(next, now, whole, refused, looked);
}

Result<std::vector<Launch>> Planning::plan(Draft& next, const PlanningContext& now,
                                           const std::optional<Hold>& held, Refused& refused,
                                           std::set<Role>& looked) {
  for (;;) {
    reconcile(next, now, refused, held);
    if (renew_wanted(plan(), now, looked))
      continue;
    std::vector<Launch> launches;
    bool all = true;
    for (const Start& start : plan().starts) {
      auto described = launch(next, now, start);
      if (!described && described.error().code == Errc::io)
        return pass_on(described);
      all = all && described.has_value();
      if (described)
        launches.push_back(std::move(*described));
      else
        refused.emplace(start.key, describe(described.error()));
    }
    if (all)
      return launches;
  }
}

Result<Launch> Planning::launch(Draft& next, const PlanningContext& now, const Start& start) {
  const Catalog::Entry* const entry = catalog_.entry(start.key.flow.dialect);
  FlowRecord& record = next.touch(start.key.flow);
  auto docs = documents_.open(record, *entry, next.documents);
  if (!docs)
    return pass_on(docs);
  Brief brief;
  if (entry->dialect->brief != nullptr) {
    const View view{record.id,    *docs,          record.stages,      record.runs, record.memo,
                    now.requests, entry->options, setup_.environment, next.now,    next.wall};
    brief = entry->dialect->brief(view, start.desired);
  }
  const auto spec = agents_.find(start.agent);
  auto described = start.desired.action
                       ? make_launch(start, setup_.action, brief, setup_.environment)
                       : make_launch(start, spec == agents_.end() ? AgentSpec{} : spec->second,
                                     brief, setup_.environment, previous_run(record, start));
  std::vector<std::string> files;
  for (const auto& [path, row] : record.accepted)
    files.push_back(path);
  if (described)
    described->flow_paths =
        flow_paths(start.key.flow, files, setup_.environment.root, described->cwd);
  return described;
}

/// The run that this start repeats; nullptr: none. A dialect may repeat work under a new key. It
/// counts its attempts then, has put the work back because the provider had no room, or says so
/// because the run changed nothing.
const Run* Planning::previous_run(const FlowRecord& record, const Start& start) {
  bool newest = true;
  const auto found = std::find_if(record.runs.rbegin(), record.runs.rend(), [&](const Run& run) {
    if (run.key.role != start.key.role || run.key.subject != start.key.subject || run.live() ||
        run.outcome == Outcome::voided)
      return false;
    const bool again =
        std::exchange(newest, false) &&
        (says_nothing(run.outcome) ? run.purpose == start.desired.purpose
                                   : start.desired.repeats && run.outcome == Outcome::succeeded);
    return run.key == start.key || start.attempt > 1 || again;
  });
  return found == record.runs.rend() ? nullptr : &*found;
}

/// The agent with the name of the role, else `default`.
Planning::Agents::iterator Planning::agent_of(const Role& role) {
  const auto own = agents_.find(role);
  return own == agents_.end() ? agents_.find("default") : own;
}

/// Checks roles again that are about to start, or that flows wait for because they cannot start or
/// their login was refused. Each role is checked once per step. True: a role has changed.
bool Planning::renew_wanted(const Plan& plan, const PlanningContext& now, std::set<Role>& looked) {
  if (!setup_.renew)
    return false;
  bool changed = false;
  for (const Start& start : plan.starts)
    if (!start.desired.action)
      changed = renew(start.agent, looked) || changed;
  // If all roles can be used, no flow waits for one.
  const bool unusable = std::any_of(agents_.begin(), agents_.end(),
                                    [](const auto& row) { return row.second.problem.has_value(); });
  if (unusable)
    for (const auto& [flow, holds] : plan.holds)
      for (const Hold& hold : holds)
        if (hold.cause.reason == Reason::agent_unusable)
          changed = renew(hold.role, looked) || changed;
  for (const auto& [flow, refused] : plan.refused)
    for (const auto& [key, why] : refused)
      changed = renew(key.role, looked) || changed;
  for (const auto& [role, spec] : agents_)
    if (std::any_of(now.parked.begin(), now.parked.end(), [&, &its = spec](const Parked& row) {
          return row.login && keeps(row, its, now);
        }))
      changed = renew(role, looked) || changed;
  return changed;
}

bool Planning::renew(const Role& role, std::set<Role>& looked) {
  const auto known = agent_of(role);
  if (known == agents_.end() || !looked.insert(known->first).second)
    return false;
  AgentSpec fresh = setup_.renew(known->first, known->second);
  if (fresh == known->second)
    return false;
  known->second = std::move(fresh);
  return true;
}

void Planning::spare(const std::function<bool(const RunId&)>& run) {
  std::erase_if(reconciler_.made().stops, [&](const Stop& stop) { return run(stop.run); });
}

void Planning::stop_all(const Draft& next, const FlowRecords& records, const std::string& why) {
  Plan& plan = reconciler_.made();
  plan.stops.clear();
  for (const auto& [flow, before] : records)
    if (const FlowRecord* const record = next.find(flow))
      for (const Run& run : record->runs)
        if (run.state == RunState::started)
          plan.stops.push_back(Stop{run.id, "ended", why});
}

void Planning::hold_refused() {
  const auto refused_by_flow = plan().refused;
  for (const auto& [flow, refused] : refused_by_flow)
    for (const auto& [key, why] : refused) {
      const auto agent = agent_of(key.role);
      const bool unusable = agent != agents_.end() && agent->second.problem;
      hold(key, Reason::agent_unusable, why,
           unusable
               ? agent->second.problem->action
               : "correct the agent `" + key.role + "` in the configuration, then `baton reload`");
    }
}

void Planning::hold(const Key& what, Reason reason, std::string why, std::string action) {
  reconciler_.hold(what.flow,
                   Hold{what.role, what.subject, reason, std::move(why), std::move(action)});
}

void Planning::could_not_start(const std::vector<Start>& starts, const std::string& why) {
  for (const Start& start : starts) {
    hold(start.key, Reason::cannot_start, why);
    reconciler_.made().waiting = true;
  }
}

void enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index, const Plan& plan) {
  for (const PauseFlow& pause : plan.pauses) {
    FlowRecord& record = next.touch(pause.flow);
    next.control(record, Control::pause, pause.reason, pause.why);
  }
  for (const Stop& stop : plan.stops) {
    const FlowRecord* const known = record_of(records, flow_index, stop.run);
    if (known == nullptr)
      continue;
    FlowRecord& record = next.touch(known->id);
    Run run = *record.run(stop.run);
    run.state = RunState::stopping;
    run.stop_why = stop.why;
    next.put(record, run);
    next.event("stopping", record.id, stop.why, run.key.subject, run.key.role, run.id);
  }
}

/// Tells of each cap of more than one flow that is reached, once for all its flows. People hear of
/// it again after its sum was below half of the cap. So a cap that lets one start through now and
/// then is told once.
void Planning::tell_caps(Draft& next) const {
  if (!sums_)
    return;
  const FlowRecord* const root = next.find(FlowId{});
  const std::vector<Hold> before = root == nullptr ? std::vector<Hold>{} : root->notified.holds;
  std::vector<Hold> told = before;
  const auto is_cap = [](const Hold& hold) { return hold.cause.reason == Reason::cap_reached; };
  const auto silent = [&](const Role& agent) {
    return std::find(without_cost_.begin(), without_cost_.end(), agent) != without_cost_.end();
  };
  std::map<std::string, Hold> caps = plan().caps;
  for (const FlowId& flow : over_)
    if (const auto holds = plan().holds.find(flow); holds != plan().holds.end())
      for (const Hold& hold : holds->second)
        if (!hold.cap.empty())
          caps.try_emplace(hold.cap, hold);
  const auto raise_name = [](const CapRaise& raise) {
    return "raised " + cap_name(raise.place, raise.key) + " " + iso_time(raise.since, true);
  };
  std::erase_if(told, [&](const Hold& hold) {
    if (hold.subject.starts_with("raised "))
      return std::none_of(sums_->raises().begin(), sums_->raises().end(),
                          [&](const CapRaise& raise) { return raise_name(raise) == hold.subject; });
    return is_cap(hold) &&
           (hold.role.empty() ? !caps.contains(hold.subject) && sums_->is_low(hold.subject)
                              : !silent(hold.role));
  });
  const auto tell = [&](const Word& event, Hold hold, const std::string& why) {
    if (std::any_of(told.begin(), told.end(), [&](const Hold& one) {
          return one.role == hold.role && one.subject == hold.subject && one.cause == hold.cause;
        }))
      return;
    next.event(event, {}, why, "", hold.role);
    told.push_back(std::move(hold));
  };
  // The runs may cost less than is expected of them, and then starts go on at once.
  std::erase_if(caps, [&](const auto& row) { return sums_->is_estimate(row.first); });
  for (const auto& [cap, hold] : caps)
    tell("cap_reached", {"", cap, Reason::cap_reached, ""},
         hold.why + (hold.until ? "; starts go on at " + iso_time(*hold.until) : "") + ", or by `" +
             hold.action + "`");
  for (const CapRaise& raise : sums_->raises())
    tell("cap_raised", {"", raise_name(raise), Reason::cap_reached, ""},
         "the cap " + std::string(word(raise.key)) + " of " + text(raise.place) + " is raised by " +
             amount_text(raise.key, raise.by) + " until " + iso_time(end_of(raise)) +
             (raise.who.empty() ? "" : ", by " + raise.who));
  for (const Role& agent : without_cost_)
    tell("cost_unknown", {agent, "cost", Reason::cap_reached, ""},
         "the agent `" + agent +
             "` has never reported a cost, so a cap on cost does not limit it; limit its starts "
             "(spawns_per_day), or let it report its cost (docs/adapters.md)");
  if (told != before)
    next.touch(FlowId{}).notified.holds = std::move(told);
}

void Planning::note_holds(Draft& next) const {
  std::set<FlowId> flows = reconciler_.news();
  for (const auto& [flow, record] : next.touched())
    flows.insert(flow);
  for (const FlowId& flow : flows)
    if (const FlowRecord* const known = next.find(flow); known != nullptr)
      baton::note_holds(next, *known, plan(), !setup_.may_start);
  if (setup_.may_start)
    tell_caps(next);
}

void Planning::committed(const Draft& next) {
  reconciler_.mark_reported();
  for (const auto& [flow, record] : next.touched())
    stale_.insert(flow);
  stale_.insert(next.forgotten.begin(), next.forgotten.end());
}

}  // namespace baton
