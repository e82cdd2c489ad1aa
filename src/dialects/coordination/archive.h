#pragma once

#include <vector>

#include "core/effect.h"
#include "dialects/coordination/scene.h"

namespace baton::coordination {

/// Messages that were read long ago (archive_days, by baton's own time of seeing them read) leave
/// their mailbox for messages/archive/MAILBOX.json. They are written there first, and taken out of
/// the mailbox at a later moment, when they stand there; until then they are in both and count
/// once. Of each group the older ones go before the newer ones.
std::vector<Update> rotate(Scene& scene, Decision& decision);

}  // namespace baton::coordination
