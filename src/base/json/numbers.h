// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exact arithmetic on JSON numbers: comparing, multiples and sums without rounding integers through
// double.

#include <cstdint>

#include "base/json/json.h"

namespace baton {

/// 3 and 3.0.
bool is_whole(const Value& number);
bool is_less(const Value& left, const Value& right);
/// Whether `number` is a multiple of `divisor`, which is greater than 0. Exact, by decimal digits:
/// 0.3 is a multiple of 0.1.
bool is_multiple(const Value& number, const Value& divisor);

/// The sum, or the nearest integer that fits. Files may hold any number.
std::int64_t sum(std::int64_t left, std::int64_t right);

/// Equal values (`json::equal`) have equal hashes.
std::uint64_t hash_of(const Value& value);

}  // namespace baton
