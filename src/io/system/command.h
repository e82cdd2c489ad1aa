// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a short program and collects its output: git, a backup filter, a version check. Agents are
// not started here (io/agents). `run_command` waits for the end; `RunningCommand` does not.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pinned.h"
#include "base/result.h"
#include "base/time.h"
#include "io/files/fd.h"

namespace baton {

/// The result of a program that has ended.
struct CommandOutcome {
  int exit = 0;        ///< 128 plus the signal if it was killed
  std::string output;  ///< stdout
  std::string errors;  ///< the first part of stderr
};

/// Runs a program from PATH in our environment and folder, with `input` on stdin, and waits for its
/// end. `settings`, each NAME=VALUE, take the place of ours in the environment. The daemon never
/// uses this. Errc::not_found, busy, io; too_large for more than `max_bytes` on stdout.
Result<CommandOutcome> run_command(const std::vector<std::string>& argv, std::string_view input,
                                   std::size_t max_bytes,
                                   const std::vector<std::string>& settings = {});

/// A program that runs beside everything else. Its process group is killed after `limit` and when
/// this object is destroyed. Its first process also ends when ours ends.
class RunningCommand : private Pinned {
 public:
  virtual ~RunningCommand() = default;

  /// Returns the outcome once, when the program has ended; with `wait` it waits for that. Returns
  /// nothing while it runs. Errc::busy: it did not end within the limit.
  virtual std::optional<Result<CommandOutcome>> ended(bool wait) = 0;
  /// argv[0] is absolute. `env`: the environment, as NAME=VALUE; nothing: ours. `folder`: where it
  /// runs; "": in ours.
  static Result<std::unique_ptr<RunningCommand>> start(
      const std::vector<std::string>& argv, std::string_view input, std::size_t max_bytes,
      Millis limit, const std::optional<std::vector<std::string>>& env = std::nullopt,
      const std::string& folder = "");
};

/// A file in memory that holds `text` and is read from its beginning. Nobody can change it, unless
/// `text` is empty.
Result<Fd> file_in_memory(std::string_view text, const std::string& where);

/// Makes a file in memory unchangeable for everybody, for ever. It must have been made with
/// MFD_ALLOW_SEALING. False with errno on failure.
bool seal(const Fd& file);

/// The words as exec wants them, with nullptr at the end. They point into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace baton
