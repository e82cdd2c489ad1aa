#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/catalog.h"
#include "engine/state/flow_record.h"

namespace baton {

/// How often files change and are put back within the windows in which that counts. In memory only:
/// a daemon that starts anew begins to count anew.
class RateBreaker {
 public:
  /// The rate breaker: one more version of the file, now, is one too many. Until when it is not
  /// calm.
  std::optional<Time> too_many(const std::string& path, const FileKind& kind, Time now);
  /// How often a file was put back within the last ten minutes.
  std::size_t restores(const std::string& path, Time now);

  /// A step became true: what it changed and put back counts.
  void committed(const Draft& draft, const Catalog& catalog);

 private:
  using Moments = std::map<std::string, std::deque<Time>>;
  void forget(Time now, const Catalog& catalog);

  Moments restores_;
  Moments changes_;
  static constexpr std::size_t kFew = 1000;
  std::size_t most_ = kFew;  ///< beyond that many files the old ones are looked for
};

}  // namespace baton
