// SPDX-License-Identifier: Apache-2.0
#include "base/json/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/digest.h"

namespace baton {
namespace {

/// Represents int64, uint64 and double without loss, if long double has a mantissa of 64 bits or
/// more.
long double wide(const Value& number) {
  if (number.IsInt64())
    return static_cast<long double>(number.GetInt64());
  if (number.IsUint64())
    return static_cast<long double>(number.GetUint64());
  return static_cast<long double>(number.GetDouble());
}

__extension__ using Digits = unsigned __int128;

/// digits * 10^exponent, without a sign.
struct Decimal {
  Digits digits = 0;  ///< below 10^22
  int exponent = 0;
};

std::uint64_t magnitude(const Value& integer) {
  if (integer.IsUint64())
    return integer.GetUint64();
  return 0 - static_cast<std::uint64_t>(integer.GetInt64());
}

/// Converts a finite number to the shortest decimal that reads as the same number. If the file has
/// up to 15 digits, these are the digits in the file. std::to_chars writes whole numbers of up to
/// 22 digits in full.
Decimal decimal(const Value& number) {
  if (!number.IsDouble())
    return {magnitude(number), 0};
  constexpr std::size_t kLongest = 32;
  std::array<char, kLongest> text{};
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), std::fabs(number.GetDouble())).ptr;
  Decimal out;
  bool fraction = false;
  const char* at = text.data();
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    out.digits = out.digits * 10 + static_cast<unsigned>(*at - '0');
    out.exponent -= fraction ? 1 : 0;
  }
  if (at == end)
    return out;
  ++at;
  int power = 0;
  std::from_chars(*at == '+' ? at + 1 : at, end, power);
  out.exponent += power;
  return out;
}

/// Whether `value` * 10^`power` is a multiple of `step`. Neither `value` nor `step` is 0.
bool divides(Digits step, Digits value, int power) {
  for (; power < 0; ++power) {
    if (value % 10 != 0)
      return false;
    value /= 10;
  }
  // Multiplies by 10^16 at once. This cannot overflow: 10^22 * 10^16 is below 2^128.
  constexpr int kZeros = 16;
  constexpr std::uint64_t kShift = 10'000'000'000'000'000U;
  Digits rest = value % step;
  for (; power >= kZeros && rest != 0; power -= kZeros)
    rest = rest * kShift % step;
  for (; power > 0 && rest != 0; --power)
    rest = rest * 10 % step;
  return rest == 0;
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t part) {
  return (seed ^ part) * 0x9E3779B97F4A7C15U + (seed >> 29U);
}

/// Hashes a whole number as an integer, also if it is a double. As doubles, all neighbours of a
/// large integer would have the same hash.
std::uint64_t hash_number(const Value& value) {
  constexpr std::uint64_t kSeed = 2;
  if (value.IsUint64())
    return mixed(kSeed, value.GetUint64());
  if (value.IsInt64())
    return mixed(kSeed, static_cast<std::uint64_t>(value.GetInt64()));
  const double number = value.GetDouble();
  if (is_whole(value) && number >= 0 && number < 0x1p64)
    return mixed(kSeed, static_cast<std::uint64_t>(number));
  if (is_whole(value) && number >= -0x1p63 && number < 0)
    return mixed(kSeed, static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return mixed(kSeed, bits);
}

}  // namespace

bool is_whole(const Value& number) {
  return !number.IsDouble() || number.GetDouble() == std::floor(number.GetDouble());
}

bool is_less(const Value& left, const Value& right) {
  return wide(left) < wide(right);
}

bool is_multiple(const Value& number, const Value& divisor) {
  if (!number.IsDouble() && !divisor.IsDouble())
    return magnitude(number) % magnitude(divisor) == 0;
  if (!std::isfinite(number.GetDouble()) || !std::isfinite(divisor.GetDouble()))
    return false;
  const Decimal value = decimal(number);
  const Decimal step = decimal(divisor);
  return value.digits == 0 || divides(step.digits, value.digits, value.exponent - step.exponent);
}

std::int64_t sum(std::int64_t left, std::int64_t right) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (right > 0 && left > Limits::max() - right)
    return Limits::max();
  if (right < 0 && left < Limits::min() - right)
    return Limits::min();
  return left + right;
}

std::uint64_t hash_of(const Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return 11;
    case rapidjson::kFalseType:
      return 12;
    case rapidjson::kTrueType:
      return 13;
    case rapidjson::kNumberType:
      return hash_number(value);
    case rapidjson::kStringType:
      return digest_of({value.GetString(), value.GetStringLength()}).low;
    case rapidjson::kArrayType: {
      std::uint64_t hash = 3;
      for (const Value& item : value.GetArray())
        hash = mixed(hash, hash_of(item));
      return hash;
    }
    case rapidjson::kObjectType:
      break;
  }
  // A sum, because the order of members does not matter.
  std::uint64_t sum = 5;
  for (const auto& member : value.GetObject())
    sum += mixed(hash_of(member.name), hash_of(member.value));
  return sum;
}

}  // namespace baton
