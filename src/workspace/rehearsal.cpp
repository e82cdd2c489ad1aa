// SPDX-License-Identifier: Apache-2.0
#include "workspace/rehearsal.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "io/agents/run_outcome.h"
#include "io/files/disk.h"
#include "io/files/root.h"
#include "io/journal/daemon_db.h"
#include "io/journal/daemon_runs.h"
#include "io/journal/reader.h"
#include "io/system/clock.h"
#include "io/system/requests.h"
#include "io/system/time_zones.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"

namespace baton {
namespace {

/// A daemon looks again at a file that is still being written, for about this long. A rehearsal
/// does not wait: it moves its clock forward by kSettleStep.
constexpr Millis kSettle{2500};
constexpr Millis kSettleStep{250};
constexpr int kMaxSteps = 64;

class ReadOnlyJournal : public Journal {
 public:
  explicit ReadOnlyJournal(std::unique_ptr<JournalReader> reader) : reader_(std::move(reader)) {}
  /// Begins a snapshot, so that later reads show the same moment as the ledger. A running daemon
  /// may meanwhile drop a file that the ledger lists.
  Result<Ledger> load(Time now) override {
    if (reader_ == nullptr)
      return Ledger{};
    if (auto held = reader_->begin_snapshot(); !held)
      return pass_on(held);
    return reader_->ledger(now);
  }
  void follow() {
    if (reader_ != nullptr)
      reader_->end_snapshot();
  }
  Result<Arrival> commit(const Commit& /*commit*/) override {
    return fail(Errc::io, "a rehearsal writes nothing");
  }
  Result<std::string> bytes(const std::string& path) override {
    if (reader_ == nullptr)
      return fail(Errc::not_found, "there is no journal", path);
    return reader_->bytes(path);
  }
  Result<bool> was_accepted(const std::string& path, const Digest& digest) override {
    return reader_ == nullptr ? Result<bool>(false) : reader_->was_accepted(path, digest);
  }
  /// Only a daemon settles rows of runs.
  Result<std::optional<Run>> run(const RunId& /*id*/) override { return std::optional<Run>(); }
  Result<std::vector<Run>> runs_since(Time /*since*/) override { return std::vector<Run>(); }

 private:
  std::unique_ptr<JournalReader> reader_;
};

class NoAgents : public Agents {
 public:
  /// `served`: a daemon runs and records how runs end. Else read what the shims have written down.
  explicit NoAgents(bool served) : served_(served) {}
  Result<Prepared> prepare(const Launch& /*launch*/) override { return refused(); }
  Result<void> release(const RunId& /*run*/) override { return refused(); }
  void discard(const RunId& /*run*/) override {}
  void revoke(const RunId& /*run*/) override {}
  Result<void> stop(const Run& /*run*/) override { return refused(); }
  Found recover(const Run& run) override {
    auto end = served_ ? std::nullopt : unrecorded_end(run);
    return end ? Found{.adopted = false, .end = *std::move(end)}
               : Found{.adopted = true, .end = {}};
  }
  std::string boot() const override { return boot_id(); }
  std::optional<Time> last_output(const Run& /*run*/) override { return std::nullopt; }

 private:
  static tl::unexpected<Error> refused() {
    return fail(Errc::io, "a rehearsal starts and stops nothing");
  }
  bool served_;
};

constexpr const char* kAsked = "asked";

/// The requests that the next daemon would find.
class RecordedRequests : public Requests {
 public:
  explicit RecordedRequests(std::vector<Request> all) : all_(std::move(all)) {}
  std::vector<Request> pending(std::vector<std::string>& /*damaged*/) override { return all_; }
  void answer(const Reply& reply) override {
    if (reply.request == kAsked)
      reply_ = reply;
  }
  const std::optional<Reply>& reply() const { return reply_; }
  bool keep_room() override { return true; }

 private:
  std::vector<Request> all_;
  std::optional<Reply> reply_;  ///< to kAsked
};

/// The real clock, which can be moved forward.
class SteppedClock : public Clock {
 public:
  Time now() override { return real_->now() + passed_; }
  Time wall() override { return real_->wall(); }
  void pass(Millis time) { passed_ += time; }

