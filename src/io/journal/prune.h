// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes old history from the journal and from the folders of runs, but never what a decision
// still needs. The daemon does it regularly, `baton prune` on request.

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace baton {

/// How long to keep history. A zero duration or a zero `max_runs` means for ever.
struct Retention {
  Millis events = std::chrono::hours(30 * 24);
  Millis runs = std::chrono::hours(30 * 24);
  Millis replaced = std::chrono::hours(30 * 24);
  std::size_t max_runs = 1000;  ///< older runs go even before their time
  bool operator==(const Retention&) const = default;
};

struct Pruned {
  std::size_t events = 0;
  std::size_t runs = 0;
  std::size_t replaced = 0;
  bool operator==(const Pruned&) const = default;
};

/// Removes old events, replaced versions and answers, and ended runs with their directories, and
/// returns the space to the file system. Keeps live runs, runs of the current generation of
/// existing subjects, and runs started within one hour of the newest one. May run beside a daemon.
///
/// `remove` is called with a run's directory before its row is deleted; if it returns false, the
/// row stays. Directories of runs that the journal does not know are removed after one hour, those
/// of forgotten flows at once. A directory stays while its lock is held, and nothing outside `runs`
/// is passed to `remove`. The answer to a request stays while the request file exists.
/// Errc::not_found, busy, no_space, io; also for a journal that is an old copy (claims.h).
Result<Pruned> prune_journal(const std::string& state_folder, const Retention& retention, Time now,
                             const std::function<bool(const std::string& directory)>& remove);

}  // namespace baton
