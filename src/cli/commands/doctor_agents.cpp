// SPDX-License-Identifier: Apache-2.0

// The part of `baton doctor` about limits of agents that do not do what people expect of them.

#include <chrono>
#include <optional>
#include <utility>

#include "base/time.h"
#include "cli/commands/doctor.h"
#include "io/agents/agents.h"
#include "workspace/agent_user.h"

namespace baton {
namespace {

/// A program that prints nothing before its end may think longer than this.
constexpr Millis kShortSilence = std::chrono::minutes(15);

void warn(Diagnoses& all, std::string message, std::string advice) {
  all.push_back({Diagnosis::Level::warning, "agent", std::move(message), std::move(advice)});
}

void examine_silence(const Role& role, const AgentSpec& spec, Diagnoses& all) {
  const Millis limit = spec.limits.idle_timeout;
  if (spec.adapter == nullptr || !spec.adapter->silent || limit == Millis(0) ||
      limit >= kShortSilence)
    return;
  warn(all,
       role + ": " + spec.adapter->name + " prints nothing before its end, and `idle_timeout` is " +
           duration_text(limit) + ". While it waits for its provider, it looks idle",
       "set `idle_timeout: " + duration_text(kShortSilence) + "` or more for this agent");
}

/// A file that one agent changes also shows that another one in the same folder lives. Then only
/// `timeout` ends an agent that hangs. Runs of one agent may share its folder, too.
void examine_shared_folder(const Role& role, const AgentSpec& spec, const Setup& setup,
                           Diagnoses& all) {
  const std::string& folder = spec.cwd.empty() ? setup.environment.root : spec.cwd;
  const bool one_for_each_flow = folder.find("${") != std::string::npos;
  if (spec.limits.timeout != Millis(0) || spec.limits.idle_timeout == Millis(0) ||
      setup.max_running == 1 || one_for_each_flow)
    return;
  warn(all,
       role + ": `timeout` is 0s, and other agents may work in its folder " + folder +
           " too. Their changes of files keep `idle_timeout` from ending it when it hangs",
       "give it a `timeout`, or a folder of its own with `cwd`");
}

/// The units of agents, as this user can make them.
std::optional<SystemdUnits> examine_units(Diagnoses& all) {
  auto units = find_systemd_units();
  if (units)
    all.push_back(
        {Diagnosis::Level::fine, "agent", "agents are transient units below " + units->slice, ""});
  else
    warn(all,
         "`backend: { type: systemd }` cannot be used now, so a daemon that starts now starts "
         "agents "
         "as processes: " +
             describe(units.error()),
         "mend that, or remove `backend`");
  return units ? std::optional(*std::move(units)) : std::nullopt;
}

void examine_limit(const Role& role, const std::string& key, const std::string& why,
                   const std::string& advice, Diagnoses& all) {
  if (!why.empty())
    warn(all, role + ": `" + key + "` is not enforced: " + why,
         advice + ", or remove `" + key + "`");
}

/// Limits that need a controller of cgroups.
void examine_cgroup_limits(const Role& role, const AgentSpec& spec, std::int64_t daemon,
                           const std::optional<SystemdUnits>& units, Diagnoses& all) {
  const auto examine = [&](bool wanted, const std::string& key, const std::string& controller) {
    if (wanted && units)
      examine_limit(role, key, unenforced_limit(*units, controller),
                    "let the kernel use cgroups of version 2 alone", all);
    else if (wanted)
      examine_limit(role, key, unenforced_limit(daemon, controller),
                    "run baton as a service with `Delegate=yes` and `DelegateSubgroup=daemon` "
                    "(systemd 254 or later), as the unit files do",
                    all);
  };
  examine(spec.memory_max_bytes > 0, "memory_max", "memory");
  examine(spec.tasks_max > 0, "tasks_max", "pids");
}

void examine_user(const Role& role, const AgentSpec& spec, std::int64_t daemon, Diagnoses& all) {
  const std::string why = spec.user ? user_fault(*spec.user, daemon) : std::string();
  if (!why.empty())
    all.push_back({Diagnosis::Level::error, "agent",
                   role + ": cannot run as the user `" + spec.user->name + "`: " + why,
                   kUserAdvice});
}

/// Variables of one role look like secrets of that role. They are those of every role.
void examine_secrets(const Setup& setup, Diagnoses& all) {
  const Role* alone = nullptr;
  bool differs = false;
  for (const auto& [role, spec] : setup.agents) {
    if (spec.user)
      return;
    differs = differs || (alone != nullptr && spec.env != setup.agents.at(*alone).env);
    alone = &role;
  }
  if (differs)
    all.push_back({Diagnosis::Level::fine, "agent",
                   "all agents run as one user, so each can read the environment and the output of "
                   "the others; `user:` keeps them apart (docs/operations.md)",
                   ""});
}

}  // namespace

void examine_agent_limits(const Setup& setup, std::int64_t daemon, Diagnoses& all) {
  const auto units = setup.systemd_units ? examine_units(all) : std::nullopt;
  for (const auto& [role, spec] : setup.agents) {
    examine_user(role, spec, daemon, all);
    examine_silence(role, spec, all);
    examine_shared_folder(role, spec, setup, all);
    examine_cgroup_limits(role, spec, daemon, units, all);
  }
  examine_secrets(setup, all);
}

}  // namespace baton
