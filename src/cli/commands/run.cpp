// SPDX-License-Identifier: Apache-2.0

// The command `run`: its options, the daemon, and the dry run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "daemon/once.h"
#include "daemon/service.h"
#include "io/system/process.h"
#include "io/system/state_folder.h"
#include "workspace/acting_user.h"
#include "workspace/agent_user.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/configuration_file.h"
#include "workspace/context.h"
#include "workspace/deciding_files.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/options.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

struct RunArguments {
  std::vector<std::string>
      roots;  ///< as given; empty: those of the configuration, else the context's
  bool once = false;
  OnceWish wish;         ///< with `once`
  std::string max_wait;  ///< as given
  bool dry_run = false;
  bool as_json = false;  ///< of the dry run
  bool act_on_existing = false;
};

/// The roots as they were named, without links, each once.
Result<std::vector<std::string>> real_roots(const std::vector<std::string>& named) {
  std::vector<std::string> roots;
  for (const std::string& root : named) {
    auto real = real_path(root);
    if (!real)
      return pass_on(real);
    if (std::find(roots.begin(), roots.end(), *real) == roots.end())
      roots.push_back(std::move(*real));
  }
  if (auto apart = check_apart(roots); !apart)
    return pass_on(apart);
  return roots;
}

void take_notify(const Context& context, ServiceConfig& config) {
  const std::vector<std::string>& argv = context.config().notify;
  if (argv.empty())
    return;
  auto program = notify_program(context);
  if (!program)
    return;
  config.notify = argv;
  config.notify_timeout = context.config().notify_timeout;
  config.notify.front() = *program;
  config.notify_env.push_back("PATH=" + variable("PATH"));
}

Result<ServedRoot> served_root(const Context& context, const std::string& root) {
  auto setup = context.setup(root);
  if (!setup)
    return pass_on(setup);
  auto state = context.make_state_folder(root);
  // Only a person can give the daemon another folder, or the right to this one.
  if (!state && (state.error().code == Errc::denied || state.error().code == Errc::not_regular))
    state.error().code = Errc::config;
  if (!state)
    return pass_on(state);
  set_place_variables(*state, setup->environment.variables);
  return ServedRoot{root, std::move(*state), context.configuration(), context.text(),
                    std::move(*setup)};
}

/// The warning when no dialect is configured.
std::string nothing_to_act_upon(const Context& context) {
  if (!context.configuration().empty())
    return context.configuration() +
           " names no dialects and no rules, so baton will start nothing; see "
           "docs/configuration.md";
  return "there is no configuration for the root " + context.root() +
         ": baton will start nothing; `baton init` writes one, --config names one";
}

Result<ServedRoot> late_root(const Context& context, const std::string& path,
                             bool act_on_existing) {
  auto root = existing_folder(path);
  if (!root)
    return pass_on(root);
  std::vector<std::string> roots = context.roots();
  roots.push_back(*root);
  auto served = served_root(context.with_roots(std::move(roots)), *root);
  if (served)
    served->setup.act_on_existing = act_on_existing;
  return served;
}

/// Without `roots:` and --root the root is the current folder. For a service that is / or a home,
/// in which the state lies, too. So the configuration is what has to be changed.
Error naming_no_roots(Error error, const Context& context, const std::string& root) {
  const bool inside = error.where.starts_with(root == "/" ? root : root + "/");
  if (error.code != Errc::config || context.configuration().empty() || !inside)
    return error;
  error.message = "names no `roots:`, so the root is " + root + ", and " + error.where + ": " +
                  error.message + "; name the projects in `roots:`";
  error.where = context.configuration();
  return error;
}

Result<ServiceConfig> service_config(const Context& context, const RunArguments& arguments) {
  ServiceConfig config;
  if (auto startable = check_users(context.config()); !startable)
    return pass_on(startable);
  const RetentionConfig& keep = context.config().retention;
  config.retention =
      Retention{keep.events, keep.runs, keep.replaced, static_cast<std::size_t>(keep.max_runs)};
  const auto roots = real_roots(arguments.roots.empty() ? context.roots() : arguments.roots);
  if (!roots)
    return tl::unexpected(roots.error());
  for (const std::string& root : *roots) {
    auto served = served_root(context, root);
    if (!served)
      return tl::unexpected(arguments.roots.empty() && context.config().roots.empty()
                                ? naming_no_roots(served.error(), context, root)
                                : served.error());
    served->setup.act_on_existing = arguments.act_on_existing;
    const std::vector<std::string> remarks = config_warnings(context, served->setup);
    config.remarks.insert(config.remarks.end(), remarks.begin(), remarks.end());
    config.roots.push_back(std::move(*served));
  }
  if (arguments.roots.empty())
    for (const std::string& path : context.missing_roots())
      config.awaited.push_back({path, [context, path, act = arguments.act_on_existing] {
                                  return late_root(context, path, act);
                                }});
  auto shim = find_shim(config.roots.front().setup.environment.executable);
  if (!shim)
    return pass_on(shim);
  config.shim = std::move(*shim);
  for (const ServedRoot& served : config.roots)
    if (auto fine =
            check_files(context.at(served.root), served.setup, config.shim, served.state_folder);
        !fine)
      return pass_on(fine);
  take_notify(context, config);
  config.metrics = context.config().metrics;
  if (arguments.roots.empty())
    for (const std::string& root : abandoned_roots(context))
      config.remarks.push_back("agents that an earlier daemon started on " + root +
                               ", which `roots:` no longer names, still run, and no daemon watches "
                               "them; `baton stop --all` ends them too");
  std::sort(config.remarks.begin(), config.remarks.end());
  config.remarks.erase(std::unique(config.remarks.begin(), config.remarks.end()),
                       config.remarks.end());
  return config;
}

