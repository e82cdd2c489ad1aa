#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text.h"
#include "daemon/run.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

Json row_of(const FlowId& flow, const Role& role, const Subject& subject, bool starts,
            const std::string& root) {
  return Json::object({{"flow", text(flow)},
                       {"role", role},
                       {"subject", subject},
                       {"starts", starts},
                       {"root", root}});
}

void print_lines(const Plan& plan, const FlowRecords& records, const std::string& root) {
  for (const Start& start : plan.starts) {
    Json row = row_of(start.key.flow, start.key.role, start.key.subject, true, root);
    row.set("attempt", Json(std::int64_t{start.attempt}));
    row.set("reason", Json());
    row.set("why", Json(start.desired.why));
    print_line(row);
  }
  for (const auto& [flow, record] : records)
    for (const Hold& hold : record.holds) {
      Json row = row_of(flow, hold.role, hold.subject, false, root);
      row.set("attempt", Json());
      row.set("reason", Json(hold.reason));
      row.set("why", Json(hold.why));
      print_line(row);
    }
}

void print_plan(const Plan& plan, const FlowRecords& records, const std::string& behind) {
  for (const Start& start : plan.starts)
    print("would start " + start.key.role + " for " + printable(text(start.key.flow), 200) + " " +
          printable(start.key.subject, 100) + behind + ", attempt " +
          std::to_string(start.attempt) + ": " + printable(start.desired.why) + "\n");
  for (const auto& [flow, record] : records)
    for (const Hold& hold : record.holds)
      print("would not start " + (hold.role.empty() ? "anything" : hold.role) + " for " +
            printable(text(flow), 200) + " " + printable(hold.subject, 100) + behind + ": " +
            hold.reason + ": " + printable(hold.why) + "\n");
}

/// What a daemon would start now. A place that one root takes is not free for the next root.
ExitCode dry_run(const RunArguments& arguments, const Context& context) {
  const auto roots = real_roots(arguments.roots.empty() ? context.roots() : arguments.roots);
  if (!roots)
    return complain(roots.error());
  if (const auto unlike = context.unlike(); !unlike.why.empty())
    complain("warning: " + unlike.why);
  std::size_t starts = 0;
  for (const std::string& root : *roots) {
    const auto rehearsal = Rehearsal::of_root(
        context.at(root), {.as_daemon = true,
                           .act_on_existing = arguments.act_on_existing,
                           .running_beside = static_cast<std::uint32_t>(starts)});
    if (!rehearsal)
      return complain(rehearsal.error());
    const Plan& plan = (*rehearsal)->plan();
    if (arguments.as_json)
      print_lines(plan, (*rehearsal)->records(), root);
    else
      print_plan(plan, (*rehearsal)->records(), roots->size() > 1 ? " on " + printable(root) : "");
    starts += plan.starts.size();
    if (!(*rehearsal)->recorded().empty())
      complain(recorded_text((*rehearsal)->recorded()));
    if (const std::string unwritten = (*rehearsal)->unwritten_text(); !unwritten.empty())
      complain(unwritten);
  }
  if (starts == 0 && !arguments.as_json)
    print("nothing would be started\n");
  return finish();
}

}  // namespace

ExitCode run_command_line(Words words) {
  RunArguments arguments;
  Places places;
  Options options(
      "run",
      "Serves a root in the foreground: watches its files, checks every change, and\n"
      "starts the next agent when a status asks for it. SIGTERM ends the daemon only:\n"
      "agents continue, and the next daemon adopts them. Ctrl-C drains, a second Ctrl-C\n"
      "stops the agents, a third one exits at once. SIGHUP reads the configuration again.",
      "  0   ended normally\n"
      "  1   with --once: a flow failed, or baton could not finish a write of its own\n"
      "  2   wrong usage or configuration\n"
      "  3   could not read or write something that is needed\n"
      "  75  another daemon serves this root, or a root inside or around it\n"
      "  130 Ctrl-C stopped the agents; with --once, after any Ctrl-C");
  options.values("--root", arguments.roots, "DIR",
                 "A root to serve (default: the roots of the configuration, else the nearest "
                 "folder upwards with a baton.yaml, else this folder)");
  options.value("--config", places.config, "FILE", "The configuration file");
  options.value("--state-dir", places.state_dir, "DIR", "The folder that holds the state folders");
  options.flag("--once", arguments.once, "Exit when nothing runs and nothing more can be started");
  options.flag("--dry-run", arguments.dry_run,
               "Print what would be started; start and write nothing");
  options.flag("--json", arguments.as_json, "With --dry-run: one JSON object per line");
  options.flag("--act-on-existing", arguments.act_on_existing,
               "Also start what was already due when baton first saw this root");
  if (const auto over = options.parse(words))
    return *over;
  if (arguments.as_json && !arguments.dry_run) {
    complain("--json needs --dry-run; `baton events --json` shows what happens");
    return ExitCode::usage;
  }
  if (!arguments.roots.empty())
    places.root = arguments.roots.front();
  auto context = Context::open(places);
  if (!context)
    return complain(context.error());
  for (const Finding& warning : context->warnings())
    complain(describe(warning, context->configuration()));
  if (arguments.dry_run) {
    if (const auto all = context->all_there(); arguments.roots.empty() && !all)
      return complain(all.error());
    return dry_run(arguments, *context);
  }
  return finish(static_cast<ExitCode>(run_command(arguments, *context)));
}

}  // namespace baton
