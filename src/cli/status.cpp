#include "app/status.h"

#include <chrono>
#include <cmath>
#include <map>

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

/// What --watch has shown last: the same is not shown again.
struct Shown {
  std::map<FlowId, std::string> lines;
  std::string daemon;
  bool any = false;
};

/// The lines of JSON that are not what they were.
void show_lines(const std::vector<FlowStatus>& all, const std::optional<Served>& daemon,
                Shown& shown) {
  std::map<FlowId, std::string> lines;
  for (const FlowStatus& status : all) {
    Json line = status_json(status);
    line.set("watching", daemon ? Json(daemon->watching) : Json());
    const std::string& text = lines[status.flow] = line.dump();
    const auto before = shown.lines.find(status.flow);
    if (before == shown.lines.end() || before->second != text)
      print(text + "\n");
  }
  shown.lines = std::move(lines);
}

std::string about_daemon(const Context& context, const std::optional<Served>& daemon) {
  if (context.configuration().empty())
    return "there is no configuration, so nothing is acted upon; `baton init` writes one";
  if (!daemon)
    return "no daemon serves this root: run `baton run`";
  return "served by process " + std::to_string(daemon->pid) + " since " + printable(daemon->since) +
         " (" + printable(daemon->watching) + ")" +
         (daemon->disk_full ? "; its disk is full: nothing is started" : "");
}

void show_table(const std::vector<FlowStatus>& all, const std::string& daemon,
                const Context& context, bool clear, Shown& shown) {
  std::map<FlowId, std::string> lines;
  for (const FlowStatus& status : all)
    lines[status.flow] = status_json(status).dump();
  // On a terminal how long ago something was goes on by itself.
  if (shown.any && !clear && shown.lines == lines && shown.daemon == daemon)
    return;
  if (clear)
    print("\x1b[2J\x1b[H");
  print(all.empty() ? "there is no flow on " + printable(context.root()) + "\n"
                    : table_of(all, real_clock()->wall()));
  print("\n" + daemon + "\n");
  shown = {std::move(lines), daemon, true};
}

ExitCode show(const Arguments& arguments, const Context& context, Shown& shown) {
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
  if (arguments.json)
    show_lines(all, daemon, shown);
  else
    show_table(all, about_daemon(context, daemon), context, arguments.watch && on_terminal(),
               shown);
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
  options.flag("-w,--watch", arguments.watch, "Show it again when it changes, until Ctrl-C");
  options.flag("--names", arguments.names, "Only the names, one per line");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  Shown shown;
  for (;;) {
    const ExitCode code = show(arguments, *context, shown);
    if (code != ExitCode::fine || !arguments.watch)
      return finish(code);
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    if (!wait_while_read(kEvery))
      return ExitCode::fine;
  }
}

}  // namespace baton
