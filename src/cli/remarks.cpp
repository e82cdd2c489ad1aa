#include "cli/remarks.h"

#include <iterator>
#include <utility>

#include "cli/agent_spec.h"
#include "cli/looked_for.h"
#include "cli/rule_prompts.h"
#include "core/catalog.h"

namespace baton {

std::vector<std::string> remarks_on(const Config& config, const Setup& setup) {
  std::vector<std::string> all;
  const auto add = [&](std::vector<std::string> some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  };
  for (const auto& [role, spec] : setup.agents)
    if (!spec.problem.empty())
      all.push_back(spec.problem);
  add(unplayed(config, setup.dialects));
  for (const auto& [place, fault] : prompt_faults(setup.dialects))
    all.push_back(fault);
  add(never_seen(Catalog::of(setup.dialects)));
  return all;
}

}  // namespace baton
