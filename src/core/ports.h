// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the engine needs from the outside world: files, agents, journal, requests, clock. These
// ports are the only virtual classes here.
// The real ones are in src/io, fakes of all of them in tests/fakes.h. No call may block for long,
// because the engine has one thread.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "core/caps.h"
#include "core/dialect.h"
#include "core/event.h"
#include "core/flow.h"
#include "core/flow_logs.h"
#include "core/flow_origin.h"
#include "core/provider_limits.h"
#include "core/run.h"

namespace baton {

/// Tells versions of a file apart without reading it: times, inode and size combined into one
/// number. 0: unknown, because the file changed within the resolution of its time stamps.
using Stamp = std::uint64_t;

struct FileBytes {
  std::string bytes;
  Digest digest;
  Stamp stamp = 0;
  FileIdentity identity = 0;
  Time
      changed{};  ///< wall clock: when bytes, name or mode changed last; 1970: long ago, or unknown
  std::uint64_t size_bytes = 0;  ///< of the whole file
};

struct FileEntry {
  std::string path;
  Stamp stamp = 0;
  bool folder = false;
  /// Why the folder was not listed: it is unreadable, or a link to a folder. Else empty.
  std::string closed;
};

/// Who put a version of a file in place.
enum class VersionSource {
  other,
  by_git,     ///< git: its index names this file with exactly these bytes
  under_way,  ///< git is at work; ask again
};

/// A late write: another process wrote to a file that it had opened before baton replaced it. The
/// path has baton's version or a newer one, so `bytes` would be lost without this report.
struct LateWrite {
  std::string path;
  std::string bytes;
  Digest into;       ///< the version that baton replaced
  std::string kept;  ///< identifies it for `late_noted`
};

/// The files below one root.
/// If the root is missing, or is an empty folder like a mount point without its volume, every call
/// fails with Errc::away.
/// Paths are relative to the root, with `/`, without `.` and `..`. A path that leads outside,
/// through a link, to another mount or to anything but a regular file fails with Errc::not_regular
/// and touches nothing. No call blocks on a FIFO or a device.
class Disk {
 public:
  virtual ~Disk() = default;

  /// Reads the whole file. Errc::not_found, not_regular, too_large (more than `max_bytes`), denied,
  /// io.
  virtual Result<FileBytes> read(const std::string& path, std::size_t max_bytes) = 0;

  /// Reads at most `max_bytes` from the end of a file, beginning with a whole line. The digest is
  /// that of these bytes. Errors as for `read`, except too_large.
  virtual Result<FileBytes> read_end(const std::string& path, std::size_t max_bytes) = 0;

  /// Who put the present version of a file in place. `digest`: of the version that is meant; of any
  /// other version, or if that cannot be found out, `other`. Without `may_wait` never `under_way`:
  /// then what git has noted so far counts.
  virtual VersionSource source(const std::string& path, const Digest& digest, bool may_wait) = 0;

  /// Reads up to `max_bytes` from `first` on; fewer at the end of the file. The digest is that of
  /// these bytes. Errors as for `read`, except too_large.
  virtual Result<FileBytes> read_from(const std::string& path, std::uint64_t first,
                                      std::size_t max_bytes) = 0;

  /// Reads a file below another folder than the root, which the configuration has to name. Errors
  /// as for `read`.
  virtual Result<FileBytes> read_outside(const std::string& folder, const std::string& path,
                                         std::size_t max_bytes) = 0;

  /// Lists all names below `folder` ("" is the root), `depth` levels of folders deep (0: the folder
  /// itself), in no order. A folder that does not exist is empty. Errc::busy, away: try again;
  /// not_regular, denied, io: concerns this folder only.
  virtual Result<std::vector<FileEntry>> list(const std::string& folder, unsigned depth) = 0;

  /// Replaces a file atomically and durably; mode, owner and group stay. Errc::changed if the file
  /// no longer has the digest `assumes`: then the file is unchanged, and nothing that another
  /// process wrote is lost.
  virtual Result<void> replace(const std::string& path, const Digest& assumes,
                               std::string_view bytes) = 0;

  /// Appends durably in one write. Errc::changed if the size of the file is not `assumes_bytes`.
  /// With kAtEnd the size may be anything; a missing file and its folders are created, and a last
  /// line without a line feed gets one first. With kAtEnd a file that would have more than
  /// `rotate_above` bytes is renamed to `path.1` first (0: never), in place of an older one.
  virtual Result<void> append(const std::string& path, std::uint64_t assumes_bytes,
                              std::string_view bytes, std::uint64_t rotate_above) = 0;

  /// Creates a file atomically and durably, and missing folders. Errc::changed if it exists.
  virtual Result<void> create(const std::string& path, std::string_view bytes) = 0;

