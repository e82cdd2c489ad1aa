// SPDX-License-Identifier: Apache-2.0
#include "daemon/served_roots.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "base/text.h"
#include "engine/decide/status.h"
#include "io/agents/run_directory.h"
#include "io/system/backup_prune.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/folders.h"

namespace baton {

namespace {

constexpr int kMostTurns = 10;
constexpr std::size_t kMostNamed = 5;

std::string foreign_text(const std::vector<ForeignProcess>& processes) {
  std::string text = std::to_string(processes.size()) +
                     (processes.size() == 1 ? " process" : " processes") +
                     " of no run in the cgroup of the daemon: ";
  for (std::size_t i = 0; i < processes.size() && i < kMostNamed; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(processes[i].pid) + " (" +
            printable(processes[i].name, 40) + ")";
  return text + (processes.size() > kMostNamed ? ", ..." : "");
}

}  // namespace

std::string count_agents(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " agent" : " agents");
}

Result<std::unique_ptr<RootService>> ServedRoots::take_up(const ServedRoot& served,
                                                          const std::string& shim) {
  auto lock = lock_root(served.root, served.state_folder);
  if (!lock && lock.error().code == Errc::served)
    lock.error().message.insert(0, "another daemon serves this root, which ");
  if (!lock)
    return pass_on(lock);
  if (auto apart = means_.options.apart(served.root); !apart)
    return pass_on(apart);
  if (!lock->stranger().empty())
    spdlog::warn(printable(served.root + " is locked by " + lock->stranger() +
                           ", who could not serve it; this lock is ignored, and .baton.lock in the "
                           "root takes its place"));
  auto observer = means_.notifier.on(served.root);
  Notifier::RootObserver& events = *observer;
  auto root = RootService::make(means_.loop, served, *std::move(lock), shim, std::move(observer),
                                means_.wake);
  // The observer belongs to the service, so the engine is there as long as it is asked.
  if (root)
    events.ask([&engine = (*root)->engine()](const Event& event) {
      return notify_facts(engine.records(), engine.plan(), event);
    });
  return root;
}

/// The status comes first, because commands find a served root by its status.
void ServedRoots::serve(std::unique_ptr<RootService> root) {
  root->write_status(since_);
  spdlog::info("serving " + printable(root->root()) + " (state in " +
               printable(root->state_folder()) + "; " + root->describe() + ")");
  if (const std::size_t runs = root->engine().running(); runs > 0)
    spdlog::info("takes up " + std::to_string(runs) +
                 (runs == 1 ? " run that was" : " runs that were") + " at work");
  if (draining_)
    root->engine().drain();
  roots_.push_back(std::move(root));
}

Result<void> ServedRoots::take_up_late(const ServedRoot& served, const std::string& shim) {
  std::vector<std::string> all{served.root};
  for (const auto& root : roots_)
    all.push_back(root->root());
  if (std::count(all.begin(), all.end(), served.root) > 1)
    return {};
  if (auto apart = check_apart(all); !apart)
    return apart;
  auto root = take_up(served, shim);
  if (!root)
    return pass_on(root);
  serve(*std::move(root));
  means_.wake();
  return {};
}

Result<void> ServedRoots::step() {
  bool freed = false;
  // How many places are promised to roots that wait for one. Without promises, a root whose agents
  // end would fill their places again at once, and the others would wait for ever.
  std::uint32_t promised = 0;
  for (const auto& root : roots_) {
    Engine& engine = root->engine();
    const std::size_t before = engine.running();
    engine.running_elsewhere(running() - static_cast<std::uint32_t>(before) + promised);
    FlowCounts others;
    for (const auto& other : roots_)
      if (other != root)
        for (const auto& [place, count] : other->engine().flow_counts())
          others[place] += count;
    engine.flows_elsewhere(std::move(others));
    if (auto stepped = root->step(); !stepped)
      return stepped;
    freed = freed || engine.running() < before;
    promised += engine.flow_index().no_place > 0 ? 1U : 0U;
  }
  // A root that has started something comes last the next time.
  std::stable_partition(roots_.begin(), roots_.end(),
                        [](const auto& root) { return !root->started(); });
  drain_together();
  give_up_left();
  look_for_foreign();
  // Another root may use the place that became free, so step again.
  again_ = roots_.size() > 1 && freed;
  if (again_)
    means_.wake();
  return {};
}

std::optional<Time> ServedRoots::due(Time now) const {
  std::optional<Time> next;
  for (const auto& root : roots_) {
    const auto wake = root->due(now) ? std::optional<Time>(now) : root->engine().wake();
    if (wake && (!next || *wake < *next))
      next = wake;
  }
  return next;
}

std::uint32_t ServedRoots::running() const {
  std::size_t all = 0;
  for (const auto& root : roots_)
    all += root->engine().running();
  return static_cast<std::uint32_t>(all);
}

bool ServedRoots::over(Time now, Millis within) const {
  return !again_ && std::all_of(roots_.begin(), roots_.end(), [&](const auto& root) {
    const Engine& engine = root->engine();
    const auto due = engine.next_due();
    return engine.settled() && !root->away_since() && (!due || *due > now + within);
  });
}

bool ServedRoots::quiet_elsewhere() const {
  return std::all_of(roots_.begin(), roots_.end(), [](const auto& root) {
    const Engine& engine = root->engine();
    return root->away_since() ? engine.running() == 0 && !engine.encrypting() : engine.quiet();
  });
}

std::optional<Time> ServedRoots::away_since() const {
  std::optional<Time> since;
  for (const auto& root : roots_)
    if (const auto away = root->away_since(); away && (!since || *away < *since))
      since = away;
  return since;
}

std::optional<StartTrouble> ServedRoots::start_trouble() const {
  for (const auto& root : roots_)
    if (auto trouble = root->engine().start_trouble())
      return trouble;
  return std::nullopt;
}

bool ServedRoots::guards_lock() const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [](const auto& root) { return root->guards_lock(); });
}

