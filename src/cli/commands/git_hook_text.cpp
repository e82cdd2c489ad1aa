#include "cli/commands/git_hook_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::string_view kBegin = "# >>> baton >>> `baton hook uninstall` takes this part out\n";
constexpr std::string_view kEnd = "# <<< baton <<<";
constexpr std::string_view kOurHead = "#!/bin/sh\n# This hook was made by `baton hook install`.\n";

/// Bytes of the hook from `begin` to just before `end`.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Result<std::optional<Part>> part_of(std::string_view hook) {
  const std::size_t begin = hook.find(kBegin);
  const std::size_t end = hook.find(kEnd);
  if (begin == std::string_view::npos && end == std::string_view::npos)
    return std::optional<Part>();
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin ||
      hook.find(kBegin, begin + 1) != std::string_view::npos ||
      hook.find(kEnd, end + 1) != std::string_view::npos)
    return fail(Errc::usage,
                "has one of the marks `>>> baton >>>` and `<<< baton <<<` without the other, or "
                "twice; take them out by hand");
  Part part{begin, end + kEnd.size()};
  if (part.end < hook.size() && hook[part.end] == '\n')
    ++part.end;
  else if (part.end == hook.size() && part.begin > 0)
    --part.begin;  // the first line had no end, and was given one
  return std::optional(part);
}

std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string> words;
  std::size_t at = line.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool is_assignment(const std::string& word) {
  const std::size_t at = word.find('=');
  return at != std::string::npos && at > 0 && word.find('/') > at;
}

/// The program of a hook's first line: `bash` for `#!/usr/bin/env -S LANG=C bash -e` and for
/// `#!/bin/busybox bash`; `sh` without one, for so git runs it; empty when none can be seen.
std::string interpreter(std::string_view hook) {
  if (!hook.starts_with("#!"))
    return "sh";
  bool by_env = false;
  for (const std::string& word : words_of(hook.substr(2, hook.find('\n') - 2))) {
    if (by_env && (word.starts_with("-") || is_assignment(word)))
      continue;
    std::string name = word.substr(word.rfind('/') + 1);
    if (name != "env" && name != "busybox")
      return name;
    by_env = by_env || name == "env";
  }
  return "";
}

bool is_shell(std::string_view name) {
  constexpr std::array<std::string_view, 7> kShells = {"sh",  "bash", "dash", "ash",
                                                       "ksh", "mksh", "zsh"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

}  // namespace

std::optional<std::string> no_shell(std::string_view hook) {
  if (hook.find('\0') != std::string_view::npos)
    return "is a program by itself and no shell script";
  const std::string program = interpreter(hook);
  if (is_shell(program))
    return std::nullopt;
  if (program.ends_with('\r'))
    return "ends its first line with a carriage return, so the system does not find its program";
  return program.empty() ? "has a first line that names no program"
                         : "is a program for " + printable(program, 60) + ", not for a shell";
}

bool has_part(std::string_view hook) {
  const auto part = part_of(hook);
  return part && part->has_value();
}

Result<std::string> without_part(std::string_view hook) {
  const auto part = part_of(hook);
  if (!part)
    return tl::unexpected(part.error());
  if (!*part)
    return std::string(hook);
  std::string rest(hook.substr(0, (*part)->begin));
  rest += hook.substr((*part)->end);
  return rest == kOurHead ? std::string() : rest;
}

Result<std::string> with_part(std::string_view hook, std::string_view command) {
  auto others = without_part(hook);
  if (!others)
    return others;
  const std::string base = others->empty() ? std::string(kOurHead) : *std::move(others);
  if (const auto other = no_shell(base))
    return fail(Errc::usage, *other + ", so nothing can be added");
  std::string part(kBegin);
  part += std::string(command) + " || exit 1\n" + std::string(kEnd);
  const std::size_t line = base.starts_with("#!") ? base.find('\n') : 0;
  if (line == std::string::npos)
    return base + "\n" + part;
  std::size_t at = base.starts_with("#!") ? line + 1 : 0;
  if (base.starts_with(kOurHead))
    at = kOurHead.size();
  return base.substr(0, at) + part + "\n" + base.substr(at);
}

}  // namespace baton
