// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `baton doctor` checks. Each check adds diagnoses; nothing is changed.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/setup.h"
#include "workspace/context.h"
#include "workspace/rehearsal.h"
#include "workspace/rule_prompts.h"

namespace baton {

/// The result of one check.
struct Diagnosis {
  enum class Level { fine, warning, error };
  Level level = Level::fine;
  std::string check;    ///< configuration, agent, limits, root, state, shim, daemon ...
  std::string message;  ///< what was found
  std::string advice;   ///< what to do; empty when nothing
};
using Diagnoses = std::vector<Diagnosis>;
inline void diagnose(Diagnoses& all, Diagnosis::Level level, std::string check, std::string message,
                     std::string advice = {}) {
  all.push_back({level, std::move(check), std::move(message), std::move(advice)});
}

/// What to do about a configuration that cannot be used.
inline constexpr const char* kCorrect =
    "correct it, or put a readable file there; docs/configuration.md explains it, `baton schema "
    "config` prints its schema";

/// Checks that need no configuration: system limits (those of the daemon with pid `daemon`, unless
/// 0) and the shim.
void examine_system(std::int64_t daemon, Diagnoses& all);
/// Checks configuration, agents, schemas, notify. `daemon`: as above.
void examine_configuration(const Context& context, std::int64_t daemon, Diagnoses& all);
/// Checks the programs of agents with an adapter, in the agents' own environment: their version,
/// their login, and what they are known to refuse. Asks programs with `--version`. Where `baton
/// run` has not served the root with this configuration yet, it executes nothing that the
/// configuration or the repository names.
void examine_adapters(const Context& context, const Setup& setup, Diagnoses& all);
/// Checks limits of agents that are not enforced, or that end agents too early or never.
void examine_agent_limits(const Setup& setup, std::int64_t daemon, Diagnoses& all);
/// The variables that the daemon has and agents may get, PATH and HOME among them.
std::set<std::string> agent_variables(const Context& context);
/// Checks who can write the files that decide what agents do: other users, or the agents
/// themselves.
void examine_trust(const Context& context, const Setup& setup, Diagnoses& all);
/// Warns of a root and of state files that everybody can write.
void examine_open_files(const Context& context, const FlowRecords& records, Diagnoses& all);
/// Checks caps: agents that report no cost, names that no agent has, sums that cannot be read.
void examine_caps(const Context& context, const Setup& setup, Diagnoses& all);
/// Checks the rules: pointers, stages, and cycles of agents that may be a mistake.
void examine_rules(const Context& context, const SchemaFetch& fetch, Diagnoses& all);
/// Reports prompts that cannot be used. A daemon keeps the prompts that it read until the next
/// reload, so the files may be better or worse by now.
void examine_prompts(const Context& context, const PromptFaults& faults, Diagnoses& all);
/// Checks the files and folders of a root: what is lost, ignored, closed or open to everybody, and
/// patterns without files.
void examine_known(const Context& context, const Rehearsal& seen, Diagnoses& all);
/// Checks roots, state folders, journals, daemons.
void examine_places(const Context& context, Diagnoses& all);
/// Uses the daemon's variables that agents may get for this process, if they can be read, because
/// the daemon starts the agents. Returns the pid of the daemon; 0 when none runs.
std::int64_t take_daemon_path(const Context& context, Diagnoses& all);

}  // namespace baton