 private:
  std::unique_ptr<Clock> real_ = real_clock();
  Millis passed_{0};
};

/// A root with one file, or a root that is unavailable.
class OneFile : public Disk {
 public:
  explicit OneFile(const Error& why)
      : away_(Error{Errc::away, "waits for the root: " + why.message, ""}) {}
  OneFile(std::string path, const std::string& text)
      : path_(std::move(path)), file_{text, digest_of(text), 0, 0, {}, text.size()} {}
  Result<FileBytes> read(const std::string& path, std::size_t max_bytes) override {
    if (away_)
      return tl::unexpected(*away_);
    if (path != path_)
      return fail(Errc::not_found, "is not there", path);
    if (file_.bytes.size() > max_bytes)
      return fail(Errc::too_large, "is larger than " + std::to_string(max_bytes) + " bytes", path);
    return file_;
  }
  Result<FileBytes> read_end(const std::string& path, std::size_t max_bytes) override {
    return read(path, max_bytes);
  }
  Result<FileBytes> read_outside(const std::string& /*folder*/, const std::string& path,
                                 std::size_t /*max_bytes*/) override {
    return fail(Errc::not_found, "is not there", path);
  }
  VersionSource source(const std::string& /*path*/, const Digest& /*digest*/,
                       bool /*may_wait*/) override {
    return VersionSource::other;
  }
  Result<FileBytes> read_from(const std::string& path, std::uint64_t first,
                              std::size_t max_bytes) override {
    auto file = read(path, file_.bytes.size());
    if (!file)
      return file;
    file->bytes = file->bytes.substr(std::min<std::uint64_t>(first, file->bytes.size()), max_bytes);
    file->digest = digest_of(file->bytes);
    return file;
  }
  Result<std::vector<FileEntry>> list(const std::string& folder, unsigned /*depth*/) override {
    if (away_)
      return tl::unexpected(*away_);
    const bool here = folder.empty() || path_.starts_with(folder + "/");
    return here ? std::vector<FileEntry>{{path_, 0}} : std::vector<FileEntry>{};
  }
  Result<void> replace(const std::string& path, const Digest& /*assumes*/,
                       std::string_view /*bytes*/) override {
    return refused(path);
  }
  Result<void> append(const std::string& path, std::uint64_t /*assumes_bytes*/,
                      std::string_view /*bytes*/, std::uint64_t /*rotate_above*/) override {
    return refused(path);
  }
  Result<void> create(const std::string& path, std::string_view /*bytes*/) override {
    return refused(path);
  }
  Result<void> make_last(const std::string& path, std::string_view /*bytes*/) override {
    return refused(path);
  }
  Result<void> move(const std::string& from, const Digest& /*assumes*/,
                    const std::string& /*to*/) override {
    return refused(from);
  }
  bool hold(const std::set<std::string>& /*paths*/) override { return true; }
  bool keeps_old(Time /*now*/) override { return false; }
  std::vector<LateWrite> late_writes(Time /*now*/) override { return {}; }
  void late_noted(const LateWrite& /*write*/) override {}

