#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/text.h"

namespace baton::shim {

/// One stream of the agent on its way into a file, up to a cap. Nothing here waits or fails: an
/// agent must not hang because a disk is full, so what cannot be kept is counted and dropped. The
/// end of that is remembered (kTailBytes).
class Log {
 public:
  /// `file` is one of make_log. `source` is the reading end of the agent's pipe. Both are owned.
  /// `both` is one of make_common_log, or -1, and is not owned.
  Log(int file, int source, int both, std::uint64_t cap_bytes)
      : file_(file), source_(source), both_(both), cap_(cap_bytes) {}

  /// Takes what lies in the pipe, at most 1 MiB. True when there was anything.
  bool drain(std::int64_t now_ms);
  /// Brings the marker up to date, if there is one, and writes what is remembered into a new file
  /// of this name.
  void finish(int directory, const char* tail) const;

  int source() const { return source_; }  ///< -1 after end of file
  std::uint64_t received() const { return received_; }
  std::uint64_t dropped() const { return received_ - kept_; }

 private:
  void take(const char* bytes, std::size_t size, std::int64_t now_ms);
  std::size_t keep(const char* bytes, std::size_t size);
  void remember(const char* bytes, std::size_t size);
  void write_tail(int directory, const char* name) const;
  void write_marker() const;
  Text marker() const;

  int file_;
  int source_;
  int both_;
  std::uint64_t cap_;
  std::uint64_t kept_ = 0;
  std::uint64_t received_ = 0;
  std::int64_t touched_ms_ = 0;
  char last_ = '\n';
  /// A ring: the dropped byte number n lies at n modulo kTailBytes. nullptr: nothing was dropped,
  /// or there is no memory. It is there as long as the shim.
  char* ring_ = nullptr;
};

/// Makes the file, which must not exist; -1 when it cannot be had: then nothing is kept.
int make_log(int directory, const char* name);
/// Makes or empties the file that gets both streams, and the folders it lies in; -1
/// when it is no regular file or cannot be had.
int make_common_log(const char* path);

}  // namespace baton::shim
