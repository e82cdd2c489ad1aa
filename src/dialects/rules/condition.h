#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::rules {

/// A member of one document of a flow. Written `NAME:/pointer`; without a name it is the document
/// that says where the subject stands. One token of the pointer may be `{subject}`.
struct Place {
  std::string document;
  std::string pointer;
  bool operator==(const Place&) const = default;
};

inline constexpr std::string_view kSubject = "{subject}";

/// Nothing when it is no place: neither a pointer nor a name and a pointer.
std::optional<Place> parse_place(std::string_view text);
std::string text(const Place& place);
/// The pointer with the subject's name put in.
std::string pointer_for(const Place& place, const Subject& subject);

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
