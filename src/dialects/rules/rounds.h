// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often a subject has entered its stage, for `max_entries`.
//
// Problem: a loop that runs in circles must stop, and a job that comes round every night must not.
// Way: entries count since the subject was last at an end that asks for nothing, or within a span
// of time. Every entry counts, also one that started nothing.
// Limits: an entry that no decision saw does not count. It cannot have started anything.

#include <cstdint>
#include <optional>

#include "core/dialect.h"
#include "dialects/rules/layout.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {

/// Takes new entries of all subjects into the memo. Call it before `entered`.
void count_entries(const View& view, const Rule& rule, Memo& memo);

/// The entries of a subject into its present stage, as a limit counts them.
struct Entered {
  std::uint64_t count = 0;
  bool since_end = false;     ///< since the subject was last at an end
  std::optional<Time> until;  ///< with a span: when the limit lets the entry through
};
Entered entered(const View& view, const Memo& memo, const Subject& subject,
                const EntryLimit& limit);

/// For Dialect::inherits: what of a former flow's memo counts for its file's new name.
Json counts_of(const Json& former);

}  // namespace baton::rules
