#include "dialects/registry.h"

#include <array>

#include "dialects/coordination/coordination.h"
#include "dialects/rules.h"

namespace baton {

std::span<const Dialect* const> dialects() {
  static const std::array kAll = {
      &coordination_dialect(),
      &rules_dialect(),
  };
  return kAll;
}

const Dialect* dialect(std::string_view name) {
  for (const Dialect* const each : dialects())
    if (each->name == name)
      return each;
  return nullptr;
}

}  // namespace baton
