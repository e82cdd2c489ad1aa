#pragma once

#include <cstdint>

#include "base/json/json.h"

namespace baton {

/// What schemas ask about numbers, without rounding integers through double.

/// 3 and 3.0.
bool is_whole(const Value& number);
bool is_less(const Value& left, const Value& right);
/// `divisor` is greater than 0. Decided exactly, by the decimal digits: 0.3 is a multiple of 0.1.
bool is_multiple(const Value& number, const Value& divisor);

/// Files may hold any number: a sum that there is not is the nearest one there is.
std::int64_t sum(std::int64_t left, std::int64_t right);

/// Equal values (`json::equal`) have equal hashes.
std::uint64_t hash_of(const Value& value);

}  // namespace baton
