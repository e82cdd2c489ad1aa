#pragma once

// How values, types and counts read in the findings of a validation.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/schema/schema_tree.h"

namespace baton {

constexpr std::size_t kShownBytes = 60;

/// A value in few words, printable.
std::string shown(const Value& value);
std::string shown_name(std::string_view name);

/// The types a value has, as bits: 1 is an integer and a number.
unsigned type_of(const Value& value, SchemaDraft draft);
std::string type_words(unsigned bits);

/// The first words of an `enum`, and how many more there are.
std::string enum_words(const Value& allowed);
/// The word of an `enum` that was probably meant, or nothing.
std::string nearest_of(const Value& value, const Value& allowed);

/// `1 item`, `2 items`.
std::string count_words(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace baton
