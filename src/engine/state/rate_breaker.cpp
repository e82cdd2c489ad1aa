// SPDX-License-Identifier: Apache-2.0
#include "engine/state/rate_breaker.h"

#include <algorithm>

namespace baton {
namespace {

constexpr Millis kRestoreWindow{600'000};

}  // namespace

std::optional<Time> RateBreaker::too_many(const std::string& path, const FileKind& kind, Time now) {
  std::deque<Time>& times = changes_[path];
  while (!times.empty() &&
         (times.front() <= now - kind.breaker_window || times.size() > kind.breaker_changes))
    times.pop_front();
  if (times.size() < kind.breaker_changes)
    return std::nullopt;
  return (times.size() > 1 ? times[1] : now) + kind.breaker_window;
}

std::size_t RateBreaker::restores(const std::string& path, Time now) {
  std::deque<Time>& times = restores_[path];
  while (!times.empty() && times.front() < now - kRestoreWindow)
    times.pop_front();
  return times.size();
}

// Removes counts of files that have not changed for long. It looks only when the number of files
// has doubled, so that a step costs what changed.
void RateBreaker::forget(Time now, const Catalog& catalog) {
  if (changes_.size() + restores_.size() <= most_)
    return;
  Millis longest = kRestoreWindow;
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      longest = std::max(longest, kind.breaker_window);
  for (Moments* const moments : {&changes_, &restores_})
    std::erase_if(*moments, [&](const auto& each) {
      return each.second.empty() || each.second.back() < now - longest;
    });
  most_ = std::max(kFew, 2 * (changes_.size() + restores_.size()));
}

void RateBreaker::committed(const Draft& draft, const Catalog& catalog) {
  forget(draft.now, catalog);
  for (const std::string& path : draft.changed)
    changes_[path].push_back(draft.now);
  for (const RejectedRow& row : draft.commit.rejected)
    changes_[row.path].push_back(draft.now);
  for (const std::string& path : draft.restored)
    restores_[path].push_back(draft.now);
}

}  // namespace baton
