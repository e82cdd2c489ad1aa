#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "core/ports.h"

namespace baton {

/// `.name.<digest>-<8 random hex>.was`: where a file that was exchanged lies until it is settled,
/// and what it was then. Empty when it would be too long for a name.
std::string displaced_name(std::string_view name, const Digest& digest);

/// Files that were exchanged for ours and may still be held open by a writer. A second later, when
/// nobody has them open for writing any more, they are compared once more and removed. A writer
/// that never closes is waited for a minute, and for ten seconds where the kernel does not say who
/// has a file open. Those that are not settled when this process ends are
/// found by the next one, by their names.
class DisplacedFiles {
 public:
  /// From this age on a file is settled of which nobody can say whether it is held open.
  static constexpr Millis kBlindLook{10'000};

  /// `kept`: where the old version of `path` lies; both relative to the root.
  void keep(const std::string& path, const std::string& kept, const Digest& digest);
  /// True: the name is that of a kept file, and it is looked after now, whoever left it.
  bool adopt(const std::string& kept);

  /// Whether there is any; those of no age yet begin to be kept now.
  bool any(Time now);
  std::vector<LateWrite> late_writes(int root, Time now);
  /// What `late_writes` gave of this one is safe elsewhere: the file is removed.
  void noted(int root, const std::string& kept);

  /// At the end: removes those of our own that are unchanged and in nobody's hands, as far as that
  /// is known, lest they gather where it never is; leaves the rest where it lies.
  void leave(int root);

 private:
  struct Kept {
    std::string path;
    Digest digest;
    std::optional<Time> since;
    bool own = true;
    bool told = false;  ///< as a late write
  };
  std::map<std::string, Kept> kept_;  ///< by where they lie
};

}  // namespace baton
