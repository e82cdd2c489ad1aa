// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers questions about all flows: which agents run, which flow wakes next, how many flows are
// blocked or wait. The index is updated flow by flow, so a step costs nothing for flows that stand
// still.
// `Draft::publish` keeps it up to date. What is known of one flow is in flow_record.h.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/state/flow_record.h"

namespace baton {

/// The answers, as plain values to read. `add` and `remove` keep them right.
struct FlowIndex {
  std::map<RunId, FlowId> live;                ///< live runs and their flows
  std::set<std::pair<Time, FlowId>> wakes;     ///< Decision::wake and tidy
  std::set<std::pair<Time, FlowId>> awaiting;  ///< Decision::wake alone
  std::set<std::pair<Time, FlowId>> breakers;  ///< flows the rate breaker holds, and until when
  std::map<std::string, std::size_t> locks;    ///< Decision::locks, and how many flows want each
  std::size_t held = 0;                        ///< flows with a hold or a rejected file
  std::size_t no_place = 0;                    ///< flows that wait for a place
  std::map<FileIdentity, std::set<FlowFile>> files;  ///< the names that each file has, or had last
  std::uint64_t accepted_bytes = 0;                  ///< of all flows
  std::set<FlowId> left;  ///< flows that have lost all their files to other flows

  /// Adds the record of a flow.
  void add(const FlowRecord& record);
  /// Removes the record of a flow. It has to be as it was when it was added.
  void remove(const FlowRecord& record);
  bool operator==(const FlowIndex&) const = default;
};

FlowIndex index_of(const FlowRecords& records);

/// The record of the flow with this live run; nullptr if there is none.
const FlowRecord* record_of(const FlowRecords& records, const FlowIndex& flow_index,
                            const RunId& run);

}  // namespace baton
