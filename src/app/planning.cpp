#include "app/planning.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

/// `root`: the operator's word for everything, if there is one.
FlowSituation situation_of(const FlowBook& book, const FlowBook* root, const Circumstances& now) {
  FlowSituation one{book.id,          book.decision,           book.stages,
                    book.runs,        book.control.control,    book.control.reason,
                    book.control.why, book.control.resumed_at, book.held};
  if (const std::string open = now.outbox.waiting(book.id); !open.empty())
    one.held = Hold{"", "", "write_pending",
                    "a write is still to be made, tried again every second: " + open};
  if (root != nullptr && root->control.control != Control::run && one.control != Control::stop) {
    one.control = root->control.control;
    one.control_reason = root->control.reason;
    one.control_why = root->control.why + " (the whole root)";
  }
  return one;
}

/// That a write waits is told also where no start waits for it.
void tell_write(const FlowSituation& one, Plan& plan) {
  if (!one.held || one.held->reason != "write_pending")
    return;
  std::vector<Hold>& holds = plan.holds[one.flow];
  if (std::none_of(holds.begin(), holds.end(),
                   [](const Hold& hold) { return hold.reason == "write_pending"; }))
    holds.push_back(*one.held);
}

}  // namespace

std::optional<Hold> Planning::held(const Circumstances& now) const {
  if (setup_.said.held)
    return setup_.said.held;
  if (now.draining)
    return Hold{"", "", "draining", "the daemon is draining: no new starts"};
  if (!setup_.may_start)
    return Hold{"", "", "no_daemon", "no daemon serves this root"};
  if (now.disk_full)
    return Hold{"", "", "disk_full", "the disk of the journal is full: supervising only"};
  if (now.try_again)
    return Hold{"", "", "cannot_start",
                now.trouble + "; tried again at " + iso_time(*now.try_again)};
  return std::nullopt;
}

Plan Planning::reconcile_all(const Draft& next, const Circumstances& now, const Refused& refused,
                             std::optional<Hold> held) const {
  Situation situation;
  situation.now = next.now;
  situation.since = now.since;
  situation.max_running = setup_.max_running;
  situation.running_elsewhere = now.running_elsewhere;
  situation.spawns_per_hour = setup_.spawns_per_hour;
  situation.on_interrupted = setup_.on_interrupted;
  situation.retry = setup_.retry;
  for (const auto& [role, spec] : agents_) {
    if (spec.problem.empty())
      situation.usable_roles.insert(role);
    else
      situation.unusable_roles[role] = spec.problem;
    situation.role_retry[role] = spec.retry;
  }
  situation.refused = refused;
  situation.default_role = agents_.contains("default");
  situation.held = std::move(held);
  const FlowBook* const root = next.find(FlowId{});
  const auto add = [&](const FlowId& flow, const FlowBook& book) {
    if (flow == FlowId{})
      return;
    situation.flows.push_back(situation_of(book, root, now));
  };
  for (const auto& [flow, book] : now.books)
    if (!next.touched().contains(flow) && !next.forgotten.contains(flow))
      add(flow, book);
  for (const auto& [flow, book] : next.touched())
    add(flow, book);
  Plan plan = reconcile(situation);
  for (const FlowSituation& one : situation.flows)
    tell_write(one, plan);
  return plan;
}

