#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
/// end. For short commands; the daemon starts nothing this way. Errc::not_found, too_large for more
/// than `max_bytes` on stdout, busy, io.
Result<CommandOutcome> run_command(const std::vector<std::string>& argv, std::string_view input,
                                   std::size_t max_bytes);

/// The same beside everything else. After `limit` its process group is killed, and so it is when
/// this object goes; its first process also ends with ours.
class RunningCommand {
 public:
  virtual ~RunningCommand() = default;
  RunningCommand() = default;
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  RunningCommand(RunningCommand&&) = delete;
  RunningCommand& operator=(RunningCommand&&) = delete;

  /// Nothing while it runs, unless its end is to be waited for; then, once, its outcome.
  /// Errc::busy: it did not end within the limit.
  virtual std::optional<Result<CommandOutcome>> ended(bool wait) = 0;
  /// argv[0] is absolute.
  static Result<std::unique_ptr<RunningCommand>> start(const std::vector<std::string>& argv,
                                                       std::string_view input,
                                                       std::size_t max_bytes, Millis limit);
};

}  // namespace baton
