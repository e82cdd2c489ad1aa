#pragma once

#include <optional>
#include <string>

#include "dialects/agent_run/reports.h"
#include "dialects/agent_run/scene.h"

namespace baton::agent_run {

/// What a report says of its start: `cost_usd` of its metrics, a number or one written as a text,
/// goes to the day's cost, and with `total_tokens` (else `input_tokens` and `output_tokens`) to the
/// run.
void add_cost(Scene& scene, const Run& run, const Report& report, Decision& decision);

/// The day's statistics that the original's agents keep, relative to the root.
std::string daily_stats(const Scene& scene);

/// Why nothing more may be started today; empty while the limit is not reached. What the run's own
/// reports say counts, or the day's statistics where they say more.
std::string over_budget(const Scene& scene);

/// Deals with a run that has reached the limit. True: nothing is to be started.
bool settle_cost(Scene& scene, Decision& decision);

}  // namespace baton::agent_run
