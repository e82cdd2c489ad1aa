// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract between `baton` (io/agents/agents) and `baton-shim`: how the shim is called, which
// descriptors it inherits, the files in a run directory, and what a crash after each of them means.
//
// One shim stands between baton and one agent and survives the daemon. It is called as
//
//   - baton-shim 5 run <run id>: park, claim, run the agent, record its end
//   - baton-shim 5 enter <run id>: called by itself, in the agent's process; see `before`
//   - baton-shim 5 sweep <run id> <grace ms> <cgroup>: the run's shim was killed: end its tree,
//     record that. What is in the cgroup of the run ("": none) is killed at once, without grace.
//   - baton-shim 5 tell <limit ms> <argv ...>: no run; a program of `notify:`, see below
//   - baton-shim 5 fits: exit with 0, if it has this protocol version
//
// with an empty environment (`enter`: BATON_RUN_ID alone), all signals blocked, stdin, stdout and
// stderr on /dev/null, and the descriptors below. Exit statuses are those of ShimExit.
//
//   fd 3  the run directory
//   fd 4  `lock` in it, with an exclusive flock. The shim holds this open file description, and so
//         does the agent's process until it enters its program. So the lock is free exactly when no
//         shim of this run lives and no process can make its claim.
//   fd 5  `run` only: the go-pipe. The first byte means: launch and prompt are complete, and the
//         run directory has its final name; make everything ready. The second byte
//         means: claim and start. End of file at any time means: exit, nothing ran.
//   fd 6  `run` only: the launch, a file in memory, because it holds the agent's secrets. It is
//         sealed before the first byte comes, and the shim hides its own memory and descriptors
//         from other processes of its user (PR_SET_DUMPABLE).
//         Records that end in NUL, each a word, a space and a value; repeated for arg,
//         before, env and watch; the last one is `end 1`:
//           launch 5 | run ID | cwd PATH | timeout_ms N | idle_timeout_ms N | kill_grace_ms N |
//           log_cap_bytes N | uid N | gid N | group N ... | memory_max_bytes N | tasks_max N |
//           stdin prompt|null | cgroup PATH | log PATH | arg TEXT ... | before_cwd PATH | before_ms
//           N | before TEXT ... | watch PATH ... | env NAME=VALUE ...
//         A limit of 0 is no limit, and a grace of 0 is no grace. Optional:
//           cgroup PATH: a cgroup v2 directory in which the shim may make its own. Only there,
//             and only with the controllers `memory` and `pids`, are memory_max_bytes and tasks_max
//             enforced.
//           uid N, gid N, group N: the user as whom `before` and the program run. Needs `cgroup`,
//           and
//             a shim with the capabilities to change users and to signal the processes of others.
//           watch PATH: a file or folder in which a silent agent may change files. A change there
//             or in the cwd puts off the end by idle_timeout_ms (idle.h).
//           before TEXT: a program that must end with 0 before the agent's program is entered. It
//             belongs to the agent's tree, and its output goes to stderr.log. The agent's process
//             becomes `baton-shim enter` to run it.
//           log PATH: a file that gets both streams in the order of their output, for people who
//             look in the agent's project. The shim creates missing folders. There is no such log
//             if the file or one of its folders is a link, or if the file is not regular or has a
//             second name.
//
//   fd 7  `run` only: the prompt, a file in memory that is sealed before the first byte comes. It
//         becomes the agent's stdin. The file `prompt` is for people and for programs that want a
//         name; any process of the user can change it. A program of another user (uid) cannot reach
//         that file. It keeps fd 7, so its name for the prompt is kPromptName.
//
// `tell` gets the environment, stdin, stdout and stderr of the program, and also fd 3: a pipe
// without data, whose end of file means that the daemon is gone. The shim runs the program and
// waits until its process tree is empty. When the limit has passed or the daemon is gone, the shim
// ends what is left. It writes no record.
//
// The daemon may start a shim before its run is known. Until the first byte this shim belongs to no
// run, and its directory is `.spare` in the folder of the runs. The shim creates the logs and the
// agent's process at once, so that a start waits for neither. That process writes its record, takes
// the two bytes, makes the claim, and enters the agent's program (agent.h).
//
// Files in the run directory (0750; files 0640), in the order they come into being:
//
//   - lock (daemon): empty.
//   - .claim (daemon): "pid N", "start_ticks N", "boot_id TEXT" of the shim and "run ID" as lines.
//     The daemon writes it while the shim waits. So making the claim needs no disk space, and a
//     claim is never incomplete.
//   - agent (the agent's process): "pid N", "start_ticks N", "boot_id TEXT" and "session N" of this
//     process, and from the first byte on "cgroup PATH" if it has one. The process waits, and ends
//     when its shim ends.
//   - stdout.log, stderr.log (shim): what the agent wrote, up to the cap; then a marker line. Their
//     modification time is the time of the last output, if they are not empty.
//   - output.order (shim): which log got how many bytes, in order of time. Lines of `o BYTES` for
//     stdout.log and `e BYTES` for stderr.log, for the bytes before the markers. Only if the agent
//     wrote to both, and at most kOrderLines lines.
//   - stdout.tail, stderr.tail (shim, before exit.json): if there was more output than the cap, the
//     last `tail_bytes` of what was dropped, because agents report their result at the end.
//   - prompt (daemon, once the directory has its final name): a copy of what the agent gets on
//     stdin; empty when there is no prompt.
//   - claim (the agent's process): .claim, renamed only if no file has the new name, as with
//     O_EXCL. Once it exists, this attempt is never started again. Only then does the process enter
//     the agent's program.
//   - exit.json (shim): how the run ended; written by temporary file, fsync, rename, fsync of the
//     directory.
//
// An agent runs as the same user and can write exit.json, too. So the daemon believes it only if it
// saw the shim exit with `recorded`, or if nobody saw the exit and nothing of the run lives.
//
// exit.json: {"version": 1, "run_id": text, "cause": one of kCause..., "exit_code": number or null,
// "signal": number or null, "error": text (exec_failed: what failed), "started_ms", "ended_ms":
// Unix time, "wall_ms", "user_ms", "system_ms", "max_rss_kib", "stdout_bytes", "stderr_bytes" (all
// that the agent wrote), "stdout_dropped", "stderr_dropped", "leftovers": processes that still
// lived when the agent had ended, "survivors": processes that could not be ended, "memory_kills":
// not 0 if the kernel killed the agent for memory, "memory_peak_kib": with memory_kills}

