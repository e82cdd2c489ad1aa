#pragma once

// The only virtual classes. Fakes of all of them stand in tests/fakes.h.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
#include "core/dialect.h"
#include "core/event.h"
#include "core/flow.h"
#include "core/run.h"

namespace baton {

/// Tells versions of one file apart without reading it (times, inode and size folded into one
/// number). 0: cannot be relied on, because the file was changed within the resolution of its time
/// stamps.
using Stamp = std::uint64_t;

struct FileBytes {
  std::string bytes;
  Digest digest;
  Stamp stamp = 0;
};

struct FileEntry {
  std::string path;
  Stamp stamp = 0;
  bool folder = false;
  /// Why nothing in it is listed; not empty of a folder that cannot be, and of a link to one.
  std::string closed;
};

/// A version of a file that somebody wrote through an old descriptor after it had been exchanged
/// for one of ours. The path holds our version, or one behind it; `bytes` is what would be lost.
struct LateWrite {
  std::string path;
  std::string bytes;
  Digest into;       ///< what was replaced, as it was then
  std::string kept;  ///< tells it from all others, for `late_noted`
};

/// The files below one root. While the root itself is away, or an empty folder stands in its place,
/// as a mount point without its volume is, everything is Errc::away: nobody knows what is in it.
/// All paths are relative to it, with `/`, without `.` and `..`; a path that leads outside, over a
/// link, to another mount or to anything but a regular file is Errc::not_regular and touches
/// nothing. No call blocks on a FIFO or a device.
class Disk {
 public:
  virtual ~Disk() = default;

  /// The whole file. Errc::not_found, not_regular, too_large (more than `max_bytes`; nothing was
  /// read), denied, io.
  virtual Result<FileBytes> read(const std::string& path, std::size_t max_bytes) = 0;

  /// The end of a file, at most `max_bytes` of it and from the beginning of a line on; the digest
  /// is that of these bytes. Errors as of `read`, but too_large.
  virtual Result<FileBytes> read_end(const std::string& path, std::size_t max_bytes) = 0;

  /// All names below `folder` ("" is the root itself), `depth` levels of folders deep (0: its own
  /// only), regular or not, folders too, marked as such; in no order. One that does not exist is
  /// empty. Errc::busy, away: ask again; not_regular, denied, io: this folder's alone.
  virtual Result<std::vector<FileEntry>> list(const std::string& folder, unsigned depth) = 0;

  /// Replaces a file as a whole, atomically and durably; mode, owner and group stay. Errc::changed
  /// when its bytes are not `assumes` any more: then it is as it was, and nothing of a concurrent
  /// writer is lost.
  virtual Result<void> replace(const std::string& path, const Digest& assumes,
                               std::string_view bytes) = 0;

  /// Appends durably in one write. Errc::changed when the file's size is not `assumes_bytes`
  /// (kAtEnd: whatever it is; a file that is not there is created, with its folders, and a last
  /// line that nobody ended is ended first).
  virtual Result<void> append(const std::string& path, std::uint64_t assumes_bytes,
                              std::string_view bytes) = 0;

  /// Creates a file as a whole, atomically and durably, and missing folders. Errc::changed when it
  /// exists.
  virtual Result<void> create(const std::string& path, std::string_view bytes) = 0;

  /// Makes a file last that holds just these bytes: somebody has written the very same, or a daemon
  /// that was killed then, or could not sync it. Errc::changed when it holds others, or is gone.
  virtual Result<void> make_last(const std::string& path, std::string_view bytes) = 0;

  /// Errc::changed when `from` is not `assumes`, denied when `to` exists. `assumes` all zero:
  /// whatever stands there is moved, and nothing is done where nothing does.
  virtual Result<void> move(const std::string& from, const Digest& assumes,
                            const std::string& to) = 0;

  /// Keeps exactly these files locked, as far as they are there; all others are let go. Whoever
  /// asks for a lock of them without waiting is told that it is taken. `replace` goes by such a
  /// lock. False: somebody else has one of them locked.
  virtual bool hold(const std::set<std::string>& paths) = 0;

