// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers which notifications were sent for a flow and are still true. It is in the journal, so a
// restart does not repeat them.
// baton drops what is no longer true. If it becomes true again, baton notifies again. Who is
// notified and how is decided in src/daemon.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/json/json.h"
#include "core/effect.h"

namespace baton {

/// The notifications of one flow, and in the root's record those of the root.
struct NotifiedState {
  std::vector<Notice> notices;
  std::vector<Hold> holds;  ///< without `why`, because counts and times in it change
  std::string conflict;     ///< a broken rule across documents
  bool open = false;        ///< baton saw the flow before its end, so the end will be news
  /// Of the root: paths of files that baton ignores, because of their name or because they belong
  /// to another program.
  std::set<std::string> ignored;
  /// Of the root: paths of documents that are almost as large as they may be.
  std::set<std::string> large;
  /// Of the root: baton has not looked at all its files since the first start on it.
  bool first_start = false;

  /// Files that git has put back to an earlier version, with the digest of the version before that.
  std::map<std::string, Digest> reverted;

  bool operator==(const NotifiedState&) const = default;
  bool has(const Hold& hold) const;
};

NotifiedState notified_state_of(const Json& json);
/// Null if there are no notifications.
Json json_of(const NotifiedState& notified);

}  // namespace baton
