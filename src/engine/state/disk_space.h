#pragma once

#include <string>

#include "core/ports.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Whether the disk of the journal has room. While it has none what runs is looked after, and
/// nothing is started: what is kept for requests is for them, and as long as it is given up no
/// start is to use it up.
class DiskSpace {
 public:
  DiskSpace(Requests& requests, Observer& observer) : requests_(requests), observer_(observer) {}

  /// Before a step: `asked` when requests are looked for. Enters what is to be told, so that the
  /// commit finds out whether there is room again.
  void look(Draft& next, bool asked);
  /// A commit found none.
  void none(const std::string& why, Time wall);
  /// The step is committed. True: there is room again.
  bool committed();
  bool full() const { return full_; }

 private:
  Requests& requests_;
  Observer& observer_;
  Time look_again_{};
  bool full_ = false;
  bool freed_ = false;  ///< not any more, if this step can be committed
};

}  // namespace baton
