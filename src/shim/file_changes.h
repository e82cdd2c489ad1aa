// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks for files that changed a short time ago. A file system may be large, or may not answer. So
// the look has a limit, and a process of its own makes it, which can be killed (idle.h).

#include <cstddef>
#include <cstdint>

namespace baton::shim {

/// How many files and folders one look takes in. What lies beyond them stays unknown.
constexpr std::size_t kMostLooked = 50'000;

/// `quiet`: nothing has changed. `changed`: something has. `unknown`: something could not be read,
/// or there were too many files.
enum class Look : int { quiet, changed, unknown };

/// Looks, level by level, for a file or folder whose change time is later than `since_ns` (Unix
/// time) and not ahead of the clock. Programs can set a modification time, but no change time
/// (ctime). `paths`: files and folders with absolute paths; the list ends in nullptr. A missing one
/// is passed over.
///
/// Left out: `.git` except `index` and HEAD in it; the folders node_modules, .venv, target and
/// __pycache__; the folder of baton's runs and the one around it, as seen from `run_directory`.
/// Links are not followed, except by `paths` themselves.
Look look_for_changes(const char* const* paths, std::int64_t since_ns, int run_directory,
                      std::size_t most = kMostLooked);

}  // namespace baton::shim
