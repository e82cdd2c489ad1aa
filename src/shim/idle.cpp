// SPDX-License-Identifier: Apache-2.0
#include "shim/idle.h"

#include <algorithm>
#include <csignal>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/cgroup.h"
#include "shim/protocol.h"
#include "shim/supervise.h"

namespace baton::shim {
namespace {

constexpr std::int64_t kLongestLookMs = 10'000;
/// A run that uses less than this part of one processor may be idle.
constexpr std::int64_t kIdlePart = 100;
constexpr std::int64_t kNanoseconds = 1'000'000;  ///< in a millisecond

/// The child of the shim that looks. It shares nothing with the shim but the memory of this moment.
[[noreturn]] void become_looker(pid_t shim, const Launch& launch, std::int64_t since_ns) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim)
    _exit(static_cast<int>(Look::unknown));
  // Above all the lock: it must be free when the shim is gone.
  syscall(SYS_close_range, static_cast<unsigned>(kDirectoryFd) + 1, ~0U, 0U);
  _exit(static_cast<int>(look_for_changes(launch.watch, since_ns, kDirectoryFd)));
}

}  // namespace

IdleWatch::IdleWatch(const Launch& launch, const Tree& tree, std::int64_t started)
    : launch_(launch),
      tree_(tree),
      limit_ms_(static_cast<std::int64_t>(
          std::min<std::uint64_t>(launch.idle_timeout_ms, std::uint64_t{1} << 52U))),
      // What is used until the CPU time is noted does not count, so this must be little.
      settle_ms_(std::min(std::max<std::int64_t>(limit_ms_ / kIdlePart, 50), limit_ms_ / 2)),
      life_(started),
      life_unix_ms_(unix_ms() - (steady_ms() - started)),
      noted_at_(started) {}

void IdleWatch::alive(std::int64_t now) {
  life_ = now;
  life_unix_ms_ = unix_ms();
  noted_ = false;
}

void IdleWatch::heard(std::int64_t now) {
  if (limit_ms_ == 0)
    return;
  stop();
  alive(now);
}

std::int64_t IdleWatch::due() const {
  // The shim itself may have been stopped, so that the CPU time was noted late.
  return std::max(life_, noted_at_ - settle_ms_) + limit_ms_;
}

std::int64_t IdleWatch::next() const {
  if (limit_ms_ == 0)
    return kNever;
  if (awaited_)
    return look_ends_;
  return noted_ ? due() : life_ + settle_ms_;
}

IdleWatch::CpuTime IdleWatch::cpu_time(std::int64_t reaped_ms) const {
  const std::int64_t living_ms = tree_cpu_ms(tree_);
  return {.tree_ms = living_ms < 0 ? -1 : living_ms + reaped_ms,
          .cgroup_ms = cgroup_cpu_ms(tree_.cgroup)};
}

/// A process may have left the cgroup, or its parent. So the larger number counts.
bool IdleWatch::is_busy(std::int64_t now, std::int64_t reaped_ms) const {
  const CpuTime used = cpu_time(reaped_ms);
  const bool known =
      (used.tree_ms >= 0 && cpu_.tree_ms >= 0) || (used.cgroup_ms >= 0 && cpu_.cgroup_ms >= 0);
  std::int64_t used_ms = 0;
  if (used.tree_ms >= 0 && cpu_.tree_ms >= 0)
    used_ms = used.tree_ms - cpu_.tree_ms;
  if (used.cgroup_ms >= 0 && cpu_.cgroup_ms >= 0)
    used_ms = std::max(used_ms, used.cgroup_ms - cpu_.cgroup_ms);
  return !known || used_ms * kIdlePart >= now - noted_at_;
}

bool IdleWatch::is_idle(std::int64_t now, std::int64_t reaped_cpu_ms) {
  if (limit_ms_ == 0)
    return false;
  if (!noted_ && now >= life_ + settle_ms_) {
    cpu_ = cpu_time(reaped_cpu_ms);
    noted_at_ = now;
    noted_ = true;
  }
  if (answered_) {
    answered_ = false;
    if (answer_ == Look::quiet)
      return true;
    alive(now);
  } else if (awaited_) {
    if (now >= look_ends_) {
      stop();
      alive(now);
    }
  } else if (noted_ && now >= due()) {
    if (is_busy(now, reaped_cpu_ms))
      alive(now);
    else
      look(now);
  }
  return false;
}

/// The time after which a change is a sign of life, as Unix time. The clock may have been set
/// since.
std::int64_t IdleWatch::since_ns(std::int64_t now) const {
  return std::min(life_unix_ms_, unix_ms() - (now - life_)) * kNanoseconds;
}

void IdleWatch::look(std::int64_t now) {
  // One that was killed may still hang in a file system.
  const pid_t shim = getpid();
  const std::int64_t since = since_ns(now);
  const pid_t child = looker_ != 0 ? -1 : fork();
  if (child == 0)
    become_looker(shim, launch_, since);
  if (child < 0)
    return alive(now);
  looker_ = child;
  awaited_ = true;
  look_ends_ = now + kLongestLookMs;
}

void IdleWatch::looker_ended(int status) {
  looker_ = 0;
  answered_ = awaited_;
  awaited_ = false;
  answer_ = Look::unknown;
  for (const Look each : {Look::quiet, Look::changed})
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(each))
      answer_ = each;
}

void IdleWatch::stop() {
  if (looker_ != 0)
    kill(looker_, SIGKILL);
  awaited_ = false;
  answered_ = false;
}

}  // namespace baton::shim
