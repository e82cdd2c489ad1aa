#include "app/hook_text.h"

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

/// The program of a hook's first line: `bash` for `#!/usr/bin/env -S bash -e`; `sh` without one,
/// for so git runs it.
std::string interpreter(std::string_view hook) {
  if (!hook.starts_with("#!"))
    return "sh";
  const std::string line(hook.substr(2, hook.find('\n') - 2));
  std::string last;
  for (const std::string& word : split(line, ' ')) {
    if (word.empty() || (!last.empty() && word.starts_with("-")))
      continue;
    last = word.substr(word.rfind('/') + 1);
    if (last != "env")
      break;
  }
  return last;
}

bool is_shell(std::string_view name) {
  constexpr std::array<std::string_view, 7> kShells = {"sh",  "bash", "dash", "ash",
                                                       "ksh", "mksh", "zsh"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

}  // namespace

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
  const std::string program =
      base.find('\0') == std::string::npos ? interpreter(base) : "the machine";
  if (!is_shell(program))
    return fail(Errc::usage, "is a program for " + printable(program, 60) +
                                 ", not for a shell, so nothing can be added; let it call `" +
                                 std::string(command) + "` itself");
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
