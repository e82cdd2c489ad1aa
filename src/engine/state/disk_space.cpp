// SPDX-License-Identifier: Apache-2.0
#include "engine/state/disk_space.h"

#include <utility>

namespace baton {
namespace {

constexpr Millis kLookAgain{1000};

}  // namespace

void DiskSpace::look(Draft& next, bool asked) {
  freed_ = false;
  if (!asked && !(full_ && next.now >= look_again_))
    return;
  look_again_ = next.now + kLookAgain;
  const bool room = requests_.keep_room();
  freed_ = room && full_;
  if (freed_)
    next.event("disk_freed", {}, "the journal can be written again");
  if (!room)
    none("less than 1 MiB is left on the disk of the journal", next.wall);
}

void DiskSpace::none(const std::string& why, Time wall) {
  if (!std::exchange(full_, true))
    observer_.happened(Event{0, wall, "disk_full", {}, {}, {}, {}, why});
}

bool DiskSpace::committed() {
  full_ = full_ && !freed_;
  return std::exchange(freed_, false);
}

}  // namespace baton
