#include "shim/courier.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/entry.h"
#include "shim/record.h"
#include "shim/supervise.h"
#include "shim/text.h"
#include "shim/tree.h"

namespace baton::shim {
namespace {

constexpr std::uint64_t kGraceMs = 1000;

[[noreturn]] void become_program(pid_t shim, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim)
    _exit(127);
  setsid();
  reset_signals();
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(argv[0], argv, environ);
  _exit(127);
}

/// True when nothing is left: as the subreaper this process is the parent of all orphans. `failed`
/// becomes true when the program is among those that have ended, and not with 0.
bool childless(pid_t program, bool& failed) {
  pid_t pid = 0;
  int status = 0;
  do {
    pid = waitpid(-1, &status, WNOHANG);
    failed = failed || (pid == program && status != 0);
  } while (pid > 0);
  return pid < 0 && errno == ECHILD;
}

bool told_to_end(int signals) {
  bool leave = false;
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    leave = leave || info.ssi_signo == SIGTERM;
  return leave;
}

}  // namespace

ShimExit deliver(int signals, const char* limit_ms, char** argv) {
  std::uint64_t limit = 0;
  if (!parse_number(limit_ms, limit) || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return ShimExit::bad_call;
  const pid_t shim = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return ShimExit::not_started;
  if (pid == 0)
    become_program(shim, argv);
  constexpr std::uint64_t kMost = 3'600'000;
  const std::int64_t end = steady_ms() + static_cast<std::int64_t>(std::min(limit, kMost));
  bool failed = false;
  while (!childless(pid, failed)) {
    const std::int64_t left = end - steady_ms();
    pollfd watched[] = {{kLifeFd, POLLIN, 0}, {signals, POLLIN, 0}};
    if (left > 0 && poll(watched, 2, static_cast<int>(left)) < 0 && errno != EINTR)
      return ShimExit::lost;
    if (left > 0 && watched[0].revents == 0 && !told_to_end(signals))
      continue;
    ExitRecord exit;
    const bool known = sweep(Tree{.parent = shim}, kGraceMs, exit);
    (void)childless(pid, failed);
    if (!known || exit.survivors != 0)
      return ShimExit::lost;
    return left > 0 ? ShimExit::recorded : ShimExit::program_late;
  }
  return failed ? ShimExit::program_failed : ShimExit::recorded;
}

}  // namespace baton::shim
