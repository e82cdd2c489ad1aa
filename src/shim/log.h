// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the agent's output into log files, up to a cap. The agent must never hang because a disk
// is full, so nothing here waits or fails: what cannot be written is counted and dropped. The last
// dropped bytes are remembered (`tail_bytes` of protocol.h).

#include <cstddef>
#include <cstdint>

#include "shim/text.h"

namespace baton::shim {

/// In which order the bytes of both logs came: output.order of protocol.h. Does nothing as long as
/// only one log gets bytes.
class Order {
 public:
  explicit Order(int directory) : directory_(directory) {}
  /// `stream`: the letter of the log that got the bytes.
  void add(char stream, std::size_t bytes);
  /// Writes the last line.
  void finish();

 private:
  void write_line();

  int directory_;
  int file_ = -1;
  char stream_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t lines_ = 0;
};

/// One stream of the agent and its log file.
class Log {
 public:
  /// `file` comes from make_log. `source` is the reading end of the agent's pipe. The object owns
  /// both. `both` comes from make_common_log or is -1, and is not owned. `order` must outlive this.
  Log(int file, int source, int both, std::uint64_t cap_bytes, Order& order, char stream)
      : file_(file),
        source_(source),
        both_(both),
        cap_(cap_bytes),
        order_(order),
        stream_(stream) {}

  /// Reads what is in the pipe, at most 1 MiB. Returns true when there was anything.
  bool drain(std::int64_t now_ms);
  /// Updates the marker line, if there is one, and writes the remembered bytes into a new file
  /// `tail`.
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
  Order& order_;
  char stream_;
  std::uint64_t kept_ = 0;
  std::uint64_t received_ = 0;
  std::int64_t touched_ms_ = 0;
  char last_ = '\n';
  /// A ring buffer: dropped byte n is at n modulo its size. nullptr: nothing was dropped, or there
  /// is no memory. Never freed.
  char* ring_ = nullptr;
  std::size_t ring_bytes_ = 0;
};

/// Creates the file, which must not exist. -1 on failure: then nothing is logged.
int make_log(int directory, const char* name);
/// Creates or empties the file for both streams, with its folders. -1 when it is not a regular file
/// with one name or cannot be created; then nothing is emptied.
int make_common_log(const char* path);

}  // namespace baton::shim
