// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernel can say about an open file, without reading it: a stamp that changes with the
// content, open writers, the holder of a lock, and whether the file is on a network file system.

#include <cstdint>
#include <ctime>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "core/ports.h"

namespace baton {

std::int64_t nanoseconds(const timespec& time);

/// How much coarser than the kernel's clock the file system's time stamps may be, judged by this
/// file: whole seconds look coarse.
std::int64_t granularity_ns(const struct stat& info);

/// A number that changes when the file changes, made from stat(2). Returns 0 when the last change
/// is so recent that another change could have the same times: the clock of file systems ticks
/// about every 4 ms, and some keep only every second one.
Stamp stamp_of(const struct stat& info);

/// The identity of an open file. 0: the file system does not know when a file was born.
FileIdentity identity_of(int fd);

enum class OpenWriters {
  none,
  some,
  unknown,  ///< the file belongs to another user, or the file system cannot tell
};
/// Whether a process has this regular file open for writing. `fd` must be open for reading only.
OpenWriters open_writers(int fd);

/// The process that holds a flock on the file, as /proc/locks lists it. 0 when unknown, as on some
/// file systems and for processes in other containers.
std::int64_t flock_holder(int fd);

/// All processes that hold a flock on the file, shared or not, as /proc/locks lists them. A number
/// that is not positive stands for a process that has ended or is in another container.
std::vector<std::int64_t> flock_holders(const struct stat& info);

/// The name of a file system ("nfs", "fuse" ...) that other machines or programs change, so that
/// inotify sees no events. "" for local ones. `magic` is the number of statfs(2).
std::string_view network_file_system(std::uint64_t magic);
/// The same for an open file. "" when statfs fails.
std::string_view network_file_system_of(int fd);

}  // namespace baton
