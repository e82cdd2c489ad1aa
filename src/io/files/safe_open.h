// SPDX-License-Identifier: Apache-2.0
#pragma once

// Safe open: opens files below a folder that agents can write. The path never follows a link, never
// enters another mount and never leads upwards, even if somebody swaps folders meanwhile. Uses
// openat2, or a walk over the components: systemd's RestrictSUIDSGID= hides openat2 from a service.

#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// Errc::not_regular unless the path is relative and has only non-empty names without `.`, `..` and
/// NUL.
Result<void> check_relative(std::string_view path);

/// Opens `path` below `folder`; "" is the folder itself. Checks the path first. Adds O_CLOEXEC,
/// O_NOFOLLOW, O_NONBLOCK and O_NOCTTY.
Result<Fd> safe_open(int folder, const std::string& path, int flags, mode_t mode = 0);

/// The same without openat2: opens each component with O_NOFOLLOW, and compares mount
/// ids.
Result<Fd> safe_open_by_walking(int folder, const std::string& path, int flags, mode_t mode = 0);

/// Opens for reading; Errc::not_regular for anything but a regular file.
Result<Fd> open_regular(int folder, const std::string& path, int flags);

/// `a/b/c` is `a/b` and `c`; `c` is "" and `c`.
struct SplitPath {
  std::string folder;
  std::string name;
};
SplitPath split_path(const std::string& path);
std::string join_path(const std::string& folder, const std::string& name);

/// Creates missing folders below `folder`, durably. Returns the last one, open.
Result<Fd> make_folders(int folder, const std::string& path, mode_t mode = 0777);

}  // namespace baton
