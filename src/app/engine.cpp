#include "app/engine.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "app/control.h"
#include "app/deliberation.h"
#include "app/intake.h"
#include "app/judge.h"
#include "app/library.h"
#include "app/writes.h"
#include "base/text.h"

namespace baton {
namespace {

constexpr Millis kTryAgain{1000};
constexpr Millis kLateWrites{1200};

void sooner(std::optional<Time>& wake, std::optional<Time> time) {
  if (time && (!wake || *time < *wake))
    wake = time;
}

/// The parts that depend on the configuration; replaced together.
struct Works {
  Works(const Ports& ports, Setup given)
      : setup(std::move(given)),
        catalog(Catalog::of(setup.dialects)),
        schemas(setup.schemas),
        library(ports.journal, setup.load, setup.rehearsal),
        intake({ports.disk, library, schemas}, catalog, setup.environment, setup.load),
        deliberation(library, schemas, catalog, setup.environment, setup.load) {
    setup.environment.retry = setup.retry;
    for (const auto& [role, spec] : setup.agents)
      setup.environment.role_retry[role] = spec.retry;
  }

  Result<void> check() {
    for (const Catalog::Entry& entry : catalog.entries())
      for (const FileKind& kind : entry.kinds) {
        if (kind.schema.empty())
          continue;
        if (auto schema = schemas.get(kind.schema); !schema)
          return pass_on(schema);
      }
    return {};
  }

  Setup setup;
  Catalog catalog;
  Schemas schemas;
  Library library;
  Intake intake;
  Deliberation deliberation;
};

class RealEngine : public Engine {
 public:
  RealEngine(const Ports& ports, std::unique_ptr<Works> works)
      : ports_(ports), works_(std::move(works)) {}

  Result<void> recover() override;
  Result<void> step(const std::vector<Input>& inputs) override;
  bool pending() const override { return pending_; }
  std::optional<Time> wake() const override;
  bool quiet() const override;
  std::size_t running() const override;
  void drain() override {
    draining_ = true;
    pending_ = true;
  }
  bool draining() const override { return draining_; }
  void stop_agents(const std::string& why) override {
    draining_ = true;
    stop_why_ = why;
    pending_ = true;
  }
  void running_elsewhere(std::uint32_t agents) override { running_elsewhere_ = agents; }
  std::optional<std::string> reload_wanted() override { return std::exchange(reload_, {}); }
  void answer(const Reply& reply) override { ports_.requests.answer(reply); }
  Result<void> reconfigure(Setup setup) override;
  const Books& books() const override { return books_; }
  const Catalog& catalog() const override { return works_->catalog; }
  Result<FlowState> documents(const FlowId& flow) override;
  const Plan& plan() const override { return plan_; }
  bool disk_full() const override { return disk_full_; }

 private:
  using Prepares = std::vector<std::pair<Start, RunId>>;
  using Refused = std::map<Key, std::string>;

  void take(const std::vector<Input>& inputs);
  void end(Draft& draft, RunEnd end);
  Result<void> look(Draft& draft);
  void requests(Draft& draft);
  bool awaits_write(const std::string& path) const;
  void due(Draft& draft);
  Result<void> decide(Draft& draft);
  Plan reconcile_all(const Draft& draft, const Refused& refused) const;
  void hold_existing(Draft& draft);
  Result<std::vector<Launch>> settle_plan(Draft& draft);
  void stop_all(Plan& plan) const;
  void enter(Draft& draft, Plan& plan);
  void note_holds(Draft& draft);
  Prepares prepare(Draft& draft, const std::vector<Launch>& launches);
  Result<Launch> launch(Draft& draft, const Start& start);
  Result<void> settle_starts(Draft& draft, const Prepares& prepared);
  void finish_commit(Draft& draft);
  Result<void> commit(Draft& draft, const Prepares& prepared);
  void perform(const Draft& draft, const Prepares& prepared);
  void publish(Draft& draft);
  Draft draft() { return {books_, arrival_, intent_, ports_.clock.now(), ports_.clock.wall()}; }

  Ports ports_;
  std::unique_ptr<Works> works_;
  Books books_;
  Plan plan_;
  Arrival arrival_ = 0;
  std::uint64_t intent_ = 0;