 private:
  static tl::unexpected<Error> refused(const std::string& path) {
    return fail(Errc::io, "a rehearsal writes nothing", path);
  }
  std::optional<Error> away_;
  std::string path_;
  FileBytes file_;
};

}  // namespace

struct Rehearsal::World {
  World(std::unique_ptr<Disk> the_disk, std::unique_ptr<JournalReader> reader, bool served,
        std::vector<Request> recorded)
      : disk(std::move(the_disk)),
        journal(std::move(reader)),
        agents(served),
        requests(std::move(recorded)) {}
  std::shared_ptr<RootFolder> root;  ///< nullptr: unavailable, or not needed (`of_document`)
  std::unique_ptr<Disk> disk;
  ReadOnlyJournal journal;
  NoAgents agents;
  RecordedRequests requests;
  SteppedClock clock;
  Observer observer;
  std::unique_ptr<Providers> providers = no_providers();
  std::unique_ptr<Spending> spending = no_spending();
  std::unique_ptr<TimeZones> zones = real_time_zones();
  LoadLimits load;
  std::unique_ptr<Engine> engine;
};

Rehearsal::Rehearsal(std::unique_ptr<World> world) : world_(std::move(world)) {}
Rehearsal::~Rehearsal() = default;

Result<void> Rehearsal::run(Setup setup, std::uint32_t running_elsewhere, bool as_daemon) {
  auto done = play(std::move(setup), running_elsewhere, as_daemon);
  world_->journal.follow();
  return done;
}

Result<void> Rehearsal::play(Setup setup, std::uint32_t running_elsewhere, bool as_daemon) {
  setup.rehearsal = true;
  world_->load = setup.load;
  auto engine =
      Engine::make({*world_->disk, world_->journal, world_->agents, world_->requests, world_->clock,
                    world_->observer, *world_->providers, *world_->spending, *world_->zones},
                   std::move(setup));
  if (!engine)
    return pass_on(engine);
  world_->engine = *std::move(engine);
  Engine& it = *world_->engine;
  it.running_elsewhere(running_elsewhere);
  if (auto recovered = it.recover(); !recovered)
    return recovered;
  // As in the daemon: if no flow is known, no file can be missing and an empty folder can be the
  // root.
  if (world_->root && it.records().size() == it.records().count(FlowId{}))
    world_->root->accept_as_root();
  // If a daemon runs, show what it still waits for: do not move the clock forward.
  const bool waits = daemon_.has_value() && !as_daemon;
  const Time until = world_->clock.now() + (waits ? Millis(0) : kSettle);
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (auto done = it.step({}); !done)
      return done;
    if (it.pending())
      continue;
    // A file may still be being written. Let time pass until the engine looks at it again.
    const auto wake = it.wake();
    if (!wake || *wake > until || world_->clock.now() > until)
      return {};
    world_->clock.pass(kSettleStep);
  }
  return {};
}

namespace {

/// Takes over what the running daemon knows. Whether a program can be started depends on the
/// daemon's user and environment, so the daemon's answer counts.
void take_status(const DaemonStatus& status, const std::string& digest, Setup& setup) {
  const DaemonState& state = status.state;
  setup.daemon_state = state;
  // With another configuration, the daemon may not look at some of these files at all. Then do not
  // report changes that it seems to have missed.
  setup.daemon_state.lives = !digest.empty() && status.configuration_digest == digest;
  for (auto& [dialect, options] : setup.dialects)
    if (dialect->name == "rules" && state.lives && status.prompt_faults)
      options = with_prompt_faults(options, *status.prompt_faults);
  if (!state.unusable)
    return;
  setup.renew = nullptr;
  // The daemon may have an agent for a role that `default` plays in this configuration.
  const auto usual = setup.agents.find("default");
  if (setup.daemon_state.lives && usual != setup.agents.end())
    for (const auto& [role, fault] : *state.unusable)
      setup.agents.try_emplace(role, usual->second);
  for (auto& [role, spec] : setup.agents) {
    const auto found = state.unusable->find(role);
    spec.problem = found == state.unusable->end() ? std::nullopt : std::optional(found->second);
  }
}

/// nullptr: there is no journal yet.
Result<std::unique_ptr<JournalReader>> journal_in(const std::string& state_folder) {
  auto journal = read_journal(state_folder);
  if (journal || journal.error().code != Errc::not_found)
    return journal;
  return std::unique_ptr<JournalReader>();
}

}  // namespace

Result<std::unique_ptr<Rehearsal>> Rehearsal::of_root(const Context& context, Options options) {
  auto setup = context.setup(context.root());
  if (!setup)
    return pass_on(setup);
  auto opened = RootFolder::open(context.root());
  std::unique_ptr<JournalReader> reader;
  std::optional<DaemonStatus> daemon;
  std::vector<Request> recorded;
  const auto folder = context.state_folder();
  if (!folder && folder.error().code != Errc::not_found)
    return tl::unexpected(folder.error());
  if (folder) {
    daemon = daemon_status(*folder);
    if (!daemon)
      recorded = recorded_requests(*folder);
    auto journal = journal_in(*folder);
    if (!journal)
      return pass_on(journal);
    reader = *std::move(journal);
    if (opened)
      remember_last_root(*folder, **opened);
  }
  std::vector<Request> requests = recorded;
  if (options.asked) {
    requests.push_back(*std::move(options.asked));
    requests.back().id = kAsked;
  }
  // If the root is gone, the journal still has the accepted versions and the runs.
  if (!opened && !daemon && (reader == nullptr || opened.error().code != Errc::not_found))
    return pass_on(opened);
  std::unique_ptr<Disk> disk =
      opened ? real_disk(*opened) : std::make_unique<OneFile>(opened.error());
  auto rehearsal = std::unique_ptr<Rehearsal>(new Rehearsal(
      std::make_unique<World>(std::move(disk), std::move(reader), daemon.has_value(), requests)));
  if (opened)
    rehearsal->world_->root = *opened;
  if (folder) {
    rehearsal->world_->providers = make_providers(*folder, true);
    rehearsal->world_->spending = make_spending(*folder, true);
  }
  rehearsal->recorded_ = std::move(recorded);
  setup->may_start = daemon || options.as_daemon;
  if (daemon && !options.as_daemon)
    take_status(*daemon, context.configuration_digest(), *setup);
  rehearsal->daemon_ = std::move(daemon);
  setup->act_on_existing = options.act_on_existing;
  const std::uint32_t beside = running_on_other_roots(context) + options.running_elsewhere;
  if (auto done = rehearsal->run(*std::move(setup), beside, options.as_daemon); !done)
    return pass_on(done);
  return rehearsal;
}

