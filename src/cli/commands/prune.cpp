// SPDX-License-Identifier: Apache-2.0
#include "io/journal/prune.h"

#include <optional>

#include "base/text.h"
#include "cli/who_asks.h"
#include "config/config_fields.h"
#include "io/agents/run_directory.h"
#include "io/system/backup_prune.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

ExitCode prune(const Context& context, const Retention& retention) {
  const std::string on = context.roots().size() > 1 ? " on " + printable(context.root()) : "";
  const auto none_yet = [&] {
    print("there is no history yet" + on + "\n");
    return ExitCode::fine;
  };
  const auto state = context.state_folder();
  if (!state)
    return state.error().code == Errc::not_found ? none_yet() : complain(state.error());
  ExitCode code = ExitCode::fine;
  const auto pruned =
      prune_journal(*state, retention, real_clock()->wall(), [&](const std::string& directory) {
        const auto removed = remove_run_directory(directory);
        if (!removed)
          code = complain(removed.error());
        return removed.has_value();
      });
  // A daemon that is just starting has created the file without content.
  if (!pruned)
    return pruned.error().code == Errc::not_found ? none_yet() : complain(pruned.error());
  print("removed " + std::to_string(pruned->events) + " events, " + std::to_string(pruned->runs) +
        " runs, " + std::to_string(pruned->replaced) + " replaced versions" + on + "\n");
  return code;
}

/// Backups have their own age, and may exist without a daemon.
ExitCode prune_copies(const Context& context, std::optional<Millis> age) {
  const auto setup = context.setup(context.root());
  if (!setup)
    return complain(setup.error());
  for (const auto& [dialect, options] : setup->dialects) {
    if (dialect->backups == nullptr)
      continue;
    BackupPlan plan = dialect->backups(options);
    plan.keep = age.value_or(plan.keep);
    const auto removed = prune_backups(context.root(), plan, real_clock()->wall());
    if (!removed)
      return complain(removed.error());
    if (*removed > 0)
      print("removed " + std::to_string(*removed) + " backups below " + plan.folder + "\n");
  }
  return ExitCode::fine;
}

}  // namespace

ExitCode prune_command(Words words) {
  Places places;
  std::string older_than;
  Options options(
      "prune",
      "Removes old history, replaced versions, backups, and ended runs with their\n"
      "directories. Keeps what baton needs for its decisions. You may run it beside a\n"
      "daemon, which does the same by itself as `retention:` says.",
      {{ExitCode::fine, "done"},
       {ExitCode::failed, "refused, because an agent asks that may not"},
       {ExitCode::usage, "wrong usage or configuration"},
       {ExitCode::unreachable,
        "the state cannot be written, a directory cannot be removed, or agents run and no daemon "
        "serves the root"}});
  options.value("--older-than", older_than, "TIME",
                "Remove what is older, such as 7d (default: `retention:`, 30d)");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_with_state(places);
  if (!context)
    return complain(context.error());
  const RetentionConfig& configured = context->config().retention;
  Retention retention{configured.events, configured.runs, configured.replaced,
                      static_cast<std::size_t>(configured.max_runs)};
  std::optional<Millis> age;
  if (!older_than.empty()) {
    age = parse_duration(older_than);
    if (age && *age == Millis(0)) {
      // `retention: 0s` means for ever, so 0s must not remove everything here.
      complain(
          "--older-than 0s is ambiguous; use 1s to remove all history, and all runs that ended "
          "more than an hour ago");
      return ExitCode::usage;
    }
    if (!age || *age < Millis(0)) {
      complain("--older-than takes a duration such as 12h or 7d, not " + printable(older_than, 60));
      return ExitCode::usage;
    }
    retention = Retention{*age, *age, *age, 0};
  }
  if (const auto refused = refused_to_command(*context, "prune"))
    return *refused;
  ExitCode code = ExitCode::fine;
  for (const Context& on_root : context->each())
    code = graver(graver(code, prune(on_root, retention)), prune_copies(on_root, age));
  return finish(code);
}

}  // namespace baton
