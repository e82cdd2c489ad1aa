#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

// Who can write a configuration or a program decides what is started. *Foreign* is every user but
// root and the one we run as; what group or others can write counts as foreign too. A folder owned
// by root with the sticky bit, such as /tmp, is fine.

/// Whether nobody foreign can change what the path leads to: the file, the folders on the way,
/// links and where they lead. Errc::denied names what is open, not_found, io.
Result<void> trusted_file(const std::string& path);
/// The same for a folder.
Result<void> trusted_folder(const std::string& path);

/// The absolute path of a program: a bare name by `path_variable` (the value of PATH), one with `/`
/// relative to `configuration_folder`. It must be a regular, executable, trusted file without
/// setuid and setgid. Errc::not_found, denied; config when the name is empty or PATH has an empty,
/// a relative or a foreign-writable entry.
Result<std::string> find_program(const std::string& name, std::string_view path_variable,
                                 const std::string& configuration_folder);

}  // namespace baton
