// SPDX-License-Identifier: Apache-2.0
#pragma once

// Old versions of files that baton replaced. A writer may still have the old version open and write
// into it, and that write must not be lost. So the old version stays beside the file under a `.was`
// name until no writer has it open. Then baton compares it with what it replaced, and removes it. A
// later process finds such files by their names.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "core/ports.h"

namespace baton {

/// `.name.<digest>-<8 random hex>.was`: the name of an old version, with the digest of its content.
/// Empty when the name would be too long.
std::string displaced_name(std::string_view name, const Digest& digest);

/// The old versions of one root. baton looks at each for the first time after one second, and
/// removes it when no process has it open for writing. A writer that never closes gets one minute.
/// Where the kernel cannot say who has the file open, the limit is ten seconds.
class DisplacedFiles {
 public:
  /// The age at which a file is removed if baton cannot know whether it is open.
  static constexpr Millis kUnknownLook{10'000};

  /// Adds a displaced file. `displaced` is its path, `path` the file whose old version it is; both
  /// relative to the root.
  void add(const std::string& path, const std::string& displaced, const Digest& digest);
  /// If the name is that of a displaced file, adds it and returns true. Another process may have
  /// left it.
  bool add_found(const std::string& displaced);

  /// Whether there are displaced files. Starts the age of new ones.
  bool any(Time now);
  std::vector<LateWrite> late_writes(int root, Time now);
  /// Removes the displaced file after its late write was saved elsewhere.
  void remove_saved(int root, const std::string& displaced);

  /// At the end of the process: removes its own displaced files if they are unchanged and, as far
  /// as baton can know, not open. The others stay for the next process.
  void remove_unchanged(int root);

 private:
  struct Displaced {
    std::string path;
    Digest digest;
    std::optional<Time> since;
    bool own = true;
    bool reported = false;  ///< reported as a late write
  };
  std::map<std::string, Displaced> files_;  ///< by the path of the displaced file
};

}  // namespace baton
