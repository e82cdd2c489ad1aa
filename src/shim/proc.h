// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads /proc without allocating memory: the shim must work when memory and descriptors run out.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace baton::shim {

/// The fields of /proc/PID/stat that the shim needs.
struct Stat {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t cpu_ticks = 0;  ///< of the process and the children that it has waited for

  /// A zombie has ended, unless only its first thread has.
  bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

/// False when there is no such process, or `errno` is one of `short_of_means`.
bool read_stat(pid_t pid, Stat& stat);

/// The real user of the process: who started it. False when there is no such process, or `errno` is
/// one of `short_of_means`.
bool read_user(pid_t pid, uid_t& user);

/// Whether the environment of the process has `NAME=value` (`entry`). Also false when `errno` is
/// one of `short_of_means`.
bool has_variable(pid_t pid, const char* entry);

/// Whether the errno means a lack of descriptors or memory; then the result says nothing.
bool short_of_means(int number);

/// How often the kernel has killed a process of this machine for memory; 0 when unknown.
std::uint64_t memory_kills_of_machine();

/// The boot id as text without line feed; "" when unknown. Needs 37 bytes.
void read_boot_id(char* text, std::size_t size);

/// Reads at most size - 1 bytes of a small file and adds a NUL; -1 when it cannot be read.
ssize_t read_small(int directory, const char* name, char* text, std::size_t size);

}  // namespace baton::shim
