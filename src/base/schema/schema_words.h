// SPDX-License-Identifier: Apache-2.0
#pragma once

// How findings show values, types and counts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/schema/schema_tree.h"

namespace baton {

constexpr std::size_t kShownBytes = 60;

/// A short, printable form of a value.
std::string shown(const Value& value);
std::string shown_name(std::string_view name);

/// The types of a value as bits: 1 is both an integer and a number.
unsigned type_of(const Value& value, SchemaDraft draft);
std::string type_words(unsigned bits);

/// The first values of an `enum`, and how many more there are.
std::string enum_words(const Value& allowed);
/// The value of an `enum` that was probably meant, or nothing.
std::string nearest_of(const Value& value, const Value& allowed);

/// `1 item`, `2 items`.
std::string count_words(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace baton
