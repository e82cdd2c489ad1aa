#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "dialects/rules/layout.h"

namespace baton::rules {

/// What is wrong with a pointer, as far as a schema can tell: the member it names is not among
/// those the schema names, and the schema says nothing of others. Empty when it may be right.
std::string pointer_fault(const Value& schema, std::string_view pointer);

/// Every place a rule names, with the words for where: `stage`, `when of react 2`.
struct NamedPlace {
  std::string where;
  Place place;
};
std::vector<NamedPlace> places_of(const Rule& rule);

/// The faults of all pointers of a rule, and of the words that it expects or sets where a schema
/// lists the right ones. `schema_of` gives a kind's schema, or nullptr where it has none.
std::vector<std::string> place_faults(
    const Rule& rule, const std::function<const Value*(const Kind& kind)>& schema_of);

}  // namespace baton::rules
