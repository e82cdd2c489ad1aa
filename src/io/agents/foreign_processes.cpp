// SPDX-License-Identifier: Apache-2.0
#include "io/agents/foreign_processes.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "io/agents/agents.h"
#include "io/files/disk.h"
#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostProcesses = 1U << 20U;
constexpr int kDeepest = 16;
constexpr int kMostParents = 1000;
constexpr std::string_view kRunCgroup = "run-";
/// There systemd puts what it starts for a reload or a stop.
constexpr std::string_view kControlCgroup = ".control";

std::string text_in(const std::string& path, std::size_t most) {
  return read_file(path, most).value_or("");
}

std::string name_of_process(std::int64_t pid) {
  std::string name = text_in("/proc/" + std::to_string(pid) + "/comm", 256);
  while (name.ends_with('\n'))
    name.pop_back();
  return name;
}

/// Whether the process is one of `roots`, or below one of them.
bool is_below(std::int64_t pid, const std::set<std::int64_t>& roots) {
  for (int steps = 0; pid > 1 && steps < kMostParents; ++steps) {
    if (roots.contains(pid))
      return true;
    const auto stat = process_stat(pid);
    pid = stat ? stat->parent : 0;
  }
  return false;
}

bool looks_like_shim(std::int64_t pid) {
  const std::string words = text_in("/proc/" + std::to_string(pid) + "/cmdline", 4096);
  return words.find("baton-shim") != std::string::npos && has_word(words, shim::kModeRun);
}

}  // namespace

UnitCgroup::UnitCgroup() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* const started = std::getenv("SYSTEMD_EXEC_PID");
  const auto own = process_stat(getpid());
  if (started == nullptr || std::to_string(getpid()) != started || !own)
    return;
  began_ = own->start_ticks;
  directory_ = delegated_cgroup();
}

void UnitCgroup::look_in(const std::string& cgroup, const LiveRuns& live, int depth,
                         std::set<std::int64_t>& pids) const {
  for (const std::string& line : split(text_in(cgroup + "/cgroup.procs", kMostProcesses), '\n'))
    if (const std::int64_t pid = std::atoll(line.c_str()); pid > 0)
      pids.insert(pid);
  std::error_code error;
  for (fs::directory_iterator each(cgroup, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    const bool of_run = depth == kDeepest && name.starts_with(kRunCgroup) &&
                        live.ids.contains(name.substr(kRunCgroup.size()));
    if (depth > 0 && !of_run && name != kControlCgroup && each->is_directory(error))
      look_in(each->path().string(), live, depth - 1, pids);
  }
}

std::vector<ForeignProcess> UnitCgroup::foreign(const LiveRuns& live) const {
  std::vector<ForeignProcess> found;
  if (directory_.empty())
    return found;
  std::set<std::int64_t> pids;
  look_in(directory_, live, kDeepest, pids);
  std::set<std::int64_t> known = live.shims;
  known.insert(getpid());
  for (const std::int64_t pid : pids) {
    const auto stat = process_stat(pid);
    if (!stat || !stat->alive() || is_below(pid, known))
      continue;
    if (stat->start_ticks > began_ || !looks_like_shim(pid))
      found.push_back({pid, stat->start_ticks, name_of_process(pid)});
  }
  return found;
}

void UnitCgroup::end(const std::vector<ForeignProcess>& processes) const {
  for (const ForeignProcess& each : processes) {
    // Times are in ticks of 10 ms: one that began in the same tick may be older, and no agent can
    // have started it yet.
    if (each.start_ticks <= began_)
      continue;
    // The descriptor first: what is asked then is about this very process.
    const Fd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(each.pid), 0U)));
    const auto stat = process_stat(each.pid);
    if (process && stat && stat->start_ticks == each.start_ticks)
      (void)send_signal(process.get(), SIGKILL);
  }
}

}  // namespace baton
