#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace baton::shim {

/// What /proc/PID/stat says, as far as it matters here.
struct Stat {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;

  /// A zombie is dead: it only waits for somebody to ask. Unless only its first thread has ended.
  bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

/// False when there is no such process, or `errno` says `short_of_means`.
bool read_stat(pid_t pid, Stat& stat);

/// True when the environment the process was started with holds `NAME=value` (`entry`). False also
/// when `errno` says `short_of_means`.
bool has_variable(pid_t pid, const char* entry);

/// Whether a look has failed for want of descriptors or memory: it says nothing of what was looked
/// at.
bool short_of_means(int number);

/// The boot id as text, without newline; "" when unknown. 37 bytes suffice.
void read_boot_id(char* text, std::size_t size);

/// At most size - 1 bytes of a small file and a NUL; -1 when it cannot be read.
ssize_t read_small(int directory, const char* name, char* text, std::size_t size);

}  // namespace baton::shim