Result<std::unique_ptr<Rehearsal>> Rehearsal::of_document(const Context& context,
                                                          const KindChoice& choice,
                                                          const std::string& path,
                                                          const std::string& text) {
  Setup setup;
  if (context.configuration().empty()) {
    setup.schemas = schemas_below(context.folder());
    setup.environment.root = context.root();
  } else {
    auto configured = context.setup(context.root());
    if (!configured)
      return pass_on(configured);
    setup = *std::move(configured);
  }
  setup.dialects = {{choice.entry().dialect, choice.entry().options}};
  auto rehearsal = std::unique_ptr<Rehearsal>(new Rehearsal(std::make_unique<World>(
      std::make_unique<OneFile>(path, text), nullptr, false, std::vector<Request>())));
  if (auto done = rehearsal->run(std::move(setup), 0, true); !done)
    return pass_on(done);
  return rehearsal;
}

const FlowRecords& Rehearsal::records() const {
  return world_->engine->records();
}

const Plan& Rehearsal::plan() const {
  return world_->engine->plan();
}

const Catalog& Rehearsal::catalog() const {
  return world_->engine->catalog();
}

std::optional<Reply> Rehearsal::reply() const {
  return world_->requests.reply();
}

ControlRow Rehearsal::root_control() const {
  const FlowRecord* const root = record(FlowId{});
  return root == nullptr ? ControlRow{} : root->control;
}

const FlowRecord* Rehearsal::record(const FlowId& flow) const {
  const auto found = records().find(flow);
  return found == records().end() ? nullptr : &found->second;
}

Result<FileBytes> Rehearsal::read(const std::string& path) const {
  return world_->disk->read(path, world_->load.max_bytes);
}

std::string Rehearsal::ignored(const std::string& path) const {
  const auto match = catalog().match(path);
  if (!match || !match->copy)
    return catalog().ignored(path);
  // What the rehearsal has taken for a state file is no copy.
  const FlowRecord* const known = record(match->flow);
  if (known != nullptr && (known->accepted.contains(path) || known->rejected.contains(path)))
    return {};
  return read(path) && read(match->copy->beside)
             ? match->copy->why + " of " + printable(match->copy->beside, 200)
             : "";
}

Result<Rebuilt> Rehearsal::rebuilt(const FlowId& flow) const {
  return world_->engine->rebuilt(flow);
}

std::vector<FlowId> Rehearsal::flows() const {
  std::vector<FlowId> known;
  for (const auto& [id, record] : records())
    if (id != FlowId{})
      known.push_back(id);
  return known;
}

namespace {

/// `passing_over`: warn about a root whose state this user cannot read, and leave it out.
Result<std::vector<RehearsedRoot>> rehearse_all(const Context& context, bool passing_over) {
  std::vector<RehearsedRoot> all;
  std::optional<Error> last;
  for (Context& one : context.each()) {
    auto rehearsal = Rehearsal::of_root(one);
    if (rehearsal) {
      all.push_back({std::move(one), *std::move(rehearsal)});
      continue;
    }
    const bool hidden =
        !one.state_folder() && rehearsal.error().code == Errc::denied && context.roots().size() > 1;
    if (hidden)
      rehearsal.error().message += "; or name the root you mean with --root";
    if (!hidden || !passing_over)
      return pass_on(rehearsal);
    last = rehearsal.error();
    warn_once(printable(describe(*last)));
  }
  if (all.empty() && last)
    return tl::unexpected(*last);
  return all;
}

}  // namespace

