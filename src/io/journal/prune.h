#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace baton {

/// How long history is kept. A zero duration keeps for ever; so does `max_runs` 0.
struct Retention {
  Millis events = std::chrono::hours(30 * 24);
  Millis runs = std::chrono::hours(30 * 24);
  Millis replaced = std::chrono::hours(30 * 24);
  std::size_t max_runs = 1000;  ///< older ones go even before their time
  bool operator==(const Retention&) const = default;
};

struct Pruned {
  std::size_t events = 0;
  std::size_t runs = 0;
  std::size_t replaced = 0;
  bool operator==(const Pruned&) const = default;
};

/// Removes old history from the journal and gives its room back: events, versions that were
/// replaced, answers, and runs that have ended, with their directories. Live runs, those of present
/// generations of subjects that are there and those started within the last hour of the newest
/// stay, for decisions rest on them. May run beside a daemon. `remove` is called with a run's
/// directory before the row goes, so that a crash leaves no directory that nobody knows of; when it
/// says false the row stays too. Directories of runs that the journal does not know (the daemon
/// died before it committed them) go after an hour, those of forgotten flows at once. A directory
/// whose lock somebody holds stays, and nothing outside of `runs` is ever named. The answer to a
/// request that is filed still stays. Errc::not_found, busy, no_space, io; also for a journal that
/// went back (io/journal/claims).
Result<Pruned> prune_journal(const std::string& state_folder, const Retention& retention, Time now,
                             const std::function<bool(const std::string& directory)>& remove);

}  // namespace baton
