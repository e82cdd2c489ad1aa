#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

// Opening what lies below a folder that agents write: never through a link, never onto another
// mount, never upwards, whatever is swapped in meanwhile.

/// Relative, `/` between non-empty names, no `.`, no `..`, no NUL. What is not is
/// Errc::not_regular.
Result<void> check_relative(std::string_view path);

/// Opens `path` below `folder`. O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK and O_NOCTTY are added. The path
/// is checked first; "" is the folder itself.
Result<Fd> safe_open(int folder, const std::string& path, int flags, mode_t mode = 0);

/// The same by walking the components with O_NOFOLLOW, for kernels without openat2; used by
/// safe_open there. Sees other mounts by their id.
Result<Fd> safe_open_by_walking(int folder, const std::string& path, int flags, mode_t mode = 0);

/// Opens for reading and insists on a regular file.
Result<Fd> open_regular(int folder, const std::string& path, int flags);

/// `a/b/c` is `a/b` and `c`; `c` is "" and `c`.
struct SplitPath {
  std::string folder;
  std::string name;
};
SplitPath split_path(const std::string& path);
std::string join_path(const std::string& folder, const std::string& name);

/// Makes missing folders below `folder`, durably. Opens the last one.
Result<Fd> make_folders(int folder, const std::string& path, mode_t mode = 0777);

}  // namespace baton
