#pragma once

// The contract between `baton` (io/agents) and `baton-shim`: how the shim is called, which
// descriptors it inherits, the files in a run directory, and what a crash after each of them means.
//
// One shim stands between baton and one agent and survives the daemon. It is called as
//
//   baton-shim 1 run   <run id>               park, claim, run the agent, record its end
//   baton-shim 1 sweep <run id> <grace ms>    the run's shim was killed: end its tree, record that
//
// with an empty environment, all signals blocked, stdin, stdout and stderr on /dev/null, and
// the descriptors below. Exit statuses are those of ShimExit.
//
//   fd 3  the run directory
//   fd 4  `lock` in it, with an exclusive flock. Only the shim holds this open file description, so
//   the
//         lock is free exactly when no shim of this run lives.
//   fd 5  `run` only: the go-pipe. One byte: claim and start. End of file: leave, nothing ran.
//
// Files in the run directory (0750; files 0640), in the order they come into being:
//
//   lock         daemon  empty
//   prompt       daemon  what the agent gets on stdin; only when there is a prompt
//   launch       daemon  0600, for it holds the environment. Records that end in NUL, each a word,
//                        a space and a value; repeated for arg and env; the last one is `end 1`:
//                          launch 1 | run ID | cwd PATH | timeout_ms N | idle_timeout_ms N |
//                          kill_grace_ms N | log_cap_bytes N | stdin prompt|null | cgroup PATH |
//                          arg TEXT ... | before_cwd PATH | before_ms N | before TEXT ... |
//                          env NAME=VALUE ...
//                        A limit of 0 is no limit; `cgroup` (a cgroup v2 directory in which the
//                        shim may make its own) is optional. `before` (optional) is a program that
//                        has to end with 0 before the agent's is entered; it belongs to the agent's
//                        tree, and what it writes goes to stderr.log. The shim removes the file as
//                        soon as it was read.
//   claim        shim    made with O_EXCL; "pid N", "start_ticks N", "boot_id TEXT" as lines.
//                        Once it is there this attempt is never started again.
//   agent        shim    lines as in claim, of the agent, and "session N", "cgroup PATH" (may be
//   empty).
//                        The agent's program is entered only after this file was written.
//   stdout.log, stderr.log  shim  what the agent wrote, up to the cap; then a marker line. Their
//                        modification time is the time of the last output.
//   exit.json    shim    how it ended; written by temporary file, fsync, rename, fsync of the
//   directory.
//
// exit.json: {"version": 1, "run_id": text, "cause": one of kCause..., "exit_code": number or null,
// "signal": number or null, "error": text (exec_failed: what failed), "started_ms", "ended_ms":
// Unix time, "wall_ms", "user_ms", "system_ms", "max_rss_kib", "stdout_bytes", "stderr_bytes" (as
// written by the agent, cap or not), "stdout_dropped", "stderr_dropped", "leftovers": processes
// that were still there when the agent had ended, "survivors": processes that could not be ended}

namespace baton::shim {

inline constexpr int kVersion = 1;
inline constexpr const char* kVersionText = "1";
inline constexpr const char* kModeRun = "run";
inline constexpr const char* kModeSweep = "sweep";

inline constexpr int kDirectoryFd = 3;
inline constexpr int kLockFd = 4;
inline constexpr int kGoFd = 5;

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kPromptFile = "prompt";
inline constexpr const char* kLaunchFile = "launch";
inline constexpr const char* kClaimFile = "claim";
inline constexpr const char* kAgentFile = "agent";
inline constexpr const char* kStdoutFile = "stdout.log";
inline constexpr const char* kStderrFile = "stderr.log";
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

/// recorded: exit.json is there. not_started: told to leave, nothing ran. bad_call: arguments,
/// descriptors or `launch` are wrong, nothing ran. no_claim: `claim` could not be made, nothing
/// ran. lost: the run directory was removed, so the end could not be recorded.
enum class ShimExit { recorded = 0, not_started = 111, bad_call = 112, no_claim = 113, lost = 114 };

}  // namespace baton::shim
