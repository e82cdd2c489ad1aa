// SPDX-License-Identifier: Apache-2.0

// What `baton doctor` checks of caps (docs/configuration.md, "Caps").

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/commands/doctor.h"
#include "cli/commands/provider_release.h"
#include "core/caps.h"
#include "io/journal/daemon_runs.h"
#include "io/system/clock.h"

namespace baton {
namespace {

using Level = Diagnosis::Level;

bool reports_no_cost(const AgentSpec& agent) {
  return agent.adapter != nullptr &&
         std::all_of(agent.adapter->usage.begin(), agent.adapter->usage.end(),
                     [](const UsageRow& row) { return row.cost.empty(); });
}

/// Whether the configuration has a cap on cost that names this agent or its provider, or covers
/// all.
bool has_cost_cap(const CapTable& caps, const Role& role, const AgentSpec& agent) {
  CountedRun run;
  run.agent = role;
  run.provider = agent.provider;
  return std::any_of(caps.begin(), caps.end(), [&](const auto& row) {
    return covers(row.first, run) && names_cost(row.second);
  });
}

/// The agents whose runs so far have reported no cost.
std::set<Role> silent_so_far(const Context& context, Diagnoses& all) {
  const auto folders = shared_state_folders(context);
  std::set<Role> silent;
  if (!folders)
    return silent;  // the checks of the places report it
  for (const std::string& folder : *folders) {
    const auto spending = make_spending(folder, true);
    const auto counted = spending->counted(real_clock()->wall());
    if (!counted) {
      const std::string remedy = daemon_db_remedy(counted.error());
      all.push_back(
          {Level::error, "state",
           "what the agents have spent is unknown, so nothing starts: " + describe(counted.error()),
           remedy.empty() ? "end the process that locks it, or wait until it lets go"
           : remedy.starts_with("mv ")
               ? remedy
               : "do as the end of the message says; nothing has to be removed"});
      continue;
    }
    for (Role& agent :
         agents_without_cost(context.config().caps, context.configuration(), (*counted)->runs))
      silent.insert(std::move(agent));
  }
  return silent;
}

}  // namespace

void examine_caps(const Context& context, const Setup& setup, Diagnoses& all) {
  const CapTable& caps = context.config().caps;
  const std::set<Role> silent = silent_so_far(context, all);
  for (const auto& [role, agent] : setup.agents)
    if (silent.contains(role) || (has_cost_cap(caps, role, agent) && reports_no_cost(agent)))
      all.push_back({Level::warning, "agent",
                     "the agent `" + role + "` reports no cost" +
                         (silent.contains(role) ? " (none of its last runs did)" : "") +
                         ", so a cap on cost does not limit it",
                     "limit its starts (`spawns_per_day`), or let it report its cost "
                     "(docs/adapters.md)"});
  for (const auto& row_of_caps : caps)
    if (const CapPlace& place = row_of_caps.first;
        place.scope == CapScope::provider &&
        std::none_of(setup.agents.begin(), setup.agents.end(),
                     [&](const auto& row) { return row.second.provider == place.name; })) {
      std::vector<std::string> known;
      for (const auto& [role, agent] : setup.agents)
        known.push_back(agent.provider);
      const auto near = nearest(place.name, known);
      all.push_back({Level::warning, "configuration",
                     "no agent has the provider `" + place.name + "`, so its caps limit nothing",
                     near ? "write `" + *near + "`" : "correct its name below `providers:`"});
    }
}

}  // namespace baton
