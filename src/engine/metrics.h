// SPDX-License-Identifier: Apache-2.0
#pragma once

// The metrics of baton (docs/operations.md, "Metrics"): what a monitor sees of each root, and its
// text.
//
// Problem: names and labels of metrics stand in dashboards and alerts of other people.
// Way: one table of all families. The text and the page are compared with each other in
// tests/e2e/metrics_test.py.
// Limits: names and labels are for good. Every series has the label `root`: several daemons of one
// machine are read by one node_exporter, and no two of them may have the same series. Only the
// daemon writes files (daemon/metrics_file.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/condition.h"
#include "core/provider_limits.h"
#include "core/reconcile.h"
#include "engine/root_counters.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What is shown of one root at one moment.
struct RootMetrics {
  std::string root;
  std::string version;  ///< of baton
  bool up = true;       ///< false: the daemon is ending
  Time started{};       ///< when the daemon began, by the wall clock
  std::array<std::size_t, kConditions.size()> flows{};  ///< by condition
  std::map<Role, std::size_t> running;                  ///< runs that have not ended, by agent
  std::map<Reason, std::size_t> waiting;  ///< runs that are due and start by themselves later
  /// When each provider and model that is parked has room again; nothing: not by itself.
  std::map<std::pair<std::string, std::string>, std::optional<Time>> parked;
  std::optional<std::uint64_t> journal_bytes;  ///< nothing: unknown
  RootCounters counters;
};

/// The flows and runs of a root. `agents`: those of the configuration. Each has a row in `running`
/// and in the counters, even if nothing has happened yet, because the first increase of a series
/// that was not there before cannot be seen.
RootMetrics root_metrics(const FlowRecords& records, const Plan& plan, RootCounters counters,
                         const std::map<Role, AgentSpec>& agents);
/// The providers that have no room now. Of several rows of one provider and model, the last to end
/// counts.
void add_parked(const std::vector<Parked>& parked, Time now, RootMetrics& metrics);

/// How the first line begins in the files of all daemons.
inline constexpr std::string_view kMetricsWriter = "Written by baton for ";

/// The text for Prometheus. `first_line` is a comment.
std::string metrics_text(std::string_view first_line, const std::vector<RootMetrics>& roots);

}  // namespace baton
