// SPDX-License-Identifier: Apache-2.0

// `baton costs`: what the runs in the journals have cost.

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/reported.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/history.h"
#include "workspace/list_options.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

enum class By { flow, agent, provider, day };
constexpr std::array kBy = {std::pair{std::string_view("flow"), By::flow},
                            std::pair{std::string_view("agent"), By::agent},
                            std::pair{std::string_view("provider"), By::provider},
                            std::pair{std::string_view("day"), By::day}};

/// What the runs of one group have used.
struct Sum {
  std::uint64_t runs = 0;
  std::uint64_t unknown = 0;  ///< ended without a reported cost
  double cost_usd = 0;
  std::int64_t tokens = 0;
  void add(const RunCost& run) {
    ++runs;
    unknown += run.ended && !run.cost_usd ? 1U : 0U;
    cost_usd += run.cost_usd.value_or(0);
    tokens += run.tokens.value_or(0);
  }
};

/// A group: its name and, by flow, the root.
using Group = std::pair<std::string, std::string>;

Group group_of(const RunCost& run, By by, const std::string& root, const Setup& setup) {
  switch (by) {
    case By::flow:
      return {text(run.flow), root};
    case By::agent:
      return {run.agent.empty() ? run.role : run.agent, ""};
    case By::provider: {
      const auto agent = setup.agents.find(run.agent);
      return {agent == setup.agents.end() ? "" : agent->second.provider, ""};
    }
    case By::day:
      return {iso_time(run.ended.value_or(run.started)).substr(0, 10), ""};
  }
  return {};
}

Json json_of(std::string_view by, const Group& group, const Sum& sum, Time since) {
  return Json::object({{"schema", "baton/costs/v1"},
                       {"by", by},
                       {"name", group.first},
                       {"root", group.second.empty() ? Json() : Json(group.second)},
                       {"since", iso_time(since)},
                       {"runs", sum.runs},
                       {"without_cost", sum.unknown},
                       {"cost", sum.cost_usd},
                       {"tokens", sum.tokens}});
}

void print_table(const std::map<Group, Sum>& sums, std::string_view by, bool several_roots) {
  std::string title(by);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::vector<std::string> head = {title, "RUNS", "WITHOUT COST", "TOKENS", "COST"};
  if (several_roots)
    head.emplace_back("ROOT");
  Table table(head);
  const auto row = [&](const Group& group, const Sum& sum) {
    std::vector<std::string> cells = {group.first.empty() ? "-" : group.first,
                                      std::to_string(sum.runs), std::to_string(sum.unknown),
                                      std::to_string(sum.tokens), dollars(sum.cost_usd)};
    if (several_roots)
      cells.push_back(group.second);
    table.row(std::move(cells));
  };
  Sum all;
  for (const auto& [group, sum] : sums) {
    row(group, sum);
    all.runs += sum.runs;
    all.unknown += sum.unknown;
    all.cost_usd += sum.cost_usd;
    all.tokens += sum.tokens;
  }
  if (sums.size() > 1)
    row({"total", ""}, all);
  print(table.empty() ? "no run has started since then\n" : table.text());
}

}  // namespace

ExitCode costs_command(Words words) {
  Places places;
  std::string since_text = "7d";
  std::string by_text = "flow";
  bool as_json = false;
  Options options("costs",
                  "Shows what the runs of agents have cost, as the agents reported it: by flow,\n"
                  "agent, provider or day (UTC). Knows the runs that the journals still have.",
                  {{ExitCode::fine, "done"},
                   {ExitCode::usage, "wrong usage or configuration"},
                   {ExitCode::unreachable, "the state cannot be read"}});
  options.value("--since", since_text, "TIME",
                "Only runs since a time (2026-01-22T10:00:00Z) or a duration ago (2h, 7d)");
  options.value("--by", by_text, "GROUP", "flow, agent, provider or day");
  options.flag("--json", as_json, "One JSON object per line");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  const auto* const by =
      std::find_if(kBy.begin(), kBy.end(), [&](const auto& row) { return row.first == by_text; });
  if (by == kBy.end()) {
    complain("--by takes flow, agent, provider or day, not " + printable(by_text, 60));
    return ExitCode::usage;
  }
  auto since = since_of(since_text, real_clock()->wall());
  if (!since)
    return complain(since.error());
  const auto context = Context::open_anyway(places);
  if (!context)
    return complain(context.error());
  const auto setup = context->setup(context->root());
  if (!setup)
    return complain(setup.error());
  const auto histories = histories_of(*context);
  if (!histories)
    return complain(histories.error());
  std::map<Group, Sum> sums;
  for (const History& history : *histories) {
    const auto runs = history.journal->costs(since->value_or(Time{}));
    if (!runs)
      return complain(runs.error());
    for (const RunCost& run : *runs)
      sums[group_of(run, by->second, history.root, *setup)].add(run);
  }
  if (!as_json)
    print_table(sums, by->first, by->second == By::flow && histories->size() > 1);
  else
    for (const auto& [group, sum] : sums)
      print_line(json_of(by->first, group, sum, since->value_or(Time{})));
  return finish(ExitCode::fine);
}

}  // namespace baton
