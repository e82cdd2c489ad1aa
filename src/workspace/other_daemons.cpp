// SPDX-License-Identifier: Apache-2.0
#include "workspace/other_daemons.h"

#include <algorithm>
#include <set>
#include <utility>

#include <unistd.h>

#include "io/journal/reader.h"
#include "workspace/daemon_status.h"
#include "workspace/folders.h"
#include "workspace/history.h"

namespace baton {
namespace {

/// The path of the configuration, even if it is broken now: a daemon may go on with its last good
/// version.
std::string configuration_of(const Context& context) {
  if (!context.configuration().empty() || context.broken_configuration().empty())
    return context.configuration();
  return real_path(context.broken_configuration()).value_or("");
}

/// The daemons that serve one of these roots.
std::set<std::int64_t> daemons_of(const std::vector<std::string>& roots,
                                  const DaemonStatuses& all) {
  std::set<std::int64_t> daemons;
  for (const auto& [folder, status] : all)
    if (std::find(roots.begin(), roots.end(), status.root) != roots.end())
      daemons.insert(status.pid);
  return daemons;
}

void add(const std::string& root, std::vector<std::string>& roots) {
  if (!root.empty() && std::find(roots.begin(), roots.end(), root) == roots.end())
    roots.push_back(root);
}

bool agents_live(const std::string& root, const std::string& state_folder) {
  auto journal = read_journal(state_folder);
  if (!journal)
    return false;
  const auto runs = History{root, *std::move(journal)}.runs({});
  return runs && std::any_of(runs->begin(), runs->end(), [](const Run& run) { return run.live(); });
}

}  // namespace

std::vector<std::string> abandoned_roots(const Context& context) {
  std::vector<std::string> roots;
  const std::string configuration = configuration_of(context);
  if (configuration.empty())
    return roots;
  std::vector<std::string> known = context.roots();
  known.insert(known.end(), context.missing_roots().begin(), context.missing_roots().end());
  for (const auto& [folder, status] : last_daemon_statuses(context.state_parents()))
    if (status.configuration == configuration &&
        std::find(known.begin(), known.end(), status.root) == known.end() &&
        agents_live(status.root, folder))
      add(status.root, roots);
  return roots;
}

Result<void> check_other_daemons(const Context& context, const std::string& root) {
  for (const auto& [folder, status] : daemon_statuses(context.state_parents())) {
    // The lock of an older baton does not name the root, so its root is unknown while it starts.
    if (status.pid == getpid() || status.root.empty())
      continue;
    const bool inside = below(status.root, root).has_value();
    if (!inside && !below(root, status.root))
      continue;
    return fail(Errc::served,
                (inside ? "it lies inside " : "it contains ") + status.root +
                    ", which another daemon (pid " + std::to_string(status.pid) +
                    ") serves; files that both know would start agents twice; end that daemon or "
                    "choose roots of which none lies inside another",
                root);
  }
  return {};
}

Context with_all_roots(const Context& context) {
  if (context.root_is_named())
    return context;
  std::vector<std::string> roots = context.roots();
  const auto all = daemon_statuses(context.state_parents());
  const auto daemons = daemons_of(roots, all);
  const std::string configuration = configuration_of(context);
  for (const auto& [folder, status] : all)
    if (daemons.contains(status.pid) ||
        (!configuration.empty() && status.configuration == configuration))
      add(status.root, roots);
  for (const std::string& root : abandoned_roots(context))
    add(root, roots);
  return context.with_roots(std::move(roots));
}

std::uint32_t running_on(const Context& context) {
  const auto folder = context.state_folder();
  if (!folder)
    return 0;
  const auto journal = read_journal(*folder);
  return journal ? (*journal)->running().value_or(0) : 0;
}

std::uint32_t running_on_other_roots(const Context& context) {
  const auto all = daemon_statuses(context.state_parents());
  const auto daemons = daemons_of({context.root()}, all);
  std::vector<std::string> roots = daemons.empty() ? context.roots() : std::vector<std::string>();
  for (const auto& [folder, status] : all)
    if (daemons.contains(status.pid))
      add(status.root, roots);
  std::uint32_t running = 0;
  for (const Context& other : context.with_roots(std::move(roots)).each())
    running += other.root() == context.root() ? 0 : running_on(other);
  return running;
}

}  // namespace baton
