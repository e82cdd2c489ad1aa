#include "cli/remarks.h"

#include <iterator>
#include <utility>

#include "cli/agent_spec.h"
#include "cli/environment.h"
#include "cli/looked_for.h"
#include "cli/rule_prompts.h"
#include "core/catalog.h"
#include "io/trust.h"

namespace baton {

Result<std::string> notify_program(const Context& context) {
  return find_program(context.config().notify.front(), variable("PATH"), context.folder());
}

std::vector<std::string> remarks_on(const Context& context, const Setup& setup) {
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
  add(never_seen(Catalog::of(setup.dialects)));
  if (!context.config().notify.empty())
    if (const auto program = notify_program(context); !program)
      all.push_back("notify cannot be used: " + describe(program.error()));
  return all;
}

}  // namespace baton