/// The daemon, in the foreground. Returns the exit code.
int run_daemon(RunArguments arguments, const Context& context) {
  // The current folder may be gone when the configuration is read again.
  for (std::string& root : arguments.roots)
    if (auto real = real_path(root); real && !root.starts_with('/'))
      root = *std::move(real);
  auto config = service_config(context, arguments);
  if (!config)
    return static_cast<int>(complain(config.error()));
  if (config->roots.front().setup.dialects.empty())
    config->remarks.push_back(nothing_to_act_upon(context));
  if (std::string advice = without_stages(config->roots.front().setup.dialects); !advice.empty())
    config->remarks.push_back(std::move(advice));
  ServiceOptions options;
  if (arguments.once)
    options.once = arguments.wish;
  options.load = [&]() -> Result<ServiceConfig> {
    auto again = context.reread();
    if (!again)
      return pass_on(again);
    return service_config(*again, arguments);
  };
  options.apart = [&](const std::string& root) { return check_other_daemons(context, root); };
  return serve(std::move(*config), options);
}

/// Checks what `--once` alone takes, and makes the paths absolute.
Result<void> read_wish(RunArguments& arguments) {
  OnceWish& wish = arguments.wish;
  if (!arguments.once && !(wish.flow.empty() && wish.paths.empty() && arguments.max_wait.empty()))
    return fail(Errc::usage, "--flow, --max-wait and paths need --once", "");
  if (!arguments.max_wait.empty()) {
    const auto most = parse_duration(arguments.max_wait);
    if (!most)
      return fail(Errc::usage,
                  "--max-wait takes a duration such as 30s or 10m, not " +
                      printable(arguments.max_wait, 60),
                  "");
    wish.max_wait = *most;
  }
  for (std::string& path : wish.paths) {
    auto real = real_path(path);
    if (!real)
      return pass_on(real);
    path = *std::move(real);
  }
  return {};
}

/// Whether the flows and paths that count are there. Errc::usage: one is not. A root that cannot be
/// read now is left to the daemon.
Result<void> check_wish(const OnceWish& wish, const std::vector<std::string>& roots,
                        const Context& context) {
  if (wish.flow.empty() && wish.paths.empty())
    return {};
  std::vector<KnownFlows> known;
  std::vector<std::string> files;
  std::set<std::string> unknown(wish.paths.begin(), wish.paths.end());
  bool found = wish.flow.empty();
  for (const std::string& root : roots) {
    const auto rehearsal = Rehearsal::of_root(context.at(root), {.as_daemon = true});
    if (!rehearsal)
      return {};
    known.push_back({root, (*rehearsal)->flows()});
    for (const FlowId& flow : known.back().flows) {
      const FlowRecord& record = *(*rehearsal)->record(flow);
      found = found || is_called(flow, wish.flow);
      std::erase_if(unknown,
                    [&](const std::string& path) { return has_file_in(root, record, path); });
      for (const auto& [path, row] : record.accepted)
        files.push_back(path);
    }
    // A whole root may be without flows.
    unknown.erase(root);
  }
  if (!found) {
    if (auto place = choose_flow(wish.flow, known); !place)
      return pass_on(place);
    return {};
  }
  if (unknown.empty())
    return {};
  const std::string& path = *unknown.begin();
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    return fail(
        Errc::usage,
        "belongs to no flow; `baton explain " + shell_word(path) + "` says what baton makes of it",
        path);
  // Absolute paths are alike by their folders.
  const auto of = std::find_if(roots.begin(), roots.end(), [&](const std::string& root) {
    return path.starts_with(root + "/");
  });
  const auto near = of == roots.end() ? std::nullopt : nearest(path.substr(of->size() + 1), files);
  return fail(Errc::usage,
              "there is no such file or folder" +
                  (near ? "; did you mean " + printable(*near, 200) + "?" : ""),
              path);
}

