#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

/// "nfs", "fuse" ... for file systems whose changes are made by other machines or programs and give
/// no inotify events here; "" for local ones. By the magic number of statfs(2).
std::string_view network_file_system(std::uint64_t magic);
/// The same for an open file. "" when it cannot be asked.
std::string_view network_file_system_of(int fd);

}  // namespace baton
