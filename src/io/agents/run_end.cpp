// SPDX-License-Identifier: Apache-2.0
#include "io/agents/run_end.h"

#include <algorithm>
#include <limits>

#include "base/json/document.h"
#include "base/json/json.h"
#include "shim/protocol.h"

namespace baton {
namespace {

struct CauseRow {
  std::string_view cause;
  Outcome outcome;
  std::string_view reason;
};
// `exit` is missing because its outcome depends on the exit status.
constexpr CauseRow kCauses[] = {
    {shim::kCauseExecFailed, Outcome::failed, "exec_failed"},
    {shim::kCauseBeforeFailed, Outcome::failed, "before_failed"},
    {shim::kCauseBeforeTimeout, Outcome::failed, "before_timeout"},
    {shim::kCauseWallLimit, Outcome::timed_out, "timeout"},
    {shim::kCauseIdleLimit, Outcome::stalled, "idle_timeout"},
    {shim::kCauseTerm, Outcome::interrupted, "terminated"},
    {shim::kCauseShimKilled, Outcome::unknown, "shim_killed"},
};

void set_outcome(const ExitRecord& exit, bool stop_wanted, RunEnd& end) {
  for (const CauseRow& row : kCauses) {
    if (row.cause != exit.cause)
      continue;
    end.outcome = row.outcome;
    end.reason = row.reason;
    if (stop_wanted && (exit.cause == shim::kCauseTerm || exit.cause == shim::kCauseShimKilled)) {
      end.outcome = Outcome::stopped;
      end.reason.clear();
    }
    return;
  }
  if (exit.exit_code == 0) {
    end.outcome = Outcome::succeeded;
    return;
  }
  end.outcome = Outcome::failed;
  end.reason =
      exit.exit_code ? exit_reason(*exit.exit_code) : signal_reason(exit.signal.value_or(0));
}

/// The agent itself ended by the kernel's signal, so that neither its exit status nor its output
/// says why.
void set_out_of_memory(const ExitRecord& exit, RunEnd& end) {
  if (exit.memory_kills == 0 || end.outcome != Outcome::failed)
    return;
  end.reason = kOutOfMemory;
  end.error = "the kernel killed it because memory ran out; it had used up to " +
              std::to_string(exit.memory_peak_kib / 1024) + " MiB";
}

std::optional<int> small(const Value& root, std::string_view name) {
  const std::optional<std::int64_t> number = json::integer(root, name);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
    return std::nullopt;
  return static_cast<int>(*number);
}

std::int64_t count(const Value& root, std::string_view name) {
  return std::max<std::int64_t>(0, json::integer(root, name).value_or(0));
}

}  // namespace

std::string exit_reason(int exit_code) {
  return "exit_" + std::to_string(exit_code);
}

std::string signal_reason(int signal) {
  const char* name = sigabbrev_np(signal);
  return "signal_" + (name != nullptr ? std::string(name) : std::to_string(signal));
}

Result<ExitRecord> parse_exit(std::string_view text, const std::string& where) {
  const Result<Json> parsed = parse_json(text);
  if (!parsed)
    return fail(parsed.error().code, parsed.error().message, where);
  const Value& root = **parsed;
  if (json::integer(root, "version") != shim::kExitVersion)
    return fail(Errc::schema, "version is not " + std::to_string(shim::kExitVersion), where);
  ExitRecord exit;
  exit.run_id = json::text(root, "run_id").value_or("");
  exit.cause = json::text(root, "cause").value_or("");
  exit.error = json::text(root, "error").value_or("");
  exit.exit_code = small(root, "exit_code");
  exit.signal = small(root, "signal");
  const bool known = exit.cause == shim::kCauseExit ||
                     std::any_of(std::begin(kCauses), std::end(kCauses),
                                 [&](const CauseRow& row) { return row.cause == exit.cause; });
  if (exit.run_id.empty() || !known)
    return fail(Errc::schema, "run_id or cause is missing or unknown", where);
  if (exit.cause == shim::kCauseExit && !exit.exit_code && !exit.signal)
    return fail(Errc::schema, "neither exit_code nor signal", where);
  exit.ended = Time(Millis(count(root, "ended_ms")));
  exit.wall_ms = count(root, "wall_ms");
  exit.user_ms = count(root, "user_ms");
  exit.system_ms = count(root, "system_ms");
  exit.max_rss_kib = count(root, "max_rss_kib");
  exit.stdout_bytes = static_cast<std::uint64_t>(count(root, "stdout_bytes"));
  exit.stderr_bytes = static_cast<std::uint64_t>(count(root, "stderr_bytes"));
  exit.stdout_dropped = static_cast<std::uint64_t>(count(root, "stdout_dropped"));
  exit.stderr_dropped = static_cast<std::uint64_t>(count(root, "stderr_dropped"));
  exit.leftovers = count(root, "leftovers");
  exit.survivors = count(root, "survivors");
  exit.memory_kills = count(root, "memory_kills");
  exit.memory_peak_kib = count(root, "memory_peak_kib");
  return exit;
}

RunEnd run_end(const ExitRecord& exit, bool stop_wanted) {
  RunEnd end;
  end.run = exit.run_id;
  end.exit_code = exit.exit_code;
  end.signal = exit.signal.value_or(0);
  end.ended = exit.ended;
  end.duration = Millis(exit.wall_ms);
  end.user_ms = exit.user_ms;
  end.system_ms = exit.system_ms;
  end.max_rss_kib = exit.max_rss_kib;
  end.stdout_bytes = exit.stdout_bytes;
  end.stderr_bytes = exit.stderr_bytes;
  end.leftovers = exit.leftovers > 0;
  set_outcome(exit, stop_wanted, end);
  set_out_of_memory(exit, end);
  // The exit status 127 of a process that never became the agent says nothing about the agent.
  if (exit.cause == shim::kCauseExecFailed || exit.cause == shim::kCauseBeforeFailed ||
      exit.cause == shim::kCauseBeforeTimeout)
    end.exit_code.reset();
  if (exit.survivors > 0)
    end.reason = kCouldNotStop;
  return end;
}

}  // namespace baton