bool ServedRoots::disk_full() const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [](const auto& root) { return root->engine().disk_full(); });
}

OnceVerdict ServedRoots::verdict(Time began, const OnceWish& wish) const {
  OnceVerdict verdict;
  for (const auto& root : roots_)
    judge(root->root(), root->engine().records(), root->engine().plan(), began, wish, verdict);
  return verdict;
}

std::size_t ServedRoots::held() const {
  std::size_t held = 0;
  for (const auto& root : roots_)
    held += root->engine().flow_index().held;
  return held;
}

std::vector<std::string> ServedRoots::waits() const {
  std::vector<std::string> waits;
  for (const auto& root : roots_) {
    const FlowRecords& records = root->engine().records();
    for (const FlowStatus& each : statuses(records, root->engine().plan())) {
      const auto record = records.find(each.flow);
      const bool looks_again = record != records.end() && record->second.decision.wake.has_value();
      if (each.cause.condition == Condition::waiting || looks_again)
        waits.push_back(text(each.flow) + ": " + each.why);
    }
  }
  return waits;
}

void ServedRoots::drain() {
  draining_ = true;
  for (const auto& root : roots_)
    root->engine().drain();
}

/// A request to drain one root drains the whole daemon, also roots that it serves later.
void ServedRoots::drain_together() {
  if (!draining_ && std::any_of(roots_.begin(), roots_.end(),
                                [](const auto& root) { return root->engine().drain_wanted(); }))
    drain();
}

/// Also waits for backups, so that the work of the last agent is backed up before the daemon ends.
/// The backup programs have a time limit.
bool ServedRoots::drained() const {
  return draining_ && running() == 0 &&
         std::none_of(roots_.begin(), roots_.end(),
                      [](const auto& root) { return root->engine().encrypting(); });
}