Result<std::vector<RehearsedRoot>> rehearse(const Context& context) {
  return rehearse_all(context, false);
}

Result<std::vector<RehearsedRoot>> rehearse_seen(const Context& context) {
  return rehearse_all(context, true);
}

std::vector<Request> of_flow(const std::vector<Request>& recorded, const FlowId& flow) {
  std::vector<Request> some;
  std::copy_if(recorded.begin(), recorded.end(), std::back_inserter(some),
               [&](const Request& each) { return each.flow == flow || each.flow == FlowId{}; });
  return some;
}

std::string recorded_text(const std::vector<Request>& recorded) {
  if (recorded.empty())
    return "";
  std::vector<std::string> all;
  all.reserve(recorded.size());
  for (const Request& each : recorded)
    all.push_back(each.verb + " " + (each.flow == FlowId{} ? "--all" : text(each.flow)));
  return std::to_string(all.size()) +
         (all.size() == 1 ? " request is recorded for the next daemon: "
                          : " requests are recorded for the next daemon: ") +
         printable(join(all, ", "), 1000) + ". The status is shown as it will be after " +
         (all.size() == 1 ? "it" : "them");
}

std::string without_configuration(const std::optional<DaemonStatus>& daemon) {
  if (!daemon)
    return "there is no configuration, so baton starts nothing; `baton init` writes one, --config "
           "names one";
  if (daemon->configuration.empty())
    return "no configuration was found here; name the one the daemon uses with --config";
  return "no configuration was found here; name the one the daemon uses with --config " +
         printable(daemon->configuration);
}

Result<FlowPlace> choose_flow(const std::string& name, const std::vector<RehearsedRoot>& roots) {
  std::vector<KnownFlows> known;
  known.reserve(roots.size());
  for (const RehearsedRoot& each : roots)
    known.push_back({each.context.root(), each.rehearsal->flows()});
  return choose_flow(name, known);
}

namespace {

Result<FlowId> choose_flow(const std::string& name, const std::set<FlowId>& known) {
  std::vector<FlowId> fits;
  std::vector<FlowId> by_end;
  std::vector<std::string> names;
  std::vector<std::string> short_names;
  for (const FlowId& flow : known) {
    if (text(flow) == name)
      return flow;
    short_names.push_back(flow.name);
    if (flow.name == name)
      fits.push_back(flow);
    if (flow.name.ends_with("/" + name))
      by_end.push_back(flow);
    names.push_back(text(flow));
  }
  if (fits.empty())
    fits = by_end;
  if (fits.size() == 1)
    return fits.front();
  constexpr std::size_t kMost = 20;
  std::string message;
  if (!fits.empty()) {
    names.clear();
    names.reserve(fits.size());
    for (const FlowId& flow : fits)
      names.push_back(text(flow));
    message = "there are several flows called " + printable(name, 100) + ": ";
  } else {
    auto near = nearest(name, names);
    if (!near)
      near = nearest(name, short_names);
    message = "there is no flow " + printable(name, 100);
    if (near)
      return fail(Errc::usage, message + "; did you mean " + *near + "?");
    message += names.empty() ? "; there is none at all" : "; there are ";
  }
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return fail(Errc::usage, message + printable(join(names, ", "), 4096) +
                               (more > 0 ? " and " + std::to_string(more) + " more" : ""));
}

}  // namespace

Result<FlowPlace> choose_flow(const std::string& name, const std::vector<KnownFlows>& known) {
  std::set<FlowId> all;
  for (const KnownFlows& root : known)
    all.insert(root.flows.begin(), root.flows.end());
  auto flow = choose_flow(name, all);
  if (!flow)
    return pass_on(flow);
  std::vector<std::string> roots;
  FlowPlace place{0, *flow};
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::find(known[i].flows.begin(), known[i].flows.end(), *flow) != known[i].flows.end()) {
      roots.push_back(known[i].root);
      place.root = i;
    }
  if (roots.size() > 1)
    return fail(Errc::usage, "there is a flow " + printable(text(*flow), 200) +
                                 " on several roots; name one with --root: " +
                                 printable(join(roots, ", "), 4096));
  return place;
}

}  // namespace baton
