#pragma once

#include "base/result.h"

namespace baton {

/// How every command ends; the same table stands in each `--help`.
enum class ExitCode : int {
  fine = 0,
  failed = 1,         ///< the thing asked about failed
  usage = 2,          ///< wrong usage, configuration or schema
  unreachable = 3,    ///< could not read, write, or reach what is needed
  served = 75,        ///< another daemon serves this root, or one inside or around it (`run`)
  timed_out = 124,    ///< the time given was not enough
  interrupted = 130,  ///< Ctrl-C; the signal itself does it
};

/// What an error means to somebody who called a command.
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

/// Of two codes of one command the one that outranks the other: 2 before 3 before 1 before 0.
constexpr ExitCode graver(ExitCode left, ExitCode right) {
  // Wrong usage is graver than what cannot be reached; the others are in order.
  const auto rank = [](ExitCode code) {
    return code == ExitCode::usage         ? static_cast<int>(ExitCode::unreachable)
           : code == ExitCode::unreachable ? static_cast<int>(ExitCode::usage)
                                           : static_cast<int>(code);
  };
  return rank(left) >= rank(right) ? left : right;
}

}  // namespace baton
