#pragma once

// The contract between `baton` (io/agents/agents) and `baton-shim`: how the shim is called, which
// descriptors it inherits, the files in a run directory, and what a crash after each of them means.
//
// One shim stands between baton and one agent and survives the daemon. It is called as
//
//   - baton-shim 2 run <run id>: park, claim, run the agent, record its end
//   - baton-shim 2 enter <run id>: called by itself, in the agent's process; see `before`
//   - baton-shim 2 sweep <run id> <grace ms>: the run's shim was killed: end its tree, record that
//   - baton-shim 2 tell <limit ms> <argv ...>: no run; a program of `notify:`, see below
//   - baton-shim 2 fits: exit with 0, if it has this protocol version
//
// with an empty environment (`enter`: BATON_RUN_ID alone), all signals blocked, stdin, stdout and
// stderr on /dev/null, and the descriptors below. Exit statuses are those of ShimExit.
//
//   fd 3  the run directory
//   fd 4  `lock` in it, with an exclusive flock. Only the shim holds this open file description,
//         and the agent's process until its program is entered: the lock is free exactly when no
//         shim of this run lives and none of its processes can make a claim.
//   fd 5  `run` only: the go-pipe. A first byte: the launch is complete, the run directory has its
//         prompt and its place; make everything ready. A second: claim and start. End of file at
//         any time: exit, nothing ran.
//   fd 6  `run` only: the launch, a file in memory, because it holds the agent's secrets.
//         Records that end in NUL, each a word, a space and a value; repeated for arg,
//         before and env; the last one is `end 1`:
//           launch 2 | run ID | cwd PATH | timeout_ms N | idle_timeout_ms N | kill_grace_ms N |
//           log_cap_bytes N | stdin prompt|null | cgroup PATH | log PATH | arg TEXT ... |
//           before_cwd PATH | before_ms N | before TEXT ... | env NAME=VALUE ...
//         A limit of 0 is no limit, a grace of 0 no grace; `cgroup` (a cgroup v2 directory in which
//         the shim may make its own) is optional. `before` (optional) is a program that must end
//         with 0 before the agent's is entered; it belongs to the agent's tree, and what it writes
//         goes to stderr.log. The agent's process becomes `baton-shim enter` for it. `log`
//         (optional) is a file that gets both streams in the order of their output, for people who
//         look in the agent's project. Missing folders are created. If the file or one of its
//         folders is a link, or it is not a regular file, there is no such log.
//
// `tell` has the program's environment, stdin, stdout and stderr, and one descriptor beside them:
// fd 3, a pipe without data; its end of file means that the daemon is gone. It enters the
// program, waits until nothing of its tree is left, and ends what is left when the limit has passed
// or the daemon is gone. It leaves nothing behind, not even a record.
//
// A shim may be started before its run is known: until the first byte its directory lies apart
// (`.spare` in the folder of the runs), and it belongs to no run. It makes the logs and the agent's
// process at once, so that a start waits for neither. That process writes its record, takes the two
// bytes, makes the claim, and enters the agent's program (agent.h).
//
// Files in the run directory (0750; files 0640), in the order they come into being:
//
//   - lock (daemon): empty.
//   - .claim (daemon): "pid N", "start_ticks N", "boot_id TEXT" of the shim and "run ID" as lines,
//     written while it waits: the claim itself needs no room then, and is never half there.
//   - agent (the agent's process): lines as in claim, of itself, "session N", and from the first
//     byte on "cgroup PATH" if it has one. It stands still, and ends when its shim does.
//   - stdout.log, stderr.log (shim): what the agent wrote, up to the cap; then a marker line. Their
//     modification time is the time of the last output, if they are not empty.
//   - stdout.tail, stderr.tail (shim, before exit.json): where more came than the cap, the end of
//     what was dropped, kTailBytes at most: an agent says at its end what came of its work.
//   - prompt (daemon): what the agent gets on stdin; empty when there is no prompt.
//   - claim (the agent's process): .claim under its second name, which it gets only if no file
//     has that name, as with O_EXCL. Once it is there this attempt is never started again,
//     and only then is the agent's program entered.
//   - exit.json (shim): how it ended; written by temporary file, fsync, rename, fsync of the
//     directory.
//
// exit.json: {"version": 1, "run_id": text, "cause": one of kCause..., "exit_code": number or null,
// "signal": number or null, "error": text (exec_failed: what failed), "started_ms", "ended_ms":
// Unix time, "wall_ms", "user_ms", "system_ms", "max_rss_kib", "stdout_bytes", "stderr_bytes" (as
// written by the agent, cap or not), "stdout_dropped", "stderr_dropped", "leftovers": processes
// that were still there when the agent had ended, "survivors": processes that could not be ended}

#include <cstddef>

namespace baton::shim {

inline constexpr const char* kCallVersion = "2";
inline constexpr int kExitVersion = 1;
inline constexpr const char* kModeRun = "run";
inline constexpr const char* kModeEnter = "enter";
inline constexpr const char* kModeSweep = "sweep";
inline constexpr const char* kModeTell = "tell";
inline constexpr const char* kModeFits = "fits";

inline constexpr int kLifeFd = 3;  ///< of `tell`
inline constexpr int kDirectoryFd = 3;
inline constexpr int kLockFd = 4;
inline constexpr int kGoFd = 5;
inline constexpr int kFailuresFd = 5;  ///< of `enter`
inline constexpr int kLaunchFd = 6;

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kPromptFile = "prompt";
inline constexpr const char* kWrittenClaimFile = ".claim";
inline constexpr const char* kClaimFile = "claim";
inline constexpr const char* kAgentFile = "agent";
inline constexpr const char* kStdoutFile = "stdout.log";
inline constexpr const char* kStderrFile = "stderr.log";
inline constexpr const char* kStdoutTailFile = "stdout.tail";
inline constexpr const char* kStderrTailFile = "stderr.tail";
inline constexpr std::size_t kTailBytes = 256U << 10U;
inline constexpr const char* kExitFile = "exit.json";

/// The variable by which processes of a run are recognised when their shim is gone.
inline constexpr const char* kRunIdVariable = "BATON_RUN_ID";

inline constexpr const char* kCauseExit =
    "exit";  ///< the agent ended by itself, or by a foreign signal
inline constexpr const char* kCauseExecFailed = "exec_failed";  ///< its program was never entered
inline constexpr const char* kCauseBeforeFailed = "before_failed";  ///< `before` did not end with 0
inline constexpr const char* kCauseBeforeTimeout = "before_timeout";  ///< it took too long
inline constexpr const char* kCauseWallLimit = "wall_limit";
inline constexpr const char* kCauseIdleLimit = "idle_limit";
inline constexpr const char* kCauseTerm = "term";               ///< the shim got SIGTERM
inline constexpr const char* kCauseShimKilled = "shim_killed";  ///< written by `sweep`

/// recorded: exit.json exists, or nothing had to be done (`fits`). not_started: told to exit,
/// nothing ran. bad_call: arguments, descriptors or the launch are wrong, nothing ran. no_claim:
/// `claim` or something else that a start needs could not be made, nothing ran. lost: the end could
/// not be recorded, because the run directory was removed or no descriptors were left. For `tell`,
/// recorded means that the program ended with 0; program_failed: it ended differently or could not
/// be entered; program_late: the limit was over.
enum class ShimExit {
  recorded = 0,
  not_started = 111,
  bad_call = 112,
  no_claim = 113,
  lost = 114,
  program_failed = 115,
  program_late = 116
};

}  // namespace baton::shim