  /// Syncs a file that already has exactly these bytes, for example written by a daemon that was
  /// killed before it could sync. Errc::changed if it has other bytes or is missing.
  virtual Result<void> make_last(const std::string& path, std::string_view bytes) = 0;

  /// Errc::changed if `from` does not have the digest `assumes`, denied if `to` exists. If
  /// `assumes` is all zero, any version is moved, and a missing file is no error.
  virtual Result<void> move(const std::string& from, const Digest& assumes,
                            const std::string& to) = 0;

  /// Locks exactly these files (flock) as far as they exist, and unlocks all others. `replace`
  /// works on files locked this way. False: another process holds a lock on one of them.
  virtual bool hold(const std::set<std::string>& paths) = 0;

  /// Whether there are displaced files: old versions of replaced files that other processes may
  /// still have open for writing. If so, call `late_writes` in a second, until there are none left.
  /// `list` finds displaced files of former daemons.
  virtual bool keeps_old(Time now) = 0;
  /// Late writes into displaced files that are older than a second, each reported once. Unchanged
  /// displaced files are removed at that age if no process has them open, else after a minute.
  virtual std::vector<LateWrite> late_writes(Time now) = 0;
  /// The late write is in the journal. The port may remove the displaced file.
  virtual void late_noted(const LateWrite& write) = 0;
};

/// What to start.
struct Launch {
  Key key;
  Role agent;  ///< see Start::agent
  std::uint32_t attempt = 1;
  std::vector<std::string> argv;  ///< argv[0] is absolute and was checked
  std::vector<std::pair<std::string, std::string>>
      env;          ///< complete except BATON_RUN_ID, _RUN_DIR, _PROMPT_FILE
  std::string cwd;  ///< absolute
  /// A command that runs before the agent, in `before_cwd` (absolute) with the same environment. If
  /// the command fails, the attempt fails. Empty: none. argv[0] as above.
  std::vector<std::string> before;
  std::string before_cwd;
  Millis before_timeout{0};
  std::string prompt;           ///< stored as `prompt` in the run directory
  bool begins_session = false;  ///< the program's session gets the UUID of the run as its id
  std::string session;          ///< of the run before, which this run continues; may be empty
  bool prompt_on_stdin = true;  ///< else, and if the prompt is empty, stdin is /dev/null
  RunLimits limits;
  std::optional<ProgramUser> user;     ///< nothing: the user of the daemon
  std::uint64_t memory_max_bytes = 0;  ///< of the whole run, see AgentConfig; 0: no limit
  std::uint32_t tasks_max = 0;
  /// Absolute paths of the flow's own files and folders. A change there, or in `cwd`, shows that a
  /// silent agent works.
  std::vector<std::string> flow_paths;
  /// Absolute path of a file that also gets stdout and stderr of the agent, in order. An existing
  /// file is replaced. If it cannot be written, the agent runs without it. Empty: none.
  std::string log;
  // In argv and `before` a value is filled in once: `$${` stands for `${`, and
  // `${run_id}`, `${run_uuid}`, `${run_dir}` and `${prompt_file}` in argv and `before` are replaced
  // by `prepare`.
};

struct Prepared {
  RunId id;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot_id;
  std::string directory;
};

/// What recovery found out about a run that has no outcome yet.
struct Found {
  /// true: the run is alive or about to end, and the port reports its end later. false: the run has
  /// ended, see `end`.
  bool adopted = false;
  RunEnd end;
};

/// Starts, adopts and stops agents. Ends are reported as RunEnded inputs in the engine's queue (see
/// io/agents/agents.h). After a restart they are reported again until they are committed.
class Agents {
 public:
  virtual ~Agents() = default;

