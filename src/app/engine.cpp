#include "app/engine.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "app/ending.h"
#include "app/held_locks.h"
#include "app/inbox.h"
#include "app/outbox.h"
#include "app/planning.h"
#include "app/request_queue.h"
#include "app/room.h"
#include "app/sealing.h"
#include "app/starting.h"
#include "app/works.h"

namespace baton {
namespace {

constexpr Millis kStepAgain{1000};

void sooner(std::optional<Time>& wake, std::optional<Time> time) {
  if (time && (!wake || *time < *wake))
    wake = time;
}

/// Of a commit that may succeed later; any other ends the daemon.
bool is_passing(const Error& error) {
  return error.code == Errc::no_space || error.code == Errc::busy;
}

class RealEngine : public Engine {
 public:
  RealEngine(const Ports& ports, std::unique_ptr<Works> works)
      : ports_(ports),
        works_(std::move(works)),
        requests_(ports.requests),
        room_(ports.requests, ports.observer),
        inbox_(ports.disk),
        outbox_(ports.disk),
        sealing_(ports.disk),
        locks_(ports.disk),
        ending_(ports.agents) {}

  Result<void> recover() override;
  Result<void> step(const std::vector<Input>& inputs) override;
  bool pending() const override { return pending_; }
  std::optional<Time> wake() const override;
  bool quiet() const override;
  std::size_t running() const override { return tally_.live.size() - inbox_.ends_left(); }
  bool runs(const FlowId& flow) const override;
  bool sealing() const override { return sealing_.busy(); }
  void drain() override {
    draining_ = true;
    pending_ = true;
  }
  void give_up() override {
    given_up_ = true;
    pending_ = true;
  }
  bool drain_wanted() const override { return drain_wanted_; }
  void stop_agents(const std::string& why) override {
    draining_ = true;
    stop_why_ = why;
    pending_ = true;
  }
  void running_elsewhere(std::uint32_t agents) override { running_elsewhere_ = agents; }
  std::vector<std::string> reloads_wanted() override { return std::exchange(reloads_, {}); }
  const std::vector<Intent>& rehearsed() const override { return rehearsed_; }
  void answer(const Reply& reply) override { ports_.requests.answer(reply); }
  Result<std::unique_ptr<Works>> works_of(Setup setup) override {
    return Works::make(ports_, std::move(setup));
  }
  void reconfigure(std::unique_ptr<Works> works) override;
  std::optional<std::string> changed_schema() const override { return works_->schemas.changed(); }
  const Books& books() const override { return books_; }
  const Catalog& catalog() const override { return works_->catalog; }
  Result<FlowState> documents(const FlowId& flow) override;
  Result<Rebuilt> rebuilt(const FlowId& flow) override;
  const Tally& tally() const override { return tally_; }
  const Plan& plan() const override { return works_->planning.plan(); }
  bool disk_full() const override { return room_.full(); }
  Said said() const override;

 private:
  Result<void> bring_up_to_now(Ledger& ledger, Time now);
  void recover_runs(const FlowBook& book, Time now);
  void rehearse(Draft& next);
  void gather(Draft& next);
  Result<void> handle_requests(Draft& next);
  Result<void> settle_plan(Draft& next, std::vector<Launch>& launches);
  Result<void> decide(Draft& next);
  Result<void> settle_starts(Draft& next, const Prepares& prepared);
  void finish_commit(Draft& next);
  Result<void> commit(Draft& next, const Prepares& prepared);
  void perform(const Draft& next, const Prepares& prepared);
  void publish(Draft& next);
  Circumstances circumstances() const {
    return {.books = books_,
            .requests = requests_.waiting(),
            .outbox = outbox_,
            .since = since_,
            .decide_all = inbox_.deciding_all(),
            .first_start = first_start_,
            .draining = draining_,
            .given_up = given_up_,
            .disk_full = room_.full(),
            .running_elsewhere = running_elsewhere_,
            .blind = inbox_.blind(),
            .try_again = try_again_,
            .trouble = trouble_,
            .being_written = works_->intake.being_written(ports_.clock.now())};
  }
  Draft draft() { return {books_, arrival_, intent_, ports_.clock.now(), ports_.clock.wall()}; }

