// SPDX-License-Identifier: Apache-2.0
#include "workspace/table.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

constexpr std::size_t kCellBytes = 160;
constexpr std::size_t kWholeBytes = 16'384;
constexpr std::size_t kGap = 2;
constexpr std::string_view kCut = "…";

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::red:
      return "\x1b[31m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::blue:
      return "\x1b[34m";
    case Colour::grey:
      return "\x1b[90m";
  }
  return "";
}

bool coloured() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* const refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

winsize terminal_size() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1)
    return size;
  // A terminal that does not tell its size, such as a serial line, has the usual one.
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  return size;
}

struct Range {
  char32_t first;
  char32_t last;
};
/// Blocks of Unicode whose characters have no width, and those that have two columns.
constexpr std::array kNoWidth = {Range{0x300, 0x36F}, Range{0x1AB0, 0x1AFF}, Range{0x20D0, 0x20FF},
                                 Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array kTwoColumns = {
    Range{0x231A, 0x231B}, Range{0x23E9, 0x23EC},   Range{0x23F0, 0x23F0},  Range{0x23F3, 0x23F3},
    Range{0x25FD, 0x25FE}, Range{0x2614, 0x2615},   Range{0x2648, 0x2653},  Range{0x267F, 0x267F},
    Range{0x2693, 0x2693}, Range{0x26A1, 0x26A1},   Range{0x26AA, 0x26AB},  Range{0x26BD, 0x26BE},
    Range{0x26C4, 0x26C5}, Range{0x26CE, 0x26CE},   Range{0x26D4, 0x26D4},  Range{0x26EA, 0x26EA},
    Range{0x26F2, 0x26F3}, Range{0x26F5, 0x26F5},   Range{0x26FA, 0x26FA},  Range{0x26FD, 0x26FD},
    Range{0x2705, 0x2705}, Range{0x270A, 0x270B},   Range{0x2728, 0x2728},  Range{0x274C, 0x274C},
    Range{0x274E, 0x274E}, Range{0x2753, 0x2755},   Range{0x2757, 0x2757},  Range{0x2795, 0x2797},
    Range{0x27B0, 0x27B0}, Range{0x27BF, 0x27BF},   Range{0x2B1B, 0x2B1C},  Range{0x2B50, 0x2B50},
    Range{0x2B55, 0x2B55}, Range{0x1100, 0x115F},   Range{0x2E80, 0xA4CF},  Range{0xA960, 0xA97F},
    Range{0xAC00, 0xD7A3}, Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},  Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

std::size_t width_of(char32_t character) {
  const auto within = [&](const Range& range) {
    return character >= range.first && character <= range.last;
  };
  if (std::any_of(kNoWidth.begin(), kNoWidth.end(), within))
    return 0;
  return std::any_of(kTwoColumns.begin(), kTwoColumns.end(), within) ? 2 : 1;
}

/// The characters of a text, as they stand in it.
std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text, at));
    all.push_back(text.substr(at, length));
    at += length;
  }
  return all;
}

std::size_t width_of_one(std::string_view character) {
  return utf8_length(character, 0) == 0 ? 1 : width_of(utf8_decode(character));
}

}  // namespace

std::string paint(Colour colour, std::string text) {
  if (!coloured())
    return text;
  return std::string(code_of(colour)) + text + "\x1b[0m";
}

std::size_t terminal_columns() {
  return terminal_size().ws_col;
}

std::size_t terminal_lines() {
  return terminal_size().ws_row;
}

std::size_t width_of(std::string_view text) {
  // Nearly every text of a large table is like this.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
    return text.size();
  const auto all = characters(text);
  return std::accumulate(
      all.begin(), all.end(), std::size_t{0},
      [](std::size_t sum, std::string_view each) { return sum + width_of_one(each); });
}

std::string cut_end(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns)
    return std::string(text);
  std::string cut;
  std::size_t width = 1;
  for (const std::string_view each : characters(text)) {
    width += width_of_one(each);
    if (width > columns)
      break;
    cut += each;
  }
  return columns == 0 ? std::string() : cut + std::string(kCut);
}

