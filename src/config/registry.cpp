#include "config/registry.h"

#include <array>

#include "dialects/agent_run/agent_run.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/coordination/coordination.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/rules/rules.h"

namespace baton {

std::span<const Dialect* const> dialects() {
  static const std::array all = {
      &agent_run_dialect(), &ccw_loop_dialect(),    &coordination_dialect(),
      &fsm_loop_dialect(),  &ml_workflow_dialect(), &rules_dialect(),
  };
  return all;
}

const Dialect* dialect(std::string_view name) {
  for (const Dialect* const each : dialects())
    if (each->name == name)
      return each;
  return nullptr;
}

}  // namespace baton
