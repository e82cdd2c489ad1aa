#include "base/numbers.h"

#include <cmath>
#include <cstring>

#include "base/digest.h"

namespace baton {
namespace {

/// Holds int64, uint64 and double without loss where it has 64 bits of mantissa or more.
long double wide(const Value& number) {
  if (number.IsInt64())
    return static_cast<long double>(number.GetInt64());
  if (number.IsUint64())
    return static_cast<long double>(number.GetUint64());
  return static_cast<long double>(number.GetDouble());
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t part) {
  return (seed ^ part) * 0x9E3779B97F4A7C15U + (seed >> 29U);
}

std::uint64_t hash_number(const Value& value) {
  const double number = value.GetDouble();
  const double canonical = number == 0 ? 0 : number;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &canonical, sizeof bits);
  return mixed(2, bits);
}

}  // namespace

bool is_whole(const Value& number) {
  return !number.IsDouble() || number.GetDouble() == std::floor(number.GetDouble());
}

bool is_less(const Value& left, const Value& right) {
  return wide(left) < wide(right);
}

bool is_multiple(const Value& number, const Value& divisor) {
  const long double value = std::fabs(wide(number));
  const long double step = wide(divisor);
  const bool integers = is_whole(number) && is_whole(divisor);
  if (integers || value == 0)
    return std::fmod(value, step) == 0;
  const long double quotient = value / step;
  // Beyond the precision of double the quotient says nothing; then the exact remainder decides.
  if (quotient > 0x1p63L)
    return std::fmod(value, step) == 0;
  const long double whole = std::nearbyint(quotient);
  return whole > 0 && std::fabs(quotient - whole) <= whole * 4e-16L;
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
  // Members count in any order.
  std::uint64_t sum = 5;
  for (const auto& member : value.GetObject())
    sum += mixed(hash_of(member.name), hash_of(member.value));
  return sum;
}

}  // namespace baton
