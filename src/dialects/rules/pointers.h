#pragma once

// Checks the pointers and words of a rule against the schemas of its documents.

#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "dialects/rules/layout.h"

namespace baton::rules {

/// Why a pointer cannot be right: the schema names the members and this one is not among them.
/// Empty when it may be right.
std::string pointer_fault(const Value& schema, std::string_view pointer);

/// Every place in a rule, with a text for where: `stage`, `when of react 2`.
struct NamedPlace {
  std::string where;
  Place place;
};
std::vector<NamedPlace> places_of(const Rule& rule);

/// The faults of all pointers of a rule, and of words that a schema with an `enum` does not allow.
/// `schema_of` gives the schema of a kind, or nullptr.
std::vector<std::string> place_faults(
    const Rule& rule, const std::function<const Value*(const Kind& kind)>& schema_of);

}  // namespace baton::rules
