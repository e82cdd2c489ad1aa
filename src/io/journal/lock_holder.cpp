// SPDX-License-Identifier: Apache-2.0
#include "io/journal/lock_holder.h"

#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"

namespace baton {
namespace {

/// One line of `/proc/locks`: `1: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120`. A waiting process
/// has `->` before the kind, so its line has no such words.
struct KernelLock {
  std::int64_t pid = 0;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  ino_t inode = 0;
  std::uint64_t first = 0;
  std::string last;  ///< a number or `EOF`
};

std::optional<KernelLock> write_lock_of(const std::string& line) {
  std::istringstream words(line);
  std::string number;
  std::string kind;
  std::string advisory;
  std::string access;
  KernelLock lock;
  char colon = 0;
  words >> number >> kind >> advisory >> access >> lock.pid >> std::hex >> lock.major_number >>
      colon >> lock.minor_number >> colon >> std::dec >> lock.inode >> lock.first >> lock.last;
  return words && access == "WRITE" ? std::optional(lock) : std::nullopt;
}

bool covers(const KernelLock& lock, std::uint64_t byte) {
  return lock.first <= byte && (lock.last == "EOF" || byte <= std::stoull(lock.last));
}

/// 0: unknown.
std::int64_t writer_of(const std::string& path, std::optional<std::uint64_t> byte) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0)
    return 0;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);)
    if (const auto lock = write_lock_of(line);
        lock && lock->inode == facts.st_ino && lock->major_number == major(facts.st_dev) &&
        lock->minor_number == minor(facts.st_dev) && lock->pid > 0 && lock->pid != getpid() &&
        (!byte || covers(*lock, *byte)))
      return lock->pid;
  return 0;
}

std::string name_of_process(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name.empty() ? "" : " (" + printable(name) + ")";
}

}  // namespace

std::string locked_by(const std::string& path, std::optional<std::uint64_t> byte) {
  const std::int64_t pid = writer_of(path, byte);
  return (pid > 0 ? "it is locked by process " + std::to_string(pid) + name_of_process(pid)
                  : "another process locks it") +
         "; end that process, or wait until it lets go";
}

}  // namespace baton