  // What came in and is not yet part of a committed step.
  std::set<std::string> dirty_;
  std::vector<RunEnd> ends_;
  std::vector<LateWrite> late_;
  std::vector<std::uint64_t> intents_done_;
  std::vector<Request> requests_;
  std::set<std::string> answered_;
  std::set<FlowId> again_;
  std::set<RunId> asked_to_stop_;  ///< while the journal had no room for it
  bool look_for_requests_ = true;
  bool decide_all_ = true;

  bool first_start_ = false;
  bool pending_ = false;
  bool draining_ = false;
  bool disk_full_ = false;
  std::uint32_t running_elsewhere_ = 0;
  std::optional<std::string> reload_;
  std::optional<Time> late_check_;
  std::vector<Intent> open_intents_;  ///< journalled, not yet performed: the disk is full
  std::optional<Rescan> rescan_;      ///< one that failed
  std::optional<Time> retry_;         ///< the last step could not be committed
  std::optional<Time> try_again_;     ///< starts are held until then: no processes, no room
  std::string trouble_;
  std::string stop_why_;  ///< not empty: all agents are to end
};

Result<void> RealEngine::recover() {
  auto ledger = ports_.journal.load();
  if (!ledger)
    return pass_on(ledger);
  first_start_ = ledger->accepted.empty();
  books_ = books_of(*ledger);
  arrival_ = ledger->arrival;
  intent_ = ledger->intent;
  for (const auto& [id, reply] : ledger->replies) {
    answered_.insert(id);
    if (!works_->setup.rehearsal)
      ports_.requests.answer(reply);
  }
  rescan_ = Rescan{"start"};
  pending_ = true;
  if (works_->setup.rehearsal)
    return {};
  for (auto& [flow, book] : books_) {
    for (const Run& run : book.runs) {
      if (!run.live())
        continue;
      const Found found = ports_.agents.recover(run);
      if (!found.adopted)
        ends_.push_back(found.end);
      else if (run.state == RunState::stopping)
        (void)ports_.agents.stop(run);
    }
  }
  for (const Intent& intent : ledger->intents) {
    if (awaits_write(intent.path)) {
      open_intents_.push_back(intent);
      continue;
    }
    if (settle(ports_.disk, intent, works_->setup.load.max_bytes) == Settled::redo) {
      const auto done = baton::perform(ports_.disk, intent);
      if (!done && (done.error().code == Errc::no_space || done.error().code == Errc::busy)) {
        open_intents_.push_back(intent);
        continue;
      }
    }
    intents_done_.push_back(intent.id);
    dirty_.insert(intent.path);
  }
  return {};
}

void RealEngine::take(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    if (const auto* const changed = std::get_if<FileChanged>(&input))
      dirty_.insert(changed->path);
    else if (const auto* const ended = std::get_if<RunEnded>(&input))
      ends_.push_back(ended->end);
    else if (std::holds_alternative<RequestsChanged>(input))
      look_for_requests_ = true;
    else if (const auto* const rescan = std::get_if<Rescan>(&input)) {
      look_for_requests_ = true;
      // A scan that fails is made again: it is the net below all events.
      const bool all = rescan->why != "timer" && rescan->why != "poll";
      auto paths = works_->intake.scan(books_, all);
      if (paths)
        dirty_.insert(paths->begin(), paths->end());
      else
        rescan_ = *rescan;
    }
  }
}

Result<void> RealEngine::step(const std::vector<Input>& inputs) {
  pending_ = false;
  if (rescan_)
    take({std::exchange(rescan_, {}).value()});
  take(inputs);
  Draft next = draft();
  if (late_check_ && next.now >= *late_check_) {
    late_check_.reset();
    for (LateWrite& write : ports_.disk.late_writes(next.now))
      late_.push_back(std::move(write));
  }
  if (try_again_ && next.now >= *try_again_)
    try_again_.reset();
  // Something to write, so that the commit finds out whether there is room again.
  if (disk_full_)
    next.event("disk_freed", {}, "the journal can be written again");
  for (const std::string& path : works_->intake.due(next.now))
    dirty_.insert(path);
  for (const RunEnd& ended : ends_)
    end(next, ended);
  requests(next);
  if (auto looked = look(next); !looked)
    return looked;
  due(next);
  if (auto decided = decide(next); !decided)
    return decided;
  hold_existing(next);
  const auto launches = settle_plan(next);
  if (!launches)
    return fail(launches.error().code, launches.error().message, launches.error().where);
  if (!stop_why_.empty())
    stop_all(plan_);
  enter(next, plan_);
  if (works_->setup.rehearsal) {
    note_holds(next);
    publish(next);
    return {};
  }
  const Prepares prepared = prepare(next, *launches);
  if (auto settled = settle_starts(next, prepared); !settled) {
    for (const auto& [start, run] : prepared)
      ports_.agents.discard(run);
    return settled;
  }
  note_holds(next);
  finish_commit(next);
  return commit(next, prepared);
}

void RealEngine::end(Draft& next, RunEnd ended) {
  for (const auto& [flow, known] : books_) {
    const bool here = std::any_of(known.runs.begin(), known.runs.end(), [&](const Run& run) {
      return run.id == ended.run && run.live();
    });
    if (!here)
      continue;
    FlowBook& book = next.touch(flow);
    Run run = *book.run(ended.run);
    if (!run.live())
      return;
    // Only what the journal holds as a stop is one, or would hold if it had room.
    if ((run.state == RunState::stopping || asked_to_stop_.contains(run.id)) &&
        ended.outcome == Outcome::interrupted)
      ended.outcome = Outcome::stopped;
    run.state = RunState::ended;
    run.outcome = ended.outcome;
    run.exit_code = ended.exit_code;
    run.signal = ended.signal;
    run.reason = ended.reason;
    run.ended = next.now;
    next.put(book, run);
    next.decide.insert(flow);
    book.last_activity = next.now;
    next.event("ended", flow,
               std::string(word(run.outcome)) + (run.reason.empty() ? "" : " (" + run.reason + ")"),
               run.key.subject, run.key.role, run.id);
    return;
  }
}

void RealEngine::requests(Draft& next) {
  if (look_for_requests_) {
    std::vector<std::string> damaged;
    requests_ = ports_.requests.pending(damaged);
    for (const std::string& what : damaged)
      next.event("refused", {}, what);
  }
  std::erase_if(requests_, [&](const Request& r) { return answered_.contains(r.id); });
  for (const Request& request : requests_) {
    const Catalog::Entry* const entry = works_->catalog.entry(request.flow.dialect);
    const bool own =
        entry != nullptr && std::any_of(entry->dialect->verbs.begin(), entry->dialect->verbs.end(),
                                        [&](auto verb) { return verb == request.verb; });
    next.commit.requests.push_back(request);
    if (own) {
      next.touch(request.flow);
      next.decide.insert(request.flow);
      continue;
    }
    const Handled handled = handle(request, books_, next);
    if (handled.reload) {
      reload_ = request.id;
      answered_.insert(request.id);
      continue;
    }
    if (handled.drain)
      draining_ = true;
    next.reply(handled.reply);
  }
}

Result<void> RealEngine::look(Draft& next) {
  for (const LateWrite& write : late_)
    if (auto done = works_->intake.late(write, next, requests_); !done)
      return done;
  for (const std::string& path : dirty_) {
    // What stands there is older than what was accepted. Looked at when it is written.
    const bool planned = std::any_of(next.writes.begin(), next.writes.end(),
                                     [&](const Intent& write) { return write.path == path; });
    if (planned || awaits_write(path))
      continue;
    if (auto done = works_->intake.look(path, next, requests_); !done)
      return done;
  }
  return {};
}

bool RealEngine::awaits_write(const std::string& path) const {
  return std::any_of(open_intents_.begin(), open_intents_.end(), [&](const Intent& intent) {
    return intent.path == path || intent.to == path;
  });
}

void RealEngine::due(Draft& next) {
  next.decide.insert(again_.begin(), again_.end());
  for (const auto& [flow, book] : books_) {
    const bool wakes = book.decision.wake && *book.decision.wake <= next.now;
    const bool calm = book.held && book.held->reason == "rate_breaker" && next.now >= book.calm_at;
    if (decide_all_ || wakes || calm)
      next.decide.insert(flow);
  }
}

Result<void> RealEngine::decide(Draft& next) {
  for (const FlowId& flow : std::set<FlowId>(next.decide))
    if (auto decided = works_->deliberation.decide(flow, next, requests_); !decided)
      return decided;
  return {};
}

Plan RealEngine::reconcile_all(const Draft& next, const Refused& refused) const {
  const Setup& setup = works_->setup;
  Situation situation;
  situation.now = next.now;
  situation.max_running = setup.max_running;
  situation.running_elsewhere = running_elsewhere_;
  situation.spawns_per_hour = setup.spawns_per_hour;
  situation.on_interrupted = setup.on_interrupted;
  situation.retry = setup.retry;
  for (const auto& [role, spec] : setup.agents) {
    if (spec.problem.empty())
      situation.usable_roles.insert(role);
    else
      situation.unusable_roles[role] = spec.problem;
    situation.role_retry[role] = spec.retry;
  }
  situation.refused = refused;
  situation.default_role = setup.agents.contains("default");
  if (draining_ || !setup.may_start)
    situation.held =
        Hold{"", "", draining_ ? "draining" : "no_daemon",
             draining_ ? "the daemon is draining: no new starts" : "no daemon serves this root"};
  else if (disk_full_)
    situation.held = Hold{"", "", "disk_full", "the disk of the journal is full: supervising only"};
  else if (try_again_)
    situation.held =
        Hold{"", "", "cannot_start", trouble_ + "; tried again at " + iso_time(*try_again_)};
  const FlowBook* const root = next.find(FlowId{});
  const auto add = [&](const FlowId& flow, const FlowBook& book) {
    if (flow == FlowId{})
      return;
    FlowSituation one{book.id,          book.decision,           book.stages,
                      book.runs,        book.control.control,    book.control.reason,
                      book.control.why, book.control.resumed_at, book.held};
    const auto open = std::find_if(open_intents_.begin(), open_intents_.end(),
                                   [&](const Intent& write) { return write.flow == flow; });
    if (open != open_intents_.end())
      one.held = Hold{"", "", "write_pending", "a write of " + open->path + " is still to be made"};
    if (root != nullptr && root->control.control != Control::run && one.control != Control::stop) {
      one.control = root->control.control;
      one.control_reason = root->control.reason;
      one.control_why = root->control.why + " (the whole root)";
    }
    situation.flows.push_back(one);
  };
  for (const auto& [flow, book] : books_)
    if (!next.touched().contains(flow) && !next.forgotten.contains(flow))
      add(flow, book);
  for (const auto& [flow, book] : next.touched())
    add(flow, book);
  return reconcile(situation);
}

/// Somebody points baton at a root full of old files: what would be started is held until a person
/// has looked, lest a hundred agents be started for work long done.
void RealEngine::hold_existing(Draft& next) {
  const Setup& setup = works_->setup;
  if (!decide_all_ || !(first_start_ || setup.act_on_existing))
    return;
  const std::string why = "more than " + std::to_string(setup.max_existing) +
                          " flows would start something at the first start on this root; "
                          "`baton run --act-on-existing`, or `baton resume`";
  if (setup.act_on_existing) {
    for (const auto& [flow, book] : books_)
      if (book.control.reason == "existing")
        next.control(next.touch(flow), Control::run, "", "");
    return;
  }
  const Plan plan = reconcile_all(next, {});
  if (plan.wanting.size() <= setup.max_existing)
    return;
  for (const FlowId& flow : plan.wanting)
    next.control(next.touch(flow), Control::pause, "existing", why);
  next.event("held", {}, std::to_string(plan.wanting.size()) + " flows are held: " + why);
}

/// What is to be started, with all that its start needs. What cannot be started as it stands (a
/// subject that would be an option) must not take the place of something that can: it is refused,
/// and everything is reconciled without it.
Result<std::vector<Launch>> RealEngine::settle_plan(Draft& next) {
  Refused refused;
  for (;;) {
    plan_ = reconcile_all(next, refused);
    std::vector<Launch> launches;
    bool all = true;
    for (const Start& start : plan_.starts) {
      auto described = launch(next, start);
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

/// Everything that runs, for `stop_agents`.
void RealEngine::stop_all(Plan& plan) const {
  plan.stops.clear();
  for (const auto& [flow, book] : books_)
    for (const Run& run : book.runs)
      if (run.state == RunState::started)
        plan.stops.push_back(Stop{run.id, "ended", stop_why_});
}

/// Enters what reconcile wants to stop or pause; starts are entered when they are prepared.
void RealEngine::enter(Draft& next, Plan& plan) {
  for (const PauseFlow& pause : plan.pauses) {
    FlowBook& book = next.touch(pause.flow);
    next.control(book, Control::pause, pause.reason, pause.why);
    next.event("paused", pause.flow, pause.why);
  }
  for (const Stop& stop : plan.stops) {
    for (const auto& [flow, known] : books_) {
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

/// Remembers why things are not started, and says the lasting reasons once.
void RealEngine::note_holds(Draft& next) {
  static constexpr std::array kPassing = {
      std::string_view("backing_off"), std::string_view("no_place"), std::string_view("claimed"),
      std::string_view("paused"),      std::string_view("stopped"),  std::string_view("draining"),
      std::string_view("no_daemon"),   std::string_view("disk_full")};
  const auto update = [&](const FlowId& flow) {
    if (next.find(flow) == nullptr)
      return;  // forgotten
    const auto found = plan_.holds.find(flow);
    std::vector<Hold> holds = found == plan_.holds.end() ? std::vector<Hold>{} : found->second;
    const FlowBook& known = *next.find(flow);
    holds.insert(holds.begin(), known.decision.holds.begin(), known.decision.holds.end());
    const bool failed = plan_.failed.contains(flow) || known.decision.failed;
    if (known.holds == holds && known.failed == failed)
      return;
    for (const Hold& hold : holds) {
      const bool passing =
          std::find(kPassing.begin(), kPassing.end(), hold.reason) != kPassing.end();
      const bool said = std::any_of(known.holds.begin(), known.holds.end(), [&](const Hold& other) {
        return other.role == hold.role && other.subject == hold.subject &&
               other.reason == hold.reason;
      });
      if (!passing && !said)
        next.event("held", flow, hold.why, hold.subject, hold.role);
    }
    FlowBook& book = next.touch(flow);
    book.holds = std::move(holds);
    book.failed = failed;
  };
  std::set<FlowId> flows;
  for (const auto& [flow, book] : books_)
    flows.insert(flow);
  for (const auto& [flow, book] : next.touched())
    flows.insert(flow);
  for (const FlowId& flow : flows)
    update(flow);
}

Result<Launch> RealEngine::launch(Draft& next, const Start& start) {
  const Setup& setup = works_->setup;
  const Catalog::Entry* const entry = works_->catalog.entry(start.key.flow.dialect);
  FlowBook& book = next.touch(start.key.flow);
  auto docs = works_->library.open(book, *entry, next.documents);
  if (!docs)
    return pass_on(docs);
  Brief brief;
  if (entry->dialect->brief != nullptr) {
    const View view{book.id,   *docs,          book.stages,       book.runs, book.memo,
                    requests_, entry->options, setup.environment, next.now,  next.wall};
    brief = entry->dialect->brief(view, start.desired);
  }
  const auto spec = setup.agents.find(start.key.role);
  if (spec != setup.agents.end())
    return launch_of(start, spec->second, brief, setup.environment);
  const auto fallback = setup.agents.find("default");
  return launch_of(start, fallback == setup.agents.end() ? AgentSpec{} : fallback->second, brief,
                   setup.environment);
}

RealEngine::Prepares RealEngine::prepare(Draft& next, const std::vector<Launch>& launches) {
  Prepares prepared;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Start& start = plan_.starts[i];
    const Launch& described = launches[i];
    auto shim = ports_.agents.prepare(described);
    if (!shim) {
      trouble_ = "an agent cannot be started: " + describe(shim.error());
      try_again_ = next.now + kTryAgain;
      plan_.waiting = true;
      plan_.holds[start.key.flow].push_back(
          Hold{start.key.role, start.key.subject, "cannot_start", trouble_});
      continue;
    }
    FlowBook& book = next.touch(start.key.flow);
    Run run;
    run.id = shim->id;
    run.key = start.key;
    run.attempt = start.attempt;
    run.purpose = start.desired.purpose;
    if (const auto stage = book.stages.find(start.key.subject); stage != book.stages.end())
      run.stage = stage->second.stage;
    run.why = start.desired.why;
    run.started = next.now;
    run.pid = shim->pid;
    run.start_ticks = shim->start_ticks;
    run.boot_id = shim->boot_id;
    run.directory = shim->directory;
    run.limits = described.limits;
    run.claims = start.desired.claims;
    for (const auto& [path, row] : book.accepted)
      run.base.push_back(DocRef{path, row.digest});
    next.put(book, run);
    book.last_activity = next.now;
    next.event("started", start.key.flow,
               "attempt " + std::to_string(start.attempt) + ": " + start.desired.why,
               start.key.subject, start.key.role, run.id);
    prepared.emplace_back(start, run.id);
  }
  return prepared;
}

/// Asks the dialects once more, now that the starts are known: what they write because an agent
/// begins belongs into the same transaction and is written before the agent is let go.
Result<void> RealEngine::settle_starts(Draft& next, const Prepares& prepared) {
  std::set<FlowId> flows;
  for (const auto& [start, run] : prepared)
    flows.insert(start.key.flow);
  for (const FlowId& flow : flows)
    if (auto decided = works_->deliberation.decide(flow, next, requests_); !decided)
      return decided;
  return {};
}

/// What the draft collected besides, as rows of the transaction.
void RealEngine::finish_commit(Draft& next) {
  next.commit.intents = next.writes;
  next.commit.intents_done = intents_done_;
  for (const std::string& path : next.presence) {
    for (const auto& [flow, book] : next.touched()) {
      const auto row = book.accepted.find(path);
      if (row == book.accepted.end())
        continue;
      if (auto bytes = ports_.journal.bytes(path))
        next.commit.accepted.emplace_back(row->second, std::move(*bytes));
    }
  }
  // A request is answered and remembered in the same transaction; one that is not answered comes
  // again.
  std::erase_if(next.commit.requests, [&](const Request& request) {
    return std::none_of(next.commit.replies.begin(), next.commit.replies.end(),
                        [&](const Reply& reply) { return reply.request == request.id; });
  });
}

Result<void> RealEngine::commit(Draft& next, const Prepares& prepared) {
  const auto committed = next.commit.empty() ? Result<void>{} : ports_.journal.commit(next.commit);
  if (!committed) {
    for (const auto& [start, run] : prepared)
      ports_.agents.discard(run);
    if (committed.error().code != Errc::no_space && committed.error().code != Errc::busy)
      return fail(committed.error().code, committed.error().message, committed.error().where);
    // Nothing of this step has happened; all of it is looked at again. Ending agents must go on.
    if (committed.error().code == Errc::no_space && !disk_full_) {
      disk_full_ = true;
      ports_.observer.happened(
          Event{0, next.wall, "disk_full", {}, {}, {}, {}, describe(committed.error())});
    }
    for (const Stop& stop : plan_.stops)
      for (auto& [flow, book] : books_)
        if (const auto run = book.run(stop.run); run != book.runs.end() && run->live()) {
          asked_to_stop_.insert(run->id);
          (void)ports_.agents.stop(*run);
        }
    retry_ = next.now + kTryAgain;
    return {};
  }
  pending_ = pending_ || std::exchange(disk_full_, false);
  retry_.reset();
  publish(next);
  perform(next, prepared);
  return {};
}

void RealEngine::publish(Draft& next) {
  arrival_ = next.arrival;
  intent_ = next.intent;
  for (const Request& request : next.commit.requests)
    answered_.insert(request.id);
  for (const Reply& reply : next.commit.replies)
    answered_.insert(reply.request);
  works_->intake.committed(next);
  for (const FlowId& flow : next.forgotten)
    works_->library.drop(flow);
  next.publish(books_);
  dirty_.clear();
  ends_.clear();
  late_.clear();
  intents_done_.clear();
  again_.clear();
  asked_to_stop_.clear();
  look_for_requests_ = false;
  // Nothing is known of the root before it could be listed.
  if (!rescan_) {
    decide_all_ = false;
    first_start_ = false;
  }
}

void RealEngine::perform(const Draft& next, const Prepares& prepared) {
  for (const Event& event : next.commit.events)
    ports_.observer.happened(event);
  std::set<FlowId> unfit;
  std::vector<Intent> writes = std::exchange(open_intents_, {});
  writes.insert(writes.end(), next.writes.begin(), next.writes.end());
  for (const Intent& write : writes) {
    // A write behind one that waits for room waits too: it builds on it.
    const bool behind = awaits_write(write.path);
    const auto done = behind ? Result<void>(fail(Errc::busy, "an earlier write waits for room"))
                             : baton::perform(ports_.disk, write);
    late_check_ = next.now + kLateWrites;
    dirty_.insert(write.path);
    if (!done) {
      unfit.insert(write.flow);
      if (done.error().code == Errc::no_space || done.error().code == Errc::busy) {
        open_intents_.push_back(write);
        retry_ = next.now + kTryAgain;
        continue;
      }
      again_.insert(write.flow);
    }
    intents_done_.push_back(write.id);
    pending_ = true;
  }
  for (const auto& [start, id] : prepared) {
    // What settle_starts decided has not been reconciled yet.
    again_.insert(start.key.flow);
    pending_ = true;
    FlowBook& book = books_[start.key.flow];
    if (!unfit.contains(start.key.flow)) {
      if (ports_.agents.release(id))
        continue;
      const Found found = ports_.agents.recover(*book.run(id));
      if (found.adopted)
        continue;
      ends_.push_back(found.end);
    } else {
      ports_.agents.discard(id);
      RunEnd end;
      end.run = id;
      end.outcome = Outcome::voided;
      end.reason = "write_refused";
      ends_.push_back(end);
    }
    pending_ = true;
  }
  for (const Stop& stop : plan_.stops)
    for (auto& [flow, book] : books_)
      if (const auto run = book.run(stop.run); run != book.runs.end() && run->live())
        (void)ports_.agents.stop(*run);
  for (const Reply& reply : next.commit.replies)
    ports_.requests.answer(reply);
}

std::optional<Time> RealEngine::wake() const {
  std::optional<Time> wake = works_->intake.wake();
  sooner(wake, plan_.wake);
  sooner(wake, try_again_);
  sooner(wake, retry_);
  sooner(wake, late_check_);
  const Time now = ports_.clock.now();
  if (rescan_)
    sooner(wake, now + kTryAgain);
  for (const auto& [flow, book] : books_) {
    // A dialect that asks for a moment that has passed would have us spin.
    if (book.decision.wake)
      sooner(wake, std::max(*book.decision.wake, now + Millis(10)));
    if (book.held && book.held->reason == "rate_breaker")
      sooner(wake, book.calm_at);
  }
  return wake;
}

bool RealEngine::quiet() const {
  if (pending_ || running() > 0 || works_->intake.unsettled() || !open_intents_.empty() ||
      !plan_.starts.empty() || plan_.waiting || retry_ || rescan_)
    return false;
  return std::none_of(books_.begin(), books_.end(), [](const auto& row) {
    return row.second.decision.wake.has_value() ||
           (row.second.held && row.second.held->reason == "rate_breaker");
  });
}

std::size_t RealEngine::running() const {
  std::size_t count = 0;
  for (const auto& [flow, book] : books_)
    count += static_cast<std::size_t>(std::count_if(book.runs.begin(), book.runs.end(),
                                                    [](const Run& run) { return run.live(); }));
  return count;
}

Result<void> RealEngine::reconfigure(Setup setup) {
  auto works = std::make_unique<Works>(ports_, std::move(setup));
  if (auto checked = works->check(); !checked)
    return checked;
  works_ = std::move(works);
  decide_all_ = true;
  pending_ = true;
  rescan_ = Rescan{"reload"};
  return {};
}

Result<FlowState> RealEngine::documents(const FlowId& flow) {
  const auto book = books_.find(flow);
  const Catalog::Entry* const entry = works_->catalog.entry(flow.dialect);
  if (book == books_.end() || entry == nullptr)
    return fail(Errc::not_found, "there is no flow " + text(flow));
  return works_->library.open(book->second, *entry, {});
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::make(const Ports& ports, Setup setup) {
  auto works = std::make_unique<Works>(ports, std::move(setup));
  if (auto checked = works->check(); !checked)
    return pass_on(checked);
  return std::unique_ptr<Engine>(std::make_unique<RealEngine>(ports, std::move(works)));
}

}  // namespace baton
