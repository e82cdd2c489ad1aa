#include "app/status.h"

#include <chrono>
#include <cmath>
#include <thread>

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

ExitCode show(const Arguments& arguments, const Context& context) {
  const auto rehearsal = Rehearsal::of_root(context);
  if (!rehearsal)
    return complain(rehearsal.error());
  std::vector<FlowStatus> all = statuses((*rehearsal)->books(), (*rehearsal)->plan());
  if (!arguments.flow.empty()) {
    const auto wanted = (*rehearsal)->flow(arguments.flow);
    if (!wanted)
      return complain(wanted.error());
    std::erase_if(all, [&](const FlowStatus& status) { return status.flow != *wanted; });
  }
  if (arguments.names) {
    for (const FlowStatus& status : all)
      print(text(status.flow) + "\n");
    return ExitCode::fine;
  }
  const std::optional<Served>& daemon = (*rehearsal)->daemon();
  if (arguments.json) {
    for (const FlowStatus& status : all) {
      Json line = status_json(status);
      line.set("watching", daemon ? Json(daemon->watching) : Json());
      print_line(line);
    }
    return ExitCode::fine;
  }
  print(all.empty() ? "there is no flow on " + printable(context.root()) + "\n"
                    : table_of(all, real_clock()->wall()));
  if (context.configuration().empty())
    print("\nthere is no configuration, so nothing is acted upon; `baton init` writes one\n");
  else if (!daemon)
    print("\nno daemon serves this root: run `baton run`\n");
  else
    print("\nserved by process " + std::to_string(daemon->pid) + " since " +
          printable(daemon->since) + " (" + printable(daemon->watching) + ")" +
          (daemon->disk_full ? "; its disk is full: nothing is started" : "") + "\n");
  return ExitCode::fine;
}

}  // namespace

ExitCode status_command(Words words) {
  Arguments arguments;
  Options options("status",
                  "Shows the flows of a root: what their files declare, what their processes do\n"
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
