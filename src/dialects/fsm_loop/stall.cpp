#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/evaluators.h"

namespace baton::fsm_loop {
namespace {

/// Compares with what the last entry of the state left, and counts how often it was the same.
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
  Verdict verdict = said(count >= most ? "no" : "yes", std::move(details));
  verdict.memory = Json::object({{"digest", digest}, {"stall_count", count}});
  return verdict;
}

/// A value that is tracked: with a dot as a placeholder would say it, else what goes by that name.
std::string tracked(const Judging& judging, const std::string& key) {
  const auto value = [&](const std::string& path) {
    return interpolate("${" + path + "}", judging.values);
  };
  if (key.find('.') != std::string::npos)
    return value(key).value_or("");
  // First what this action did: the result before has an output too.
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

}  // namespace

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

Verdict by_repetition(const Judging& judging) {
  const Value& evaluate = *judging.state.evaluate;
  std::vector<std::string> keys;
  if (const Value* const track = json::child(evaluate, "track");
      track != nullptr && track->IsArray())
    for (const Value& key : track->GetArray())
      keys.emplace_back(json::text(key).value_or(""));
  if (keys.empty())
    keys.emplace_back("action");
  std::string seen;
  Json names = Json::array();
  for (const std::string& key : keys) {
    // With lengths, so that no two lists of values look alike.
    const std::string value = tracked(judging, key);
    seen += key + "=" + std::to_string(value.size()) + ":" + value + "|";
    names.push(key);
  }
  const std::int64_t most = json::integer(evaluate, "max_repeat").value_or(2);
  return repeated(judging, seen, most, "hash_changed",
                  Json::object({{"max_repeat", most}, {"tracked_keys", names}}));
}

}  // namespace baton::fsm_loop
