// SPDX-License-Identifier: Apache-2.0

// `baton create`: a new flow that waits for its start.

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/submit_request.h"
#include "core/catalog.h"
#include "io/files/fd.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

struct NewLoop {
  Places places;
  std::string title;
  std::string description;
  std::string max_iterations;
  std::vector<std::string> tasks;
  std::string dialect;
  bool no_wait = false;
};

/// A configured dialect that makes names for new flows. --dialect chooses one, else the last
/// counts.
Result<const Catalog::Entry*> entry_of(const NewLoop& wish, const Catalog& catalog) {
  const Catalog::Entry* found = nullptr;
  for (const Catalog::Entry& entry : catalog.entries())
    if (entry.dialect->fresh_name != nullptr &&
        (wish.dialect.empty() || wish.dialect == entry.dialect->name))
      found = &entry;
  if (found == nullptr)
    return fail(Errc::usage, "the configuration lists no dialect" +
                                 (wish.dialect.empty() ? "" : " " + printable(wish.dialect, 60)) +
                                 " whose flows `baton create` can make; add one, for example "
                                 "`dialects: { ccw_loop: {} }`");
  return found;
}

ExitCode create(const NewLoop& wish) {
  const auto context = Context::open_active(wish.places);
  if (!context)
    return complain(context.error());
  const auto setup = context->setup(context->root());
  if (!setup)
    return complain(setup.error());
  const Catalog catalog = Catalog::of(setup->dialects);
  const auto entry = entry_of(wish, catalog);
  if (!entry)
    return complain(entry.error());
  Request request;
  request.verb = "create";
  request.arguments = Json::object({{"title", wish.title}, {"description", wish.description}});
  if (!wish.max_iterations.empty()) {
    auto number = parse_json(wish.max_iterations);
    if (!number || !(*number)->IsNumber()) {
      complain("--max-iterations must be a number, not `" + printable(wish.max_iterations, 60) +
               "`");
      return ExitCode::usage;
    }
    request.arguments.set("max_iterations", *number);
  }
  Json tasks = Json::array();
  for (const std::string& task : wish.tasks)
    tasks.push(task);
  if (!wish.tasks.empty())
    request.arguments.set("tasks", tasks);
  request.flow = FlowId{std::string((*entry)->dialect->name),
                        (*entry)->dialect->fresh_name(real_clock()->wall(), random_hex(8))};
  if (const auto check = (*entry)->dialect->check_request; check != nullptr)
    if (const auto fit = check(request); !fit)
      return complain(fit.error());
  const ExitCode code = submit(*context, request, !wish.no_wait);
  if (code == ExitCode::fine)
    print(text(request.flow) + "\n");
  return code;
}

}  // namespace

ExitCode create_command(Words words) {
  NewLoop wish;
  Options options(
      "create",
      "Creates a new loop, which waits for `baton start`. The last line printed is its\n"
      "name. Works without a daemon.",
      {{ExitCode::fine, "created, or recorded"},
       {ExitCode::failed, "refused; the message says why and what to do"},
       {ExitCode::usage, "wrong usage or configuration"},
       {ExitCode::unreachable,
        "the root or its state cannot be reached, or the daemon does not answer"}});
  options.value("--title", wish.title, "TEXT", "A short title, shown in lists");
  options.value("--description", wish.description, "TEXT", "The full description of the task");
  options.value("--max-iterations", wish.max_iterations, "N",
                "Maximum number of iterations (default 10)");
  options.values("--task", wish.tasks, "TEXT", "A task of the loop; may be given several times");
  options.value("--dialect", wish.dialect, "NAME", "The dialect of the new loop");
  options.flag("--no-wait", wish.no_wait, "Do not wait for the daemon's answer");
  options.places(wish.places);
  if (const auto over = options.parse(words))
    return *over;
  return create(wish);
}

}  // namespace baton
