#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "core/ports.h"

namespace baton {

/// The journal's file in a state folder.
std::string journal_path(const std::string& state_folder);

/// Opens the journal of a root for writing and makes it when there is none (mode 0640). There must
/// be one writer only, which the lock on the state folder sees to. The tables are brought up to
/// date. Errc::not_found: the folder does not exist. Errc::denied. Errc::no_space. Errc::busy:
/// somebody else writes for more than five seconds. Errc::config: the folder lies on a network or
/// FUSE file system. Errc::io: damaged, or of a newer baton.
///
/// Beyond what Journal says: a commit that would start one attempt of a key a second time fails
/// with Errc::io, and so does every commit after an Errc::io. Errc::busy: nothing was written.
/// `forgotten` is applied before the rest of a commit, so that an event about it stays. Events are
/// numbered by a sequence of their own, arrivals and intents by the engine; of both the highest
/// ever used comes back from load, forgotten or not.
Result<std::unique_ptr<Journal>> open_journal(const std::string& state_folder);

}  // namespace baton