std::set<FlowId> Planning::hold_existing(Draft& next, const Circumstances& now) const {
  if (!now.decide_all || !(now.first_start || setup_.act_on_existing))
    return {};
  const std::string why = "more than " + std::to_string(setup_.max_existing) +
                          " flows would start or set something at the first start on this root; "
                          "`baton run --act-on-existing`, or `baton resume`";
  std::set<FlowId> again;
  if (setup_.act_on_existing) {
    for (const auto& [flow, book] : now.books)
      if (book.control.reason == "existing") {
        next.control(next.touch(flow), Control::run, "", "");
        again.insert(flow);
      }
    return again;
  }
  std::set<FlowId> wanting = reconcile_all(next, now, {}, held(now)).wanting;
  for (const auto& [flow, book] : next.touched())
    if (std::any_of(book.decision.holds.begin(), book.decision.holds.end(),
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

Result<Planned> Planning::settle(Draft& next, const Circumstances& now) {
  Refused refused;
  std::set<Role> looked;
  const std::optional<Hold> whole = held(now);
  // Who asks why nothing starts is told what stands against it also when nothing at all may start.
  if (setup_.rehearsal && whole)
    if (auto tried = plan(next, now, std::nullopt, refused, looked); !tried)
      return tried;
  return plan(next, now, whole, refused, looked);
}

Result<Planned> Planning::plan(Draft& next, const Circumstances& now,
                               const std::optional<Hold>& held, Refused& refused,
                               std::set<Role>& looked) {
  for (;;) {
    Planned planned{reconcile_all(next, now, refused, held), {}};
    if (renew_wanted(planned.plan, looked))
      continue;
    bool all = true;
    for (const Start& start : planned.plan.starts) {
      auto described = launch(next, now, start);
      if (!described && described.error().code == Errc::io)
        return pass_on(described);
      all = all && described.has_value();
      if (described)
        planned.launches.push_back(std::move(*described));
      else
        refused.emplace(start.key, describe(described.error()));
    }
    if (all)
      return planned;
  }
}

Result<Launch> Planning::launch(Draft& next, const Circumstances& now, const Start& start) {
  const Catalog::Entry* const entry = catalog_.entry(start.key.flow.dialect);
  FlowBook& book = next.touch(start.key.flow);
  auto docs = library_.open(book, *entry, next.documents);
  if (!docs)
    return pass_on(docs);
  Brief brief;
  if (entry->dialect->brief != nullptr) {
    const View view{book.id,      *docs,          book.stages,        book.runs, book.memo,
                    now.requests, entry->options, setup_.environment, next.now,  next.wall};
    brief = entry->dialect->brief(view, start.desired);
  }
  if (start.desired.action)
    return launch_of(start, setup_.action, brief, setup_.environment);
  const auto spec = agent_of(start.key.role);
  return launch_of(start, spec == agents_.end() ? AgentSpec{} : spec->second, brief,
                   setup_.environment);
}

/// By its own name, else `default`.
Planning::Agents::iterator Planning::agent_of(const Role& role) {
  const auto own = agents_.find(role);
  return own == agents_.end() ? agents_.find("default") : own;
}

/// Looks again, once a step, at the roles that are about to be started or are held for what was
/// wrong with them. Whether anything is other than before.
bool Planning::renew_wanted(const Plan& plan, std::set<Role>& looked) {
  if (!setup_.renew)
    return false;
  bool changed = false;
  for (const Start& start : plan.starts)
    if (!start.desired.action)
      changed = renew(start.key.role, looked) || changed;
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

void stop_all(Plan& plan, const Books& books, const std::string& why) {
  plan.stops.clear();
  for (const auto& [flow, book] : books)
    for (const Run& run : book.runs)
      if (run.state == RunState::started)
        plan.stops.push_back(Stop{run.id, "ended", why});
}

void enter(Draft& next, const Books& books, const Plan& plan) {
  for (const PauseFlow& pause : plan.pauses) {
    FlowBook& book = next.touch(pause.flow);
    next.control(book, Control::pause, pause.reason, pause.why);
    next.event("paused", pause.flow, pause.why);
  }
  for (const Stop& stop : plan.stops) {
    for (const auto& [flow, known] : books) {
      const bool here = std::any_of(known.runs.begin(), known.runs.end(),
                                    [&](const Run& run) { return run.id == stop.run; });
      if (!here)
        continue;
      FlowBook& book = next.touch(flow);
      Run run = *book.run(stop.run);
      run.state = RunState::stopping;
      run.stop_why = stop.why;
      next.put(book, run);
      next.event("stopping", flow, stop.why, run.key.subject, run.key.role, run.id);
    }
  }
}

namespace {

/// Whether a list is two others, one behind the other.
bool joins(std::span<const Hold> whole, std::span<const Hold> first, std::span<const Hold> second) {
  return whole.size() == first.size() + second.size() &&
         std::equal(first.begin(), first.end(), whole.begin()) &&
         std::equal(second.begin(), second.end(), whole.begin() + std::ssize(first));
}

}  // namespace

namespace {

bool passing(const Hold& hold) {
  static constexpr std::array kPassing = {
      std::string_view("backing_off"), std::string_view("no_place"),  std::string_view("claimed"),
      std::string_view("paused"),      std::string_view("stopped"),   std::string_view("draining"),
      std::string_view("no_daemon"),   std::string_view("disk_full"), std::string_view("condition"),
      std::string_view("unconfigured")};
  return std::find(kPassing.begin(), kPassing.end(), hold.reason) != kPassing.end();
}

/// What is remembered as told of these holds; what of it is news is said.
std::vector<Hold> tell_lasting(Draft& next, const FlowBook& known, const std::vector<Hold>& holds) {
  std::vector<Hold> lasting;
  for (const Hold& hold : holds) {
    if (passing(hold))
      continue;
    lasting.push_back(Hold{hold.role, hold.subject, hold.reason, ""});
    if (!known.told.has(hold))
      next.event("held", known.id, hold.why, hold.subject, hold.role);
  }
  return lasting;
}

void note_holds(Draft& next, const FlowBook& known, const Plan& plan) {
  const auto found = plan.holds.find(known.id);
  const std::span<const Hold> planned =
      found == plan.holds.end() ? std::span<const Hold>{} : found->second;
  const std::vector<Hold>& own = known.decision.holds;
  const bool failed = plan.failed.contains(known.id) || known.decision.failed;
  // What was told last changes with the holds; right after a start there are none of these yet.
  const bool untold = known.holds.empty() && !known.told.holds.empty();
  if (known.failed == failed && joins(known.holds, own, planned) && !untold)
    return;
  std::vector<Hold> holds = own;
  holds.insert(holds.end(), planned.begin(), planned.end());
  std::vector<Hold> lasting = tell_lasting(next, known, holds);
  FlowBook& book = next.touch(known.id);
  book.told.holds = std::move(lasting);
  book.holds = std::move(holds);
  book.failed = failed;
}

}  // namespace

void note_holds(Draft& next, const Books& books, const Plan& plan) {
  // As the draft has them: forgotten ones are not there.
  for (const auto& [flow, book] : books)
    if (const FlowBook* const known = next.find(flow); known != nullptr)
      note_holds(next, *known, plan);
  for (const auto& [flow, book] : next.touched())
    if (!books.contains(flow))
      note_holds(next, book, plan);
}

}  // namespace baton
