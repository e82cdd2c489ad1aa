// SPDX-License-Identifier: Apache-2.0
#include "engine/root_counters.h"

#include <algorithm>

namespace baton {
namespace {

std::uint64_t natural(const Value& object, std::string_view name) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, json::integer(object, name).value_or(0)));
}

Json json_of(const AgentCounters& agent) {
  Json ended = Json::object();
  for (const auto& [outcome, count] : agent.ended)
    ended.set(word(outcome), count);
  return Json::object({{"started", agent.started},
                       {"ended", ended},
                       {"cost", agent.cost_usd},
                       {"tokens", agent.tokens}});
}

AgentCounters agent_counters_in(const Value& object) {
  AgentCounters agent;
  agent.started = natural(object, "started");
  agent.tokens = natural(object, "tokens");
  agent.cost_usd = std::max(0.0, json::number(object, "cost").value_or(0));
  if (const Value* const ended = json::child(object, "ended");
      ended != nullptr && ended->IsObject())
    for (const auto& each : ended->GetObject())
      if (const auto outcome = parse_outcome(json::name(each.name)))
        agent.ended[*outcome] = natural(*ended, json::name(each.name));
  return agent;
}

LatencyCounts latency_in(const Value& object) {
  LatencyCounts latency;
  const Value* const counts = json::child(object, "counts");
  // Counts of other bounds cannot be added up with these.
  if (counts == nullptr || !counts->IsArray() || counts->Size() != latency.counts.size())
    return latency;
  for (std::size_t i = 0; i < latency.counts.size(); ++i)
    latency.counts.at(i) = static_cast<std::uint64_t>(std::max<std::int64_t>(
        0, json::integer((*counts)[static_cast<rapidjson::SizeType>(i)]).value_or(0)));
  latency.sum = Millis(static_cast<std::int64_t>(natural(object, "sum_ms")));
  return latency;
}

}  // namespace

void LatencyCounts::add(Millis took) {
  took = std::max(took, Millis(0));
  const double seconds = std::chrono::duration<double>(took).count();
  const auto* const bound = std::lower_bound(kLatencyBounds.begin(), kLatencyBounds.end(), seconds);
  ++counts.at(static_cast<std::size_t>(bound - kLatencyBounds.begin()));
  sum += took;
}

bool is_counted(const Event& event) {
  return !event.run.empty() && (event.event == "started" || event.event == "ended");
}

Role counted_as(const Role& agent, const std::map<Role, AgentSpec>& agents) {
  const bool by_default =
      agent != kActionRole && !agents.contains(agent) && agents.contains("default");
  return by_default ? "default" : agent;
}

void RootCounters::count(const Event& event, const std::optional<Run>& run,
                         const std::map<Role, AgentSpec>& agents_known) {
  if (event.seq <= seq)
    return;
  seq = event.seq;
  if (!is_counted(event))
    return;
  const Role& who = run && !run->agent.empty() ? run->agent : event.role;
  AgentCounters& agent = agents[counted_as(who, agents_known)];
  if (event.event == "started") {
    ++agent.started;
    return;
  }
  ++agent.ended[run ? run->outcome : Outcome::unknown];
  if (!run)
    return;
  agent.cost_usd += std::max(0.0, run->cost_usd.value_or(0));
  agent.tokens += static_cast<std::uint64_t>(std::max<std::int64_t>(0, run->tokens.value_or(0)));
}

Json json_of(const RootCounters& counters) {
  Json agents = Json::object();
  for (const auto& [name, agent] : counters.agents)
    agents.set(name, json_of(agent));
  Json counts = Json::array();
  for (const std::uint64_t count : counters.latency.counts)
    counts.push(count);
  return Json::object(
      {{"seq", counters.seq},
       {"agents", agents},
       {"watch_overflows", counters.watch_overflows},
       {"latency", Json::object({{"counts", counts},
                                 {"sum_ms", std::int64_t{counters.latency.sum.count()}}})}});
}

std::optional<RootCounters> root_counters_in(const Value& json) {
  const Value* const agents = json::child(json, "agents");
  const Value* const latency = json::child(json, "latency");
  if (agents == nullptr || !agents->IsObject() || latency == nullptr)
    return std::nullopt;
  RootCounters counters;
  counters.seq = natural(json, "seq");
  for (const auto& each : agents->GetObject())
    counters.agents[Role(json::name(each.name))] = agent_counters_in(each.value);
  counters.watch_overflows = natural(json, "watch_overflows");
  counters.latency = latency_in(*latency);
  return counters;
}

}  // namespace baton
