// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fakes of all ports. They hold state and record; the test moves time, ends agents and writes files
// itself. The world survives the engine: when a daemon is killed, its Engine object is dropped and
// a new one is made on the same fakes.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ports.h"

namespace baton::testing {

/// Thrown out of a port call when the daemon is killed there. Nothing but a harness catches it.
struct DaemonKilled {};

/// Counts the moments at which a daemon can be killed: each port call has one before its effect and
/// one behind it.
class Fuse {
 public:
  void moment() {
    if (++moments_ == blows_at_)
      throw DaemonKilled{};
  }
  /// Kills at the `n`th moment from now.
  void light(std::uint64_t n) { blows_at_ = moments_ + n; }
  void cut() { blows_at_ = 0; }
  bool lit() const { return blows_at_ > moments_; }
  std::uint64_t moments() const { return moments_; }

 private:
  std::uint64_t moments_ = 0;
  std::uint64_t blows_at_ = 0;
};

/// Providers in memory. They survive a crash of the daemon, as the file does.
class FakeProviders : public Providers {
 public:
  explicit FakeProviders(Fuse& fuse) : fuse_(fuse) {}
  Result<std::vector<Parked>> parked() override;
  Result<void> park(const Parked& row) override;
  Result<void> release(const Parked& row) override;

  std::vector<Parked> rows;
  std::optional<Errc> fails;  ///< each call fails so
  std::optional<Errc> shut;   ///< rows can be read and not written
  void daemon_killed();

  // Mutants.
  bool in_memory = false;     ///< what is parked is lost in a crash
  bool sees_nothing = false;  ///< nothing is parked
  bool hides_errors = false;  ///< what cannot be read is taken for nothing
  bool forgets_run = false;   ///< a row does not name the run that met it

 private:
  Result<void> write(const Parked& row, bool is_parked);
  Fuse& fuse_;
  std::vector<Parked> unsaved_;
};

/// The runs that caps count, in memory. They survive a crash of the daemon, as the file does.
class FakeSpending : public Spending {
 public:
  Result<const Counted*> counted(Time /*now*/) override {
    if (locked)
      return fail(Errc::busy, "the file is locked");
    return &rows;
  }
  Result<void> begin(const std::vector<CountedRun>& runs) override {
    if (locked || unwritable)
      return fail(Errc::busy, "the file is locked");
    for (const CountedRun& run : runs)
      put(run, true);
    return {};
  }
  void end(const CountedRun& run) override { put(run, false); }
  void drop(const RunId& run) override {
    std::erase_if(rows.runs, [&](const CountedRun& row) { return row.id == run; });
    ++rows.version;
  }
  void flush() override {}
  Result<std::vector<CountedRun>> open_runs() override {
    if (locked)
      return fail(Errc::busy, "the file is locked");
    std::vector<CountedRun> open;
    for (const CountedRun& run : rows.runs)
      if (!run.ended && run.root == rows.root)
        open.push_back(run);
    return open;
  }
  std::uint64_t file() override { return file_; }
  /// Somebody removes the file.
  void lose() {
    rows.runs.clear();
    rows.raises.clear();
    ++rows.version;
    ++file_;
  }
  void raise(CapRaise raise) {
    rows.raises.push_back(std::move(raise));
    ++rows.version;
  }
  Counted rows;
  bool locked = false;      ///< nothing can be read or written
  bool unwritable = false;  ///< nothing new can be written

 private:
  std::uint64_t file_ = 1;
  void put(const CountedRun& run, bool make) {
    ++rows.version;
    for (CountedRun& row : rows.runs)
      if (row.id == run.id) {
        row.ended = run.ended;
        row.cost_usd = run.cost_usd;
        row.tokens = run.tokens;
        return;
      }
    if (make) {
      rows.runs.push_back(run);
      rows.runs.back().root = rows.root;
    }
  }
};

/// Every zone is UTC.
class UtcZones : public TimeZones {
 public:
  std::optional<Time> moment(const std::string& /*zone*/, LocalTime local) const override {
    return Time(local.time_since_epoch());
  }
  std::optional<LocalTime> local(const std::string& /*zone*/, Time moment) const override {
    return LocalTime(moment.time_since_epoch());
  }
};

class FakeClock : public Clock {
 public:
  Time now() override { return at; }
  Time wall() override { return at; }
  void advance(Millis by) { at += by; }
  Time at{Millis(1'769'076'000'000)};  // 2026-01-22T10:00:00Z
};

/// One thing that reached the world outside, as scenarios expect it.
struct Did {
  enum class What { start, stop, write } what = What::start;
  RunId run;         ///< start, stop
  std::string path;  ///< write
};
using Deeds = std::vector<Did>;

class FakeDisk : public Disk {
 public:
  FakeDisk(Fuse& fuse, Deeds& deeds) : fuse_(fuse), deeds_(deeds) {}

