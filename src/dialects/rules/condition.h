// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and evaluates the conditions of a reaction. A condition has a place in a document, a test
// and an operand.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::rules {

/// A member of a document: `NAME:/pointer`. Without a name, the member is in the document with the
/// stage. One token of the pointer may be `{subject}`.
struct Place {
  std::string document;
  std::string pointer;
  bool operator==(const Place&) const = default;
};

inline constexpr std::string_view kSubject = "{subject}";

/// Empty unless the text is a pointer, or a name and a pointer.
std::optional<Place> parse_place(std::string_view text);
std::string text(const Place& place);
/// The pointer with the name of the subject filled in.
std::string pointer_for(const Place& place, const Subject& subject);

/// The tests. `differs` is written `not`, `one_of` is written `in`. The last three look at the
/// member in every subject or part of the flow.
enum class Test {
  equals,
  differs,
  one_of,
  none_of,
  exists,
  below,
  at_most,
  at_least,
  above,
  all,
  any,
  none,
};

/// `{pointer: PLACE, TEST: OPERAND}`. For a missing member `not` and `not_in` hold; `equals`, `in`
/// and the comparisons do not.
struct Condition {
  Place place;
  Test test = Test::equals;
  Json operand;  ///< for a comparison: a number, or the place of a number
  bool operator==(const Condition&) const = default;
};

/// Empty if the value is not a condition; `condition_fault` says why.
std::optional<Condition> read_condition(const Value& value);
std::string condition_fault(const Value& value);

/// The place with the limit of a comparison. Empty if the limit is a number, and for other tests.
std::optional<Place> limit_place(const Condition& condition);

/// Whether the condition holds for the found value (nullptr: none). `limit` is the value at
/// `limit_place`.
bool holds(const Condition& condition, const Value* found, const Value* limit);

/// Whether the condition tests the member in every subject or part: `all`, `any`, `none`.
bool is_over_all(const Condition& condition);
/// Whether such a condition holds for the values of all subjects or parts (nullptr: it has no such
/// member). Over nothing none of them holds.
bool holds_over(const Condition& condition, std::span<const Value* const> found);
/// Whether one subject or part has a value of the list.
bool is_listed(const Condition& condition, const Value* found);

/// `/attempts below 3`; `all part:/status: done, failed`.
std::string text(const Condition& condition);

}  // namespace baton::rules
