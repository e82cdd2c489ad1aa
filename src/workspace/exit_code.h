#pragma once

// The exit codes of all commands, and the code for each kind of error.

#include "base/result.h"

namespace baton {

/// `baton --help` shows the same table.
enum class ExitCode : int {
  fine = 0,
  failed = 1,         ///< the check, the flow or the request failed
  usage = 2,          ///< wrong usage, configuration or schema
  unreachable = 3,    ///< baton could not read, write or reach something that it needs
  served = 75,        ///< another daemon serves this root, or one inside or around it (`run`)
  timed_out = 124,    ///< the time given was not enough
  interrupted = 130,  ///< Ctrl-C; most commands are ended by the signal itself
};

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
