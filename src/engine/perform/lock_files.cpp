// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/lock_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace baton {
namespace {

bool within(const std::set<std::string>& inner, const std::set<std::string>& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

std::set<std::string> locks_of(const FlowIndex& flow_index) {
  std::set<std::string> paths;
  for (const auto& [path, flows] : flow_index.locks)
    paths.insert(paths.end(), path);
  return paths;
}

}  // namespace

void LockFiles::decided(const Draft& next, const FlowRecords& before) {
  static const std::vector<std::string> none;
  changed_ = changed_ || !next.forgotten.empty() ||
             std::any_of(next.touched().begin(), next.touched().end(), [&](const auto& row) {
               const auto record = before.find(row.first);
               return row.second.decision.locks !=
                      (record == before.end() ? none : record->second.decision.locks);
             });
}

void LockFiles::let_go(const FlowIndex& flow_index, const std::vector<Intent>& writes,
                       const PendingWrites& pending_writes) {
  bool unwanted = false;
  if (std::exchange(changed_, false)) {
    const std::set<std::string> before = std::exchange(wanted_, locks_of(flow_index));
    lacking_ = lacking_ || !within(wanted_, before);
    unwanted = !within(before, wanted_);
  }
  std::vector<std::string> written;
  for (const Intent& write : writes)
    for (const std::string* const path : {&write.path, &write.to})
      if (wanted_.contains(*path))
        written.push_back(*path);
  if (!pending_writes.empty())
    std::copy_if(wanted_.begin(), wanted_.end(), std::back_inserter(written),
                 [&](const std::string& path) { return pending_writes.awaits(path); });
  lacking_ = lacking_ || !written.empty();
  if (written.empty() && !unwanted)
    return;
  std::set<std::string> kept = wanted_;
  for (const std::string& path : written)
    kept.erase(path);
  disk_.hold(kept);
}

void LockFiles::take_again(const std::set<std::string>& written) {
  const bool anew = std::any_of(written.begin(), written.end(),
                                [this](const std::string& path) { return wanted_.contains(path); });
  if (std::exchange(lacking_, false) || anew)
    disk_.hold(wanted_);
}

}  // namespace baton
