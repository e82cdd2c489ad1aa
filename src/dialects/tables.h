// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables of words: rows with a member `word`, and tables with one row per enumerator.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/condition.h"
#include "core/effect.h"

namespace baton {

/// The row of a word; nullptr if the table does not have the word.
template <class Row, std::size_t kSize>
constexpr const Row* row_of(const std::array<Row, kSize>& table, std::string_view word) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const Row& row) { return row.word == word; });
  return found == table.end() ? nullptr : &*found;
}

/// The words of a table, for messages.
template <class Row, std::size_t kSize>
constexpr std::array<std::string_view, kSize> words_of(const std::array<Row, kSize>& table) {
  std::array<std::string_view, kSize> words;
  std::transform(table.begin(), table.end(), words.begin(),
                 [](const Row& row) { return row.word; });
  return words;
}

/// The same as Dialect::words gives them.
template <class Row, std::size_t kSize>
std::vector<Word> flow_words(const std::array<Row, kSize>& table) {
  const auto words = words_of(table);
  return {words.begin(), words.end()};
}

/// Whether a table has one row per enumerator, in order. `last`: the last enumerator; `member`: the
/// row's member with the enumerator.
template <class Rows, class Row, class Enum>
constexpr bool in_enum_order(const Rows& rows, Enum Row::*member, Enum last) {
  std::size_t next = 0;
  for (const Row& row : rows)
    if (static_cast<std::size_t>(row.*member) != next++)
      return false;
  return next == static_cast<std::size_t>(last) + 1;
}

/// A situation that a dialect tells apart, and what people are told of it.
template <class Situation>
struct SituationRow {
  Situation situation;
  StateRow row;
};

/// The rows for Dialect::states. The table is in the order of the enumerators.
template <class Situation, std::size_t kSize>
constexpr std::array<StateRow, kSize> states_of(
    const std::array<SituationRow<Situation>, kSize>& table) {
  std::array<StateRow, kSize> states;
  std::transform(table.begin(), table.end(), states.begin(),
                 [](const SituationRow<Situation>& each) { return each.row; });
  return states;
}

template <class Situation, std::size_t kSize>
constexpr const StateRow& state_of(const std::array<StateRow, kSize>& states, Situation situation) {
  return states.at(static_cast<std::size_t>(situation));
}

}  // namespace baton
