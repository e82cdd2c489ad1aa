#include "workspace/config_warnings.h"

#include <iterator>
#include <utility>

#include "core/catalog.h"
#include "io/files/path_trust.h"
#include "workspace/agent_spec.h"
#include "workspace/environment.h"
#include "workspace/file_patterns.h"
#include "workspace/prompt_files.h"
#include "workspace/rule_prompts.h"

namespace baton {

Result<std::string> notify_program(const Context& context) {
  return find_program(context.config().notify.front(), variable("PATH"), context.folder());
}

std::vector<std::string> config_warnings(const Context& context, const Setup& setup) {
  std::vector<std::string> all;
  const auto add = [&](std::vector<std::string> some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  };
  for (const auto& [role, spec] : setup.agents)
    if (!spec.problem.empty())
      all.push_back(spec.problem);
  add(unplayed(context.config(), setup.dialects));
  for (const auto& [place, fault] : prompt_faults(setup.dialects))
    all.push_back(fault);
  add(prompt_files(context.config(), context.folder()).unknown);
  add(never_seen(Catalog::of(setup.dialects)));
  if (!context.config().notify.empty())
    if (const auto program = notify_program(context); !program)
      all.push_back("notify cannot be used: " + describe(program.error()));
  return all;
}

}  // namespace baton
