#pragma once

#include <optional>
#include <string>

#include "base/json/json.h"
#include "dialects/rules/place.h"

namespace baton::rules {

/// The words of the file; `differs` is `not`, `one_of` is `in`.
enum class Test { equals, differs, one_of, none_of, exists, below, at_most, at_least, above };

/// `{pointer: PLACE, TEST: OPERAND}`. A member that is not there equals nothing, is none of
/// anything, and is neither below nor above.
struct Condition {
  Place place;
  Test test = Test::equals;
  Json operand;  ///< of a comparison: a number, or a text that is the place of one
  bool operator==(const Condition&) const = default;
};

/// Nothing when it is none; `condition_fault` says why.
std::optional<Condition> read_condition(const Value& value);
std::string condition_fault(const Value& value);

/// The place a comparison takes its limit from.
std::optional<Place> limit_place(const Condition& condition);

/// Whether the value found (nullptr: none) passes. `limit`: what stands at `limit_place`.
bool holds(const Condition& condition, const Value* found, const Value* limit);

/// `/attempts below 3`.
std::string text(const Condition& condition);

}  // namespace baton::rules
