// SPDX-License-Identifier: Apache-2.0
#include "workspace/agent_user.h"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

#include "io/agents/agents.h"
#include "io/system/users.h"

namespace baton {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables::iterator variable_in(Variables& all, const std::string& name) {
  return std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
}

void set_variable(Variables& all, const std::string& name, const std::string& value) {
  if (const auto at = variable_in(all, name); at != all.end())
    at->second = value;
  else
    all.emplace_back(name, value);
}

}  // namespace

const char* const kUserAdvice =
    "run baton as a service of the system with the drop-in `users.conf` (docs/operations.md, "
    "\"Agents of other users\"), or remove `user:`";

Result<void> take_user(const AgentConfig& agent, AgentSpec& spec) {
  if (agent.user.empty())
    return {};
  auto found = find_user(agent.user);
  if (!found)
    return pass_on(found);
  if (found->ids.uid == geteuid())
    return {};
  const std::array<std::pair<const char*, std::string>, 4> own = {{{"HOME", found->home},
                                                                   {"LOGNAME", agent.user},
                                                                   {"SHELL", found->shell},
                                                                   {"USER", agent.user}}};
  for (const auto& [name, value] : own)
    if (!agent.env_set.contains(name))
      set_variable(spec.env, name, value);
  // It is a folder of the daemon's user.
  if (const auto at = variable_in(spec.env, "XDG_RUNTIME_DIR");
      at != spec.env.end() && !agent.env_set.contains("XDG_RUNTIME_DIR"))
    spec.env.erase(at);
  spec.user = std::move(found->ids);
  return {};
}

std::string user_fault(const ProgramUser& user, std::int64_t daemon) {
  if (daemon == 0 && user.uid == geteuid())
    return {};
  if (std::string why = cannot_change_users(daemon); !why.empty())
    return why;
  // Nothing else finds processes of another user that left their session.
  return without_cgroup(daemon);
}

Result<void> check_users(const Config& config) {
  for (const auto& [role, agent] : config.agents) {
    if (agent.user.empty())
      continue;
    const auto found = find_user(agent.user);
    const std::string why = found ? user_fault(found->ids, 0) : found.error().message;
    if (!why.empty())
      return fail(Errc::config, "the agent `" + role + "` cannot run as the user `" + agent.user +
                                    "`: " + why + ". What helps: " + kUserAdvice);
  }
  return {};
}

}  // namespace baton
