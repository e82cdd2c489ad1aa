#include "io/run_verdict.h"

#include <chrono>
#include <utility>

#include "io/run_directory.h"
#include "shim/protocol.h"

namespace baton {
namespace {

Time wall_now() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

RunVerdict ended(RunEnd end) {
  RunVerdict verdict;
  verdict.kind = RunVerdict::Kind::ended;
  verdict.end = std::move(end);
  return verdict;
}

RunVerdict undecided(RunVerdict::Kind kind) {
  RunVerdict verdict;
  verdict.kind = kind;
  return verdict;
}

}  // namespace

RunEnd plain_end(const RunId& run, Outcome outcome, std::string reason) {
  RunEnd end;
  end.run = run;
  end.outcome = outcome;
  end.reason = std::move(reason);
  end.ended = wall_now();
  return end;
}

Result<std::optional<RunEnd>> recorded_end(const Fd& directory, const RunId& run,
                                           bool stop_wanted) {
  auto text = exit_text(directory);
  if (!text && text.error().code == Errc::not_found)
    return std::optional<RunEnd>();
  if (!text && (text.error().code == Errc::busy || text.error().code == Errc::no_space ||
                text.error().code == Errc::io))
    return pass_on(text);
  const auto exit = text ? parse_exit(*text, shim::kExitFile) : Result<ExitRecord>(pass_on(text));
  if (!exit || exit->run_id != run)
    return std::optional(plain_end(run, Outcome::unknown, "exit_file_damaged"));
  RunEnd end = run_end(*exit, stop_wanted);
  end.output = output_tail(directory, shim::kStdoutFile, kOutputBytes);
  end.errors = output_tail(directory, shim::kStderrFile, kErrorBytes);
  return std::optional(std::move(end));
}

RunVerdict verdict_by_folder(const RunId& run, const std::string& path, bool stop_wanted) {
  auto directory = open_run_directory(path);
  if (!directory && directory.error().code == Errc::not_found)
    // Without it nobody can say whether it was claimed, so it must not be had again.
    return ended(plain_end(run, Outcome::unknown, "run_directory_missing"));
  if (!directory)
    return undecided(RunVerdict::Kind::retry);
  auto lock = take_run_lock(*directory);
  if (!lock)
    return undecided(RunVerdict::Kind::retry);
  if (!*lock)
    return undecided(RunVerdict::Kind::locked);
  // The lock is ours, so no shim lives and what lies there is final.
  auto recorded = recorded_end(*directory, run, stop_wanted);
  if (!recorded)
    return undecided(RunVerdict::Kind::retry);
  if (*recorded)
    return ended(std::move(**recorded));
  const auto was_claimed = claimed(*directory);
  if (!was_claimed)
    return undecided(RunVerdict::Kind::retry);
  if (!*was_claimed)
    return ended(plain_end(run, Outcome::voided, "not_claimed"));
  RunVerdict verdict = undecided(RunVerdict::Kind::sweep);
  verdict.directory = std::move(*directory);
  verdict.lock = std::move(**lock);
  return verdict;
}

}  // namespace baton
