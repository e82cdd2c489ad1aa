#include "engine/perform/planning.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

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
        one.held = Hold{"", "", "being_written",
                        path +
                            " cannot be read as it stands and may be being written; it is "
                            "looked at again until it can, or is rejected"};
  // At most one agent works on a file, even if the file belonged to another flow when that agent
  // started.
  const auto agent =
      std::find_if(now.elsewhere.begin(), now.elsewhere.end(),
                   [&](const AgentElsewhere& each) { return each.now == record.id; });
  if (!one.held && agent != now.elsewhere.end())
    one.held = Hold{"", "", "claimed",
                    agent->path + " is still in the hands of an agent of " + text(agent->former)};
  if (root.control != Control::run && one.control != Control::stop) {
    one.control = root.control;
    one.control_reason = root.reason;
    one.control_why = root.why + " (the whole root)";
  }
  return one;
}

}  // namespace

std::optional<Hold> Planning::held(const PlanningContext& now) const {
  if (setup_.daemon_state.held)
    return setup_.daemon_state.held;
  if (now.draining)
    return Hold{"", "", "draining", "the daemon is draining: no new starts"};
  if (now.given_up)
    return Hold{"", "", "given_up",
                "the configuration names this root no more: nothing is started, and it is given "
                "up when its last agent has ended"};
  if (!setup_.may_start)
    return Hold{"", "", "no_daemon", "no daemon serves this root"};
  if (now.disk_full)
    return Hold{"", "", "disk_full",
                "the disk of the journal is full, or has less than 1 MiB left: supervising only"};
  if (!now.blind.empty())
    return Hold{"", "", "cannot_look", now.blind + "; tried again every second"};
  if (now.try_again)
    return Hold{"", "", "cannot_start",
                now.trouble + "; tried again at " + iso_time(*now.try_again)};
  return std::nullopt;
}

std::map<Role, std::string> Planning::unusable() const {
  std::map<Role, std::string> unusable;
  for (const auto& [role, spec] : agents_)
    if (!spec.problem.empty())
      unusable.emplace(role, spec.problem);
  return unusable;
}

PlanSettings Planning::settings(const PlanningContext& now, std::optional<Hold> held) const {
  PlanSettings settings;
  settings.since = now.since;
  settings.max_running = setup_.max_running;
  settings.spawns_per_hour = setup_.spawns_per_hour;
  settings.cost_per_hour = setup_.cost_per_hour;
  settings.on_interrupted = setup_.on_interrupted;
  settings.retry = setup_.retry;
  for (const auto& [role, spec] : agents_) {
    if (spec.problem.empty())
      settings.usable_roles.insert(role);
    else
      settings.unusable_roles[role] = spec.problem;
    settings.role_retry[role] = spec.retry;
  }
  settings.default_role = agents_.contains("default");
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
  flows.insert(stale_.begin(), stale_.end());
  const FlowRecord* const whole = next.find(FlowId{});
  const ControlRow root = whole == nullptr ? ControlRow{} : whole->control;
  if (root_ != root) {
    for (const auto& [flow, record] : now.records)
      flows.insert(flow);
    root_ = root;
  }
  give(flows, next, now, refused);
  reconciler_.put(settings(now, std::move(held)));
  reconciler_.plan(next.now, now.running_elsewhere);
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
    reconciler_.put(std::move(one));
  }
}

std::set<FlowId> Planning::hold_existing(Draft& next, const PlanningContext& now) {
  if (!now.decide_all || !(now.first_start || setup_.act_on_existing))
    return {};
  const std::string why = "more than " + std::to_string(setup_.max_existing) +
                          " flows would start or set something at the first start on this root; "
                          "`baton run --act-on-existing`, or `baton resume --all`";
  std::set<FlowId> again;
  if (setup_.act_on_existing) {
    for (const auto& [flow, record] : now.records)
      if (record.control.reason == "existing") {
        next.control(next.touch(flow), Control::run, "", "");
        again.insert(flow);
      }
    return again;
  }
  // A flow that only waits until a file is complete counts as well.
  PlanningContext whole = now;
  whole.being_written.clear();
  reconcile(next, whole, {}, held(now));
  std::set<FlowId> wanting = plan().wanting;
  for (const auto& [flow, record] : next.touched())
    if (std::any_of(record.decision.holds.begin(), record.decision.holds.end(),
                    [](const Hold& hold) { return hold.reason == "only_looked"; }))
      again.insert(flow);
  wanting.insert(again.begin(), again.end());
  if (wanting.size() <= setup_.max_existing)
    return again;
  for (const FlowId& flow : wanting)
    next.control(next.touch(flow), Control::pause, "existing", why);
  next.event("held", {}, std::to_string(wanting.size()) + " flows are held: " + why);
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
    if (renew_wanted(plan(), looked))
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
  if (start.desired.action)
    return make_launch(start, setup_.action, brief, setup_.environment);
  const auto spec = agent_of(start.key.role);
  return make_launch(start, spec == agents_.end() ? AgentSpec{} : spec->second, brief,
                     setup_.environment);
}

/// The agent with the name of the role, else `default`.
Planning::Agents::iterator Planning::agent_of(const Role& role) {
  const auto own = agents_.find(role);
  return own == agents_.end() ? agents_.find("default") : own;
}

