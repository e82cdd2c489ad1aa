// SPDX-License-Identifier: Apache-2.0
#include "core/run_text.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::size_t kMostShown = 300;

bool never_entered(const Run& run) {
  return run.reason == "exec_failed" || run.reason.starts_with("before_");
}

/// The shim's message about a failed start. It is the last line of stderr, because the shim writes
/// it when the run is over.
std::string shim_says(const Run& run) {
  constexpr std::string_view kBegin = "baton: ";
  std::string_view text = run.errors;
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  if (!never_entered(run) || !last.starts_with(kBegin))
    return "";
  return ": " + printable(last.substr(kBegin.size()), kMostShown);
}

/// Details that the reason word does not say.
std::string meaning(const Run& run) {
  if (run.reason == kShimMisfit)
    return ": baton-shim and the daemon are of different versions; install both of one, then "
           "restart the daemon";
  if (run.reason == kShimUnready)
    return ": baton-shim found no processes, no room or no folder for the start";
  if (run.reason == kUnitRefused)
    return ": systemd made no unit for it; either one of the same name still runs (`systemctl "
           "list-units 'baton-*'`, with --user for the daemon of a person), or the manager does "
           "not answer (`systemd-run --scope true`)";
  return shim_says(run);
}

}  // namespace

std::string reason_text(const Run& run) {
  return run.reason.empty() ? "" : run.reason + meaning(run);
}

std::string outcome_text(const Run& run) {
  if (work_failed(run)) {
    std::string why = run.reason;
    std::replace(why.begin(), why.end(), '_', ' ');
    return "exit 0, step failed: " + why;
  }
  const std::string reason = run.reason == word(run.outcome) ? "" : reason_text(run);
  return std::string(word(run.outcome)) + (reason.empty() ? "" : " (" + reason + ")");
}

std::string repeated_as(const Run& run) {
  if (run.outcome != Outcome::succeeded || work_failed(run))
    return outcome_text(run);
  return std::string(word(Outcome::failed)) + (run.error == kWasDenied     ? " (permission_denied)"
                                               : run.error == kEmptyAnswer ? " (empty_answer)"
                                                                           : " (no_change)");
}

std::string role_text(const Role& role, const Role& agent) {
  // The agent `default` plays the role itself.
  const bool own = agent.empty() || agent == role || agent == "default";
  return own ? role : role + " (by " + agent + ")";
}

std::string last_words(const Run& run) {
  if (!run.error.empty())
    return "\"" + run.error + "\"";
  for (const std::string* const text : {&run.errors, &run.output}) {
    std::string_view left = *text;
    while (!left.empty()) {
      while (!left.empty() && (left.back() == '\n' || left.back() == '\r' || left.back() == ' '))
        left.remove_suffix(1);
      if (!left.empty())
        return "\"" + printable(left.substr(left.rfind('\n') + 1), kMostShown) + "\"";
    }
  }
  return "";
}

std::string run_name(const Run& run) {
  return "run " + run.id.substr(0, 8);
}

}  // namespace baton
