#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

// Adds our part to the text of a git hook and removes it again. The rest of the hook belongs to the
// user: `without_part(with_part(x))` is x, byte for byte.

/// The hook with our part, which calls `command` (a line of shell) and ends the hook when it fails.
/// It comes first, since what others wrote may end in `exec` or `exit`. Of a hook that has a part
/// already that part is replaced. An empty `hook` means that there is none yet. Errc::usage: the
/// hook is no shell script, or its part is damaged.
Result<std::string> with_part(std::string_view hook, std::string_view command);

/// The hook without our part; empty when it was ours altogether, unchanged when it has none.
/// Errc::usage: its part is damaged.
Result<std::string> without_part(std::string_view hook);

/// Why the hook is no script of a shell, to which a line could be added; nothing when it is one.
std::optional<std::string> no_shell(std::string_view hook);

bool has_part(std::string_view hook);

}  // namespace baton