/// Checks roles again that are about to start, or that flows wait for because they cannot start.
/// Each role is checked once per step. True: a role has changed.
bool Planning::renew_wanted(const Plan& plan, std::set<Role>& looked) {
  if (!setup_.renew)
    return false;
  bool changed = false;
  for (const Start& start : plan.starts)
    if (!start.desired.action)
      changed = renew(start.key.role, looked) || changed;
  // If all roles can be used, no flow waits for one.
  const bool unusable = std::any_of(agents_.begin(), agents_.end(),
                                    [](const auto& row) { return !row.second.problem.empty(); });
  if (unusable)
    for (const auto& [flow, holds] : plan.holds)
      for (const Hold& hold : holds)
        if (hold.reason == "agent_unusable")
          changed = renew(hold.role, looked) || changed;
  for (const auto& [flow, refused] : plan.refused)
    for (const auto& [key, why] : refused)
      changed = renew(key.role, looked) || changed;
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

void Planning::hold(const Key& what, Word reason, std::string why) {
  reconciler_.hold(what.flow, Hold{what.role, what.subject, std::move(reason), std::move(why)});
}

void Planning::could_not_start(const std::vector<Start>& starts, const std::string& why) {
  for (const Start& start : starts) {
    hold(start.key, "cannot_start", why);
    reconciler_.made().waiting = true;
  }
}

void enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index, const Plan& plan) {
  for (const PauseFlow& pause : plan.pauses) {
    FlowRecord& record = next.touch(pause.flow);
    next.control(record, Control::pause, pause.reason, pause.why);
    next.event("paused", pause.flow, pause.why);
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

namespace {

/// Whether `whole` is `first` followed by `second`.
bool joins(std::span<const Hold> whole, std::span<const Hold> first, std::span<const Hold> second) {
  return whole.size() == first.size() + second.size() &&
         std::equal(first.begin(), first.end(), whole.begin()) &&
         std::equal(second.begin(), second.end(), whole.begin() + std::ssize(first));
}

}  // namespace

namespace {

bool short_lived(const Hold& hold) {
  static constexpr std::array kShortLived = {
      std::string_view("backing_off"),   std::string_view("no_place"),
      std::string_view("claimed"),       std::string_view("paused"),
      std::string_view("stopped"),       std::string_view("draining"),
      std::string_view("no_daemon"),     std::string_view("cannot_look"),
      std::string_view("disk_full"),     std::string_view("condition"),
      std::string_view("unconfigured"),  std::string_view("gave_way"),
      std::string_view("being_written"), std::string_view("given_up")};
  return std::find(kShortLived.begin(), kShortLived.end(), hold.reason) != kShortLived.end();
}

/// Reports lasting holds that are new. Returns the holds that count as notified.
std::vector<Hold> tell_lasting(Draft& next, const FlowRecord& known,
                               const std::vector<Hold>& holds) {
  std::vector<Hold> lasting;
  // A short-lived hold may hide a lasting one that was notified. The lasting one will be back, and
  // must not be notified again.
  std::copy_if(known.notified.holds.begin(), known.notified.holds.end(),
               std::back_inserter(lasting), [&](const Hold& notified) {
                 return std::any_of(holds.begin(), holds.end(), [&](const Hold& hold) {
                   return short_lived(hold) && notified.role == hold.role &&
                          notified.subject == hold.subject;
                 });
               });
  for (const Hold& hold : holds) {
    if (short_lived(hold))
      continue;
    if (!known.notified.has(hold))
      next.event("held", known.id, hold.why, hold.subject, hold.role);
    Hold notified{hold.role, hold.subject, hold.reason, ""};
    if (std::find(lasting.begin(), lasting.end(), notified) == lasting.end())
      lasting.push_back(std::move(notified));
  }
  return lasting;
}

void note_holds(Draft& next, const FlowRecord& known, const Plan& plan) {
  const auto found = plan.holds.find(known.id);
  const std::span<const Hold> planned =
      found == plan.holds.end() ? std::span<const Hold>{} : found->second;
  const std::vector<Hold>& own = known.decision.holds;
  const bool failed = plan.failed.contains(known.id) || known.decision.failed;
  // After a restart the record has no holds yet, but may have notified ones. Those that are over
  // must not stay notified.
  const bool untold = known.holds.empty() && !known.notified.holds.empty();
  if (known.failed == failed && joins(known.holds, own, planned) && !untold)
    return;
  std::vector<Hold> holds = own;
  holds.insert(holds.end(), planned.begin(), planned.end());
  std::vector<Hold> lasting = tell_lasting(next, known, holds);
  FlowRecord& record = next.touch(known.id);
  record.notified.holds = std::move(lasting);
  record.holds = std::move(holds);
  record.failed = failed;
}

}  // namespace

void Planning::note_holds(Draft& next) const {
  std::set<FlowId> flows = reconciler_.news();
  for (const auto& [flow, record] : next.touched())
    flows.insert(flow);
  for (const FlowId& flow : flows)
    if (const FlowRecord* const known = next.find(flow); known != nullptr)
      baton::note_holds(next, *known, plan());
}

void Planning::committed(const Draft& next) {
  reconciler_.mark_reported();
  for (const auto& [flow, record] : next.touched())
    stale_.insert(flow);
  stale_.insert(next.forgotten.begin(), next.forgotten.end());
}

}  // namespace baton
