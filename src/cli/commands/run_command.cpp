#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "daemon/run.h"
#include "daemon/service.h"
#include "io/files/path_trust.h"
#include "io/system/state_folder.h"
#include "workspace/config_warnings.h"
#include "workspace/configuration_file.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"

namespace baton {
namespace {

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
  if (!state)
    return pass_on(state);
  tell_place(*state, setup->environment.variables);
  return ServedRoot{root, std::move(*state), context.configuration(), context.text(),
                    std::move(*setup)};
}

/// The warning when no dialect is configured.
std::string nothing_to_act_upon(const Context& context) {
  if (!context.configuration().empty())
    return context.configuration() +
           " names no dialects and no rules, so baton will start nothing; see "
           "docs/configuration.md";
  const std::string above = passed_over(context.root());
  return (above.empty() ? "there is no baton.yaml in " + context.root() + " or above it" : above) +
         ": baton will start nothing; `baton init` writes one";
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

Result<ServiceConfig> service_config(const Context& context, const RunArguments& arguments) {
  ServiceConfig config;
  const RetentionConfig& keep = context.config().retention;
  config.retention =
      Retention{keep.events, keep.runs, keep.replaced, static_cast<std::size_t>(keep.max_runs)};
  const auto roots = real_roots(arguments.roots.empty() ? context.roots() : arguments.roots);
  if (!roots)
    return tl::unexpected(roots.error());
  for (const std::string& root : *roots) {
    auto served = served_root(context, root);
    if (!served)
      return pass_on(served);
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
  take_notify(context, config);
  if (arguments.roots.empty())
    for (const std::string& root : left_behind(context))
      config.remarks.push_back("agents that an earlier daemon started on " + root +
                               ", which `roots:` no longer names, still run, and no daemon watches "
                               "them; `baton stop --all` ends them too");
  std::sort(config.remarks.begin(), config.remarks.end());
  config.remarks.erase(std::unique(config.remarks.begin(), config.remarks.end()),
                       config.remarks.end());
  return config;
}

}  // namespace

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

int run_command(RunArguments arguments, const Context& context) {
  // The current folder may be gone when the configuration is read again.
  for (std::string& root : arguments.roots)
    if (auto real = real_path(root); real && !root.starts_with('/'))
      root = *std::move(real);
  // With --once, do not wait for a root that may never appear.
  if (const auto all = context.all_there(); arguments.once && arguments.roots.empty() && !all)
    return static_cast<int>(complain(all.error()));
  auto config = service_config(context, arguments);
  if (!config)
    return static_cast<int>(complain(config.error()));
  if (config->roots.front().setup.dialects.empty())
    config->remarks.push_back(nothing_to_act_upon(context));
  ServiceOptions options;
  options.once = arguments.once;
  options.load = [&]() -> Result<ServiceConfig> {
    auto again = context.reread();
    if (!again)
      return pass_on(again);
    return service_config(*again, arguments);
  };
  options.apart = [&](const std::string& root) { return apart_from_others(context, root); };
  return serve(std::move(*config), options);
}

}  // namespace baton
