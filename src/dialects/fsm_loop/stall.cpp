// SPDX-License-Identifier: Apache-2.0

// The stall evaluators: whether the project, a file of numbers or the work of a state still
// changes.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/fsm_loop/verdict.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

/// Runs `git diff --stat` so that git starts no program which the repository names: no monitor, no
/// hook, no transport, no filter. git compares files of the work tree through the filters of the
/// configuration, so those of the repository get an empty command. Those of the system and the user
/// stay.
constexpr std::string_view kDiff = R"(export GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 \
  GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0
n=${GIT_CONFIG_COUNT:-0}
filters=$(git config --show-scope --name-only --get-regexp '^filter\.' 2>/dev/null)
while read -r scope name; do
  case $scope in
    local | worktree)
      export "GIT_CONFIG_KEY_$n=$name" "GIT_CONFIG_VALUE_$n="
      n=$((n + 1)) ;;
  esac
done <<END
$filters
END
export GIT_CONFIG_COUNT="$n"
exec git --no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null diff --stat \
  --no-ext-diff --no-textconv --ignore-submodules=dirty "$@"
)";

/// Counts how often in a row the text was the same as at the last entry of the state.
Verdict repeated(const Judging& judging, std::string_view seen, std::int64_t most,
                 std::string_view changed_key, Json details) {
  const std::string digest = hex(digest_of(seen));
  const auto before =
      judging.memory == nullptr ? std::nullopt : json::text(*judging.memory, "digest");
  const bool changed = before != digest;
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t count =
      changed ? 0
              : std::clamp<std::int64_t>(json::integer(*judging.memory, "stall_count").value_or(0),
                                         0, kMost) +
                    1;
  details.set("stall_count", count);
  details.set(changed_key, changed);
  Verdict verdict = make_verdict(count >= most ? "no" : "yes", std::move(details));
  verdict.memory = Json::object({{"digest", digest}, {"stall_count", count}});
  return verdict;
}

/// The value of a tracked key. A key with a dot is a path as in a placeholder; any other key is a
/// name.
std::string tracked(const Judging& judging, const std::string& key) {
  const auto value = [&](const std::string& path) {
    return interpolate("${" + path + "}", judging.values);
  };
  if (key.find('.') != std::string::npos)
    return value(key).value_or("");
  // The action's own output comes before that of `prev`.
  if (key == "action")
    return std::string(judging.action_text);
  if (judging.action != nullptr && key == "output")
    return judging.action->output;
  if (judging.action != nullptr && key == "exit_code")
    return std::to_string(judging.action->exit_code);
  for (const char* const space : {"context.", "captured.", "prev."})
    if (const auto found = value(space + key))
      return *found;
  return {};
}

/// The file with the numbers of a stall evaluator, as a path in the project's folder.
Result<std::string> history_file(const Judging& judging, bool scores) {
  if (json::child(*judging.state.evaluate, "history_file") != nullptr)
    return setting(judging, "history_file");
  return interpolate(
      scores ? "${context.run_dir}/.score_history" : "${context.run_dir}/.open_questions_history",
      judging.values);
}

}  // namespace

SideCommand diff_command(const Judging& judging) {
  constexpr Millis kTime{30'000};
  SideCommand diff{
      SideCommand::Kind::diff, {"/bin/sh", "-c", std::string(kDiff), "git"}, {}, kTime, {}};
  if (json::child(*judging.state.evaluate, "scope") != nullptr)
    diff.argv.emplace_back("--");
  for (std::string& path : texts_of(*judging.state.evaluate, "scope"))
    diff.argv.push_back(std::move(path));
  return diff;
}

std::optional<SideCommand> history_command(const Judging& judging, bool scores) {
  const auto path = history_file(judging, scores);
  if (!path || path->find('\0') != std::string::npos)
    return std::nullopt;
  constexpr Millis kTime{30'000};
  // No file is no history yet.
  return SideCommand{SideCommand::Kind::history,
                     {"/bin/sh", "-c", R"([ -e "$1" ] || exit 0
[ -f "$1" ] || { echo "it is no regular file" >&2; exit 1; }
exec cat < "$1")",
                      "history", *path},
                     {},
                     kTime,
                     {}};
}

Verdict by_diff(const Judging& judging) {
  const std::int64_t most = json::integer(*judging.state.evaluate, "max_stall").value_or(1);
  Json details = Json::object({{"max_stall", most}});
  const ActionResult* const git = judging.side;
  if (git == nullptr)
    return failed("git was not asked what has changed", std::move(details));
  if (!git->not_run.empty())
    return failed("git could not be run: " + git->not_run, std::move(details));
  if (git->exit_code != 0)
    return failed("git diff failed with exit code " + std::to_string(git->exit_code) + ": " +
                      mended_utf8(git->error_output),
                  std::move(details));
  return repeated(judging, git->output, most, "diff_changed", std::move(details));
}

Verdict by_history(const Judging& judging, bool rising) {
  const Value& evaluate = *judging.state.evaluate;
  const std::int64_t most = json::integer(evaluate, "max_stall").value_or(1);
  const double least = json::number(evaluate, "epsilon").value_or(0.5);
  Json details = Json::object({{"max_stall", most}, {"epsilon", number_value(least)}});
  const ActionResult* const read = judging.side;
  if (read == nullptr)
    return failed("the name of the history file cannot be filled in", std::move(details));
  if (!read->not_run.empty() || read->exit_code != 0)
    return failed(
        "the history file cannot be read: " +
            mended_utf8(read->not_run.empty() ? trimmed(read->error_output) : read->not_run),
        std::move(details));
  std::int64_t stall = 0;
  std::int64_t rounds = 0;
  double best = 0;
  for (const std::string& line : split(read->output, '\n')) {
    const auto number = decimal(line);
    if (!number)
      continue;
    const double gain = rising ? *number - best : best - *number;
    if (++rounds > 1)
      stall = gain > least ? 0 : stall + 1;
    if (rounds == 1 || gain > 0)
      best = *number;
  }
  details.set("stall_count", stall).set("rounds", rounds);
  details.set("best", rounds == 0 ? Json() : number_value(best));
  return make_verdict(rounds > 1 && stall >= most ? "no" : "yes", std::move(details));
}

Verdict by_repetition(const Judging& judging) {
  const Value& evaluate = *judging.state.evaluate;
  std::vector<std::string> keys = texts_of(evaluate, "track");
  if (keys.empty())
    keys.emplace_back("action");
  std::string seen;
  Json names = Json::array();
  for (const std::string& key : keys) {
    // The lengths keep lists apart whose texts would look alike.
    const std::string value = tracked(judging, key);
    seen += key + "=" + std::to_string(value.size()) + ":" + value + "|";
    names.push(key);
  }
  const std::int64_t most = json::integer(evaluate, "max_repeat").value_or(2);
  return repeated(judging, seen, most, "hash_changed",
                  Json::object({{"max_repeat", most}, {"tracked_keys", names}}));
}

}  // namespace baton::fsm_loop
