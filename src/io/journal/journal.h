// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of a root: one SQLite database, one transaction per step. It records accepted files,
// stages, runs, intents and events, so that a restart continues where the last daemon stopped. Only
// one process writes; readers use reader.h.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/ports.h"

namespace baton {

std::string journal_path(const std::string& state_folder);

/// What `open_journal` did to the tables of an older baton.
struct JournalUpgrade {
  std::int64_t from = 0;  ///< versions of the tables
  std::int64_t to = 0;
  std::string copy;  ///< the journal as it was before: a file beside it
};

/// The newest version of the tables, which this program writes.
std::int64_t journal_version();

/// Opens the journal for writing, and creates it (mode 0640) if there is none. The caller holds the
/// lock of the state folder, so it is the only writer. Brings the tables of an older baton up to
/// date, after it has made a copy of the journal (`upgraded`). Copies of earlier upgrades go then.
/// Errc::not_found: the folder does not exist. Errc::denied, no_space. Errc::busy: another process
/// writes for more than five seconds. Errc::config: the folder is on a network or FUSE file system.
/// Errc::io: damaged. Errc::newer: from a newer baton, which the message names. Where the copy
/// cannot be made (Errc::no_space), the journal stays as it is.
///
/// Beyond the promises of Journal: a commit that would start one attempt of a key twice fails with
/// Errc::io, and so does every commit after an Errc::io. Errc::busy: another process
/// has locked the journal for 250 ms, which the message names; nothing was written.
/// `forgotten` is applied first, so an event about it stays. The journal numbers events; the engine
/// numbers arrivals and intents. `load` returns the highest number ever used of both.
Result<std::unique_ptr<Journal>> open_journal(const std::string& state_folder,
                                              std::optional<JournalUpgrade>* upgraded = nullptr);

}  // namespace baton
