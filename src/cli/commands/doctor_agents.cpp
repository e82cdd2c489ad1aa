// The part of `baton doctor` about limits of agents that do not do what people expect of them.

#include <chrono>

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

void examine_cgroup_limit(const Role& role, bool wanted, const std::string& key,
                          const std::string& controller, std::int64_t daemon, Diagnoses& all) {
  const std::string why = wanted ? unenforced_limit(daemon, controller) : std::string();
  if (!why.empty())
    warn(all, role + ": `" + key + "` is not enforced: " + why,
         "run baton as a service with `Delegate=yes` and `DelegateSubgroup=daemon` (systemd 254 or "
         "later), as the unit files do, or remove `" +
             key + "`");
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
  for (const auto& [role, spec] : setup.agents) {
    examine_user(role, spec, daemon, all);
    examine_silence(role, spec, all);
    examine_shared_folder(role, spec, setup, all);
    examine_cgroup_limit(role, spec.memory_max_bytes > 0, "memory_max", "memory", daemon, all);
    examine_cgroup_limit(role, spec.tasks_max > 0, "tasks_max", "pids", daemon, all);
  }
  examine_secrets(setup, all);
}

}  // namespace baton
