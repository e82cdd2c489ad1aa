#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/book.h"
#include "app/outbox.h"
#include "app/tally.h"
#include "core/ports.h"

namespace baton {

/// The lock files that flows want held (Decision::locks), as the disk holds them. One that baton
/// itself is to write or to move away is in the way of that as much as anybody's, and let go first.
class HeldLocks {
 public:
  explicit HeldLocks(Disk& disk) : disk_(disk) {}

  /// A step is about to be published over `before`: it may want others.
  void decided(const Draft& next, const Books& before);
  /// Before writes: lets go of what nobody wants any more, and of what is written now, by `writes`
  /// or by what waits in the outbox.
  void let_go(const Tally& tally, const std::vector<Intent>& writes, const Outbox& outbox);
  /// After them: holds all that is wanted, those of `written` anew.
  void take_again(const std::set<std::string>& written);

 private:
  Disk& disk_;
  std::set<std::string> wanted_;
  bool changed_ = true;   ///< what is wanted, since `let_go`
  bool lacking_ = false;  ///< not all that are wanted are held
};

}  // namespace baton
