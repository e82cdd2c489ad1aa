// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "engine/configured_parts.h"
#include "engine/decide/run_completion.h"
#include "engine/input_queue.h"
#include "engine/intake/moved_files.h"
#include "engine/perform/backup_encryption.h"
#include "engine/perform/last_look.h"
#include "engine/perform/lock_files.h"
#include "engine/perform/pending_writes.h"
#include "engine/perform/planning.h"
#include "engine/perform/run_counting.h"
#include "engine/perform/starter.h"
#include "engine/request_queue.h"
#include "engine/state/disk_space.h"
#include "engine/state/history_limit.h"

namespace baton {
namespace {

constexpr Millis kStepAgain{1000};
/// Trouble that lasts as long is told to people.
constexpr Millis kPassing{10'000};
constexpr Millis kLookAtProviders{5000};
constexpr Millis kLookAtHours{60'000};

void sooner(std::optional<Time>& wake, std::optional<Time> time) {
  if (time && (!wake || *time < *wake))
    wake = time;
}

/// Whether a failed commit may succeed later. Any other error ends the daemon.
bool is_passing(const Error& error) {
  return error.code == Errc::no_space || error.code == Errc::busy;
}

class RealEngine : public Engine {
 public:
  RealEngine(const Ports& ports, std::unique_ptr<ConfiguredParts> parts)
      : ports_(ports),
        parts_(std::move(parts)),
        requests_(ports.requests),
        disk_space_(ports.requests, ports.observer),
        input_queue_(ports.disk, ports.clock),
        pending_writes_(ports.disk),
        backup_encryption_(ports.disk),
        locks_(ports.disk),
        run_completion_(ports.agents, ports.providers, ports.zones),
        run_counting_(ports.spending, ports.journal) {}

  Result<void> recover() override;
  Result<void> step(const std::vector<Input>& inputs) override;
  bool pending() const override { return pending_; }
  std::optional<Time> wake() const override;
  bool quiet() const override;
  bool settled() const override;
  std::optional<Time> next_due() const override;
  std::size_t running() const override {
    return flow_index_.live.size() - input_queue_.ends_left();
  }
  bool runs(const FlowId& flow) const override;
  bool encrypting() const override { return backup_encryption_.busy(); }
  void drain() override {
    draining_ = true;
    pending_ = true;
  }
  void give_up() override {
    given_up_ = true;
    pending_ = true;
  }
  void polled(bool polled) override { parts_->intake.polled(polled); }
  bool drain_wanted() const override { return drain_wanted_; }
  void stop_agents(const std::string& why) override {
    draining_ = true;
    stop_why_ = why;
    pending_ = true;
  }
  void running_elsewhere(std::uint32_t agents) override { running_elsewhere_ = agents; }
  const FlowCounts& flow_counts() const override { return parts_->planning.flow_counts(); }
  void flows_elsewhere(FlowCounts counts) override { flows_elsewhere_ = std::move(counts); }
  std::vector<std::string> reloads_wanted() override { return std::exchange(reloads_, {}); }
  void answer(const Reply& reply) override { ports_.requests.answer(reply); }
  Result<std::unique_ptr<ConfiguredParts>> configured_parts_of(Setup setup) override {
    return ConfiguredParts::make(ports_, std::move(setup));
  }
  void reconfigure(std::unique_ptr<ConfiguredParts> parts) override;
  std::optional<std::string> changed_schema() const override { return parts_->schemas.changed(); }
  const FlowRecords& records() const override { return records_; }
  const Catalog& catalog() const override { return parts_->catalog; }
  Result<FlowState> documents(const FlowId& flow) override;
  Result<Rebuilt> rebuilt(const FlowId& flow) override;
  const FlowIndex& flow_index() const override { return flow_index_; }
  const Plan& plan() const override { return parts_->planning.plan(); }
  std::optional<StartTrouble> start_trouble() const override {
    if (!trouble_since_)
      return std::nullopt;
    return StartTrouble{trouble_, *trouble_since_, remedy_.empty()};
  }
  bool disk_full() const override { return disk_space_.full(); }
  DaemonState daemon_state() const override;

 private:
  void cannot_start(const Draft& next, std::string why, const std::optional<Error>& of = {});
  Result<void> bring_up_to_now(Ledger& ledger, Time now);
  void recover_runs(const FlowRecord& record, Time now);
  Result<void> hand_over(Draft& next);
  void forget_left(Draft& next);
  void rehearse(Draft& next);
  void gather(Draft& next, const StepBudget& budget);
  void note_first_start(Draft& next);
  Result<void> handle_requests(Draft& next);
  Result<void> settle_plan(Draft& next, std::vector<Launch>& launches);
  Result<void> decide(Draft& next);
  Result<void> decide(const FlowId& flow, Draft& next, bool only_look = false);
  Result<void> settle_starts(Draft& next, const Prepares& prepared);
  void finish_commit(Draft& next);
  Result<void> commit(Draft& next, const Prepares& prepared);
  void undo(const Draft& next, const Prepares& prepared);
  void perform(const Draft& next, const Prepares& prepared);
  void publish(Draft& next);
  PlanningContext circumstances() const {
    return {.records = records_,
            .requests = requests_.waiting(),
            .pending_writes = pending_writes_,
            .since = since_,
            .decide_all = input_queue_.deciding_all() && !input_queue_.reading(),
            .first_start = first_start_,
            .draining = draining_,
            .given_up = given_up_,
            .disk_full = disk_space_.full(),
            .running_elsewhere = running_elsewhere_,
            .away = input_queue_.away(),
            .blind = input_queue_.blind(),
            .settling = input_queue_.settling(),
            .try_again = try_again_,
            .trouble = trouble_,
            .locked = locked_,
            .remedy = remedy_,
            .being_written = parts_->intake.being_written(ports_.clock.now()),
            .unread = input_queue_.unread(),
            .elsewhere = elsewhere_,
            .now = ports_.clock.now(),
            .parked = parked_,
            .counted = counted_,
            .flows_elsewhere = flows_elsewhere_,
            .ahead = ports_.clock.wall() - ports_.clock.now()};
  }
  /// When hours open for which something waits, by the clock of the engine.
  std::optional<Time> opening() const {
    const auto opens = parts_->planning.opens();
    return opens ? std::optional(*opens - (ports_.clock.wall() - ports_.clock.now())) : opens;
  }
  Draft draft() {
    Draft draft(records_, arrival_, intent_, ports_.clock.now(), ports_.clock.wall());
    draft.accepted_bytes = flow_index_.accepted_bytes;
    draft.names = &flow_index_.files;
    return draft;
  }

  Ports ports_;
  std::unique_ptr<ConfiguredParts> parts_;
  FlowRecords records_;
  FlowIndex flow_index_;  ///< of `records_`
  RequestQueue requests_;
  DiskSpace disk_space_;
  InputQueue input_queue_;
  PendingWrites pending_writes_;
  std::vector<Intent> unmade_;  ///< writes that were barred and are not reported yet
  BackupEncryption backup_encryption_;
  LockFiles locks_;
  RunCompletion run_completion_;
  RunCounting run_counting_;
  HistoryLimit history_limit_;
  Time since_ = ports_.clock.now();
  Arrival arrival_ = 0;
  std::uint64_t intent_ = 0;

  /// Flows that this step does not decide, because files of theirs are still to be looked at.
  std::set<FlowId> put_off_;
  bool moves_due_ = true;  ///< files may belong to other flows by the configuration in force
  std::vector<AgentElsewhere> elsewhere_;

  bool first_start_ = false;
  bool pending_ = false;
  bool draining_ = false;
  bool given_up_ = false;
  bool drain_wanted_ = false;
  std::uint32_t running_elsewhere_ = 0;
  FlowCounts flows_elsewhere_;
  std::vector<std::string> reloads_;
  std::vector<Parked> parked_;
  const Counted* counted_ = nullptr;  ///< of this step; nullptr: unknown
  std::optional<Time> retry_;         ///< next step after a failed commit or while the disk is full
  std::optional<Time> try_again_;     ///< no starts until then: processes or space are missing
  std::string trouble_;
  std::optional<Time> trouble_since_;  ///< nothing could start at each try since then
  bool trouble_told_ = false;
  bool locked_ = false;   ///< `trouble_`: another process locks what is needed
  std::string remedy_;    ///< of `trouble_`; empty: it may pass by itself
  std::string stop_why_;  ///< not empty: stop all agents, for this reason
};

Result<void> RealEngine::recover() {
  const Time now = ports_.clock.now();
  auto ledger = ports_.journal.load(now);
  if (!ledger)
    return pass_on(ledger);
  first_start_ = ledger->accepted.empty();
  if (auto moved = bring_up_to_now(*ledger, now); !moved)
    return moved;
  records_ = records_of(*ledger);
  // A first start that was cut short has accepted some files already.
  if (const auto root = records_.find(FlowId{}); root != records_.end())
    first_start_ = first_start_ || root->second.notified.first_start;
  elsewhere_ = agents_elsewhere(records_, parts_->catalog);
  for (const auto& [flow, until] : parts_->setup.daemon_state.calm_at)
    if (const auto record = records_.find(flow); record != records_.end())
      record->second.calm_at = until;
  flow_index_ = index_of(records_);
  arrival_ = ledger->arrival;
  intent_ = ledger->intent;
  requests_.answered_before(ledger->replies, !parts_->setup.rehearsal);
  for (const FlowId& flow : ledger->notified_lost)
    ports_.observer.happened(Event{
        0,
        ports_.clock.wall(),
        "journal_mended",
        flow,
        {},
        {},
        {},
        "the journal's list of sent notifications is damaged; baton sends again what still holds"});
  input_queue_.scan("start");
  pending_ = true;
  for (const auto& [flow, record] : records_)
    recover_runs(record, now);
  auto barred = pending_writes_.bar(ledger->intents, parts_->catalog, records_);
  if (!parts_->setup.rehearsal)
    unmade_ = std::move(barred);
  for (Intent& intent : ledger->intents)
    PendingWrites::assign(intent, parts_->catalog);
  if (parts_->setup.rehearsal) {
    pending_writes_.suppose(ledger->intents, parts_->setup.load.max_bytes);
    return {};
  }
  const auto writes = backup_encryption_.without_its_own(ledger->intents);
  input_queue_.changed(pending_writes_.recover(writes, parts_->setup.load.max_bytes));
  return {};
}

/// Moves future times back to now, and marks processes from before a reboot as gone. Also writes
/// that to the journal. Otherwise each daemon would move the times to its own present again, and
/// they would never grow older.
Result<void> RealEngine::bring_up_to_now(Ledger& ledger, Time now) {
  for (const Commit& differs : {let_go(ledger, ports_.agents.boot()), set_back(ledger, now)}) {
    if (parts_->setup.rehearsal || differs.empty())
      continue;
    auto done = ports_.journal.commit(differs);
    if (!done && !is_passing(done.error()))
      return pass_on(done);
  }
  return {};
}

void RealEngine::recover_runs(const FlowRecord& record, Time now) {
  for (const Run& run : record.runs) {
    if (!run.live())
      continue;
    const Found found = ports_.agents.recover(run);
    if (!found.adopted)
      input_queue_.ended(found.end);
    else if (run.state == RunState::stopping && !parts_->setup.rehearsal)
      run_completion_.ask(run, now);
  }
}

Result<void> RealEngine::step(const std::vector<Input>& inputs) {
  pending_ = false;
  put_off_.clear();
  StepBudget budget(ports_.clock, ports_.limits);
  input_queue_.take(inputs, *parts_, records_, requests_);
  Draft next = draft();
  for (const Intent& write : unmade_)
    next.event("not_written", write.flow,
               write.path + " (" + write.why +
                   "): the journal holds this write, but the file belongs to no dialect or rule in "
                   "force, so baton does not make it");
  next.gave_way = pending_writes_.gave_way();
  if (auto done = hand_over(next); !done)
    return done;
  gather(next, budget);
  // Look at files before requests are handled: a request may name a flow that is new in this step.
  requests_.load(*parts_, records_, next);
  input_queue_.before_requests(requests_.waiting(), *parts_, records_);
  if (auto looked = input_queue_.look(next, *parts_, flow_index_, requests_.waiting(),
                                      pending_writes_, budget, first_start_);
      !looked)
    return looked;
  note_first_start(next);
  parts_->intake.take_along(flow_index_, next);
  if (auto handled = handle_requests(next); !handled)
    return handled;
  input_queue_.due(next, records_, flow_index_, parts_->setup.rehearsal);
  forget_left(next);
  if (auto decided = decide(next); !decided)
    return decided;
  if (requests_.settle(*parts_, records_, next, input_queue_.away()))
    if (auto decided = decide(next); !decided)
      return decided;
  std::vector<Launch> launches;
  if (auto planned = settle_plan(next, launches); !planned)
    return planned;
  next.looked_at = pending_writes_.looked_at(next, parts_->catalog);
  if (parts_->setup.rehearsal) {
    rehearse(next);
    return {};
  }
  const Starter starting = prepare(ports_.agents, next, plan(), launches);
  if (!starting.trouble.empty()) {
    cannot_start(next, starting.trouble);
    parts_->planning.could_not_start(starting.failed, starting.trouble);
  }
  if (auto settled = settle_starts(next, starting.prepared); !settled) {
    for (const auto& [start, run] : starting.prepared)
      ports_.agents.discard(run);
    return settled;
  }
  // Before all files have been looked at, nothing is told, and nothing that was told is over.
  if (!input_queue_.reading())
    parts_->planning.note_holds(next);
  finish_commit(next);
  run_counting_.end(next, parts_->setup);
  if (auto begun = run_counting_.begin(next, starting.prepared, parts_->setup); !begun) {
    cannot_start(next, "a start cannot be counted: " + describe(begun.error()), begun.error());
    undo(next, starting.prepared);
    // All else of this step must not wait until starts can be counted: the next step follows at
    // once and starts nothing.
    retry_.reset();
    pending_ = true;
    return {};
  }
  return commit(next, starting.prepared);
}

/// Nothing of this step has happened, and the next step looks at all of it again. But stops of
/// agents must go on.
void RealEngine::undo(const Draft& next, const Prepares& prepared) {
  for (const auto& [start, run] : prepared)
    ports_.agents.discard(run);
  run_counting_.drop(prepared);
  run_completion_.ask_unjournalled(records_, flow_index_, plan().stops, next.now);
  retry_ = next.now + kStepAgain;
}

Result<void> RealEngine::hand_over(Draft& next) {
  if (!moves_due_)
    return {};
  return baton::hand_over(records_, parts_->catalog, parts_->documents, parts_->schemas,
                          parts_->setup.load, next);
}

/// Forgets flows that have lost all their files to other flows. This must not happen in the step
/// that hands the files over: a commit drops rows before it adds rows, so it would drop the rows of
/// these files. It waits for pending writes, too, because the journal has them under their former
/// flow.
void RealEngine::forget_left(Draft& next) {
  if (!pending_writes_.settled())
    return;
  for (const FlowId& flow : flow_index_.left) {
    const FlowRecord* const record = next.find(flow);
    if (record != nullptr && is_left(*record) && !record->live() && !input_queue_.unread(flow) &&
        std::none_of(record->runs.begin(), record->runs.end(), left_something))
      next.forget(flow);
  }
}

/// Shows the result as if everything decided had been done. Commits and performs nothing.
void RealEngine::rehearse(Draft& next) {
  parts_->planning.hold_refused();
  for (const Intent& write : pending_writes_.supposed())
    if (!parts_->setup.daemon_state.unwritten.contains(write.flow))
      parts_->planning.hold({write.flow, {}, {}}, Reason::pending_write,
                            "a write of baton's own is still to be made: " + write.path);
  parts_->planning.note_holds(next);
  RequestQueue::keep_answered(next);
  const std::vector<Reply> replies = next.commit.replies;
  publish(next);
  for (const Reply& reply : replies)
    ports_.requests.answer(reply);
}

/// Collects what time, running stops and backups bring without any input.
void RealEngine::gather(Draft& next, const StepBudget& budget) {
  if (try_again_ && next.now >= *try_again_)
    try_again_.reset();
  disk_space_.look(next, requests_.looks());
  run_completion_.ask_again(records_, flow_index_, next.now);
  run_completion_.tell(next, records_);
  backup_encryption_.tend(parts_->setup, parts_->catalog);
  backup_encryption_.tell(next);
  const auto kept =
      input_queue_.gather(next, *parts_, records_, flow_index_, run_completion_, budget);
  // After the ends: a limit that one of them met, and what they cost, hold the starts of this step.
  auto parked = ports_.providers.parked();
  const auto counted = run_counting_.take(next, parts_->setup);
  if (parked)
    parked_ = *std::move(parked);
  counted_ = counted ? *counted : nullptr;
  if (kept && parked && counted)
    return;
  const Error& error = !kept ? kept.error() : !parked ? parked.error() : counted.error();
  cannot_start(next,
               (kept && parked ? "it is not known what the agents have spent: "
                               : "it is not known which providers have a limit: ") +
                   describe(error),
               error);
}

/// Nothing starts before the next try. `of`: what daemon.db said.
void RealEngine::cannot_start(const Draft& next, std::string why, const std::optional<Error>& of) {
  trouble_ = std::move(why);
  locked_ = of && of->code == Errc::busy;
  remedy_ = of ? daemon_db_remedy(*of) : "";
  try_again_ = next.now + kStepAgain;
  if (!trouble_since_)
    trouble_since_ = next.now;
  // People are told once, and not of what passes within moments.
  const bool lasts = !remedy_.empty() || next.now - *trouble_since_ >= kPassing;
  if (lasts && !std::exchange(trouble_told_, true))
    ports_.observer.happened(
        Event{0,
              next.wall,
              "cannot_start",
              {},
              {},
              {},
              {},
              "nothing can be started: " + trouble_ +
                  (remedy_.empty() ? "; tried again all the time" : "; do: " + remedy_)});
}

Result<void> RealEngine::settle_plan(Draft& next, std::vector<Launch>& launches) {
  for (const FlowId& flow : parts_->planning.hold_existing(next, circumstances()))
    if (auto decided = decide(flow, next); !decided)
      return decided;
  auto planned = parts_->planning.settle(next, circumstances());
  if (!planned)
    return pass_on(planned);
  launches = *std::move(planned);
  if (!stop_why_.empty())
    parts_->planning.stop_all(next, records_, stop_why_);
  parts_->planning.spare([this](const RunId& run) { return input_queue_.has_ended(run); });
  enter(next, records_, flow_index_, plan());
  return {};
}

Result<void> RealEngine::handle_requests(Draft& next) {
  auto orders = requests_.handle(*parts_, records_, next, input_queue_.reading());
  if (!orders)
    return pass_on(orders);
  reloads_.insert(reloads_.end(), orders->reloads.begin(), orders->reloads.end());
  drain_wanted_ = drain_wanted_ || orders->drain;
  draining_ = draining_ || orders->drain;
  return {};
}

Result<void> RealEngine::decide(Draft& next) {
  // While the root is unavailable nothing is decided, not even after a command. Everything is
  // decided again when the root is back.
  if (input_queue_.away() && !parts_->setup.rehearsal)
    return {};
  const bool only_look =
      input_queue_.deciding_all() && first_start_ && !parts_->setup.act_on_existing;
  for (const FlowId& flow : std::set<FlowId>(next.decide))
    if (auto decided = decide(flow, next, only_look); !decided)
      return decided;
  if (const auto away = parts_->flow_decider.away())
    input_queue_.lost(*away);
  return {};
}

/// A flow with files that are still to be looked at is decided later.
Result<void> RealEngine::decide(const FlowId& flow, Draft& next, bool only_look) {
  if (input_queue_.unread(flow)) {
    put_off_.insert(flow);
    return {};
  }
  return parts_->flow_decider.decide(flow, next, requests_.waiting(), only_look);
}

/// Remembers that the first look at the root is not complete, so that a daemon that is started in
/// between still takes it for the first one.
void RealEngine::note_first_start(Draft& next) {
  const bool cut_short = first_start_ && input_queue_.reading();
  const FlowRecord* const root = next.find(FlowId{});
  if ((root != nullptr && root->notified.first_start) != cut_short)
    next.touch(FlowId{}).notified.first_start = cut_short;
}

/// Asks the dialects once more, now that the starts are known. What a dialect writes because an
/// agent starts belongs in the same transaction, and baton writes it before it releases the agent.
/// The same holds for what a dialect writes because a start is impossible.
Result<void> RealEngine::settle_starts(Draft& next, const Prepares& prepared) {
  std::set<FlowId> flows;
  for (const auto& [start, run] : prepared)
    flows.insert(start.key.flow);
  for (const auto& [flow, refused] : plan().refused) {
    next.touch(flow).refused = refused;
    flows.insert(flow);
  }
  for (const FlowId& flow : flows)
    if (auto decided = parts_->flow_decider.decide(flow, next, requests_.waiting()); !decided)
      return decided;
  for (const auto& [flow, refused] : plan().refused)
    next.touch(flow).refused.clear();
  return {};
}

/// Adds to the transaction the rows that do not come from the draft's own functions.
void RealEngine::finish_commit(Draft& next) {
  next.tell();
  // After a crash only such writes are made.
  assert(std::all_of(next.writes.begin(), next.writes.end(), [this](const Intent& write) {
    return parts_->catalog.may_write(write.path) &&
           (write.to.empty() || parts_->catalog.may_write(write.to));
  }));
  next.commit.intents = next.writes;
  next.commit.intents_done = pending_writes_.done();
  for (const std::string& path : next.looked_at) {
    const auto ids = pending_writes_.given_up(path);
    next.commit.intents_done.insert(next.commit.intents_done.end(), ids.begin(), ids.end());
  }
  next.commit.intents_done.insert(next.commit.intents_done.end(), backup_encryption_.done().begin(),
                                  backup_encryption_.done().end());
  for (const std::string& path : next.presence) {
    for (const auto& [flow, record] : next.touched()) {
      const auto row = record.accepted.find(path);
      if (row == record.accepted.end())
        continue;
      if (auto bytes = ports_.journal.bytes(path))
        next.commit.accepted.emplace_back(row->second, std::move(*bytes));
    }
  }
  // A request is answered and remembered in the same transaction.
  RequestQueue::tell_of_root(next);
  RequestQueue::keep_answered(next);
  history_limit_.thin(next, parts_->setup.events_per_hour);
}

Result<void> RealEngine::commit(Draft& next, const Prepares& prepared) {
  next.commit.arrival = next.arrival;
  const auto committed =
      next.commit.empty() ? Result<Arrival>(0) : ports_.journal.commit(next.commit);
  if (!committed) {
    if (!is_passing(committed.error())) {
      for (const auto& [start, run] : prepared)
        ports_.agents.revoke(run);
      return fail(committed.error().code, committed.error().message, committed.error().where);
    }
    if (committed.error().code == Errc::no_space)
      disk_space_.none(describe(committed.error()), next.wall);
    else
      cannot_start(next, describe(committed.error()), committed.error());
    undo(next, prepared);
    return {};
  }
  pending_ = disk_space_.committed() || pending_;
  retry_ = disk_space_.full() ? std::optional(next.now + kStepAgain) : std::nullopt;
  if (!try_again_) {
    trouble_since_.reset();
    trouble_told_ = false;
  }
  // Number the events as the journal has numbered them.
  Arrival seq = *committed - next.commit.events.size();
  for (Event& event : next.commit.events)
    event.seq = ++seq;
  const std::vector<Time> since = input_queue_.queued_since(next.changed);
  publish(next);
  perform(next, prepared);
  for (const Time queued : since)
    ports_.observer.acted(ports_.clock.now() - queued);
  return {};
}

void RealEngine::publish(Draft& next) {
  arrival_ = next.arrival;
  intent_ = next.intent;
  requests_.committed(next);
  pending_ = pending_ || requests_.behind();
  parts_->intake.committed(next);
  history_limit_.committed();
  parts_->planning.committed(next);
  for (const std::string& path : next.looked_at)
    pending_ = pending_writes_.seen(path) || pending_;
  for (const FlowId& flow : next.forgotten)
    parts_->documents.drop(flow);
  locks_.decided(next, records_);
  next.publish(records_, flow_index_);
  const auto over = std::erase_if(elsewhere_, [this](const AgentElsewhere& agent) {
    return !flow_index_.live.contains(agent.run);
  });
  // Step again for flows that waited for these agents, and to forget flows that lost all files.
  const bool handed_over = std::exchange(moves_due_, false);
  pending_ = pending_ || over > 0 || (handed_over && !flow_index_.left.empty());
  pending_writes_.noted();
  for (const FlowId& flow : next.forgotten)
    pending_writes_.forget(flow);
  backup_encryption_.noted();
  unmade_.clear();
  run_completion_.committed();
  if (input_queue_.committed())
    first_start_ = false;
  input_queue_.changed(parts_->intake.lines_due(records_));
  if (next.has_more_room)
    input_queue_.changed(parts_->intake.fitting(records_, flow_index_.accepted_bytes));
  for (const FlowId& flow : put_off_)
    input_queue_.decide_again(flow);
  pending_ = pending_ || input_queue_.behind();
  if (!input_queue_.behind())
    parts_->intake.rest();
}

void RealEngine::perform(const Draft& next, const Prepares& prepared) {
  locks_.let_go(flow_index_, next.writes, pending_writes_);
  const auto at_once = backup_encryption_.without_its_own(next.writes);
  pending_ = pending_ || at_once.size() < next.writes.size();
  PendingWrites::Performed writes =
      pending_writes_.perform(at_once, next.now, parts_->setup.load.max_bytes);
  locks_.take_again(writes.paths);
  if (!writes.paths.empty())
    input_queue_.mind_late(next.now);
  for (const auto& [write, error] : writes.missed)
    ports_.observer.happened(Event{0,
                                   next.wall,
                                   "not_written",
                                   write.flow,
                                   {},
                                   {},
                                   {},
                                   write.path + " (" + write.why + "): " + describe(error)});
  pending_ = pending_ || writes.news;
  input_queue_.changed(std::move(writes.paths));
  for (const FlowId& flow : writes.again)
    input_queue_.decide_again(flow);
  // `settle_starts` decided after the plan was made, so the next step has to plan these flows
  // again.
  for (const auto& [start, run] : prepared)
    input_queue_.decide_again(start.key.flow);
  for (const auto& [flow, refused] : plan().refused)
    input_queue_.decide_again(flow);
  pending_ = pending_ || !prepared.empty() || !plan().refused.empty();
  // A flow that was just paused at a limit is decided again, so that its dialect learns of the
  // pause.
  for (const PauseFlow& pause : plan().pauses)
    input_queue_.decide_again(pause.flow);
  pending_ = pending_ || !plan().pauses.empty();
  LastLook looked =
      last_look({ports_.disk, parts_->catalog, parts_->documents, parts_->schemas, parts_->setup},
                records_, prepared, next.now, next.wall);
  input_queue_.changed(looked.changed);
  writes.unfit.merge(looked.withdrawn);
  for (RunEnd& ended : release(ports_.agents, records_, prepared, writes.unfit)) {
    input_queue_.ended(std::move(ended));
    pending_ = true;
  }
  // Notify after the release, because notifications take time and the agents need not wait for
  // them.
  for (const Event& event : next.commit.events)
    ports_.observer.happened(event);
  run_completion_.ask(records_, flow_index_, plan().stops, next.now);
  pending_ = pending_ || run_completion_.untold();
  for (const Reply& reply : next.commit.replies)
    ports_.requests.answer(reply);
}

std::optional<Time> RealEngine::wake() const {
  std::optional<Time> wake = parts_->intake.wake();
  sooner(wake, plan().wake);
  sooner(wake, try_again_);
  sooner(wake, retry_);
  // Pending writes are performed after a commit. While commits fail, `retry_` says when to try.
  if (!retry_)
    sooner(wake, pending_writes_.wake());
  sooner(wake, run_completion_.wake());
  sooner(wake, history_limit_.wake());
  const Time now = ports_.clock.now();
  // A command or another daemon may release a provider or raise a cap, and an agent of another root
  // may end.
  if (!parked_.empty() || parts_->planning.capped())
    sooner(wake, now + kLookAtProviders);
  // The wall clock may be set meanwhile.
  if (const auto opens = opening())
    sooner(wake, std::clamp(*opens, now + Millis(10), now + kLookAtHours));
  sooner(wake, input_queue_.wake(now));
  sooner(wake, backup_encryption_.wake(now));
  // Wait a moment at least: a dialect that asks for a time in the past would make the loop spin.
  if (!flow_index_.wakes.empty() && !input_queue_.away())
    sooner(wake, std::max(flow_index_.wakes.begin()->first, now + Millis(10)));
  if (!flow_index_.breakers.empty() && !input_queue_.away())
    sooner(wake, std::max(flow_index_.breakers.begin()->first, now + Millis(10)));
  return wake;
}

bool RealEngine::runs(const FlowId& flow) const {
  const auto record = records_.find(flow);
  return record != records_.end() &&
         std::any_of(
             record->second.runs.begin(), record->second.runs.end(),
             [this](const Run& run) { return run.live() && !input_queue_.has_ended(run.id); });
}

bool RealEngine::settled() const {
  return !pending_ && running() == 0 && !parts_->intake.unsettled() && !pending_writes_.passing() &&
         !backup_encryption_.busy() && plan().starts.empty() && !retry_ && !input_queue_.scan_due();
}

bool RealEngine::quiet() const {
  return settled() && !plan().waiting && flow_index_.awaiting.empty() &&
         flow_index_.breakers.empty();
}

std::optional<Time> RealEngine::next_due() const {
  const Time now = ports_.clock.now();
  std::optional<Time> due = plan().wake;
  sooner(due, opening());
  sooner(due, try_again_);
  if (!flow_index_.awaiting.empty())
    sooner(due, flow_index_.awaiting.begin()->first);
  if (!flow_index_.breakers.empty())
    sooner(due, flow_index_.breakers.begin()->first);
  // Held as a whole, for descriptors or a disk: that may pass at any moment.
  if (plan().waiting && parts_->planning.held(circumstances()))
    sooner(due, now);
  return due;
}

DaemonState RealEngine::daemon_state() const {
  DaemonState state{
      true, parts_->planning.held(circumstances()), {}, {}, parts_->planning.unusable()};
  for (const auto& [until, flow] : flow_index_.breakers)
    state.calm_at.emplace(flow, until);
  for (const FlowId& flow : pending_writes_.flows()) {
    const auto record = records_.find(flow);
    const Catalog::Entry* const entry = parts_->catalog.entry(flow.dialect);
    if (record == records_.end())
      continue;
    if (auto hold =
            pending_writes_.hold(record->second, entry == nullptr ? nullptr : entry->dialect))
      state.unwritten.emplace(flow, *std::move(hold));
  }
  return state;
}

void RealEngine::reconfigure(std::unique_ptr<ConfiguredParts> parts) {
  parts->intake.follow(parts_->intake);
  parts_ = std::move(parts);
  moves_due_ = true;
  elsewhere_ = agents_elsewhere(records_, parts_->catalog);
  input_queue_.decide_all();
  pending_writes_.assign_all(parts_->catalog);
  input_queue_.scan("reload");
  pending_ = true;
}

Result<FlowState> RealEngine::documents(const FlowId& flow) {
  const auto record = records_.find(flow);
  const Catalog::Entry* const entry = parts_->catalog.entry(flow.dialect);
  if (record == records_.end() || entry == nullptr)
    return fail(Errc::not_found, "there is no flow " + text(flow));
  return parts_->documents.open(record->second, *entry, {});
}

Result<Rebuilt> RealEngine::rebuilt(const FlowId& flow) {
  const auto record = records_.find(flow);
  if (record == records_.end())
    return fail(Errc::not_found, "there is no flow " + text(flow));
  return parts_->recovery.rebuilt(record->second, {}, ports_.clock.now(), ports_.clock.wall());
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::make(const Ports& ports, Setup setup) {
  auto parts = ConfiguredParts::make(ports, std::move(setup));
  if (!parts)
    return pass_on(parts);
  return std::unique_ptr<Engine>(std::make_unique<RealEngine>(ports, *std::move(parts)));
}

}  // namespace baton
