// SPDX-License-Identifier: Apache-2.0
#include "io/system/spawn.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "base/pinned.h"
#include "io/system/command.h"
#include "io/system/users.h"
#include "shim/protocol.h"

namespace baton {
namespace {

/// The arguments of posix_spawn.
class Plan : private Pinned {
 public:
  Plan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Plan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Moves our descriptor to a high number first, so that no target overwrites a source.
  bool pass(int from, int to) {
    constexpr int kOutOfTheWay = 16;
    Fd source(fcntl(from, F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (!source)
      return false;
    const bool good = posix_spawn_file_actions_adddup2(&actions_, source.get(), to) == 0;
    sources_.push_back(std::move(source));
    return good;
  }

  bool settle() {
    // A shim starts with all signals blocked, so SIGTERM cannot end it half-way. It decides itself
    // which signals it accepts.
    sigset_t all{};
    sigfillset(&all);
    bool good =
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDWR, 0) == 0;
    good = good && posix_spawn_file_actions_adddup2(&actions_, STDIN_FILENO, STDOUT_FILENO) == 0;
    good = good && posix_spawn_file_actions_adddup2(&actions_, STDIN_FILENO, STDERR_FILENO) == 0;
    good = good && posix_spawnattr_setsigmask(&attributes_, &all) == 0;
    good = good && posix_spawnattr_setsigdefault(&attributes_, &all) == 0;
    return good && posix_spawnattr_setflags(&attributes_,
                                            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
  }

  int spawn(pid_t& pid, ShimCall call) {
    const std::vector<char*> argv = pointers_to(call.argv);
    const std::vector<char*> env = pointers_to(call.env);
    return posix_spawn(&pid, argv[0], &actions_, &attributes_, argv.data(), env.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<Fd> sources_;
};

}  // namespace

Result<StartedShim> spawn_shim(const ShimCall& call) {
  const std::string& shim = call.argv.at(0);
  Plan plan;
  bool planned = plan.settle();
  for (const auto& [from, to] : call.descriptors)
    planned = planned && plan.pass(from, to);
  if (!planned)
    return system_error(errno, "cannot pass descriptors on", shim);
  const CapabilitiesForShim passed_on;
  pid_t pid = 0;
  if (const int error = plan.spawn(pid, call); error != 0)
    return system_error(error, "cannot start the shim", shim);
  // It is our child and only we collect its exit status, so its number is still its own.
  StartedShim started{pid, Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U))),
                      AwaitedChild(pid)};
  if (!started.process) {
    const int error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return system_error(error, "cannot watch the shim", shim);
  }
  return started;
}

Result<bool> shim_fits(const std::string& shim) {
  constexpr std::size_t kMost = 1024;
  auto answer = run_command({shim, shim::kCallVersion, shim::kModeFits}, "", kMost);
  if (!answer)
    return pass_on(answer);
  return answer->exit == 0;
}

}  // namespace baton
