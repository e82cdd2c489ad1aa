// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rate breaker: counts how often each file changes and how often baton restores it. If a file
// changes too often, its flow waits until the file is calm. So programs that overwrite each other
// in a circle start no agents. The counts are in memory only: a new daemon counts from zero.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/catalog.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The counts of all files of a root.
class RateBreaker {
 public:
  /// Asks about a new version of the file that is not counted yet. If that version is one too many,
  /// returns until when the flow waits.
  std::optional<Time> too_many(const std::string& path, const FileKind& kind, Time now);
  /// How often baton restored the file within the last ten minutes.
  std::size_t restores(const std::string& path, Time now);

  /// The step is committed: counts the files that it changed and restored.
  void committed(const Draft& draft, const Catalog& catalog);

 private:
  using Moments = std::map<std::string, std::deque<Time>>;
  void forget(Time now, const Catalog& catalog);

  Moments restores_;
  Moments changes_;
  static constexpr std::size_t kFew = 1000;
  std::size_t most_ = kFew;  ///< with more files than that, old counts are removed
};

}  // namespace baton