/// Looks for processes of the unit that belong to no run, when the number of agents has changed,
/// and in each step while everything is stopped. Tells of them, and ends them if everything is
/// stopped.
void ServedRoots::look_for_foreign() {
  const bool stopped =
      !roots_.empty() && std::all_of(roots_.begin(), roots_.end(), [](const auto& root) {
        const FlowRecords& records = root->engine().records();
        const auto all = records.find(FlowId{});
        return all != records.end() && all->second.control.control == Control::stop;
      });
  const std::uint32_t now = running();
  if (looked_ == now && !stopped)
    return;
  looked_ = now;
  LiveRuns live;
  for (const auto& root : roots_)
    for (const auto& [flow, record] : root->engine().records())
      for (const Run& run : record.runs)
        if (run.live()) {
          live.ids.insert(run.id);
          live.shims.insert(run.pid);
        }
  auto found = unit_.foreign(live);
  // They may have started others meanwhile.
  for (int turn = 0; stopped && !found.empty() && turn < kMostTurns; ++turn) {
    spdlog::warn("ending " + foreign_text(found) + ", because everything is stopped");
    unit_.end(found);
    auto left = unit_.foreign(live);
    const bool same = left == found;
    found = std::move(left);
    if (same)
      break;
  }
  if (found == foreign_)
    return;
  foreign_ = std::move(found);
  for (const auto& root : roots_)
    root->tell_foreign(foreign_.empty() ? "" : foreign_text(foreign_));
}

void ServedRoots::stop_agents(const std::string& why) {
  for (const auto& root : roots_)
    root->engine().stop_agents(why);
}

std::string ServedRoots::write_statuses() {
  std::size_t flows = 0;
  std::string watching;
  for (const auto& root : roots_) {
    const FlowRecords& records = root->engine().records();
    flows += records.size() - records.count(FlowId{});
    root->write_status(since_);
    if (root->polls())
      watching = "; " + root->describe();
  }
  return std::to_string(running()) + " running, " + std::to_string(flows) + " flows, " +
         std::to_string(held()) + " waiting or blocked" + watching +
         (disk_full() ? "; DISK FULL: supervising only" : "");
}

std::vector<RootMetrics> ServedRoots::metrics(bool up) const {
  std::vector<RootMetrics> all;
  for (const auto& root : roots_) {
    all.push_back(root->metrics(since_));
    all.back().up = up;
  }
  return all;
}

void ServedRoots::note_metrics_fault(const std::string& why) const {
  for (const auto& root : roots_)
    root->note_metrics_fault(why);
}

/// Does everything that can fail, for all roots, before anything changes.
Result<ServedRoots::Exchange> ServedRoots::prepare(const ServiceConfig& loaded) {
  Exchange next;
  next.any = &loaded.roots.front();
  for (const ServedRoot& served : loaded.roots) {
    const auto known = std::find_if(roots_.begin(), roots_.end(),
                                    [&](const auto& root) { return root->root() == served.root; });
    if (known == roots_.end()) {
      auto root = take_up(served, loaded.shim);
      if (!root)
        return pass_on(root);
      next.taken_up.push_back(*std::move(root));
      next.message += "; " + served.root + " is served now";
      continue;
    }
    if ((*known)->leaving())
      return fail(Errc::busy, "is given up when its last agent has ended; take it up again then",
                  served.root);
    Setup setup = served.setup;
    set_place_variables((*known)->state_folder(), setup.environment.variables);
    auto parts = (*known)->engine().configured_parts_of(std::move(setup));
    if (!parts)
      return pass_on(parts);
    next.kept.push_back({known->get(), *std::move(parts), &served});
    if (served.state_folder != (*known)->state_folder())
      next.message += "; the state of " + served.root + " stays in " + (*known)->state_folder() +
                      " until a restart";
  }
  return next;
}

