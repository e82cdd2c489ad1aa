#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/ports.h"
#include "engine/perform/pending_writes.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The lock files that flows want held (Decision::locks), as the disk holds them. One that baton
/// itself is to write or to move away is in the way of that as much as anybody's, and let go first.
class LockFiles {
 public:
  explicit LockFiles(Disk& disk) : disk_(disk) {}

  /// A step is about to be published over `before`: it may want others.
  void decided(const Draft& next, const FlowRecords& before);
  /// Before writes: lets go of what nobody wants any more, and of what is written now, by `writes`
  /// or by what waits in the outbox.
  void let_go(const FlowIndex& flow_index, const std::vector<Intent>& writes,
              const PendingWrites& pending_writes);
  /// After them: holds all that is wanted, those of `written` anew.
  void take_again(const std::set<std::string>& written);

 private:
  Disk& disk_;
  std::set<std::string> wanted_;
  bool changed_ = true;   ///< what is wanted, since `let_go`
  bool lacking_ = false;  ///< not all that are wanted are held
};

}  // namespace baton
