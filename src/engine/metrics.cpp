// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/prometheus_text.h"
#include "engine/decide/status.h"

namespace baton {
namespace {

double seconds_of(Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void add_flows(const RootMetrics& root, PrometheusText& text) {
  for (const ConditionRow& row : kConditions)
    text.sample({{"root", root.root}, {"condition", std::string(row.word)}},
                static_cast<double>(root.flows.at(static_cast<std::size_t>(row.condition))));
}

void add_running(const RootMetrics& root, PrometheusText& text) {
  for (const auto& [agent, count] : root.running)
    text.sample({{"root", root.root}, {"agent", agent}}, static_cast<double>(count));
}

void add_waiting(const RootMetrics& root, PrometheusText& text) {
  for (const ReasonRow& row : reasons()) {
    if ((row.conditions & bit(Condition::waiting)) == 0)
      continue;
    const auto found = root.waiting.find(row.reason);
    text.sample({{"root", root.root}, {"reason", std::string(row.word)}},
                found == root.waiting.end() ? 0 : static_cast<double>(found->second));
  }
}

void add_ended(const RootMetrics& root, PrometheusText& text) {
  for (const auto& [agent, its] : root.counters.agents)
    for (const std::string& outcome : outcome_words()) {
      const auto found = its.ended.find(*parse_outcome(outcome));
      text.sample({{"root", root.root}, {"agent", agent}, {"outcome", outcome}},
                  found == its.ended.end() ? 0 : static_cast<double>(found->second));
    }
}

/// One sample for each agent.
template <class Amount>
void add_by_agent(const RootMetrics& root, PrometheusText& text, const Amount& amount) {
  for (const auto& [agent, its] : root.counters.agents)
    text.sample({{"root", root.root}, {"agent", agent}}, static_cast<double>(amount(its)));
}

void add_parked_until(const RootMetrics& root, PrometheusText& text) {
  for (const auto& [whose, until] : root.parked)
    text.sample({{"root", root.root}, {"provider", whose.first}, {"model", whose.second}},
                until ? seconds_of(*until) : std::numeric_limits<double>::infinity());
}

struct MetricRow {
  std::string_view name;
  MetricType type;
  std::string_view help;
  void (*add)(const RootMetrics& root, PrometheusText& text);
};
/// The page has the same names, types and sentences.
constexpr std::array kMetrics = {
    MetricRow{"baton_up", MetricType::gauge,
              "1 while a daemon serves the root. 0 after the daemon has ended.",
              [](const RootMetrics& root, PrometheusText& text) {
                text.sample({{"root", root.root}}, root.up ? 1 : 0);
              }},
    MetricRow{"baton_build_info", MetricType::gauge,
              "Always 1. The label has the version of baton.",
              [](const RootMetrics& root, PrometheusText& text) {
                text.sample({{"root", root.root}, {"version", root.version}}, 1);
              }},
    MetricRow{"baton_start_time_seconds", MetricType::gauge, "When the daemon began, in Unix time.",
              [](const RootMetrics& root, PrometheusText& text) {
                text.sample({{"root", root.root}}, seconds_of(root.started));
              }},
    MetricRow{"baton_flows", MetricType::gauge, "Flows, by condition.", add_flows},
    MetricRow{"baton_runs_running", MetricType::gauge, "Runs that have not ended, by agent.",
              add_running},
    MetricRow{"baton_runs_waiting", MetricType::gauge,
              "Runs that are due and start by themselves later, by reason.", add_waiting},
    MetricRow{"baton_runs_started_total", MetricType::counter, "Runs that were started, by agent.",
              [](const RootMetrics& root, PrometheusText& text) {
                add_by_agent(root, text, [](const AgentCounters& its) { return its.started; });
              }},
    MetricRow{"baton_runs_ended_total", MetricType::counter,
              "Runs that have ended, by agent and outcome.", add_ended},
    MetricRow{"baton_cost_dollars_total", MetricType::counter,
              "Cost of ended runs in US dollars, as the agents reported it.",
              [](const RootMetrics& root, PrometheusText& text) {
                add_by_agent(root, text, [](const AgentCounters& its) { return its.cost_usd; });
              }},
    MetricRow{"baton_tokens_total", MetricType::counter,
              "Tokens of ended runs, as the agents reported them.",
              [](const RootMetrics& root, PrometheusText& text) {
                add_by_agent(root, text, [](const AgentCounters& its) { return its.tokens; });
              }},
    MetricRow{"baton_provider_parked_until_timestamp_seconds", MetricType::gauge,
              "When a provider has room again, in Unix time. +Inf: when a person acts. Only while "
              "it has none.",
              add_parked_until},
    MetricRow{"baton_decision_latency_seconds", MetricType::histogram,
              "Time from noticing a changed file until all that follows from it is decided, "
              "written and started.",
              [](const RootMetrics& root, PrometheusText& text) {
                const LatencyCounts& latency = root.counters.latency;
                text.histogram({{"root", root.root}}, kLatencyBounds, latency.counts,
                               std::chrono::duration<double>(latency.sum).count());
              }},
    MetricRow{"baton_journal_bytes", MetricType::gauge, "Size of the journal with its -wal file.",
              [](const RootMetrics& root, PrometheusText& text) {
                if (root.journal_bytes)
                  text.sample({{"root", root.root}}, static_cast<double>(*root.journal_bytes));
              }},
    MetricRow{
        "baton_watch_overflows_total", MetricType::counter,
        "How often inotify lost events, so that baton looked at all files.",
        [](const RootMetrics& root, PrometheusText& text) {
          text.sample({{"root", root.root}}, static_cast<double>(root.counters.watch_overflows));
        }},
};

void count_flows(const FlowRecords& records, const Plan& plan, RootMetrics& metrics) {
  for (const FlowStatus& flow : statuses(records, plan))
    if (!flow.absent && flow.flow != FlowId{})
      ++metrics.flows.at(static_cast<std::size_t>(flow.cause.condition));
}

void count_waiting(const Plan& plan, RootMetrics& metrics) {
  for (const auto& [flow, holds] : plan.holds)
    for (const Hold& hold : holds)
      if (hold.cause.condition == Condition::waiting)
        ++metrics.waiting[hold.cause.reason];
}

}  // namespace

RootMetrics root_metrics(const FlowRecords& records, const Plan& plan, RootCounters counters,
                         const std::map<Role, AgentSpec>& agents) {
  RootMetrics metrics;
  metrics.counters = std::move(counters);
  for (const auto& [agent, spec] : agents) {
    metrics.counters.agents[agent];
    metrics.running[agent];
  }
  count_flows(records, plan, metrics);
  for (const auto& [id, record] : records)
    for (const Run& run : record.runs)
      if (run.live())
        ++metrics.running[counted_as(run.agent.empty() ? run.key.role : run.agent, agents)];
  count_waiting(plan, metrics);
  return metrics;
}

void add_parked(const std::vector<Parked>& parked, Time now, RootMetrics& metrics) {
  for (const Parked& row : parked) {
    if (row.until && *row.until <= now)
      continue;
    const auto [known, added] =
        metrics.parked.emplace(std::pair(row.whose.provider, row.whose.model), row.until);
    if (!added && known->second && (!row.until || *known->second < *row.until))
      known->second = row.until;
  }
}

std::string metrics_text(std::string_view first_line, const std::vector<RootMetrics>& roots) {
  PrometheusText text;
  text.comment(first_line);
  for (const MetricRow& row : kMetrics) {
    text.family(row.name, row.type, row.help);
    for (const RootMetrics& root : roots)
      row.add(root, text);
  }
  return text.text();
}

}  // namespace baton
