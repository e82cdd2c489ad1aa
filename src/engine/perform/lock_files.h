// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the lock files that flows want (Decision::locks). The lock shows other programs that a flow
// has an owner.
// baton's own lock would be in the way of its own writes and moves of such a file. So it releases a
// lock before such a write and takes it again afterwards.

#include <set>
#include <string>
#include <vector>

#include "core/ports.h"
#include "engine/perform/pending_writes.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Call `decided`, `let_go` and `take_again` in this order in each step.
class LockFiles {
 public:
  explicit LockFiles(Disk& disk) : disk_(disk) {}

  /// Notes whether the step wants other locks. Call it before the step is published; `before` are
  /// the records without it.
  void decided(const Draft& next, const FlowRecords& before);
  /// Call it before writes: releases locks that no flow wants any more, and locks of files that
  /// `writes` or pending writes concern.
  void let_go(const FlowIndex& flow_index, const std::vector<Intent>& writes,
              const PendingWrites& pending_writes);
  /// Call it after the writes: takes all wanted locks. The files in `written` may be new files, so
  /// their locks are taken again.
  void take_again(const std::set<std::string>& written);

 private:
  Disk& disk_;
  std::set<std::string> wanted_;
  bool changed_ = true;   ///< the wanted locks may have changed since `let_go`
  bool lacking_ = false;  ///< some wanted lock is not held
};

}  // namespace baton