std::string ServedRoots::exchange(Exchange next) {
  for (auto& [root, parts, by] : next.kept) {
    root->reconfigure(std::move(parts), *by);
    // The status must be there before the reload is answered.
    root->write_status(since_);
  }
  for (const auto& root : roots_) {
    const bool named = std::any_of(next.kept.begin(), next.kept.end(),
                                   [&](const auto& each) { return each.root == root.get(); });
    if (named)
      continue;
    const bool known = root->leaving();
    root->leave(*next.any);
    // As above, before the answer.
    root->write_status(since_);
    if (known)
      continue;
    next.message += "; " + root->root() + " is given up when what runs there has ended (" +
                    count_agents(root->engine().running()) + ")";
  }
  for (auto& root : next.taken_up)
    serve(std::move(root));
  return std::move(next.message);
}

void ServedRoots::answer_reloads(const std::function<Result<std::string>()>& reload) {
  std::vector<std::pair<Engine*, std::string>> asked;
  for (const auto& root : roots_)
    for (std::string& request : root->engine().reloads_wanted())
      asked.emplace_back(&root->engine(), std::move(request));
  if (asked.empty())
    return;
  const auto done = reload();
  for (const auto& [engine, request] : asked)
    engine->answer(Reply{request, done.has_value(), done ? *done : describe(done.error())});
}

void ServedRoots::give_up_left() {
  std::erase_if(roots_, [](const auto& root) {
    if (root->left())
      spdlog::info(printable(root->root()) + " is no longer served");
    return root->left();
  });
}

void ServedRoots::sweep() {
  for (const auto& root : roots_)
    root->sweep();
}

void ServedRoots::prune(const Retention& retention) {
  const Time now = means_.clock.wall();
  for (const auto& root : roots_) {
    auto pruned =
        prune_journal(root->state_folder(), retention, now, [](const std::string& directory) {
          return static_cast<bool>(remove_run_directory(directory));
        });
    if (!pruned)
      spdlog::warn("old history stays: " + printable(describe(pruned.error())));
    for (const Catalog::Entry& entry : root->engine().catalog().entries()) {
      if (entry.dialect->backups == nullptr)
        continue;
      const auto removed = prune_backups(root->root(), entry.dialect->backups(entry.options), now);
      if (!removed)
        spdlog::warn("old backups stay: " + printable(describe(removed.error())));
    }
  }
}

Result<void> AwaitedRoots::check(const std::vector<AwaitedRoot>& loaded) const {
  for (const AwaitedRoot& each : loaded)
    if (std::none_of(roots_.begin(), roots_.end(),
                     [&](const AwaitedRoot& known) { return known.path == each.path; }))
      return fail(Errc::not_found, "there is no such folder", each.path);
  return {};
}

void AwaitedRoots::keep(ServiceConfig& loaded) const {
  const auto known = [&](const ServedRoot& root) {
    return std::any_of(roots_.begin(), roots_.end(),
                       [&](const AwaitedRoot& each) { return each.path == root.root; });
  };
  if (std::all_of(loaded.roots.begin(), loaded.roots.end(), known))
    return;
  for (const ServedRoot& root : loaded.roots)
    if (known(root))
      loaded.awaited.push_back({root.root, [root] { return root; }});
  std::erase_if(loaded.roots, known);
}

void AwaitedRoots::look(const std::function<Result<void>(const ServedRoot&)>& take) {
  std::erase_if(roots_, [&](const AwaitedRoot& root) {
    auto served = root.look();
    const auto taken = served ? take(*served) : Result<void>(pass_on(served));
    if (taken)
      return true;
    const std::string why = baton::describe(taken.error());
    if (std::exchange(logged_[root.path], why) != why)
      spdlog::warn(printable(why) + "; the root is waited for");
    return false;
  });
}

std::string AwaitedRoots::describe() const {
  std::string text;
  for (const AwaitedRoot& root : roots_)
    text += "; " + root.path + " is waited for";
  return text;
}

}  // namespace baton
