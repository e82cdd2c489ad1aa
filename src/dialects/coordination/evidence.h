#pragma once

#include "dialects/coordination/writes.h"

namespace baton::coordination {

/// Agents that have sent their hand-off but forgotten the status: once the writer has ended, what
/// its message says is written into group_status. Only messages that came after its run began.
void apply_messages(Scene& scene, Writes& writes);

/// Whether something follows from what a message says: a group is handed on, or unblocked.
bool counts(std::string_view kind, std::string_view said);

/// Folds `inbox/{group}.json` into group_status by the rules for entries. Returns the moves that
/// put away what was dealt with, folded in or refused: they go together with the writes.
std::vector<Update> apply_inbox(Scene& scene, Writes& writes, Decision& decision);

/// Messages a run was given are read when it has ended well and its group has moved on.
std::vector<Update> mark_read(const Scene& scene);

}  // namespace baton::coordination
