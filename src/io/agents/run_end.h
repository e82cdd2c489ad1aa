// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses exit.json, which the shim writes at the end of a run, and translates it into the `RunEnd`
// of the core.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/run.h"

namespace baton {

/// The content of exit.json (shim/protocol.h).
struct ExitRecord {
  std::string run_id;
  std::string cause;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string error;
  Time ended{};
  std::int64_t wall_ms = 0;
  std::int64_t user_ms = 0;
  std::int64_t system_ms = 0;
  std::int64_t max_rss_kib = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::uint64_t stdout_dropped = 0;  ///< how many of them are not in the log
  std::uint64_t stderr_dropped = 0;
  std::int64_t leftovers = 0;
  std::int64_t survivors = 0;
  std::int64_t memory_kills = 0;
  std::int64_t memory_peak_kib = 0;
};

/// Errc::parse, schema.
Result<ExitRecord> parse_exit(std::string_view text, const std::string& where);

/// Translates the record. The outcome is `stopped` only if `stop_wanted`: baton had recorded a stop
/// of this run. If processes survived, the reason is `could_not_stop`, whatever else happened.
RunEnd run_end(const ExitRecord& exit, bool stop_wanted);

/// `exit_3`, `signal_KILL`.
std::string exit_reason(int exit_code);
std::string signal_reason(int signal);

}  // namespace baton
