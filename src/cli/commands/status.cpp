// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands/flow_page.h"
#include "cli/commands/overview.h"
#include "cli/submit_request.h"
#include "config/registry.h"
#include "core/condition.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/history.h"
#include "workspace/list_options.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"
#include "workspace/screen.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kStatusEvery{1};
/// `--check` reports what keeps a whole root from working after this time.
constexpr Millis kRootPatience = std::chrono::minutes(5);

struct StatusArguments {
  Places places;
  std::string flow;
  bool json = false;
  bool watch = false;
  bool names = false;
  bool all = false;
  bool check = false;
  std::string only;
  std::string dialect;
  std::string since;
  std::string sort;
  std::string limit;
  OverviewChoice choice;  ///< what these words mean
};

/// Flows with a silent agent, and since when; of several agents, the one that is silent longest.
using SilentFlows = std::map<FlowId, Time>;

SilentFlows silent_flows(const FlowRecords& records, Time now) {
  SilentFlows silent;
  for (const auto& [flow, record] : records)
    for (const Run& run : record.runs)
      if (const auto since = silent_since(run, now)) {
        const auto [row, fresh] = silent.try_emplace(flow, *since);
        row->second = std::min(row->second, *since);
      }
  return silent;
}

Table table_of(const std::vector<FlowStatus>& all, const SilentFlows& silent, Time now) {
  Table table({"FLOW", "CONDITION", "REASON", "DECLARED", "AGENTS", "ACTIVITY", "COST", "WHY"});
  table.keep_end(0);
  table.may_leave_out({3, 4, 6, 5, 2, 7});
  for (const FlowStatus& status : all) {
    const auto since = silent.find(status.flow);
    table.row({status.flow == FlowId{} ? "(root)" : text(status.flow),
               std::string(word(status.cause.condition)), std::string(word(status.cause.reason)),
               status.declared, std::to_string(status.agents), ago(status.last_activity, now),
               status.cost ? cost_text(*status.cost) : "",
               title_text(status) + status.why +
                   (since == silent.end() ? "" : "; silent for " + span_text(since->second, now))});
    table.colour(1, colour_of(status.cause.condition));
  }
  return table;
}

/// Which daemon serves the root, and what the user should know or do.
std::string hint(const Context& context, const std::optional<DaemonStatus>& daemon,
                 const std::vector<Request>& recorded) {
  std::string text;
  const bool drains =
      daemon && daemon->state.held && daemon->state.held->cause.reason == Reason::draining;
  if (daemon)
    text += "served by process " + std::to_string(daemon->pid) + " since " +
            printable(daemon->since) +
            // A daemon without free descriptors, for example, cannot write its status.
            (daemon->watching.empty() ? "" : " (" + printable(daemon->watching) + ")") +
            (daemon->disk_full ? "; its disk is full, so it starts nothing"
             : drains          ? "; it drains: it starts nothing, and ends with the last agent"
                               : "") +
            "\n";
  if (const auto difference = context.difference(); !difference.why.empty())
    text += difference.why + "\n";
  else if (context.configuration().empty())
    text += without_configuration(daemon) + "\n";
  else if (!daemon)
    text += "no daemon serves this root: run `baton run`\n";
  if (!recorded.empty())
    text += recorded_text(recorded) + "\n";
  return text;
}

/// What is shown for one root.
struct Section {
  std::string root;
  std::vector<FlowStatus> flows;  ///< without those that have left the list
  Overview overview;              ///< of these flows
  std::optional<DaemonStatus> daemon;
  std::vector<Request> recorded;
  Word difference;  ///< see Context::Difference
  std::string hint;
  std::string configured_patterns;
  SilentFlows silent = {};
};

/// What --watch has shown last: the text under the tables, and the JSON lines by root and flow. A
/// line without flow reports a problem of the root itself.
struct Shown {
  using Whose = std::pair<std::string, FlowId>;
  std::string hints;
  std::vector<Whose> order;
  std::map<Whose, std::string> lines;
  bool operator==(const Shown&) const = default;
};

Shown lines_of(const std::vector<Section>& sections) {
  Shown shown;
  for (const Section& section : sections) {
    shown.hints += section.hint;
    for (const FlowStatus& status : section.overview.flows) {
      Json line = status_json(status);
      const auto silent = section.silent.find(status.flow);
      line.set("silent_since",
               silent == section.silent.end() ? Json() : Json(iso_time(silent->second)));
      line.set("watching", section.daemon ? Json(section.daemon->watching) : Json());
      line.set("root", Json(section.root));
      line.set("configuration", section.difference.empty() ? Json() : Json(section.difference));
      Json verbs = Json::array();
      for (const Request& each : of_flow(section.recorded, status.flow))
        verbs.push(Json(each.verb));
      line.set("recorded", verbs);
      shown.order.emplace_back(section.root, status.flow);
      shown.lines[shown.order.back()] = line.dump();
    }
  }
  return shown;
}

