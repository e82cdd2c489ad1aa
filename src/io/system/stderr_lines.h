// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes log lines to stderr without ever waiting. The reader may have stopped: a pager, a stopped
// terminal, a full pipe; or the disk is full. A line that does not fit is dropped and counted, and
// the next line that fits is preceded by the number of lost lines. Only a regular file can make a
// write wait.

#include <cstddef>
#include <string>
#include <string_view>

#include "io/files/fd.h"

namespace baton {

class StderrLines {
 public:
  /// `file` stays open, and its flags stay unchanged: other processes share it.
  explicit StderrLines(int file);
  void write(std::string_view line);  ///< with its line feed

 private:
  std::size_t put(std::string_view text) const;
  bool keep(std::string_view text);

  int file_;
  bool socket_ = false;
  bool waits_ = false;  ///< a write may have to wait for a reader
  Fd own_;              ///< our own non-blocking descriptor for the same pipe or terminal
  std::string rest_;    ///< the rest of a line that was partly written
  std::size_t lost_ = 0;
};

}  // namespace baton