  // --- what writers outside do; each leaves an event in `changes` ---
  void write(const std::string& path, std::string bytes);
  void remove(const std::string& path);
  /// Somebody renames the file, or gives it a second name. False: it is not there.
  bool rename(const std::string& from, const std::string& to);
  bool link(const std::string& from, const std::string& to);
  const std::string* file(const std::string& path) const;
  /// The version that baton has replaced last, or an older one (0: the last), as it is by now;
  /// nullptr when baton keeps it no more.
  const std::string* former(const std::string& path, std::int64_t older);
  /// Somebody writes through a descriptor of that version, and closes it at that time. False: baton
  /// keeps none any more, and nobody will ever see what he wrote.
  bool write_late(const std::string& path, std::string bytes, Time closes, std::int64_t older);
  /// The daemon has ended; what it kept lies there.
  void daemon_killed();
  const std::map<std::string, std::string>& files() const { return files_; }
  /// Whether the file was ever like that.
  bool stood(const std::string& path, const Digest& digest) const {
    return stood_.contains({path, digest});
  }

  std::vector<std::string> changes;        ///< paths with an event that was not yet delivered
  std::set<std::string> complete;          ///< of them, those that a rename has made
  std::set<std::string> by_git;            ///< files that git put in place; each write ends that
  bool index_locked = false;               ///< git is at work
  std::map<std::string, Time> changed_at;  ///< by the wall clock; of files without it long ago
  /// Somebody writes this right before baton writes the path: it must not be lost.
  std::map<std::string, std::string> racing;
  std::map<std::string, Errc> unreadable;  ///< reads of these paths fail
  std::map<std::string, Errc> unwritable;  ///< writes to these paths, or below them, are refused
  std::optional<Errc> list_fails;          ///< the next list fails
  bool full = false;
  bool away = false;          ///< the root itself
  bool away_is_gone = false;  ///< mutant: then its files are not there
  bool blind = false;         ///< mutant: scans see nothing, so only events count
  /// Told of each version that a write of baton's replaces.
  std::function<void(const std::string& path, const std::string& bytes)> replacing;

  Result<FileBytes> read(const std::string& path, std::size_t max_bytes) override;
  Result<FileBytes> read_end(const std::string& path, std::size_t max_bytes) override {
    return read(path, max_bytes);
  }
  Result<FileBytes> read_outside(const std::string& folder, const std::string& path,
                                 std::size_t max_bytes) override {
    return read(folder + "/" + path, max_bytes);
  }
  VersionSource source(const std::string& path, const Digest& digest, bool may_wait) override;
  Result<FileBytes> read_from(const std::string& path, std::uint64_t first,
                              std::size_t max_bytes) override;
  Result<std::vector<FileEntry>> list(const std::string& folder, unsigned depth) override;
  Result<void> replace(const std::string& path, const Digest& assumes,
                       std::string_view bytes) override;
  Result<void> append(const std::string& path, std::uint64_t assumes_bytes, std::string_view bytes,
                      std::uint64_t rotate_above) override;
  Result<void> create(const std::string& path, std::string_view bytes) override;
  Result<void> make_last(const std::string& path, std::string_view bytes) override;
  Result<void> move(const std::string& from, const Digest& assumes, const std::string& to) override;
  bool hold(const std::set<std::string>& paths) override {
    held = paths;
    return true;
  }
  bool keeps_old(Time now) override;
  std::vector<LateWrite> late_writes(Time now) override;
  void late_noted(const LateWrite& write) override;
  std::set<std::string> held;  ///< locked at present

