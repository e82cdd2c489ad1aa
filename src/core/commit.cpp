// SPDX-License-Identifier: Apache-2.0
#include "core/ports.h"

namespace baton {

bool Commit::empty() const {
  return accepted.empty() && moved_away.empty() && rejected.empty() && no_longer_rejected.empty() &&
         replaced.empty() && stages.empty() && memos.empty() && notified.empty() &&
         origins.empty() && logs.empty() && runs.empty() && intents.empty() &&
         intents_done.empty() && controls.empty() && requests.empty() && replies.empty() &&
         events.empty() && forgotten.empty();
}

}  // namespace baton
