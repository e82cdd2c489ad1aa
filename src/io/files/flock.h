#pragma once

#include <cstdint>

namespace baton {

/// The process that holds a flock on the file of `fd`, as the kernel lists it; 0 when that cannot
/// be known, as on some file systems and of processes in other containers.
std::int64_t flock_holder(int fd);

}  // namespace baton