bool names_alike(const Shown& now, const Shown& before) {
  return std::equal(now.lines.begin(), now.lines.end(), before.lines.begin(), before.lines.end(),
                    [](const auto& one, const auto& other) { return one.first == other.first; });
}

/// Prints the JSON lines that have changed.
void show_lines(const Shown& now, const Shown& before) {
  for (const Shown::Whose& whose : now.order) {
    const std::string& line = now.lines.at(whose);
    const auto last = before.lines.find(whose);
    if (last == before.lines.end() || last->second != line)
      print(line + "\n");
  }
}

/// The lines below the table: how many flows there are, and how many of them are not shown.
std::string counts_text(const Overview& overview) {
  std::vector<std::string> left_out;
  if (overview.filtered > 0)
    left_out.push_back(std::to_string(overview.filtered) + " that your filters leave out");
  if (overview.old > 0)
    left_out.push_back(std::to_string(overview.old) +
                       " that are done or idle for over a day (--all shows them)");
  return overview.totals + (left_out.empty() ? "" : "; not shown: " + join(left_out, ", ")) + "\n";
}

/// The text for one root. `most`: rows of its table; 0: all.
std::string section_text(const Section& section, bool many, std::size_t columns, std::size_t most) {
  const std::string head = many ? wrapped(printable(section.root), columns) + "\n" : "";
  if (section.flows.empty())
    return head + wrapped("there is no flow on " + printable(section.root) + "; " +
                              section.configured_patterns + "\n\n" + section.hint,
                          columns);
  const std::vector<FlowStatus>& flows = section.overview.flows;
  std::string text = head;
  if (!flows.empty())
    text += table_of(flows, section.silent, real_clock()->wall()).text(columns, most);
  if (most > 0 && flows.size() > most)
    text += wrapped(
        "and " + totals_text({flows.begin() + static_cast<std::ptrdiff_t>(most), flows.end()}) +
            " (--all shows them)\n",
        columns);
  return text + wrapped(counts_text(section.overview) + "\n" + section.hint, columns);
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string text_of(const std::vector<Section>& sections, std::size_t rows) {
  std::string text;
  for (const Section& section : sections)
    text += (text.empty() ? "" : "\n") +
            section_text(section, sections.size() > 1, terminal_columns(), rows);
  return text;
}

/// All roots in so many lines. The rows that have no room are only counted. Flows that need a
/// person come first in each table, so they are the last to go.
std::string fitted_text(const std::vector<Section>& sections, std::size_t lines) {
  std::size_t rows = 0;
  for (const Section& section : sections)
    rows = std::max(rows, section.overview.flows.size());
  std::string text = text_of(sections, 0);
  while (lines_in(text) > lines && rows > 1) {
    const std::size_t over = lines_in(text) - lines;
    rows -= std::min(rows - 1, std::max<std::size_t>(1, over / sections.size()));
    text = text_of(sections, rows);
  }
  return text;
}

/// On a terminal the tables fit it, unless the user asks for more.
void show_tables(const std::vector<Section>& sections, const StatusArguments& arguments) {
  const bool whole = !on_terminal() || arguments.all || arguments.choice.limit > 0;
  print_text(whole ? text_of(sections, 0) : fitted_text(sections, terminal_lines() - 1));
}

/// What `--watch` shows on a terminal.
std::string screen_text(const std::vector<Section>& sections) {
  const std::string head = "baton status  " + iso_time(real_clock()->wall()) + "  q: quit";
  std::string text =
      cut_end(head, terminal_columns()) + "\n" + fitted_text(sections, terminal_lines() - 1);
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

void show_names(const std::vector<Section>& sections) {
  std::set<std::string> names;
  for (const Section& section : sections)
    for (const FlowStatus& status : section.overview.flows)
      if (status.flow != FlowId{})
        names.insert(text(status.flow));
  for (const std::string& name : names)
    if (is_plain_word(name))
      print(name + "\n");
}

/// With --all also flows that have left the list.
Result<std::vector<Section>> sections_of(const StatusArguments& arguments,
                                         const std::vector<RehearsedRoot>& roots) {
  const std::string& flow = arguments.flow;
  std::optional<FlowPlace> wanted;
  if (!flow.empty()) {
    auto place = choose_flow(flow, roots);
    if (!place)
      return pass_on(place);
    wanted = *std::move(place);
  }
  std::vector<Section> sections;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (wanted && wanted->root != i)
      continue;
    const auto& [on_root, rehearsal] = roots[i];
    Section section{on_root.root(),
                    statuses(rehearsal->records(), rehearsal->plan()),
                    {},
                    rehearsal->daemon(),
                    rehearsal->recorded(),
                    on_root.difference().word,
                    "",
                    configured_patterns(on_root, rehearsal->catalog())};
    section.hint = hint(on_root, section.daemon,
                        wanted ? of_flow(section.recorded, wanted->flow) : section.recorded);
    section.silent = silent_flows(rehearsal->records(), real_clock()->wall());
    if (wanted)
      std::erase_if(section.flows,
                    [&](const FlowStatus& status) { return status.flow != wanted->flow; });
    else if (!arguments.all)
      std::erase_if(section.flows, [](const FlowStatus& status) { return status.absent; });
    OverviewChoice choice = arguments.choice;
    // Programs choose for themselves what is old.
    choice.old = choice.old || wanted || arguments.json || arguments.names;
    section.overview = overview_of(section.flows, choice, real_clock()->wall());
    sections.push_back(std::move(section));
  }
  return sections;
}

/// The page about one flow.
std::string page_text(const Section& section, const RehearsedRoot& on_root) {
  const FlowStatus& status = section.flows.front();
  return flow_page(status, on_root, real_clock()->wall(), terminal_columns()) +
         wrapped("\n" + section.hint, terminal_columns());
}

ExitCode show(const StatusArguments& arguments, const Context& context,
              std::unique_ptr<Screen>& screen, Shown& shown) {
  const auto failed = [&](const Error& error) {
    // A message on the screen would go with it.
    screen.reset();
    return complain(error);
  };
  const auto seen = rehearse_seen(context);
  if (!seen)
    return failed(seen.error());
  const auto sections = sections_of(arguments, *seen);
  if (!sections)
    return failed(sections.error());
  const auto place = arguments.flow.empty() ? Result<FlowPlace>(fail(Errc::not_found, ""))
                                            : choose_flow(arguments.flow, *seen);
  const bool is_page = place && !sections->front().flows.empty();
  if (screen != nullptr) {
    screen->show(is_page ? page_text(sections->front(), (*seen)[place->root])
                         : screen_text(*sections));
    return ExitCode::fine;
  }
  // Only what is compared or printed is made.
  const bool compares = arguments.json || arguments.names || arguments.watch;
  Shown lines = compares ? lines_of(*sections) : Shown{};
  if (arguments.names) {
    if (!names_alike(lines, shown))
      show_names(*sections);
  } else if (arguments.json) {
    show_lines(lines, shown);
  } else if (!compares || lines != shown) {
    if (is_page)
      print_text(page_text(sections->front(), (*seen)[place->root]));
    else
      show_tables(*sections, arguments);
  }
  shown = std::move(lines);
  return ExitCode::fine;
}

/// What `--check` has found.
struct Health {
  std::vector<std::string> unserved;  ///< roots without a daemon
  std::vector<std::string> faults;    ///< what a person has to look at
  std::vector<FlowStatus> flows;
};

void examine(const Section& section, Time now, Health& health) {
  if (!section.daemon)
    health.unserved.push_back(section.root);
  else if (const auto& trouble = section.daemon->trouble;
           trouble && now - trouble->since > kRootPatience)
    health.faults.push_back(printable(section.root, 200) + " is waiting (" +
                            std::string(word(trouble->reason)) + ") since " +
                            iso_time(trouble->since) + ": " + printable(trouble->why));
  for (const FlowStatus& status : section.flows) {
    const bool whole = status.flow == FlowId{};
    health.flows.push_back(status);
    if (row_of(status.cause.condition).person)
      health.faults.push_back((whole ? printable(section.root, 200) + " is " +
                                           std::string(word(status.cause.condition)) + " (" +
                                           std::string(word(status.cause.reason)) + ")"
                                     : condition_text(status)) +
                              ": " + printable(status.why));
  }
}

/// Prints the one line of `--check`. Its first word is one that Nagios knows.
ExitCode say(std::string_view word, const std::string& text, ExitCode code) {
  print(std::string(word) + " - " + text + "\n");
  return finish(code);
}

ExitCode unknown(const Error& error) {
  return say("UNKNOWN", printable(describe(error)), exit_code_of(error.code));
}

/// For cron, Nagios and `ExecCondition=` of systemd.
ExitCode check(const StatusArguments& arguments) {
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return unknown(context.error());
  // A root that cannot be read may hide anything, so it is an error here.
  const auto seen = rehearse(*context);
  if (!seen)
    return unknown(seen.error());
  const auto sections = sections_of(arguments, *seen);
  if (!sections)
    return unknown(sections.error());
  Health health;
  for (const Section& section : *sections)
    examine(section, real_clock()->wall(), health);
  if (arguments.flow.empty())
    health.unserved.insert(health.unserved.end(), context->missing_roots().begin(),
                           context->missing_roots().end());
  if (!health.unserved.empty())
    return say("UNKNOWN", "no daemon serves " + printable(join(health.unserved, ", ")),
               ExitCode::unreachable);
  if (health.faults.empty())
    return say("OK", totals_text(health.flows), ExitCode::fine);
  const std::size_t more = health.faults.size() - 1;
  return say("CRITICAL",
             health.faults.front() + (more == 0 ? "" : " (and " + std::to_string(more) + " more)"),
             ExitCode::failed);
}

/// Errc::usage: an option has a value that means nothing.
Result<OverviewChoice> choice_of(const StatusArguments& arguments) {
  OverviewChoice choice;
  choice.old = arguments.all;
  if (!arguments.only.empty()) {
    auto only = parse_conditions(arguments.only);
    if (!only)
      return pass_on(only);
    choice.only = *std::move(only);
  }
  if (!arguments.sort.empty()) {
    auto order = parse_order(arguments.sort);
    if (!order)
      return pass_on(order);
    choice.order = *order;
  }
  auto since = since_of(arguments.since, real_clock()->wall());
  if (!since)
    return pass_on(since);
  choice.since = *since;
  choice.old = choice.old || choice.since;
  auto limit = limit_of(arguments.limit);
  if (!limit)
    return pass_on(limit);
  choice.limit = *limit;
  if (!arguments.dialect.empty()) {
    std::vector<std::string> names;
    for (const Dialect* const each : dialects())
      names.emplace_back(each->name);
    if (std::find(names.begin(), names.end(), arguments.dialect) == names.end())
      return tl::unexpected(no_such("dialect", arguments.dialect, names));
    choice.dialect = arguments.dialect;
  }
  return choice;
}

}  // namespace

