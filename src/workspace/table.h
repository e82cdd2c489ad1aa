// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables and texts for a terminal of a given width.
//
// Problem: a line that is wider than the terminal breaks, and then nobody can read a table.
// Way: columns shrink, less important ones are left out, and cells are cut with `…`.
// Widths are columns of a terminal: a character of Chinese has two, a combining one has none.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {

enum class Colour { red, green, yellow, blue, grey };
/// Adds the colour if stdout is a terminal and NO_COLOR is not set.
std::string paint(Colour colour, std::string text);

/// The width of stdout in columns. 0: it is no terminal, so lines may have any length.
std::size_t terminal_columns();
/// The height of stdout in lines. 0: it is no terminal.
std::size_t terminal_lines();

/// How many columns a terminal needs for valid UTF-8 without control characters.
std::size_t width_of(std::string_view text);
/// The beginning of the text in at most `columns`, with `…` if something was cut off.
std::string cut_end(std::string_view text, std::size_t columns);
/// The end of the text, in the same way.
std::string cut_begin(std::string_view text, std::size_t columns);
/// Breaks lines between words, so that none is wider than `columns`; 0: leaves the text as it is.
/// A word that is too long is broken anywhere.
std::string wrapped(std::string_view text, std::size_t columns);

/// A table for people. Cells are made printable. The last column may be long: it is cut on a
/// terminal only.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Sets the colour of one cell of the last row.
  void colour(std::size_t column, Colour colour);
  /// Cells of this column that are too long keep their end.
  void keep_end(std::size_t column) { kept_ends_.insert(column); }
  /// The columns that are left out where there is no room, the first one first.
  void may_leave_out(std::vector<std::size_t> columns) { optional_ = std::move(columns); }
  bool empty() const { return rows_.size() == 1; }
  /// No line is wider than `columns`; 0: any width. Only the first `most` rows; 0: all.
  std::string text(std::size_t columns = terminal_columns(), std::size_t most = 0) const;

 private:
  using Cells = std::vector<std::vector<std::string>>;
  Cells printable_cells(bool cut) const;
  std::vector<std::size_t> widths_for(const Cells& cells, std::size_t columns) const;
  std::string fitted(const std::string& cell, std::size_t column, std::size_t width) const;

  Cells rows_;
  std::map<std::pair<std::size_t, std::size_t>, Colour> colours_;  ///< by row and column
  std::set<std::size_t> kept_ends_;
  std::vector<std::size_t> optional_;
};

}  // namespace baton
