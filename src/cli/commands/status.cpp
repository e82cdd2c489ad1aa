#include "engine/decide/status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kStatusEvery{1};

struct StatusArguments {
  Places places;
  std::string flow;
  bool json = false;
  bool watch = false;
  bool names = false;
};

Colour colour_of(Process process) {
  switch (process) {
    case Process::running:
      return Colour::green;
    case Process::waiting:
      return Colour::blue;
    case Process::held:
    case Process::paused:
    case Process::stopped:
      return Colour::yellow;
    case Process::idle:
      return Colour::grey;
    case Process::failed:
    case Process::gone:
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

std::string table_of(const std::vector<FlowStatus>& all, Time now) {
  Table table({"FLOW", "PROCESS", "DECLARED", "AGENTS", "ACTIVITY", "COST", "WHY"});
  for (const FlowStatus& status : all) {
    table.row({status.flow == FlowId{} ? "(root)" : text(status.flow),
               std::string(word(status.process)), status.declared, std::to_string(status.agents),
               ago(status.last_activity, now), status.cost ? dollars(*status.cost) : "",
               status.why});
    table.colour(1, colour_of(status.process));
  }
  return table.text();
}

/// Which daemon serves the root, and what the user should know or do.
std::string hint(const Context& context, const std::optional<DaemonStatus>& daemon,
                 const std::vector<Request>& recorded) {
  std::string text;
  const bool drains = daemon && daemon->state.held && daemon->state.held->reason == "draining";
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
      print((&section != &sections.front() ? "\n" : "") + printable(section.root) + "\n");
    print(section.flows.empty() ? "there is no flow on " + printable(section.root) + "; " +
                                      section.configured_patterns + "\n"
                                : table_of(section.flows, real_clock()->wall()));
    print("\n" + section.hint);
  }
}

void show_names(const std::vector<Section>& sections) {
  std::set<std::string> names;
  for (const Section& section : sections)
    for (const FlowStatus& status : section.flows)
      if (status.flow != FlowId{})
        names.insert(text(status.flow));
  for (const std::string& name : names)
    print(name + "\n");
}

Result<std::vector<Section>> sections_of(const std::string& flow,
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
    if (wanted)
      std::erase_if(section.flows,
                    [&](const FlowStatus& status) { return status.flow != wanted->flow; });
    sections.push_back(std::move(section));
  }
  return sections;
}

ExitCode show(const StatusArguments& arguments, const Context& context, Shown& shown) {
  const auto seen = rehearse_seen(context);
  if (!seen)
    return complain(seen.error());
  const auto sections = sections_of(arguments.flow, *seen);
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

}  // namespace

ExitCode status_command(Words words) {
  StatusArguments arguments;
  Options options(
      "status",
      "Shows the flows of all roots: the status in their files, the state of their\n"
      "processes (running, waiting, held, paused, stopped, idle, failed, gone), the last\n"
      "activity, and the reason. Works without a daemon.",
      "  0  shown\n  2  wrong usage or configuration; no such flow\n"
      "  3  the root or its state cannot be read");
  options.word("FLOW", arguments.flow,
               "Only this flow: dialect/name, or the name alone if it is unique", false);
  options.flag("--json", arguments.json, "One JSON object per flow and line");
  options.flag("-w,--watch", arguments.watch, "Show it again after each change, until Ctrl-C");
  options.flag("--names", arguments.names, "Only the names, one per line");
  options.places(arguments.places);
  options.exclude("--names", {"--json"});
  if (const auto over = options.parse(words))
    return *over;
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
