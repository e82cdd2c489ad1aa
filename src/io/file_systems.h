#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

/// The name of a file system on which locks and change notices are not to be relied upon (network,
/// FUSE), by the `f_type` of statfs(2); nothing for a local one.
std::optional<std::string_view> remote_file_system(std::uint32_t type);

/// The same for the file system a path lies on. Errc::not_found, denied, io.
Result<std::optional<std::string_view>> remote_file_system_of(const std::string& path);

}  // namespace baton
