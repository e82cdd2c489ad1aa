// SPDX-License-Identifier: Apache-2.0
#include "shim/cgroup.h"

#include <array>
#include <cstring>

#include <sys/stat.h>

#include "shim/proc.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

bool write_to(int cgroup, const char* name, std::string_view text) {
  if (cgroup < 0)
    return false;
  const int file = openat(cgroup, name, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

using SmallText = std::array<char, 4096>;

/// The text of a file of the cgroup; nullptr when it cannot be read.
const char* read_from(int cgroup, const char* name, SmallText& text) {
  const bool good = cgroup >= 0 && read_small(cgroup, name, text.data(), text.size()) >= 0;
  return good ? text.data() : nullptr;
}

int open_cgroup(const char* path) {
  if (path == nullptr || path[0] != '/')
    return -1;
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  // Only a cgroup v2 directory has this file; leave anything else alone.
  if (directory >= 0 && faccessat(directory, "cgroup.procs", W_OK, 0) == 0)
    return directory;
  if (directory >= 0)
    close(directory);
  return -1;
}

void remove_below(int cgroup, int depth) {
  if (depth == 0)
    return;
  for_each_below(cgroup, [&](int below, const char* name) {
    remove_below(below, depth - 1);
    unlinkat(cgroup, name, AT_REMOVEDIR);
  });
}

/// The name of the run's cgroup in its parent, with the slash.
Text name_of(const char* run_id) {
  Text name;
  name << "/run-" << run_id;
  return name;
}

}  // namespace

int open_cgroup_of(const char* run_id, const char* path) {
  const std::string_view whole(path);
  return whole.ends_with(name_of(run_id).view()) ? open_cgroup(path) : -1;
}

int make_cgroup(const char* parent, const char* run_id, char* path, unsigned long size) {
  path[0] = '\0';
  const int above = open_cgroup(parent);
  if (above < 0)
    return -1;
  close(above);
  Text text;
  text << parent << name_of(run_id).view();
  if (text.view().size() >= size || mkdir(text.c_str(), 0750) != 0)
    return -1;
  const int directory = open_cgroup(text.c_str());
  if (directory < 0) {
    rmdir(text.c_str());
    return -1;
  }
  std::memcpy(path, text.c_str(), text.view().size() + 1);
  return directory;
}

bool enter_cgroup(int cgroup, pid_t process) {
  Text text;
  text << process;
  return write_to(cgroup, "cgroup.procs", text.view());
}

void limit_cgroup(int cgroup, std::uint64_t memory_max_bytes, std::uint64_t tasks_max) {
  const auto limit = [&](const char* name, std::uint64_t number) {
    Text text;
    text << number;
    write_to(cgroup, name, text.view());
  };
  if (memory_max_bytes > 0) {
    limit("memory.max", memory_max_bytes);
    // With swap, an agent over its limit would only become slow.
    limit("memory.swap.max", 0);
  }
  if (tasks_max > 0)
    limit("pids.max", tasks_max);
}

std::int64_t cgroup_cpu_ms(int cgroup) {
  SmallText bytes{};
  const char* const text = read_from(cgroup, "cpu.stat", bytes);
  std::uint64_t microseconds = 0;
  if (text == nullptr || !parse_number(line_value(text, "usage_usec"), microseconds))
    return -1;
  return static_cast<std::int64_t>(microseconds / 1000);
}

std::uint64_t memory_kills(int cgroup) {
  SmallText bytes{};
  const char* const text = read_from(cgroup, "memory.events", bytes);
  std::uint64_t kills = 0;
  if (text == nullptr || !parse_number(line_value(text, "oom_kill"), kills))
    return memory_kills_of_machine();
  return kills;
}

std::uint64_t memory_peak_kib(int cgroup) {
  SmallText bytes{};
  const char* const text = read_from(cgroup, "memory.peak", bytes);
  std::string_view rest(text != nullptr ? text : "");
  std::uint64_t peak = 0;
  (void)parse_number(take_until(rest, '\n'), peak);
  return peak / 1024;
}

void kill_cgroup(int cgroup) {
  write_to(cgroup, "cgroup.kill", "1");
}

void remove_cgroup(const char* path) {
  if (path[0] == '\0' || rmdir(path) == 0)
    return;
  const int cgroup = open_cgroup(path);
  if (cgroup < 0)
    return;
  remove_below(cgroup, kDeepestCgroup);
  close(cgroup);
  rmdir(path);
}

}  // namespace baton::shim