  /// Whether former versions of exchanged files are kept, into which somebody may still write:
  /// `late_writes` is to be asked in a second, and again as long as there are any. Those that were
  /// kept since it was asked last are a second old a second from `now`. `list` finds those that
  /// another process has left behind.
  virtual bool keeps_old(Time now) = 0;
  /// What was written late into versions that are kept for more than a second, each once. Others
  /// are removed when they are that old and in nobody's hands, or after a minute.
  virtual std::vector<LateWrite> late_writes(Time now) = 0;
  /// It is in the journal: the former version may go.
  virtual void late_noted(const LateWrite& write) = 0;
};

/// What is to be started.
struct Launch {
  Key key;
  std::uint32_t attempt = 1;
  std::vector<std::string> argv;  ///< argv[0] is an absolute path, already checked
  std::vector<std::pair<std::string, std::string>>
      env;          ///< complete but for BATON_RUN_ID, _RUN_DIR, _PROMPT_FILE
  std::string cwd;  ///< absolute
  /// Run to its end in `before_cwd` (absolute) with the same environment before the agent's program
  /// is entered; if it fails, the attempt does. Empty: none. argv[0] as above.
  std::vector<std::string> before;
  std::string before_cwd;
  Millis before_timeout{0};
  std::string
      prompt;  ///< kept as `prompt` in the run directory; on stdin when not empty, else /dev/null
  RunLimits limits;
  /// Absolute; not empty: both streams of the agent go into this file as well, in the order they
  /// come. What stands there is replaced; when it cannot be had, the agent runs without.
  std::string log;
  /// In argv and before, `${run_id}`, `${run_dir}` and `${prompt_file}` are replaced by prepare.
};

struct Prepared {
  RunId id;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot_id;
  std::string directory;
};

/// What recovery found out about a run without outcome.
struct Found {
  /// adopted: alive, or about to decide; its end will be reported. ended: see `end` (also voided,
  /// unknown, interrupted).
  bool adopted = false;
  RunEnd end;
};

/// Starts, adopts and stops agents. A back-end. Ends are reported by pushing RunEnded inputs to the
/// engine's queue (see io/agents/agents.h for how); they come again after a restart until they are
/// committed.
class Agents {
 public:
  virtual ~Agents() = default;

