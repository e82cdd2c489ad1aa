#include "engine/decide/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/submit_request.h"
#include "core/condition.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/history.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

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
};

Colour colour_of(Condition condition) {
  switch (condition) {
    case Condition::running:
    case Condition::done:
      return Colour::green;
    case Condition::waiting:
      return Colour::blue;
    case Condition::blocked:
    case Condition::paused:
    case Condition::stopped:
      return Colour::yellow;
    case Condition::idle:
      return Colour::grey;
    case Condition::failed:
    case Condition::gone:
      return Colour::red;
  }
  return Colour::grey;
}

std::string dollars(double cost) {
  constexpr double kCents = 100;
  const auto cents = std::llround(cost * kCents);
  const std::string rest = std::to_string(cents % 100);
  return "$" + std::to_string(cents / 100) + "." + (rest.size() < 2 ? "0" : "") + rest;
}

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

std::string table_of(const std::vector<FlowStatus>& all, const SilentFlows& silent, Time now) {
  Table table({"FLOW", "CONDITION", "REASON", "DECLARED", "AGENTS", "ACTIVITY", "COST", "WHY"});
  for (const FlowStatus& status : all) {
    const auto since = silent.find(status.flow);
    table.row({status.flow == FlowId{} ? "(root)" : text(status.flow),
               std::string(word(status.cause.condition)), std::string(word(status.cause.reason)),
               status.declared, std::to_string(status.agents), ago(status.last_activity, now),
               status.cost ? dollars(*status.cost) : "",
               status.why +
                   (since == silent.end() ? "" : "; silent for " + span_text(since->second, now))});
    table.colour(1, colour_of(status.cause.condition));
  }
  return table.text();
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
  std::vector<FlowStatus> flows;
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
  std::string hints;
  std::map<std::pair<std::string, FlowId>, std::string> lines;
  bool operator==(const Shown&) const = default;
};

Shown lines_of(const std::vector<Section>& sections) {
  Shown shown;
  for (const Section& section : sections) {
    shown.hints += section.hint;
    for (const FlowStatus& status : section.flows) {
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
      shown.lines[{section.root, status.flow}] = line.dump();
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
  for (const auto& [whose, line] : now.lines) {
    const auto last = before.lines.find(whose);
    if (last == before.lines.end() || last->second != line)
      print(line + "\n");
  }
}

void show_tables(const std::vector<Section>& sections, bool many) {
  for (const Section& section : sections) {
    if (many)
      print_text((&section != &sections.front() ? "\n" : "") + printable(section.root) + "\n");
    print_text(section.flows.empty()
                   ? "there is no flow on " + printable(section.root) + "; " +
                         section.configured_patterns + "\n"
                   : table_of(section.flows, section.silent, real_clock()->wall()));
    print_text("\n" + section.hint);
  }
}

void show_names(const std::vector<Section>& sections) {
  std::set<std::string> names;
  for (const Section& section : sections)
    for (const FlowStatus& status : section.flows)
      if (status.flow != FlowId{})
        names.insert(text(status.flow));
  for (const std::string& name : names)
    if (is_plain_word(name))
      print(name + "\n");
}

/// `all`: also flows that have left the list.
Result<std::vector<Section>> sections_of(const std::string& flow, bool all,
                                         const std::vector<RehearsedRoot>& roots) {
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
    else if (!all)
      std::erase_if(section.flows, [](const FlowStatus& status) { return status.absent; });
    sections.push_back(std::move(section));
  }
  return sections;
}

ExitCode show(const StatusArguments& arguments, const Context& context, Shown& shown) {
  const auto seen = rehearse_seen(context);
  if (!seen)
    return complain(seen.error());
  const auto sections = sections_of(arguments.flow, arguments.all, *seen);
  if (!sections)
    return complain(sections.error());
  Shown lines = lines_of(*sections);
  // On a terminal, the "ago" times change without any event.
  const bool clear = arguments.watch && on_terminal();
  if (arguments.names) {
    if (!names_alike(lines, shown))
      show_names(*sections);
  } else if (arguments.json) {
    show_lines(lines, shown);
  } else if (clear || lines != shown) {
    if (clear)
      print("\x1b[2J\x1b[H");
    show_tables(*sections, seen->size() > 1);
  }
  shown = std::move(lines);
  return ExitCode::fine;
}

/// What `--check` has found.
struct Health {
  std::vector<std::string> unserved;  ///< roots without a daemon
  std::vector<std::string> faults;    ///< what a person has to look at
  std::array<std::size_t, kConditions.size()> counts{};
  std::size_t flows = 0;
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
    if (!whole) {
      ++health.flows;
      ++health.counts.at(static_cast<std::size_t>(status.cause.condition));
    }
    if (row_of(status.cause.condition).person)
      health.faults.push_back((whole ? printable(section.root, 200) + " is " +
                                           std::string(word(status.cause.condition)) + " (" +
                                           std::string(word(status.cause.reason)) + ")"
                                     : condition_text(status)) +
                              ": " + printable(status.why));
  }
}

/// `12 flows: 3 running, 2 waiting, 7 done`.
std::string totals(const Health& health) {
  std::vector<std::string> counts;
  for (const ConditionRow& row : kConditions)
    if (const auto count = health.counts.at(static_cast<std::size_t>(row.condition)); count > 0)
      counts.push_back(std::to_string(count) + " " + std::string(row.word));
  return std::to_string(health.flows) + (health.flows == 1 ? " flow" : " flows") +
         (counts.empty() ? "" : ": " + join(counts, ", "));
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
  const auto sections = sections_of(arguments.flow, arguments.all, *seen);
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
    return say("OK", totals(health), ExitCode::fine);
  const std::size_t more = health.faults.size() - 1;
  return say("CRITICAL",
             health.faults.front() + (more == 0 ? "" : " (and " + std::to_string(more) + " more)"),
             ExitCode::failed);
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
  options.flag("--all", arguments.all, "Also idle flows whose files are all gone");
  options.flag("--names", arguments.names,
               "Only the names that a shell can take as they are, one per line");
  options.flag("--check", arguments.check,
               "Print one line for a monitor, and say by the exit code whether a person is needed");
  options.places(arguments.places);
  options.exclude("--names", {"--json"});
  options.exclude("--check", {"--names", "--json", "--watch"});
  if (const auto over = options.parse(words))
    return *over;
  if (arguments.check)
    return check(arguments);
  Shown shown;
  for (;;) {
    // Open it each time: the configuration may have changed and been reloaded.
    const auto context = Context::open_anyway(arguments.places);
    if (!context)
      return complain(context.error());
    const ExitCode code = show(arguments, *context, shown);
    if (code != ExitCode::fine || !arguments.watch)
      return finish(code);
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    if (!wait_while_read(kStatusEvery))
      return ExitCode::fine;
  }
}

}  // namespace baton
