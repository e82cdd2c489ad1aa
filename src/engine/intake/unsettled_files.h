#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "core/flow.h"

namespace baton {

/// Files that could not be judged yet, being written or waited for, and when each is looked at
/// again.
class UnsettledFiles {
 public:
  /// A file of `flow`. True: look again later. False: the same bytes have stood there for longer
  /// than `patience`, or ever other ones for five times as long, and the file is forgotten.
  bool wait(const std::string& path, const FlowId& flow, const Digest& digest, Time now,
            Millis patience);
  /// Looks again after `pause`, but not at once.
  void later(const std::string& path, const FlowId& flow, const Digest& digest, Time now,
             Millis pause);
  /// The file was judged, or is gone.
  void settled(const std::string& path) { files_.erase(path); }

  bool waits(const std::string& path) const { return files_.contains(path); }
  std::vector<std::string> due(Time now) const;
  std::optional<Time> wake() const;
  bool waits(const FlowId& flow) const;
  /// All of them, by their flows; but none of a flow some of whose files have been waiting for ten
  /// seconds without a break.
  std::map<FlowId, std::vector<std::string>> paths(Time now);
  bool empty() const { return files_.empty(); }

 private:
  struct File {
    FlowId flow;
    Time first{};  ///< since when it has not been judged
    Digest digest;
    Time since{};  ///< these bytes
    Time again{};
    Millis pause{};
  };
  std::map<std::string, File> files_;
  std::map<FlowId, Time> since_;  ///< since when `paths` had something to say of it
};

}  // namespace baton
