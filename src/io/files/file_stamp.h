#pragma once

#include <cstdint>
#include <ctime>

#include <sys/stat.h>

#include "core/ports.h"

namespace baton {

std::int64_t nanoseconds(const timespec& time);

/// Folds what stat(2) says of a file into one number. 0 when its times are so young that another
/// change could carry the same ones (the clock of file systems ticks every 4 ms or so).
Stamp stamp_of(const struct stat& info);

}  // namespace baton
