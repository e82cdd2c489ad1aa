// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks who could change a file that decides what baton starts: a configuration or a program.
// *Foreign* is every user but root and our own; rights for the group or others count as foreign
// too. A group without other members (in /etc/group and /etc/passwd) counts as its owner, as with
// umask 002 and a group for each user. A folder of root with the sticky bit, such as /tmp, is fine.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"

namespace baton {

/// Whether no foreign user can change the file, any folder on the way, or any link on the way and
/// its target. Errc::denied (with the path that is open), not_found, io. The message says how to
/// end it, unless `owner_in_charge`.
Result<void> trusted_file(const std::string& path);
Result<void> trusted_folder(const std::string& path);

/// The foreign owner of what is not trusted (Error::where), if only that user can use it: it is a
/// folder, or it lies in a folder that is not ours. Nothing otherwise.
std::optional<uid_t> owner_in_charge(const std::string& where);

/// `user 1000 (alice)`, as /etc/passwd has it; without a name if it has none.
std::string user_text(std::uint32_t uid);

/// The last file, link or folder on the way that this user can write, or owns and so can make
/// writable: who acts as this user can change or exchange what the path leads to. "" if none.
std::string writable_place(const std::string& path);

/// The absolute path of a program. A bare name is looked up in `path_variable` (the value of PATH),
/// a name with `/` relative to `configuration_folder`. The program must be a regular, executable,
/// trusted file without setuid and setgid. Errc::not_found, denied. Errc::config when the name is
/// empty, or PATH has an empty, relative or foreign-writable entry.
Result<std::string> find_program(const std::string& name, std::string_view path_variable,
                                 const std::string& configuration_folder);

}  // namespace baton