  /// Makes run id, run directory and a shim that waits. Nothing runs yet, and nothing will if this
  /// process dies now. Errc::no_space, io, busy (no processes, descriptors or memory: try later).
  virtual Result<Prepared> prepare(const Launch& launch) = 0;
  /// Lets a prepared run start. Call it only after the start is committed.
  virtual Result<void> release(const RunId& run) = 0;
  /// Drops a prepared run that is not in the journal, and removes its run directory. Nothing ran.
  virtual void discard(const RunId& run) = 0;
  /// Drops a prepared run that is, or may be, in the journal. The run directory stays: if the
  /// daemon dies before it records the end, the directory proves that nothing ran.
  virtual void revoke(const RunId& run) = 0;
  /// Ends the whole process tree of a run: TERM, grace period, KILL. Returns at once; the end is
  /// reported later. Repeated calls are harmless. If the identity of the process is in doubt, no
  /// signal is sent: Errc::io.
  virtual Result<void> stop(const Run& run) = 0;
  /// Looks at a run without outcome after a restart.
  virtual Found recover(const Run& run) = 0;
  /// Id of the current boot of the operating system; empty if unknown.
  virtual std::string boot() const = 0;
  /// Time of the last output of a live run; nothing if unknown.
  virtual std::optional<Time> last_output(const Run& run) = 0;
};

/// A write that is in the journal before it is performed. After a crash it is repeated only if the
/// file still is the assumed version.
struct Intent {
  std::uint64_t id = 0;  ///< set by the engine, unique per root
  /// restore: replaces a file with its last accepted version; backup: creates a file whose bytes go
  /// through a program first
  enum class Kind { replace, restore, append, create, move, backup } kind = Kind::replace;
  std::string path;
  Digest assumes;                   ///< replace, restore, move
  std::uint64_t assumes_bytes = 0;  ///< append
  std::string bytes;                ///< the whole new file, or the appended bytes
  Digest after;                     ///< digest of the file afterwards (not for append)
  std::string to;                   ///< move
  FlowId flow;
  std::string why;
  bool vital = true;               ///< false: starts do not wait for it. Not journalled
  std::uint64_t rotate_above = 0;  ///< append: see Disk::append. Not journalled
  bool operator==(const Intent&) const = default;
};

struct AcceptedRow {
  std::string path;
  FlowId flow;
  std::string kind;
  std::string part;
  Digest digest;
  Arrival arrival = 0;
  RunId writer;
  bool present = true;
  std::uint64_t size_bytes = 0;  ///< of the accepted version
  bool operator==(const AcceptedRow&) const = default;
};

/// A rejected version, remembered so that it is reported once and can be explained later.
struct RejectedRow {
  std::string path;
  FlowId flow;
  Digest digest;
  std::string findings;  ///< a JSON array, as `baton validate --json` prints it
  Time time{};
  bool operator==(const RejectedRow&) const = default;
};

/// Control of a flow by commands (pause, resume, stop, start).
struct ControlRow {
  FlowId flow;  ///< empty name and dialect: the whole root
  Control control = Control::run;
  Word reason;
  std::string why;
  Time since{};
  Time resumed_at{};     ///< starts and cost before this time do not count for the hourly limits
  bool started = false;  ///< begun or taken over by `start` or `resume`
  bool operator==(const ControlRow&) const = default;
};

struct StageRow {
  FlowId flow;
  Subject subject;
  StageState state;
  /// How often each stage was entered so far, for `max_entries`.
  std::map<Word, std::uint64_t> entries;
  bool operator==(const StageRow&) const = default;
};

/// One transaction. Empty members change nothing. Rows replace rows with the same key.
struct Commit {
  Arrival arrival = 0;                                        ///< the last number used
  std::vector<std::pair<AcceptedRow, std::string>> accepted;  ///< with the bytes
  std::vector<std::string> moved_away;                        ///< paths no longer accepted
  std::vector<RejectedRow> rejected;
  std::vector<std::string> no_longer_rejected;  ///< paths
  std::vector<std::pair<std::string, std::string>>
      replaced;  ///< path and bytes that a merge or restore overwrote
  std::vector<StageRow> stages;
  std::vector<std::pair<FlowId, Json>> memos;
  std::vector<std::pair<FlowId, Json>> notified;  ///< notifications sent and still true; null: none
  std::vector<std::pair<FlowId, FlowOrigin>> origins;
  std::vector<std::pair<FlowId, FlowLogs>> logs;
  std::vector<Run> runs;
  std::vector<Intent> intents;
  std::vector<std::uint64_t> intents_done;
  std::vector<ControlRow> controls;
  std::vector<Request> requests;  ///< accepted requests; their ids are remembered
  std::vector<Reply> replies;
  std::vector<Event> events;      ///< seq is set by the journal
  std::vector<FlowId> forgotten;  ///< everything about these flows is dropped
  bool empty() const;
};

/// What the engine loads at start: everything except document bytes and old history.
struct Ledger {
  Arrival arrival = 0;       ///< the last number used
  std::uint64_t intent = 0;  ///< the last id used
  std::vector<AcceptedRow> accepted;
  std::vector<RejectedRow> rejected;
  std::vector<StageRow> stages;
  std::vector<std::pair<FlowId, Json>> memos;
  std::vector<std::pair<FlowId, Json>> notified;
  std::vector<std::pair<FlowId, FlowOrigin>> origins;
  std::vector<std::pair<FlowId, FlowLogs>> logs;
  std::vector<FlowId> notified_lost;  ///< flows whose sent notifications cannot be read
  /// Live runs, runs of present generations, runs of the last hour, in the order of their starts.
  std::vector<Run> runs;
  std::vector<Intent> intents;  ///< not done
  std::vector<ControlRow> controls;
  std::vector<std::pair<std::string, Reply>>
      replies;  ///< answered requests whose files may still exist
};

/// The memory of one root. The engine makes one transaction per step, which is durable when
/// `commit` returns.
/// Of how many different accepted versions of a path the journal keeps the digests.
inline constexpr std::size_t kVersionsKept = 1000;

class Journal {
 public:
  virtual ~Journal() = default;
  /// `now` decides which runs are of the last hour. Runs that lie in the future count as well.
  virtual Result<Ledger> load(Time now) = 0;
  /// Errc::no_space: nothing was written; try again when there is space. Errc::io: the state is
  /// unknown; the daemon has to end (exit 3) and read again. Returns the seq of the last event (0:
  /// no event). The events of one commit have consecutive numbers.
  virtual Result<Arrival> commit(const Commit& commit) = 0;
  /// The accepted bytes of a path. Errc::not_found.
  virtual Result<std::string> bytes(const std::string& path) = 0;
  /// Whether the path was accepted with these bytes before, in its last kVersionsKept versions.
  virtual Result<bool> was_accepted(const std::string& path, const Digest& digest) = 0;
  /// A run, however old; nothing if the journal has none with this id.
  virtual Result<std::optional<Run>> run(const RunId& id) = 0;
  /// The runs that have not ended, and those that began or ended since then.
  virtual Result<std::vector<Run>> runs_since(Time since) = 0;
};

/// Requests of the control commands: files in the state folder.
class Requests {
 public:
  virtual ~Requests() = default;
  /// Requests without an answer, oldest first. A file that is not a request is removed and named in
  /// `damaged`.
  virtual std::vector<Request> pending(std::vector<std::string>& damaged) = 0;
  /// Publishes the answer for the waiting command and removes the request.
  virtual void answer(const Reply& reply) = 0;
  /// Reserves disk space for requests, in case the disk gets full. False: there is not enough
  /// space, and requests need what is left.
  virtual bool keep_room() = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  /// Unix time at the daemon's start plus the time since then by the boot-time clock. Never jumps.
  virtual Time now() = 0;
  /// The wall clock, for time stamps that people read.
  virtual Time wall() = 0;
};

/// The providers that are parked, for all roots of this machine's user (core/provider_limits.h).
class Providers {
 public:
  virtual ~Providers() = default;
  /// All rows. An error: nothing may start, because a limit may be unknown. Errc::busy: another
  /// process locks them.
  virtual Result<std::vector<Parked>> parked() = 0;
  /// Adds or replaces the row of this provider, account, model and kind (`login`). Without an error
  /// it survives a crash from now on.
  virtual Result<void> park(const Parked& row) = 0;
  /// Removes the row of the same provider, account, model and kind.
  virtual Result<void> release(const Parked& row) = 0;
};

/// The runs that the caps count, for all roots of this machine's user (core/caps.h). Every call may
/// be repeated without effect.
class Spending {
 public:
  virtual ~Spending() = default;
  /// All rows, after those have been kept that could not be kept before. It stays valid until the
  /// next call of this object. An error: nothing may start, because a cap may be reached.
  virtual Result<const Counted*> counted(Time now) = 0;
  /// Adds rows of this root; they are durable when it returns. Call it before the runs are in the
  /// journal. After an error none is there.
  virtual Result<void> begin(const std::vector<CountedRun>& runs) = 0;
  /// Enters end, cost and tokens into a row; `flush` writes it. Does nothing for a row that is not
  /// there.
  virtual void end(const CountedRun& run) = 0;
  /// Removes a row: the run never ran. `flush` writes it.
  virtual void drop(const RunId& run) = 0;
  /// Makes ends and removals durable. What cannot be written now is written by a later call.
  virtual void flush() = 0;
  /// The rows of this root that have no end, after those have been kept that could not be kept
  /// before.
  virtual Result<std::vector<CountedRun>> open_runs() = 0;
  /// Differs when the file has gone or another one has its place: rows of this root may be missing.
  virtual std::uint64_t file() = 0;
};

/// What clocks on the wall show.
using LocalTime = std::chrono::local_time<Millis>;

/// The rules of time zones. An empty name means the zone of this machine.
class TimeZones {
 public:
  virtual ~TimeZones() = default;
  /// The moment at which clocks of the zone show `local`. If clocks skip that time, the next valid
  /// minute. If they show it twice, the later moment. Nothing: the zone is unknown.
  virtual std::optional<Time> moment(const std::string& zone, LocalTime local) const = 0;
  /// What clocks of the zone show at a moment. Nothing: the zone is unknown.
  virtual std::optional<LocalTime> local(const std::string& zone, Time moment) const = 0;
};

/// Gets every event after its commit, for the log and `notify:`. Also gets events that are not in
/// the journal, such as `disk_full` and `not_written`.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void happened(const Event& /*event*/) {}  ///< default: ignored
  /// A changed version of a file was accepted, and all that follows from it is done: it is
  /// committed, written, and its agents are released. `took`: since the file was queued.
  virtual void acted(Millis /*took*/) {}
};

}  // namespace baton