ExitCode status_command(Words words) {
  StatusArguments arguments;
  Options options(
      "status",
      "Shows the flows of all roots: their condition (running, waiting, blocked, failed,\n"
      "stopped, paused, done, idle, gone) and the reason, the status in their files, and the\n"
      "last activity. Works without a daemon.",
      {{ExitCode::fine, "shown; with --check: nobody has to do anything"},
       {ExitCode::failed,
        "with --check: a flow is blocked, failed or gone, or a root has been away, its disk full, "
        "or no agent could be started there, for over five minutes"},
       {ExitCode::usage, "wrong usage or configuration; no such flow"},
       {ExitCode::unreachable,
        "the root or its state cannot be read; with --check: no daemon serves the root"}});
  options.word("FLOW", arguments.flow,
               "Only this flow: dialect/name, or the name alone if it is unique", false);
  options.flag("--json", arguments.json, "One JSON object per flow and line");
  options.flag("-w,--watch", arguments.watch, "Show it again after each change, until Ctrl-C");
  options.flag(
      "--all", arguments.all,
      "Also flows that have been done or idle for over a day, and idle flows whose files are "
      "all gone");
  options.value("--only", arguments.only, "CONDITIONS", "Only these, as in blocked,failed");
  options.value("--dialect", arguments.dialect, "DIALECT", "Only flows of this dialect");
  options.value("--since", arguments.since, "TIME",
                "Only flows that were active since a time or a duration ago (90s, 2h, 1d)");
  options.value("--sort", arguments.sort, "ORDER",
                "condition (who needs a person comes first), flow, since or cost");
  options.value("--limit", arguments.limit, "N", "At most so many flows of a root");
  options.flag("--names", arguments.names,
               "Only the names that a shell can take as they are, one per line");
  options.flag("--check", arguments.check,
               "Print one line for a monitor, and say by the exit code whether a person is needed");
  options.places(arguments.places);
  options.exclude("--names", {"--json"});
  options.exclude("--check", {"--names", "--json", "--watch", "--only", "--dialect", "--since",
                              "--sort", "--limit"});
  if (const auto over = options.parse(words))
    return *over;
  if (arguments.check)
    return check(arguments);
  if (auto choice = choice_of(arguments); !choice)
    return complain(choice.error());
  else
    arguments.choice = *std::move(choice);
  auto screen = arguments.watch && !arguments.json && !arguments.names ? Screen::open() : nullptr;
  Shown shown;
  for (;;) {
    // Open it each time: the configuration may have changed and been reloaded.
    const auto context = Context::open_anyway(arguments.places);
    if (!context) {
      screen.reset();
      return complain(context.error());
    }
    const ExitCode code = show(arguments, *context, screen, shown);
    if (code != ExitCode::fine || !arguments.watch)
      return finish(code);
    if (screen != nullptr) {
      const Screen::Event event = screen->wait(kStatusEvery);
      if (event == Screen::Event::quit)
        return ExitCode::fine;
      if (event == Screen::Event::interrupted)
        return ExitCode::interrupted;
      continue;
    }
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    if (!wait_while_read(kStatusEvery))
      return ExitCode::fine;
  }
}

}  // namespace baton