  /// Makes run id and run directory and a shim that waits. Nothing runs yet; if this process dies
  /// now, nothing ever will. Errc::no_space, io, busy (no processes, descriptors or memory: try
  /// again later).
  virtual Result<Prepared> prepare(const Launch& launch) = 0;
  /// Lets a prepared run go. To be called only after its start is committed.
  virtual Result<void> release(const RunId& run) = 0;
  /// Drops a prepared run that the journal does not know: nothing ran, and the shim leaves. Its
  /// directory is removed.
  virtual void discard(const RunId& run) = 0;
  /// The same for one that the journal knows, or may know. Its directory stays: should the daemon
  /// die before the end is written down, it shows that nothing was claimed.
  virtual void revoke(const RunId& run) = 0;
  /// Ends the whole process tree of a run: TERM, grace, KILL. Returns at once; the end is reported.
  /// Asking again is harmless. Identity in doubt: no signal, Errc::io.
  virtual Result<void> stop(const Run& run) = 0;
  /// For a run without outcome, after a restart.
  virtual Found recover(const Run& run) = 0;
  /// Which start of the operating system this is; empty when unknown.
  virtual std::string boot() const = 0;
  /// Time of the last output of a live run; nothing when unknown.
  virtual std::optional<Time> last_output(const Run& run) = 0;
};

/// A write the journal holds before it is performed. After a crash it is redone only if the file
/// still is what it assumed.
struct Intent {
  std::uint64_t id = 0;  ///< set by the engine, unique per root
  /// restore: a replace with what was accepted last, and has stood there; backup: a create whose
  /// bytes go through a program first
  enum class Kind { replace, restore, append, create, move, backup } kind = Kind::replace;
  std::string path;
  Digest assumes;                   ///< replace, restore, move
  std::uint64_t assumes_bytes = 0;  ///< append
  std::string bytes;                ///< the whole new file, or what is appended
  Digest after;                     ///< digest of the file afterwards (not append)
  std::string to;                   ///< move
  FlowId flow;
  std::string why;
  bool vital = true;  ///< false: starts do not depend on it. Not journalled
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
  bool operator==(const AcceptedRow&) const = default;
};

/// A rejected version, kept so that it is reported once and can be explained later.
struct RejectedRow {
  std::string path;
  FlowId flow;
  Digest digest;
  std::string findings;  ///< JSON array, as `validate` prints them
  Time time{};
  bool operator==(const RejectedRow&) const = default;
};

/// Operator's control of a flow. resumed_at: budgets count from there.
struct ControlRow {
  FlowId flow;  ///< empty name and dialect: the root
  Control control = Control::run;
  Word reason;
  std::string why;
  Time since{};
  Time resumed_at{};
  bool started = false;  ///< taken over or begun by `start` or `resume`
  bool operator==(const ControlRow&) const = default;
};

struct StageRow {
  FlowId flow;
  Subject subject;
  StageState state;
  /// Entries so far into every stage, for `max_entries`.
  std::map<Word, std::uint64_t> entries;
  bool operator==(const StageRow&) const = default;
};

/// One transaction. Members that are empty change nothing. Rows replace those of the same identity.
struct Commit {
  Arrival arrival = 0;  ///< the last one given out, be its document kept or not
  std::vector<std::pair<AcceptedRow, std::string>> accepted;  ///< with the bytes
  std::vector<std::string> moved_away;                        ///< paths no longer accepted
  std::vector<RejectedRow> rejected;
  std::vector<std::string> no_longer_rejected;  ///< paths
  std::vector<std::pair<std::string, std::string>>
      replaced;  ///< path and bytes a merge or restore overwrote
  std::vector<StageRow> stages;
  std::vector<std::pair<FlowId, Json>> memos;
  std::vector<std::pair<FlowId, Json>>
      notified;  ///< what was said and is still true; null: nothing
  std::vector<Run> runs;
  std::vector<Intent> intents;
  std::vector<std::uint64_t> intents_done;
  std::vector<ControlRow> controls;
  std::vector<Request> requests;  ///< taken over; ids are remembered
  std::vector<Reply> replies;
  std::vector<Event> events;      ///< seq is set by the journal
  std::vector<FlowId> forgotten;  ///< everything of these flows is dropped
  bool empty() const;
};

/// What the engine holds in memory: everything but bytes and ended history.
struct Ledger {
  Arrival arrival = 0;       ///< the last one given out
  std::uint64_t intent = 0;  ///< the last id given out
  std::vector<AcceptedRow> accepted;
  std::vector<RejectedRow> rejected;
  std::vector<StageRow> stages;
  std::vector<std::pair<FlowId, Json>> memos;
  std::vector<std::pair<FlowId, Json>> notified;
  std::vector<FlowId> notified_lost;  ///< flows of which it cannot be read what was told
  /// Live ones, those of present generations, those of the last hour; in the order of their starts.
  std::vector<Run> runs;
  std::vector<Intent> intents;  ///< not done
  std::vector<ControlRow> controls;
  std::vector<std::pair<std::string, Reply>>
      replies;  ///< answered requests whose files may still lie there
};

/// The memory of one root. One transaction per step; durable when commit returns.
class Journal {
 public:
  virtual ~Journal() = default;
  /// `now` tells which runs are of the last hour; those of a clock that was ahead are, too.
  virtual Result<Ledger> load(Time now) = 0;
  /// Errc::no_space: nothing was written, try again when there is room. Errc::io: nothing may be
  /// relied on; the daemon has to end (exit 3) and read again. Gives the seq of its last event (0:
  /// it has none); those of one commit follow each other.
  virtual Result<Arrival> commit(const Commit& commit) = 0;
  /// The accepted bytes of a path. Errc::not_found.
  virtual Result<std::string> bytes(const std::string& path) = 0;
};

/// Requests of the control commands, as files in the state folder.
class Requests {
 public:
  virtual ~Requests() = default;
  /// Those not yet answered, oldest first. A file that is no request is removed with a finding in
  /// `damaged`.
  virtual std::vector<Request> pending(std::vector<std::string>& damaged) = 0;
  /// Publishes the answer, so that the waiting command sees it, and removes the request.
  virtual void answer(const Reply& reply) = 0;
  /// Makes the room that is kept for requests on a full disk, where it was given up. False: there
  /// is not so much; what still can be written is a part of it, and nothing else is to use it up.
  virtual bool keep_room() = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  /// Unix time at the daemon's start plus the time since by the boot-time clock: never jumps.
  virtual Time now() = 0;
  /// The wall clock, for stamps people read.
  virtual Time wall() = 0;
};

/// Hears everything that happens, after it was committed: log lines, `notify:`, the demo's output.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void happened(const Event& /*event*/) {}  ///< as it is, nobody listens
};

}  // namespace baton
