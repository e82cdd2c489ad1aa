#pragma once

#include <cstddef>

namespace baton {

/// Whether a table has one row per enumerator, in the order of the enumeration. `last` is the last
/// enumerator; `member` the row's member that names it.
template <class Rows, class Row, class Enum>
constexpr bool in_enum_order(const Rows& rows, Enum Row::*member, Enum last) {
  std::size_t next = 0;
  for (const Row& row : rows)
    if (static_cast<std::size_t>(row.*member) != next++)
      return false;
  return next == static_cast<std::size_t>(last) + 1;
}

}  // namespace baton
