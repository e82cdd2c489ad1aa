#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "core/ports.h"

namespace baton {

/// Files that were exchanged for ours and may still be held open by a writer. A second later, when
/// nobody has them open for writing any more, they are compared once more and removed. A writer
/// that never closes is waited for a minute.
class KeptFiles {
 public:
  struct Kept {
    std::string path;       ///< the file that was replaced, relative to the root
    std::string temporary;  ///< where the old version lies, relative to the root
    Digest digest;
    std::optional<Time> since;  ///< when `late_writes` saw it first
  };

  void keep(Kept kept) { kept_.push_back(std::move(kept)); }
  bool empty() const { return kept_.empty(); }

  std::vector<LateWrite> late_writes(int root, Time now);

  /// At the end: removes those that are unchanged and in nobody's hands; leaves the rest where it
  /// lies.
  void leave(int root);

 private:
  std::vector<Kept> kept_;
};

}  // namespace baton
