#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton {

/// What a program that was run to its end has left.
struct CommandOutcome {
  int exit = 0;        ///< 128 and the signal for one that was killed
  std::string output;  ///< stdout
  std::string errors;  ///< the beginning of stderr
};

/// Runs a program of PATH with our environment and folder, `input` on its stdin, and waits for its
/// end. For short commands; the daemon starts nothing this way but filters of backups. After
/// `limit` (zero: none) its process group is killed. Errc::not_found, too_large for more than
/// `max_bytes` on stdout, busy, io.
Result<CommandOutcome> run_command(const std::vector<std::string>& argv, std::string_view input,
                                   std::size_t max_bytes, Millis limit = Millis(0));

}  // namespace baton
