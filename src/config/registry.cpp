// SPDX-License-Identifier: Apache-2.0
#include "config/registry.h"

#include <array>

#include "dialects/dialects.h"

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