 private:
  /// A version that was replaced and may still be written to.
  struct Kept {
    std::string path;
    std::string name;
    std::string bytes;
    Digest was;  ///< when it was replaced
    std::optional<Time> since;
    std::optional<Time> open_until;  ///< somebody has written
    bool notified = false;
    bool adopted = true;  ///< the present daemon knows of it
  };
  /// Why a path, or a folder it lies in, cannot be had.
  std::optional<Errc> shut(const std::map<std::string, Errc>& closed,
                           const std::string& path) const;
  Kept* kept(const std::string& path, std::int64_t older);
  void race(const std::string& path);
  void put(const std::string& path, std::string bytes);
  Fuse& fuse_;
  Deeds& deeds_;
  std::map<std::string, std::string> files_;
  std::set<std::pair<std::string, Digest>> stood_;
  std::map<std::string, Stamp> stamps_;
  std::map<std::string, FileIdentity> identities_;
  std::vector<Kept> kept_;
  std::size_t kept_ever_ = 0;
  Stamp stamp_ = 0;
  FileIdentity identity_ = 0;
};

/// The journal: what was committed and nothing else.
class FakeJournal : public Journal {
 public:
  explicit FakeJournal(Fuse& fuse) : fuse_(fuse) {}

  struct Tables {
    Arrival arrival = 0;
    std::uint64_t intent = 0;
    std::map<std::string, std::pair<AcceptedRow, std::string>> accepted;
    std::set<std::pair<std::string, Digest>> versions;
    std::map<std::string, RejectedRow> rejected;
    std::map<std::pair<FlowId, Subject>, StageRow> stages;
    std::map<FlowId, Json> memos;
    std::map<FlowId, Json> notified;
    std::map<FlowId, FlowOrigin> origins;
    std::map<FlowId, FlowLogs> logs;
    std::vector<Run> runs;  ///< in order of their starts
    std::map<std::uint64_t, Intent> intents;
    std::map<FlowId, ControlRow> controls;
    std::map<std::string, Request> requests;
    std::map<std::string, Reply> replies;
    std::vector<Event> events;
    std::vector<std::pair<std::string, std::string>> replaced;
  };
  Tables tables;
  std::optional<Errc> fails;  ///< every commit fails so
  std::uint64_t commits = 0;
  /// Broken promises of the engine: an attempt started twice, an arrival given out twice.
  std::vector<std::string> faults;
  std::function<void(const Commit&)> before_commit;  ///< mutant: write before journal
  std::function<void(const Commit&)> after_commit;
  std::function<void(const Run&)> forgiven;  ///< called for each run whose attempt is free again

  /// Mutant: after a restart it tells runs with somebody else's process number.
  bool mixes_up = false;
  /// Mutant: commits are only in memory until `sync`; a power cut loses the rest.
  bool no_sync = false;
  void sync() { synced_ = tables; }
  void power_cut();

  Result<Ledger> load(Time now) override;
  /// The same, for tests that look on.
  Ledger ledger(Time now) const;
  Result<Arrival> commit(const Commit& commit) override;
  Result<std::string> bytes(const std::string& path) override;
  Result<bool> was_accepted(const std::string& path, const Digest& digest) override {
    fuse_.moment();
    return tables.versions.contains({path, digest});
  }
  Result<std::optional<Run>> run(const RunId& id) override {
    for (const Run& run : tables.runs)
      if (run.id == id)
        return std::optional(run);
    return std::optional<Run>();
  }
  Result<std::vector<Run>> runs_since(Time since) override {
    std::vector<Run> found;
    for (const Run& run : tables.runs)
      if (run.live() || run.started >= since || run.ended >= since)
        found.push_back(run);
    return found;
  }

