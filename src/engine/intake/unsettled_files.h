// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that baton cannot judge yet: they do not parse and may still be being written, or the
// dialect waits for them. It says when to look at each of them again.
// Waiting has limits, so that neither a wrong file nor an endless writer holds a flow for ever. The
// caller decides what follows then (intake.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "core/flow.h"
#include "engine/intake/rest.h"

namespace baton {

/// A path enters by `wait` or `later` and leaves when it is settled or out of patience.
class UnsettledFiles {
 public:
  /// Waits for a file of `flow`. True: look again later. False: the version has rested. The file is
  /// then no longer waited for.
  bool wait(const std::string& path, const FlowId& flow, const Digest& digest, Time now,
            const Rest& rest);
  /// Looks again after `pause`, but never at once (a pause of 0 becomes 50 ms).
  void later(const std::string& path, const FlowId& flow, const Digest& digest, Time now,
             Millis pause);
  /// The file has been judged, or is gone.
  void settled(const std::string& path) { files_.erase(path); }

  bool waits(const std::string& path) const { return files_.contains(path); }
  std::vector<std::string> due(Time now) const;
  std::optional<Time> wake() const;
  bool waits(const FlowId& flow) const;
  /// All waiting files by flow, but none of a flow that has had waiting files for ten seconds
  /// without a break.
  std::map<FlowId, std::vector<std::string>> paths(Time now);
  bool empty() const { return files_.empty(); }

 private:
  struct File {
    FlowId flow;
    Time first{};  ///< since when baton waits for it
    Digest digest;
    Time since{};  ///< since when it has these bytes
    Time again{};
    Millis pause{};
  };
  std::map<std::string, File> files_;
  std::map<FlowId, Time> since_;  ///< since when a flow has had waiting files
};

}  // namespace baton
