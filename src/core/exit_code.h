// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exit codes of all commands as one table, and the code for each kind of error.
// `baton --help` prints the table. The help of each command prints the rows that the command can
// return (workspace/options.h). docs/status.md has the same codes; a test compares them.

#include <array>
#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace baton {

enum class ExitCode : int {
  fine = 0,
  failed = 1,
  usage = 2,
  unreachable = 3,
  served = 75,
  timed_out = 124,
  interrupted = 130,  ///< most commands do not return it: the signal itself ends them
};

struct ExitRow {
  ExitCode code;
  std::string_view word;
  std::string_view means;
};
/// In the order of the numbers.
inline constexpr std::array<ExitRow, 7> kExitCodes = {{
    {ExitCode::fine, "fine", "fine"},
    {ExitCode::failed, "failed", "the thing asked about failed, or needs a person"},
    {ExitCode::usage, "usage", "wrong usage, configuration or schema"},
    {ExitCode::unreachable, "unreachable",
     "out of reach: something could not be read, written or reached"},
    {ExitCode::served, "served", "another daemon serves the root, or a root inside or around it"},
    {ExitCode::timed_out, "timed_out", "time-out"},
    {ExitCode::interrupted, "interrupted", "Ctrl-C"},
}};

/// The place of a code in the table.
constexpr std::size_t index_of(ExitCode code) {
  // The compiler names this switch when a code has no row.
  switch (code) {
    case ExitCode::fine:
      return 0;
    case ExitCode::failed:
      return 1;
    case ExitCode::usage:
      return 2;
    case ExitCode::unreachable:
      return 3;
    case ExitCode::served:
      return 4;
    case ExitCode::timed_out:
      return 5;
    case ExitCode::interrupted:
      return 6;
  }
  return kExitCodes.size();
}
constexpr const ExitRow& row_of(ExitCode code) {
  return kExitCodes.at(index_of(code));
}
constexpr bool exit_codes_are_complete() {
  for (std::size_t i = 0; i < kExitCodes.size(); ++i) {
    if (index_of(kExitCodes.at(i).code) != i)
      return false;
    if (i > 0 && kExitCodes.at(i - 1).code >= kExitCodes.at(i).code)
      return false;
  }
  return index_of(ExitCode::interrupted) + 1 == kExitCodes.size();
}
static_assert(exit_codes_are_complete(), "one row per code, in the order of the numbers");

/// The exit code of a command that ends with this error.
constexpr ExitCode exit_code_of(Errc code) {
  switch (code) {
    case Errc::usage:
    case Errc::config:
    case Errc::schema:
      return ExitCode::usage;
    case Errc::changed:
    case Errc::parse:
      return ExitCode::failed;
    case Errc::not_found:
    case Errc::not_regular:
    case Errc::too_large:
    case Errc::busy:
    case Errc::locked:
    case Errc::away:
    case Errc::served:
    case Errc::no_space:
    case Errc::denied:
    case Errc::newer:
    case Errc::io:
      return ExitCode::unreachable;
  }
  return ExitCode::unreachable;
}

/// The graver of two codes, for a command that does several things: 2 before 3 before 1 before 0.
constexpr ExitCode graver(ExitCode left, ExitCode right) {
  // Only 2 and 3 do not rank by their numbers.
  const auto rank = [](ExitCode code) {
    return code == ExitCode::usage         ? static_cast<int>(ExitCode::unreachable)
           : code == ExitCode::unreachable ? static_cast<int>(ExitCode::usage)
                                           : static_cast<int>(code);
  };
  return rank(left) >= rank(right) ? left : right;
}

}  // namespace baton