 private:
  void forget(const FlowId& flow);
  void enter(const Run& run);
  void enter_files(const Commit& commit);
  void enter_flows(const Commit& commit);
  void enter_intents(const Commit& commit);
  Fuse& fuse_;
  std::optional<Tables> synced_;
};

/// Agents below shims that outlive the daemon:
///
///   parked     prepared; leaves when the daemon dies            release -> going, discard -> gone
///   going      released, not yet claimed                        claim -> running
///   running    claimed; the agent is at work                    finish -> ended, kill_shim ->
///   ended ended      left an exit record, or none when it was killed
class FakeAgents : public Agents {
 public:
  FakeAgents(Fuse& fuse, Deeds& deeds, FakeClock& clock)
      : fuse_(fuse), deeds_(deeds), clock_(clock) {}

  enum class State { parked, going, running, ended };
  struct Shim {
    RunId id;
    Launch launch;
    std::int64_t pid = 0;
    std::uint64_t start_ticks = 0;
    std::string boot_id;
    State state = State::parked;
    bool claim = false;
    bool lock = true;
    bool stopping = false;
    bool watched = true;  ///< the present daemon hears of its end
    Time claims_at{};
    Time began{};
    std::optional<RunEnd> exit;
  };
  std::map<RunId, Shim> shims;
  std::vector<RunId> order;   ///< of preparation
  std::vector<RunEnd> ended;  ///< ends that were not yet delivered to the daemon
  std::string boot_id = "boot-1";
  std::optional<Errc> prepare_fails;
  std::optional<Errc> stop_fails;  ///< no signal is sent
  bool stops_hang = false;         ///< it is sent, and no end is recorded
  Millis claim_delay{0};
  std::vector<std::string> faults;  ///< broken promises: double starts, wrong signals
  std::function<void(const Launch&)> releasing;

  // Mutants.
  bool release_early = false;  ///< prepare lets the agent go at once
  bool no_claim = false;       ///< the shim leaves no claim
  bool no_lock = false;        ///< nobody can see that a shim lives
  bool deaf = false;           ///< no shim hears that its agent is to end

  Shim* live(const Role& role, const Subject& subject);
  std::vector<Shim*> in(State state);
  /// Released shims whose time has come make their claim.
  void tick();
  void finish(const RunId& run, RunEnd end);
  /// The shim is killed, and with it (by the sweeper) its agent; no exit record.
  void kill_shim(const RunId& run);
  void daemon_killed();
  void power_cut();

  Result<Prepared> prepare(const Launch& launch) override;
  Result<void> release(const RunId& run) override;
  void discard(const RunId& run) override;
  void revoke(const RunId& run) override;
  Result<void> stop(const Run& run) override;
  Found recover(const Run& run) override;
  std::string boot() const override { return boot_id; }
  std::optional<Time> last_output(const Run& run) override;

  /// The number of a forgiven attempt is free again.
  void forgive(const Run& run) { begun_[run.key.flow].erase({run.key, run.attempt}); }
  /// A flow was forgotten: its keys begin anew.
  void forget(const FlowId& flow);

 private:
  void go(Shim& shim);
  void begin(Shim& shim);
  Fuse& fuse_;
  Deeds& deeds_;
  FakeClock& clock_;
  std::uint64_t made_ = 0;
  std::map<FlowId, std::set<std::pair<Key, std::uint32_t>>> begun_;
  std::set<RunId> removed_;  ///< runs whose directory is gone
};

class FakeRequests : public Requests {
 public:
  explicit FakeRequests(Fuse& fuse) : fuse_(fuse) {}
  void add(Request request);
  std::vector<Request> waiting;
  std::vector<std::string> damage;  ///< reported by the next call of pending
  std::vector<Reply> answers;       ///< in order, the first of each request
  std::vector<std::string> faults;  ///< two different answers to one request
  bool changed = false;             ///< there is something new
  bool no_space = false;            ///< for the room that is kept for them

  std::vector<Request> pending(std::vector<std::string>& damaged) override;
  void answer(const Reply& reply) override;
  bool keep_room() override { return !no_space; }

 private:
  Fuse& fuse_;
  std::map<std::string, Reply> answered_;
};

class FakeObserver : public Observer {
 public:
  std::vector<Event> events;
  std::vector<Millis> took;  ///< of `acted`
  void happened(const Event& event) override { events.push_back(event); }
  void acted(Millis its) override { took.push_back(its); }
};

}  // namespace baton::testing