std::string cut_begin(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns)
    return std::string(text);
  const auto all = characters(text);
  std::size_t width = 1;
  auto first = all.end();
  while (first != all.begin() && width + width_of_one(*std::prev(first)) <= columns)
    width += width_of_one(*--first);
  std::string cut(columns == 0 ? std::string_view() : kCut);
  for (; first != all.end(); ++first)
    cut += *first;
  return cut;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  if (columns == 0)
    return std::string(text);
  std::vector<std::string> lines;
  for (const std::string& paragraph : split(text, '\n')) {
    std::string line;
    bool first = true;
    for (const std::string& word : split(paragraph, ' ')) {
      if (!first && width_of(line) + 1 + width_of(word) > columns) {
        lines.push_back(std::move(line));
        line = word;
      } else {
        line += (first ? "" : " ") + word;
      }
      first = false;
      while (width_of(line) > columns) {
        std::string part;
        for (const std::string_view each : characters(line)) {
          if (!part.empty() && width_of(part) + width_of_one(each) > columns)
            break;
          part += each;
        }
        line.erase(0, part.size());
        lines.push_back(std::move(part));
      }
    }
    lines.push_back(std::move(line));
  }
  return join(lines, "\n");
}

void Table::colour(std::size_t column, Colour colour) {
  colours_[{rows_.size() - 1, column}] = colour;
}

Table::Cells Table::printable_cells(bool cut) const {
  Cells cells;
  for (const auto& row : rows_) {
    auto& line = cells.emplace_back();
    for (const std::string& cell : row) {
      const bool whole = line.size() + 1 == row.size() && !cut;
      line.push_back(cell.empty() ? "-" : printable(cell, whole ? kWholeBytes : kCellBytes));
    }
  }
  return cells;
}

/// The width of each column; 0: it is left out.
std::vector<std::size_t> Table::widths_for(const Cells& cells, std::size_t columns) const {
  constexpr std::size_t kLeastText = 24;  // of the last column
  constexpr std::size_t kLeastName = 16;  // of a column that keeps its end
  constexpr std::size_t kLeast = 4;
  std::vector<std::size_t> widths(cells.front().size(), 0);
  for (const auto& line : cells)
    for (std::size_t c = 0; c < line.size(); ++c)
      widths[c] = std::max(widths[c], width_of(line[c]));
  if (columns == 0)
    return widths;
  const auto total = [&] {
    std::size_t sum = 0;
    for (const std::size_t width : widths)
      sum += width == 0 ? 0 : width + kGap;
    return sum - std::min(sum, kGap);
  };
  const auto shrink = [&](std::size_t column, std::size_t least) {
    const std::size_t all = total();
    if (all > columns && widths[column] > least)
      widths[column] -= std::min(all - columns, widths[column] - least);
  };
  const std::size_t text = widths.size() - 1;
  shrink(text, kLeastText);
  for (const std::size_t name : kept_ends_)
    shrink(name, kLeastName);
  for (const std::size_t column : optional_) {
    if (total() <= columns)
      break;
    widths[column] = 0;
  }
  shrink(text, 0);
  for (std::size_t c = 0; c < widths.size(); ++c)
    shrink(c, kLeast);
  for (std::size_t c = widths.size(); c-- > 0;)
    shrink(c, 0);
  // What a column gave up that was left out later.
  const std::size_t used = total();
  if (used < columns && widths[text] > 0)
    widths[text] += columns - used;
  return widths;
}

std::string Table::fitted(const std::string& cell, std::size_t column, std::size_t width) const {
  return kept_ends_.contains(column) ? cut_begin(cell, width) : cut_end(cell, width);
}

std::string Table::text(std::size_t columns, std::size_t most) const {
  const Cells cells = printable_cells(columns > 0);
  const std::vector<std::size_t> widths = widths_for(cells, columns);
  std::string text;
  const std::size_t rows = most == 0 ? cells.size() : std::min(cells.size(), most + 1);
  for (std::size_t r = 0; r < rows; ++r) {
    std::string gap;
    for (std::size_t c = 0; c < cells[r].size(); ++c) {
      if (widths[c] == 0)
        continue;
      const std::string cell = columns == 0 ? cells[r][c] : fitted(cells[r][c], c, widths[c]);
      const auto colour = colours_.find({r, c});
      text += gap + (colour == colours_.end() ? cell : paint(colour->second, cell));
      // Blanks are written only if another cell follows.
      gap.assign(widths[c] - std::min(widths[c], width_of(cell)) + kGap, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace baton
