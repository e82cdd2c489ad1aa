#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "config/config_fields.h"
#include "dialects/rules/layout.h"

namespace baton {

/// What a rule's reactions may name.
struct RuleNames {
  rules::Place stage;
  std::vector<rules::Kind> kinds;  ///< without names where `files` is no map
  std::vector<std::string> values;
};

/// Reports a place that is none, or is in a document nobody has named.
void check_place(const Fields& fields, std::string_view name, std::string_view text,
                 const RuleNames& names);

/// `react:` in the form the dialect reads. Faults go into the findings.
Json read_reactions(const Fields& react, const RuleNames& names);

}  // namespace baton
