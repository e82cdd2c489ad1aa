#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/effect.h"

namespace baton {

/// What people were told of a flow and is still true. It stands in the journal, so that a restart
/// repeats nothing; what became untrue is dropped and is news when it comes back.
struct NotifiedState {
  std::vector<Notice> notices;
  std::vector<Hold> holds;  ///< without their `why`, which may say how often and since when
  std::string conflict;     ///< rules across documents
  std::string own_write;    ///< a write of baton's own that was refused
  bool open = false;        ///< it was seen before its end, so that its end will be news
  /// Of the root: paths of files that cannot be state files for their names, or are nobody's.
  std::set<std::string> ignored;

  bool operator==(const NotifiedState&) const = default;
  bool has(const Hold& hold) const;
};

NotifiedState notified_state_of(const Json& json);
/// Null when nothing was told.
Json json_of(const NotifiedState& notified);

}  // namespace baton
