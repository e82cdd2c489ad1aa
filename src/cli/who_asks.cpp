// SPDX-License-Identifier: Apache-2.0
#include "cli/who_asks.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "io/files/lock.h"
#include "io/system/asker.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr std::size_t kShownRunId = 8;

/// The role of a run of this root; "" if the root has no such run.
Role role_of(const RunId& run, const Context& on_root) {
  const auto seen = Rehearsal::of_root(on_root);
  if (!seen)
    return {};
  for (const FlowId& flow : (*seen)->flows())
    if (const FlowRecord* const record = (*seen)->record(flow))
      for (const Run& each : record->runs)
        if (each.id == run)
          return each.key.role;
  return {};
}

/// `key`: the key of `agents:` that configures the role.
ExitCode refuse(const Asker& asker, const Role& role, const Role& key, const Word& verb) {
  complain("refused: the agent " + (role.empty() ? "" : printable(role, 80) + " ") + "(run " +
           printable(asker.run.substr(0, kShownRunId), 20) + ") may not use `" + verb +
           "`. An agent may look, `validate`, `set`, `send` and `wait`, and `pause` and `stop` its "
           "own flow. Ask a person to do it" +
           (role.empty() ? ""
                         : ", or let a person allow it to the role: `agents: { " +
                               printable(key, 80) + ": { may: [" + verb + "] } }` in baton.yaml"));
  return ExitCode::failed;
}

}  // namespace

std::optional<ExitCode> refused_to_agent(const Context& context, const Word& verb) {
  const Asker asker = own_asker(context.state_folder().value_or(""));
  if (asker.kind != Asker::Kind::run)
    return {};
  const Role role = role_of(asker.run, context);
  const AgentConfig* const agent = role.empty() ? nullptr : agent_for(context.config(), role);
  if (agent != nullptr && std::find(agent->may.begin(), agent->may.end(), verb) != agent->may.end())
    return {};
  const bool by_default = agent != nullptr && !context.config().agents.contains(role);
  return refuse(asker, role, by_default ? "default" : role, verb);
}

std::optional<ExitCode> refused_to_agent_anywhere(const Places& places, const Word& verb) {
  const Asker asker = own_asker("");
  if (asker.kind != Asker::Kind::run)
    return {};
  const auto context = Context::open_anyway(places);
  return context ? refused_to_agent(*context, verb) : refuse(asker, "", "", verb);
}

std::optional<ExitCode> refused_beside_agents(const Context& context) {
  const auto state = context.state_folder();
  if (!state || daemon_lives(*state) || !any_run_lives(*state))
    return {};
  complain(Error{Errc::busy,
                 "no daemon serves this root, and agents of it still run. Until a daemon looks "
                 "after them, baton only looks and stops here. Start it with `baton run` and say "
                 "this again, or end the agents with `baton stop --all`",
                 context.root()});
  return ExitCode::unreachable;
}

std::optional<ExitCode> refused_to_command(const Context& context, const Word& verb) {
  for (const Context& on_root : context.each()) {
    if (auto code = refused_to_agent(on_root, verb))
      return code;
    if (auto code = refused_beside_agents(on_root))
      return code;
  }
  return {};
}

}  // namespace baton
