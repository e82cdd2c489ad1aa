// SPDX-License-Identifier: Apache-2.0
#include "engine/state/flow_index.h"

#include <algorithm>

namespace baton {
namespace {

bool breaker_open(const FlowRecord& record) {
  return record.held && record.held->cause.reason == Reason::rate_breaker;
}

bool waits_for_place(const FlowRecord& record) {
  return std::any_of(record.holds.begin(), record.holds.end(),
                     [](const Hold& hold) { return hold.cause.reason == Reason::free_place; });
}

/// Whether something stands in the way of the flow.
bool is_held(const FlowRecord& record) {
  return record.decision.standing.cause.condition != Condition::done &&
         (!record.holds.empty() || !record.rejected.empty());
}

}  // namespace

void FlowIndex::add(const FlowRecord& record) {
  for (const Run& run : record.runs)
    if (run.live())
      live.emplace(run.id, record.id);
  for (const auto& again : {record.decision.wake, record.decision.tidy})
    if (again)
      wakes.emplace(*again, record.id);
  if (breaker_open(record))
    breakers.emplace(record.calm_at, record.id);
  for (const std::string& path : record.decision.locks)
    ++locks[path];
  if (record.decision.wake)
    awaiting.emplace(*record.decision.wake, record.id);
  held += is_held(record) ? 1U : 0U;
  no_place += waits_for_place(record) ? 1U : 0U;
  accepted_bytes += record.accepted_bytes;
  if (is_left(record))
    left.insert(record.id);
  for (const auto& [path, identity] : record.origin.files)
    files[identity].insert({record.id, path});
}

void FlowIndex::remove(const FlowRecord& record) {
  for (const Run& run : record.runs)
    live.erase(run.id);
  for (const auto& again : {record.decision.wake, record.decision.tidy})
    if (again)
      wakes.erase({*again, record.id});
  if (breaker_open(record))
    breakers.erase({record.calm_at, record.id});
  for (const std::string& path : record.decision.locks)
    if (--locks[path] == 0)
      locks.erase(path);
  if (record.decision.wake)
    awaiting.erase({*record.decision.wake, record.id});
  held -= is_held(record) ? 1U : 0U;
  no_place -= waits_for_place(record) ? 1U : 0U;
  accepted_bytes -= record.accepted_bytes;
  left.erase(record.id);
  for (const auto& [path, identity] : record.origin.files) {
    const auto names = files.find(identity);
    if (names == files.end())
      continue;
    names->second.erase({record.id, path});
    if (names->second.empty())
      files.erase(names);
  }
}

FlowIndex index_of(const FlowRecords& records) {
  FlowIndex flow_index;
  for (const auto& [flow, record] : records)
    flow_index.add(record);
  return flow_index;
}

const FlowRecord* record_of(const FlowRecords& records, const FlowIndex& flow_index,
                            const RunId& run) {
  const auto flow = flow_index.live.find(run);
  const auto record = flow == flow_index.live.end() ? records.end() : records.find(flow->second);
  return record == records.end() ? nullptr : &record->second;
}

}  // namespace baton