/// What `--once` needs before anything begins, also in a dry run.
std::optional<ExitCode> check_once(const RunArguments& arguments, const Context& context) {
  if (context.configuration().empty()) {
    const std::string root = printable(context.root());
    complain("no configuration for " + root + ": looked for " + root + "/baton.yaml, for " +
             printable(instance_configuration(context.root())) +
             ", for a baton.yaml above whose `roots:` names this folder, and for config.yaml in "
             "~/.config/baton and /etc/baton; `baton init` writes one");
    return ExitCode::usage;
  }
  // Do not wait for a root that may never appear.
  if (const auto all = context.all_there(); arguments.roots.empty() && !all)
    return complain(all.error());
  const auto roots = real_roots(arguments.roots.empty() ? context.roots() : arguments.roots);
  if (!roots)
    return complain(roots.error());
  if (const auto there = check_wish(arguments.wish, *roots, context); !there)
    return complain(there.error());
  return std::nullopt;
}

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
      row.set("reason", Json(word(hold.cause.reason)));
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
            std::string(word(hold.cause.reason)) + ": " + printable(hold.why) + "\n");
}

/// What a daemon would start now. A place that one root takes is not free for the next root.
ExitCode dry_run(const RunArguments& arguments, const Context& context) {
  const auto roots = real_roots(arguments.roots.empty() ? context.roots() : arguments.roots);
  if (!roots)
    return complain(roots.error());
  if (const auto difference = context.difference(); !difference.why.empty())
    complain("warning: " + difference.why);
  std::size_t starts = 0;
  for (const std::string& root : *roots) {
    const auto rehearsal = Rehearsal::of_root(
        context.at(root), {.as_daemon = true,
                           .act_on_existing = arguments.act_on_existing,
                           .running_elsewhere = static_cast<std::uint32_t>(starts)});
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
  }
  if (starts == 0 && !arguments.as_json)
    print("nothing would be started\n");
  return finish();
}

/// For what belongs to others, which only a person can change: a service manager that starts the
/// daemon again cannot.
ExitCode refuse(const Error& error) {
  complain(error);
  return ExitCode::usage;
}

/// A folder that may not be entered. In a service it may be one that the unit hides.
ExitCode refuse_closed(Error error) {
  const bool home = error.where.starts_with("/home/") || error.where.starts_with("/root/");
  if (home && !variable("INVOCATION_ID").empty())
    error.message +=
        "; the unit of the system hides homes, and a drop-in with "
        "ProtectHome=read-only shows them";
  return refuse(error);
}

}  // namespace

ExitCode run_command_line(Words words) {
  hide_memory();  // before anything is read into it
  RunArguments arguments;
  Places places;
  Options options(
      "run",
      "Serves a root in the foreground: watches its files, checks every change, and\n"
      "starts the next agent when a status asks for it. SIGTERM ends the daemon only:\n"
      "agents continue, and the next daemon adopts them. Ctrl-C drains, a second Ctrl-C\n"
      "stops the agents, a third one exits at once. SIGHUP reads the configuration again.",
      {{ExitCode::fine, "ended normally"},
       {ExitCode::failed,
        "with --once: work was due and is not done; the last lines say which and why"},
       {ExitCode::usage,
        "wrong usage or configuration, or one that is not there or may not be read; a state folder "
        "or root of another user, or that may not be written"},
       {ExitCode::unreachable,
        "something that is needed could not be read or written, such as a root that is away or a "
        "full disk"},
       {ExitCode::served},
       {ExitCode::interrupted, "Ctrl-C stopped the agents; with --once, after any Ctrl-C"}});
  options.values("--root", arguments.roots, "DIR",
                 "A root to serve (default: the roots of the configuration, else the nearest "
                 "folder upwards with a baton.yaml, else this folder)");
  options.value("--config", places.config, "FILE", "The configuration file");
  options.value("--state-dir", places.state_dir, "DIR", "The folder that holds the state folders");
  options.flag("--once", arguments.once, "Exit when nothing runs and nothing more can be started");
  options.value("--max-wait", arguments.max_wait, "TIME",
                "With --once: the longest pause before a start that is waited for, such as 30s "
                "(default: 10m)");
  options.value("--flow", arguments.wish.flow, "FLOW",
                "With --once: only this flow counts for the exit code");
  options.words("PATH", arguments.wish.paths,
                "With --once: only flows with a file there count for the exit code", false);
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
  if (const auto wrong = read_wish(arguments); !wrong) {
    complain(wrong.error());
    return ExitCode::usage;
  }
  if (!arguments.roots.empty())
    places.root = arguments.roots.front();
  if (const auto own = refuse_state_of_others(places); !own)
    return refuse(own.error());
  auto context = Context::open(places);
  if (!context)
    return context.error().code == Errc::denied ? refuse_closed(context.error())
                                                : complain(context.error());
  if (const auto own = refuse_roots_of_others(context->roots()); !own)
    return refuse(own.error());
  for (const Finding& warning : context->warnings())
    complain(describe(warning, context->configuration()));
  if (arguments.once)
    if (const auto wrong = check_once(arguments, *context))
      return *wrong;
  if (arguments.dry_run) {
    if (const auto all = context->all_there(); arguments.roots.empty() && !all)
      return complain(all.error());
    return dry_run(arguments, *context);
  }
  return finish(static_cast<ExitCode>(run_daemon(std::move(arguments), *context)));
}

}  // namespace baton
