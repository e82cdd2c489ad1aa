#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/files/fd.h"

namespace baton {

/// Lines to stderr that nobody has to read. Who reads it may stand still: a pager, a terminal that
/// was stopped, a full pipe. Then a line is lost, and counted, and the first one that finds room
/// again says how many were. Only a file is waited for.
class StderrLines {
 public:
  /// `file` stays somebody else's, and as it is: others have it too.
  explicit StderrLines(int file);
  void write(std::string_view line);  ///< with its newline

 private:
  std::size_t put(std::string_view text) const;
  bool keep(std::string_view text);

  int file_;
  bool socket_ = false;
  bool waits_ = false;  ///< a write may wait for a reader
  Fd own_;              ///< a way of our own to the same pipe or terminal, on which it never does
  std::string rest_;    ///< of a line that was begun
  std::size_t lost_ = 0;
};

}  // namespace baton
