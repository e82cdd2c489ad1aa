// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how many bytes the accepted versions of files have together: those of one flow, which are
// in memory while baton decides about it, and those of all flows of a root, which fill the journal.
// A version above a limit is left out: it is rejected before baton parses it. It is looked at again
// when there is room for it. A version that is not larger than the one in force always has room.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "config/setup.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Files up to this size need no room in the root: one flow with large files must not stop the
/// small files of all others.
inline constexpr std::uint64_t kSmallFileBytes = 64U << 10U;

/// The files of a root that were left out. It has them in memory only, because a new daemon looks
/// at all files.
class SizeCeiling {
 public:
  explicit SizeCeiling(const SizeLimits& limits) : limits_(limits) {}

  /// Why a new version of this size has no room, as a sentence with the key of the limit. Empty:
  /// there is room. Remembers which it was.
  std::string left_out(const FlowId& flow, const std::string& path, std::uint64_t size_bytes,
                       const Draft& draft);
  /// The file is gone, or is as it was accepted last.
  void settled(const std::string& path) { left_out_.erase(path); }
  /// The files that were left out and have room by now. `root_bytes`: of all flows.
  std::set<std::string> fitting(const FlowRecords& records, std::uint64_t root_bytes) const;

 private:
  enum class Room { enough, none_in_flow, none_in_root };
  Room room(const FlowRecord* record, const std::string& path, std::uint64_t size_bytes,
            std::uint64_t root_bytes) const;

  struct LeftOut {
    FlowId flow;
    std::uint64_t size_bytes = 0;
  };
  SizeLimits limits_;
  std::map<std::string, LeftOut> left_out_;  ///< by path
};

}  // namespace baton