#include <cstddef>
#include <cstdint>

namespace baton::shim {

inline constexpr const char* kCallVersion = "5";
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
inline constexpr int kPromptFd = 7;
inline constexpr const char* kPromptName = "/proc/self/fd/7";

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kPromptFile = "prompt";
inline constexpr const char* kWrittenClaimFile = ".claim";
inline constexpr const char* kClaimFile = "claim";
inline constexpr const char* kAgentFile = "agent";
inline constexpr const char* kStdoutFile = "stdout.log";
inline constexpr const char* kStderrFile = "stderr.log";
inline constexpr const char* kOrderFile = "output.order";
inline constexpr std::uint32_t kOrderLines = 100'000;
inline constexpr const char* kStdoutTailFile = "stdout.tail";
inline constexpr const char* kStderrTailFile = "stderr.tail";
/// How much of the end is remembered once output is dropped: as much as the log has, within bounds.
constexpr std::size_t tail_bytes(std::uint64_t log_bytes) {
  constexpr std::uint64_t kLeast = 256U << 10U;
  constexpr std::uint64_t kMost = 64U << 20U;
  return log_bytes < kLeast ? kLeast : log_bytes > kMost ? kMost : log_bytes;
}
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

/// recorded: exit.json exists, or nothing had to be done (`fits`).
/// not_started: the daemon ended the shim before the start; nothing ran.
/// bad_call: arguments, descriptors or the launch are wrong; nothing ran.
/// no_claim: `claim` or something else that a start needs could not be made; nothing ran.
/// lost: the shim could not record the end. The run directory was removed, no descriptors were
/// left, or processes may be left that the shim cannot see.
///
/// `tell` uses these: recorded: the program ended with 0. program_failed: the program ended
/// differently or could not be entered. program_late: it did not end within the limit. lost: some
/// of its processes may be left.
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