  Ports ports_;
  std::unique_ptr<Works> works_;
  Books books_;
  Tally tally_;  ///< of the books
  RequestQueue requests_;
  Room room_;
  Inbox inbox_;
  Outbox outbox_;
  Sealing sealing_;
  HeldLocks locks_;
  Ending ending_;
  Time since_ = ports_.clock.now();
  Arrival arrival_ = 0;
  std::uint64_t intent_ = 0;

  bool first_start_ = false;
  bool pending_ = false;
  bool draining_ = false;
  bool given_up_ = false;
  bool drain_wanted_ = false;
  std::uint32_t running_elsewhere_ = 0;
  std::vector<std::string> reloads_;
  std::vector<Intent> rehearsed_;
  std::optional<Time> retry_;      ///< the last step could not be committed, or there is no room
  std::optional<Time> try_again_;  ///< starts are held until then: no processes, no room
  std::string trouble_;
  std::string stop_why_;  ///< not empty: all agents are to end
};

Result<void> RealEngine::recover() {
  const Time now = ports_.clock.now();
  auto ledger = ports_.journal.load(now);
  if (!ledger)
    return pass_on(ledger);
  first_start_ = ledger->accepted.empty();
  if (auto moved = bring_up_to_now(*ledger, now); !moved)
    return moved;
  books_ = books_of(*ledger);
  works_->intake.handed_over().begin_with(books_);
  for (const auto& [flow, until] : works_->setup.said.calm_at)
    if (const auto book = books_.find(flow); book != books_.end())
      book->second.calm_at = until;
  tally_ = tally_of(books_);
  arrival_ = ledger->arrival;
  intent_ = ledger->intent;
  requests_.answered_before(ledger->replies, !works_->setup.rehearsal);
  for (const FlowId& flow : ledger->told_lost)
    ports_.observer.happened(Event{
        0,
        ports_.clock.wall(),
        "journal_mended",
        flow,
        {},
        {},
        {},
        "what was told already cannot be read in the journal; what still holds is told again"});
  inbox_.scan("start");
  pending_ = true;
  for (const auto& [flow, book] : books_)
    recover_runs(book, now);
  if (works_->setup.rehearsal) {
    outbox_.suppose(ledger->intents, works_->setup.load.max_bytes);
    return {};
  }
  const auto writes = sealing_.without_its_own(ledger->intents);
  inbox_.changed(outbox_.recover(writes, works_->catalog, works_->setup.load.max_bytes));
  return {};
}

/// Times that lie ahead, and what a former start of the system left. In the journal, too: else each
/// daemon would move the times to its own present moment again, and they would never grow older.
Result<void> RealEngine::bring_up_to_now(Ledger& ledger, Time now) {
  for (const Commit& differs : {let_go(ledger, ports_.agents.boot()), set_back(ledger, now)}) {
    if (works_->setup.rehearsal || differs.empty())
      continue;
    auto done = ports_.journal.commit(differs);
    if (!done && !is_passing(done.error()))
      return pass_on(done);
  }
  return {};
}

void RealEngine::recover_runs(const FlowBook& book, Time now) {
  for (const Run& run : book.runs) {
    if (!run.live())
      continue;
    const Found found = ports_.agents.recover(run);
    if (!found.adopted)
      inbox_.ended(found.end);
    else if (run.state == RunState::stopping && !works_->setup.rehearsal)
      ending_.ask(run, now);
  }
}

Result<void> RealEngine::step(const std::vector<Input>& inputs) {
  pending_ = false;
  inbox_.take(inputs, *works_, books_, requests_);
  Draft next = draft();
  next.gave_way = outbox_.gave_way();
  gather(next);
  // Files first: a request may be about a flow that is seen for the first time.
  requests_.load(next);
  inbox_.before_forgetting(requests_.waiting(), *works_, books_);
  if (auto looked = inbox_.look(next, *works_, requests_.waiting(), outbox_); !looked)
    return looked;
  if (auto handled = handle_requests(next); !handled)
    return handled;
  inbox_.due(next, books_, tally_, works_->setup.rehearsal);
  if (auto decided = decide(next); !decided)
    return decided;
  if (requests_.settle(*works_, books_, next, inbox_.away()))
    if (auto decided = decide(next); !decided)
      return decided;
  std::vector<Launch> launches;
  if (auto planned = settle_plan(next, launches); !planned)
    return planned;
  next.looked_at = outbox_.looked_at(next, works_->catalog);
  if (works_->setup.rehearsal) {
    rehearse(next);
    return {};
  }
  const Starting starting = prepare(ports_.agents, next, plan(), launches);
  if (!starting.trouble.empty()) {
    trouble_ = starting.trouble;
    works_->planning.could_not_start(starting.failed, starting.trouble);
    try_again_ = next.now + kStepAgain;
  }
  if (auto settled = settle_starts(next, starting.prepared); !settled) {
    for (const auto& [start, run] : starting.prepared)
      ports_.agents.discard(run);
    return settled;
  }
  works_->planning.note_holds(next);
  finish_commit(next);
  return commit(next, starting.prepared);
}

/// As if all had happened that was decided.
void RealEngine::rehearse(Draft& next) {
  for (const auto& [flow, refused] : plan().refused)
    for (const auto& [key, why] : refused)
      works_->planning.hold(key, "agent_unusable", why);
  for (const Intent& write : outbox_.supposed())
    if (!works_->setup.said.unwritten.contains(write.flow))
      works_->planning.hold({write.flow, {}, {}}, "write_pending",
                            "a write of baton's own is still to be made: " + write.path);
  works_->planning.note_holds(next);
  RequestQueue::keep_answered(next);
  rehearsed_.insert(rehearsed_.end(), next.writes.begin(), next.writes.end());
  publish(next);
}

/// What time and the runs bring by themselves.
void RealEngine::gather(Draft& next) {
  if (try_again_ && next.now >= *try_again_)
    try_again_.reset();
  room_.look(next, requests_.looks());
  ending_.ask_again(books_, tally_, next.now);
  ending_.tell(next, books_);
  sealing_.tend(works_->setup, works_->catalog);
  sealing_.tell(next);
  inbox_.gather(next, *works_, books_, tally_, ending_);
}

Result<void> RealEngine::settle_plan(Draft& next, std::vector<Launch>& launches) {
  for (const FlowId& flow : works_->planning.hold_existing(next, circumstances()))
    if (auto decided = works_->deliberation.decide(flow, next, requests_.waiting()); !decided)
      return decided;
  auto planned = works_->planning.settle(next, circumstances());
  if (!planned)
    return pass_on(planned);
  launches = *std::move(planned);
  if (!stop_why_.empty())
    works_->planning.stop_all(next, books_, stop_why_);
  works_->planning.spare([this](const RunId& run) { return inbox_.has_ended(run); });
  enter(next, books_, tally_, plan());
  return {};
}

Result<void> RealEngine::handle_requests(Draft& next) {
  auto orders = requests_.handle(*works_, books_, next);
  if (!orders)
    return pass_on(orders);
  reloads_.insert(reloads_.end(), orders->reloads.begin(), orders->reloads.end());
  drain_wanted_ = drain_wanted_ || orders->drain;
  draining_ = draining_ || orders->drain;
  return {};
}

Result<void> RealEngine::decide(Draft& next) {
  // What a command changes while the root is away is decided when it is back, as all else.
  if (inbox_.away() && !works_->setup.rehearsal)
    return {};
  const bool only_look = inbox_.deciding_all() && first_start_ && !works_->setup.act_on_existing;
  for (const FlowId& flow : std::set<FlowId>(next.decide))
    if (auto decided = works_->deliberation.decide(flow, next, requests_.waiting(), only_look);
        !decided)
      return decided;
  if (const auto away = works_->deliberation.away())
    inbox_.lost(*away);
  return {};
}

/// Asks the dialects once more, now that the starts are known: what they write because an agent
/// begins belongs into the same transaction and is written before the agent is let go. So does what
/// they write because it cannot begin.
Result<void> RealEngine::settle_starts(Draft& next, const Prepares& prepared) {
  std::set<FlowId> flows;
  for (const auto& [start, run] : prepared)
    flows.insert(start.key.flow);
  for (const auto& [flow, refused] : plan().refused) {
    next.touch(flow).refused = refused;
    flows.insert(flow);
  }
  for (const FlowId& flow : flows)
    if (auto decided = works_->deliberation.decide(flow, next, requests_.waiting()); !decided)
      return decided;
  for (const auto& [flow, refused] : plan().refused)
    next.touch(flow).refused.clear();
  return {};
}

/// What the draft collected besides, as rows of the transaction.
void RealEngine::finish_commit(Draft& next) {
  next.tell();
  next.commit.intents = next.writes;
  next.commit.intents_done = outbox_.done();
  for (const std::string& path : next.looked_at) {
    const auto ids = outbox_.given_up(path);
    next.commit.intents_done.insert(next.commit.intents_done.end(), ids.begin(), ids.end());
  }
  next.commit.intents_done.insert(next.commit.intents_done.end(), sealing_.done().begin(),
                                  sealing_.done().end());
  for (const std::string& path : next.presence) {
    for (const auto& [flow, book] : next.touched()) {
      const auto row = book.accepted.find(path);
      if (row == book.accepted.end())
        continue;
      if (auto bytes = ports_.journal.bytes(path))
        next.commit.accepted.emplace_back(row->second, std::move(*bytes));
    }
  }
  // A request is answered and remembered in the same transaction.
  RequestQueue::tell_of_root(next);
  RequestQueue::keep_answered(next);
}

Result<void> RealEngine::commit(Draft& next, const Prepares& prepared) {
  next.commit.arrival = next.arrival;
  const auto committed =
      next.commit.empty() ? Result<Arrival>(0) : ports_.journal.commit(next.commit);
  if (!committed) {
    const bool undone = is_passing(committed.error());
    for (const auto& [start, run] : prepared)
      undone ? ports_.agents.discard(run) : ports_.agents.revoke(run);
    if (!undone)
      return fail(committed.error().code, committed.error().message, committed.error().where);
    // Nothing of this step has happened; all of it is looked at again. Ending agents must go on.
    if (committed.error().code == Errc::no_space)
      room_.none(describe(committed.error()), next.wall);
    ending_.ask_unjournalled(books_, tally_, plan().stops, next.now);
    retry_ = next.now + kStepAgain;
    return {};
  }
  pending_ = room_.committed() || pending_;
  retry_ = room_.full() ? std::optional(next.now + kStepAgain) : std::nullopt;
  // As the journal has numbered them.
  Arrival seq = *committed - next.commit.events.size();
  for (Event& event : next.commit.events)
    event.seq = ++seq;
  publish(next);
  perform(next, prepared);
  return {};
}

void RealEngine::publish(Draft& next) {
  arrival_ = next.arrival;
  intent_ = next.intent;
  requests_.committed(next);
  pending_ = pending_ || requests_.behind();
  works_->intake.committed(next);
  works_->planning.committed(next);
  for (const std::string& path : next.looked_at)
    pending_ = outbox_.seen(path) || pending_;
  for (const FlowId& flow : next.forgotten)
    works_->library.drop(flow);
  locks_.decided(next, books_);
  next.publish(books_, tally_);
  outbox_.noted();
  for (const FlowId& flow : next.forgotten)
    outbox_.forget(flow);
  sealing_.noted();
  ending_.committed();
  if (inbox_.committed())
    first_start_ = false;
}

void RealEngine::perform(const Draft& next, const Prepares& prepared) {
  locks_.let_go(tally_, next.writes, outbox_);
  const auto at_once = sealing_.without_its_own(next.writes);
  pending_ = pending_ || at_once.size() < next.writes.size();
  Outbox::Performed writes = outbox_.perform(at_once, next.now, works_->setup.load.max_bytes);
  locks_.take_again(writes.paths);
  if (!writes.paths.empty())
    inbox_.mind_late(next.now);
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
  inbox_.changed(std::move(writes.paths));
  for (const FlowId& flow : writes.again)
    inbox_.decide_again(flow);
  // What settle_starts decided has not been reconciled yet.
  for (const auto& [start, run] : prepared)
    inbox_.decide_again(start.key.flow);
  for (const auto& [flow, refused] : plan().refused)
    inbox_.decide_again(flow);
  pending_ = pending_ || !prepared.empty() || !plan().refused.empty();
  // Nor have those heard of it whose flow has been paused for what it spends.
  for (const PauseFlow& pause : plan().pauses)
    inbox_.decide_again(pause.flow);
  pending_ = pending_ || !plan().pauses.empty();
  for (RunEnd& ended : release(ports_.agents, books_, prepared, writes.unfit)) {
    inbox_.ended(std::move(ended));
    pending_ = true;
  }
  // Telling takes time, also that of a program to be told; the agents need not wait for it.
  for (const Event& event : next.commit.events)
    ports_.observer.happened(event);
  ending_.ask(books_, tally_, plan().stops, next.now);
  pending_ = pending_ || ending_.untold();
  for (const Reply& reply : next.commit.replies)
    ports_.requests.answer(reply);
}

std::optional<Time> RealEngine::wake() const {
  std::optional<Time> wake = works_->intake.wake();
  sooner(wake, plan().wake);
  sooner(wake, try_again_);
  sooner(wake, retry_);
  // Writes are made behind a commit; when that can be had is said by `retry_`.
  if (!retry_)
    sooner(wake, outbox_.wake());
  sooner(wake, ending_.wake());
  const Time now = ports_.clock.now();
  sooner(wake, inbox_.wake(now));
  sooner(wake, sealing_.wake(now));
  // A dialect that asks for a moment that has passed would have us spin.
  if (!tally_.wakes.empty() && !inbox_.away())
    sooner(wake, std::max(tally_.wakes.begin()->first, now + Millis(10)));
  if (!tally_.breakers.empty() && !inbox_.away())
    sooner(wake, std::max(tally_.breakers.begin()->first, now + Millis(10)));
  return wake;
}

bool RealEngine::runs(const FlowId& flow) const {
  const auto book = books_.find(flow);
  return book != books_.end() &&
         std::any_of(book->second.runs.begin(), book->second.runs.end(),
                     [this](const Run& run) { return run.live() && !inbox_.has_ended(run.id); });
}

bool RealEngine::quiet() const {
  return !pending_ && running() == 0 && !works_->intake.unsettled() && !outbox_.passing() &&
         !sealing_.busy() && plan().starts.empty() && !plan().waiting && !retry_ &&
         !inbox_.scan_due() && tally_.awaiting == 0 && tally_.breakers.empty();
}

Said RealEngine::said() const {
  Said said{true, works_->planning.held(circumstances()), {}, {}, works_->planning.unusable()};
  for (const auto& [until, flow] : tally_.breakers)
    said.calm_at.emplace(flow, until);
  for (const FlowId& flow : outbox_.flows()) {
    const auto book = books_.find(flow);
    const Catalog::Entry* const entry = works_->catalog.entry(flow.dialect);
    if (book == books_.end())
      continue;
    if (auto hold = outbox_.hold(book->second, entry == nullptr ? nullptr : entry->dialect))
      said.unwritten.emplace(flow, *std::move(hold));
  }
  return said;
}

void RealEngine::reconfigure(std::unique_ptr<Works> works) {
  works->intake.follow(works_->intake);
  works->intake.handed_over().begin_with(books_);
  works_ = std::move(works);
  inbox_.decide_all();
  inbox_.changed(outbox_.reconfigured(works_->catalog));
  inbox_.scan("reload");
  pending_ = true;
}

Result<FlowState> RealEngine::documents(const FlowId& flow) {
  const auto book = books_.find(flow);
  const Catalog::Entry* const entry = works_->catalog.entry(flow.dialect);
  if (book == books_.end() || entry == nullptr)
    return fail(Errc::not_found, "there is no flow " + text(flow));
  return works_->library.open(book->second, *entry, {});
}

Result<Rebuilt> RealEngine::rebuilt(const FlowId& flow) {
  const auto book = books_.find(flow);
  if (book == books_.end())
    return fail(Errc::not_found, "there is no flow " + text(flow));
  return works_->recovery.rebuilt(book->second, {}, ports_.clock.now(), ports_.clock.wall());
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::make(const Ports& ports, Setup setup) {
  auto works = Works::make(ports, std::move(setup));
  if (!works)
    return pass_on(works);
  return std::unique_ptr<Engine>(std::make_unique<RealEngine>(ports, *std::move(works)));
}

}  // namespace baton
