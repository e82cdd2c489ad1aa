// SPDX-License-Identifier: Apache-2.0
#include "shim/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dirent.h>

#include "shim/cgroup.h"
#include "shim/proc.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

struct Entry {
  Stat stat;
  bool member = false;
  bool in_cgroup = false;
};

/// One look at all processes, ordered by number.
class Snapshot {
 public:
  Snapshot() = default;
  ~Snapshot() { free(entries_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  Snapshot(Snapshot&&) = delete;
  Snapshot& operator=(Snapshot&&) = delete;

  void take();
  /// Whether nothing can have been missed.
  bool whole() const { return whole_; }
  /// Whether the process of `entry` has the variable; see `has_variable`.
  bool carries(const Entry& entry, const char* variable) {
    const bool found = has_variable(entry.stat.pid, variable);
    whole_ = whole_ && (found || !short_of_means(errno));
    return found;
  }
  Entry* begin() { return entries_; }
  Entry* end() { return entries_ + size_; }
  Entry* find(pid_t pid);

 private:
  bool add(const Stat& stat);

  Entry* entries_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  bool whole_ = true;
};

bool Snapshot::add(const Stat& stat) {
  if (size_ == room_) {
    const std::size_t room = room_ == 0 ? 256 : room_ * 2;
    auto* entries = static_cast<Entry*>(realloc(entries_, room * sizeof(Entry)));
    if (entries == nullptr)
      return false;
    entries_ = entries;
    room_ = room;
  }
  entries_[size_++] = Entry{stat, false};
  return true;
}

void Snapshot::take() {
  DIR* proc = opendir("/proc");
  whole_ = proc != nullptr;
  bool room = whole_;
  while (room) {
    const dirent* name = readdir(proc);
    if (name == nullptr)
      break;
    std::uint64_t pid = 0;
    if (!parse_number(name->d_name, pid))
      continue;
    Stat stat;
    if (read_stat(static_cast<pid_t>(pid), stat))
      room = add(stat);
    else if (short_of_means(errno))
      whole_ = false;
  }
  whole_ = whole_ && room;
  if (proc != nullptr)
    closedir(proc);
}

Entry* Snapshot::find(pid_t pid) {
  Entry* const found = std::lower_bound(begin(), end(), pid, [](const Entry& entry, pid_t wanted) {
    return entry.stat.pid < wanted;
  });
  return found != end() && found->stat.pid == pid ? found : nullptr;
}

/// The kernel does not reuse a number while a session has it. So the session is the agent's when
/// its leader is the agent, or when a member carries the run id.
bool session_is_ours(const Tree& tree, Snapshot& all) {
  if (tree.session == 0)
    return false;
  const Entry* leader = all.find(tree.session);
  if (leader != nullptr)
    return leader->stat.start_ticks == tree.agent_start_ticks;
  for (const Entry& entry : all) {
    if (entry.member && entry.stat.session == tree.session)
      return true;
  }
  return false;
}

void mark_processes(int cgroup, Snapshot& all) {
  static std::array<char, 65536> bytes;  // fits on a small stack
  if (read_small(cgroup, "cgroup.procs", bytes.data(), bytes.size()) <= 0)
    return;
  std::string_view rest(bytes.data());
  while (!rest.empty()) {
    std::uint64_t pid = 0;
    Entry* const entry =
        parse_number(take_until(rest, '\n'), pid) ? all.find(static_cast<pid_t>(pid)) : nullptr;
    if (entry == nullptr)
      continue;
    entry->member = true;
    entry->in_cgroup = true;
  }
}

void mark_cgroup(int cgroup, int depth, Snapshot& all) {
  if (cgroup < 0 || depth == 0)
    return;
  mark_processes(cgroup, all);
  for_each_below(cgroup, [&](int below, const char*) { mark_cgroup(below, depth - 1, all); });
}

/// Children of members are members. One pass is mostly enough, because children mostly have higher
/// numbers.
void mark_descendants(pid_t self, Snapshot& all) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Entry& entry : all) {
      const Entry* parent = entry.member ? nullptr : all.find(entry.stat.parent);
      if (parent != nullptr && parent->member && entry.stat.pid != self) {
        entry.member = true;
        changed = true;
      }
    }
  }
}

void mark(const Tree& tree, Snapshot& all) {
  const pid_t self = getpid();
  for (Entry& entry : all) {
    const Stat& stat = entry.stat;
    if (stat.pid == self || stat.pid == 1 || stat.pid == tree.not_member || !stat.alive())
      continue;
    entry.member = (tree.parent != 0 && stat.parent == tree.parent) ||
                   (tree.marker != nullptr && stat.start_ticks >= tree.agent_start_ticks &&
                    all.carries(entry, tree.marker));
  }
  mark_cgroup(tree.cgroup, kDeepestCgroup, all);
  if (session_is_ours(tree, all)) {
    for (Entry& entry : all)
      entry.member = entry.member || entry.stat.session == tree.session;
  }
  mark_descendants(self, all);
}

bool may_signal(const Tree& tree, const Entry& entry) {
  uid_t user = 0;
  // The kernel says who is in the cgroup, and its owner can end all of them anyway.
  return !tree.owner || entry.in_cgroup || (read_user(entry.stat.pid, user) && user == *tree.owner);
}

void send(const Tree& tree, const Entry& entry, int signal) {
  const Stat& stat = entry.stat;
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, stat.pid, 0U));
  if (process < 0)
    return;
  Stat again;
  if (read_stat(stat.pid, again) && again.start_ticks == stat.start_ticks &&
      may_signal(tree, entry)) {
    syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0U);
    // A stopped process would see the signal only after it is continued.
    if (signal == SIGTERM)
      syscall(SYS_pidfd_send_signal, process, SIGCONT, nullptr, 0U);
  }
  close(process);
}

}  // namespace

int signal_tree(const Tree& tree, int signal) {
  Snapshot all;
  all.take();
  mark(tree, all);
  int alive = 0;
  for (const Entry& entry : all) {
    if (!entry.member || !entry.stat.alive())
      continue;
    ++alive;
    if (signal != 0)
      send(tree, entry, signal);
  }
  return all.whole() ? alive : -1;
}

std::int64_t tree_cpu_ms(const Tree& tree) {
  Snapshot all;
  all.take();
  for (Entry& entry : all)
    entry.member = entry.stat.parent == tree.parent && entry.stat.pid != tree.not_member;
  mark_descendants(getpid(), all);
  std::uint64_t ticks = 0;
  for (const Entry& entry : all)
    ticks += entry.member ? entry.stat.cpu_ticks : 0;
  const long per_second = sysconf(_SC_CLK_TCK);
  if (!all.whole() || per_second <= 0)
    return -1;
  return static_cast<std::int64_t>(ticks * 1000 / static_cast<std::uint64_t>(per_second));
}

}  // namespace baton::shim
