// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/run_text.h"
#include "engine/decide/status.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/environment.h"
#include "workspace/history.h"
#include "workspace/list_options.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

std::string end_of(const Run& run, Time now) {
  if (!run.live())
    return ending_text(run);
  const auto silent = silent_since(run, now);
  return std::string(word(run.state)) + (silent ? ", silent for " + span_text(*silent, now) : "");
}

Colour colour_of(const Run& run) {
  if (run.live())
    return Colour::green;
  const bool fine =
      (run.outcome == Outcome::succeeded && !work_failed(run)) || run.outcome == Outcome::voided;
  return fine ? Colour::grey : Colour::red;
}

struct RootRun {
  std::string root;
  Run run;
};

Json json_of(const RootRun& each) {
  Json line = agent_json(each.run);
  const auto silent = silent_since(each.run, real_clock()->wall());
  line.set("silent_since", silent ? Json(iso_time(*silent)) : Json());
  line.set("root", Json(each.root));
  return line;
}

/// What the user wants to see.
struct AgentsArguments {
  Places places;
  std::string flow;
  std::string outcome;
  std::string role;
  std::string limit;
  bool json = false;
  bool names = false;
  bool live = false;
};

/// Errc::usage: there is no such outcome.
Result<std::optional<Outcome>> outcome_of(const std::string& text) {
  if (text.empty())
    return std::optional<Outcome>();
  if (const auto outcome = parse_outcome(text); outcome && *outcome != Outcome::none)
    return std::optional(*outcome);
  return tl::unexpected(no_such("outcome", text, outcome_words()));
}

void print_table(const std::vector<RootRun>& runs, bool chosen, bool several_roots) {
  const Time now = real_clock()->wall();
  std::vector<std::string> head = {"RUN",     "FLOW",    "ROLE", "SUBJECT", "PURPOSE",
                                   "ATTEMPT", "STARTED", "TOOK", "STATE"};
  if (several_roots)
    head.emplace_back("ROOT");
  Table table(head);
  table.keep_end(1);
  table.may_leave_out({4, 5, 6, 3, 7});
  for (const auto& [root, run] : runs) {
    const Time end = run.live() ? now : run.ended;
    std::vector<std::string> cells = {
        run.id.substr(0, kShortRunId),
        text(run.key.flow),
        role_text(run.key.role, run.agent),
        run.key.subject,
        run.purpose,
        std::to_string(run.attempt),
        iso_time(run.started),
        duration_text(std::chrono::duration_cast<std::chrono::seconds>(
            std::max(end - run.started, Millis(0)))),
        end_of(run, now)};
    if (several_roots)
      cells.push_back(root);
    table.row(std::move(cells));
    table.colour(8, colour_of(run));
  }
  print_text(!table.empty() ? table.text()
             : chosen       ? "there is no such run\n"
                            : "no agent was started\n");
}

Result<std::vector<RootRun>> runs_of(const Context& context, const std::string& flow) {
  auto histories = histories_of(context);
  if (!histories)
    return pass_on(histories);
  RunQuery query;
  // Without any history there is nothing to list or to choose from.
  if (!flow.empty() && !histories->empty()) {
    auto id = choose_history(*histories, flow);
    if (!id)
      return pass_on(id);
    query.flow = *id;
  }
  std::vector<RootRun> runs;
  for (const History& each : *histories) {
    auto found = each.runs(query);
    if (!found)
      return pass_on(found);
    for (Run& run : *found)
      runs.push_back({each.root, std::move(run)});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const RootRun& a, const RootRun& b) {
    return a.run.started < b.run.started;
  });
  return runs;
}

}  // namespace

ExitCode agents_command(Words words) {
  AgentsArguments arguments;
  Options options(
      "agents",
      "Lists the runs of agents on all roots, the oldest first: the last 50, or all as\n"
      "JSON. Works without a daemon.",
      {{ExitCode::fine, "listed"},
       {ExitCode::usage, "wrong usage or configuration; no such flow"},
       {ExitCode::unreachable, "the history cannot be read"}});
  options.word("FLOW", arguments.flow, "Only runs of this flow", false);
  options.flag("--running", arguments.live, "Only runs that have not ended");
  options.value("--outcome", arguments.outcome, "WORD",
                "Only runs that ended so: succeeded, failed, timed_out, stopped and others");
  options.value("--role", arguments.role, "ROLE", "Only runs of this role");
  options.value("--limit", arguments.limit, "N", "The last N runs");
  options.flag("--json", arguments.json, "One JSON object per line");
  options.flag("--names", arguments.names, "Print only the run ids, one per line");
  options.places(arguments.places);
  options.exclude("--names", {"--json"});
  options.exclude("--running", {"--outcome"});
  if (const auto over = options.parse(words))
    return *over;
  auto limit = limit_of(arguments.limit);
  if (!limit)
    return complain(limit.error());
  const auto outcome = outcome_of(arguments.outcome);
  if (!outcome)
    return complain(outcome.error());
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  auto found = runs_of(*context, arguments.flow);
  if (!found)
    return complain(found.error());
  std::vector<RootRun>& runs = *found;
  std::erase_if(runs, [&](const RootRun& each) {
    return (arguments.live && !each.run.live()) ||
           (*outcome && (each.run.live() || each.run.outcome != **outcome)) ||
           (!arguments.role.empty() && each.run.key.role != arguments.role);
  });
  const std::size_t all = runs.size();
  const std::size_t most = *limit > 0                          ? *limit
                           : arguments.json || arguments.names ? all
                                                               : kUsualLimit;
  if (all > most)
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(most));
  if (arguments.names) {
    for (const RootRun& each : runs)
      if (is_plain_word(each.run.id))
        print(each.run.id + "\n");
  } else if (arguments.json) {
    for (const RootRun& each : runs)
      print_line(json_of(each));
  } else {
    print_table(runs, arguments.live || *outcome || !arguments.role.empty(),
                context->roots().size() > 1);
    if (all > most)
      print_fitted("the last " + std::to_string(most) + " of " + std::to_string(all) +
                   " runs; --limit N shows more\n");
  }
  return finish();
}

}  // namespace baton
