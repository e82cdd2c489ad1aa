#pragma once

#include "dialects/coordination/writes.h"

namespace baton::coordination {

/// Enters what the runs say into memory and documents: started ones are counted and their group
/// gets status, agent, counter and times; void ones are taken back.
void note_starts(Scene& scene, Writes& writes);

/// Enters help that has ended well (a project manager's intervention, a tech lead's explanation):
/// counters and turns count anew from there.
void note_help(Scene& scene);

/// Enters what the documents say now: histories of entries, counts of messages.
void note_documents(Scene& scene);

/// Remembers which runs were seen as ended; last, for what came until now may be theirs.
void note_ends(Scene& scene);

/// Starts counting anew for a group, for somebody has helped.
void count_anew(Scene& scene, const Subject& subject);

/// What makes versions of a group's entry comparable: the members in any order, 16 digits.
std::string entry_digest(const Value& entry);

}  // namespace baton::coordination
