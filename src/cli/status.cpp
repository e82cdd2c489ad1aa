#include "app/status.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rehearsal.h"
#include "io/clock.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kEvery{1};

struct Arguments {
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
    table.row({text(status.flow), std::string(word(status.process)), status.declared,
               std::to_string(status.agents), ago(status.last_activity, now),
               status.cost ? dollars(*status.cost) : "", status.why});
    table.colour(1, colour_of(status.process));
  }
  return table.text();
}

/// Who serves the root, or what is missing for it.
std::string hint(const Context& context, const std::optional<Served>& daemon) {
  std::string text;
  if (daemon)
    text += "served by process " + std::to_string(daemon->pid) + " since " +
            printable(daemon->since) + " (" + printable(daemon->watching) + ")" +
            (daemon->disk_full ? "; its disk is full: nothing is started" : "") + "\n";
  if (!context.broken_configuration().empty())
    text += "the configuration " + printable(context.broken_configuration()) + " cannot be used; " +
            (daemon ? "the daemon goes on with the last good one" : "`baton doctor` says why") +
            "\n";
  else if (context.configuration().empty() && daemon)
    text += "no configuration was found here; name the one the daemon uses with --config\n";
  else if (context.configuration().empty())
    text +=
        "there is no configuration, so nothing is acted upon; `baton init` writes one, --config "
        "names one\n";
  else if (!daemon)
    text += "no daemon serves this root: run `baton run`\n";
  return text;
}

ExitCode show(const Arguments& arguments, const Context& context) {
  auto roots = rehearse(context);
  if (!roots)
    return complain(roots.error());
  std::optional<FlowPlace> wanted;
  if (!arguments.flow.empty()) {
    auto place = choose_flow(arguments.flow, *roots);
    if (!place)
      return complain(place.error());
    wanted = *std::move(place);
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < roots->size(); ++i) {
    if (wanted && wanted->root != i)
      continue;
    const auto& [on_root, rehearsal] = (*roots)[i];
    const std::optional<Served>& daemon = rehearsal->daemon();
    std::vector<FlowStatus> all = statuses(rehearsal->books(), rehearsal->plan());
    if (wanted)
      std::erase_if(all, [&](const FlowStatus& status) { return status.flow != wanted->flow; });
    for (const FlowStatus& status : all) {
      names.insert(text(status.flow));
      if (!arguments.json)
        continue;
      Json line = status_json(status);
      line.set("watching", daemon ? Json(daemon->watching) : Json());
      line.set("root", Json(on_root.root()));
      print_line(line);
    }
    if (arguments.json || arguments.names)
      continue;
    if (roots->size() > 1)
      print((i > 0 && !wanted ? "\n" : "") + printable(on_root.root()) + "\n");
    print(all.empty() ? "there is no flow on " + printable(on_root.root()) + "\n"
                      : table_of(all, real_clock()->wall()));
    print("\n" + hint(on_root, daemon));
  }
  if (arguments.names)
    for (const std::string& name : names)
      print(name + "\n");
  return ExitCode::fine;
}

}  // namespace

ExitCode status_command(Words words) {
  Arguments arguments;
  Options options(
      "status",
      "Shows the flows of all roots: what their files declare, what their processes do\n"
      "(running, waiting, held, paused, stopped, idle, failed, gone), the last\n"
      "activity, and why. Works without a daemon.",
      "  0  shown\n  2  wrong usage or configuration; no such flow\n"
      "  3  the root or its state cannot be read");
  options.word("FLOW", arguments.flow, "Only this one: dialect/name, or a unique name", false);
  options.flag("--json", arguments.json, "One JSON object per flow and line");
  options.flag("-w,--watch", arguments.watch, "Show it again every second, until Ctrl-C");
  options.flag("--names", arguments.names, "Only the names, one per line");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  for (;;) {
    if (arguments.watch && !arguments.json && on_terminal())
      print("\x1b[2J\x1b[H");
    const ExitCode code = show(arguments, *context);
    if (code != ExitCode::fine || !arguments.watch)
      return finish(code);
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    std::this_thread::sleep_for(kEvery);
  }
}

}  // namespace baton
