// SPDX-License-Identifier: Apache-2.0
#pragma once

// Disk space: knows whether the disk of the journal has room. While the disk is full, baton looks
// after running agents and starts nothing. baton keeps a reserve for requests
// (Requests::keep_room), so that commands work on a full disk. While the reserve is not complete,
// no start may use up the space.

#include <string>

#include "core/ports.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Call `look` in each step and `committed` after its commit.
class DiskSpace {
 public:
  DiskSpace(Requests& requests, Observer& observer) : requests_(requests), observer_(observer) {}

  /// Checks the disk if this step loads requests (`asked`), and every second while the disk is
  /// full. If there is room again, adds an event, so that the commit proves it.
  void look(Draft& next, bool asked);
  /// A commit has found no room.
  void none(const std::string& why, Time wall);
  /// The step is committed. True: there is room again.
  bool committed();
  bool full() const { return full_; }

 private:
  Requests& requests_;
  Observer& observer_;
  Time look_again_{};
  bool full_ = false;
  bool freed_ = false;  ///< there is room again, if this step can be committed
};

}  // namespace baton
