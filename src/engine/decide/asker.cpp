// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/asker.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::size_t kShownRunId = 8;
constexpr const char* kDefaultRole = "default";

/// The run in the books of this root; nullptr: it is a run of another root, or of none.
const Run* run_in(const FlowRecords& records, const RunId& id) {
  for (const auto& [flow, record] : records)
    for (const Run& run : record.runs)
      if (run.id == id)
        return &run;
  return nullptr;
}

bool any_lives(const FlowRecords& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const auto& row) { return row.second.live(); });
}

/// A verb that can only hold work back.
bool holds_back(std::string_view verb) {
  return verb == "pause" || verb == "stop";
}

/// The key of `agents:` that configures the role.
Role key_of(const std::map<Role, AgentSpec>& agents, const Role& role) {
  const auto own = agents.find(role);
  if (own == agents.end())
    return agents.contains(kDefaultRole) ? Role(kDefaultRole) : role;
  return own->second.configured_as.empty() ? role : own->second.configured_as;
}

bool role_may(const std::map<Role, AgentSpec>& agents, const Role& role, const Word& verb) {
  const auto spec = agents.find(key_of(agents, role));
  return spec != agents.end() && std::find(spec->second.may.begin(), spec->second.may.end(),
                                           verb) != spec->second.may.end();
}

std::string refusal(const Request& request, const Run* run,
                    const std::map<Role, AgentSpec>& agents) {
  const std::string verb = printable(request.verb, 40);
  const std::string who = "the agent " + printable(request.agent, 120);
  const std::string claim =
      run == nullptr
          ? " is none of this root's runs, and an agent may only look at other roots"
          : " may not use `" + verb + "`" +
                (holds_back(request.verb)
                     ? " on anything but its own flow " + printable(text(run->key.flow), 120)
                     : "");
  return who + claim +
         ". An agent may look, `validate`, `set`, `send` and `wait`, and `pause` "
         "and `stop` its own flow. Ask a person to do it" +
         (run == nullptr ? std::string()
                         : ", or let a person allow it to the role: `agents: { " +
                               printable(key_of(agents, run->key.role), 80) + ": { may: [" + verb +
                               "] } }` in baton.yaml");
}

}  // namespace

std::optional<std::string> judge_asker(Request& request, const FlowRecords& records,
                                       const std::map<Role, AgentSpec>& agents) {
  if (request.asker.kind == Asker::Kind::person)
    return {};
  if (request.asker.kind == Asker::Kind::nobody) {
    if (holds_back(request.verb) || !any_lives(records)) {
      request.asker = {};
      return {};
    }
    return "the process that asked for `" + printable(request.verb, 40) +
           "` has ended or cannot be seen, and agents run here, so that one of them may have "
           "asked. "
           "Say it again and let the command wait for its answer";
  }
  const Run* const run = run_in(records, request.asker.run);
  request.agent = (run == nullptr ? "?" : run->key.role) + " (run " +
                  request.asker.run.substr(0, kShownRunId) + ")";
  request.by = "agent " + request.agent;
  const bool own = run != nullptr && holds_back(request.verb) && request.flow == run->key.flow;
  if (own || (run != nullptr && role_may(agents, run->key.role, request.verb)))
    return {};
  return refusal(request, run, agents);
}

}  // namespace baton
