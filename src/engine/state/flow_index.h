#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/state/flow_record.h"

namespace baton {

/// What each step asks of all flows at once, kept up to date flow by flow: a step must not cost
/// more for a thousand flows that stand still.
struct FlowIndex {
  std::map<RunId, FlowId> live;                ///< live runs, and whose they are
  std::set<std::pair<Time, FlowId>> wakes;     ///< Decision::wake and tidy
  std::set<std::pair<Time, FlowId>> breakers;  ///< held by the rate breaker, and until when
  std::map<std::string, std::size_t> locks;    ///< Decision::locks, and how many flows want each
  std::size_t awaiting = 0;                    ///< flows with a Decision::wake
  std::size_t failed = 0;
  std::size_t held = 0;      ///< flows with a hold, or with a file that is wrong
  std::size_t no_place = 0;  ///< flows that wait for a place
  std::set<FlowId> left;     ///< flows whose files are all other flows' by now

  /// A flow's book as it is from now on.
  void add(const FlowRecord& record);
  /// As it was when it was added.
  void remove(const FlowRecord& record);
  bool operator==(const FlowIndex&) const = default;
};

FlowIndex index_of(const FlowRecords& records);

/// The book with this live run; nullptr when there is none.
const FlowRecord* record_of(const FlowRecords& records, const FlowIndex& flow_index,
                            const RunId& run);

}  // namespace baton
