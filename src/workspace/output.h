#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "workspace/exit_code.h"

namespace baton {

/// To stdout, as it is.
void print(std::string_view text);
/// One line of JSON to stdout.
void print_line(const Json& value);
/// `baton: ` and a message to stderr. What comes from files must have been made printable.
void complain(std::string_view message);
/// The same of what was not said before: `wait` and `status --watch` look again and again.
void complain_once(const std::string& message);
void warn_once(const std::string& message);
/// The same for an error; returns the exit code it leads to.
ExitCode complain(const Error& error);
/// Flushes stdout. A pipe or disk that did not take everything turns a good end into 3.
ExitCode finish(ExitCode code = ExitCode::fine);
/// Passes on what is printed so far, for streams.
void flush();

/// For streams: waits that long; false, at once, when nobody reads stdout any more.
bool wait_while_read(std::chrono::milliseconds time);

enum class Colour { red, green, yellow, blue, grey };
/// Coloured when stdout is a terminal and NO_COLOR is not set.
std::string paint(Colour colour, std::string text);
bool on_terminal();

/// Columns as wide as their widest cell; cells are made printable.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The colour of the cell `column` of the last row.
  void colour(std::size_t column, Colour colour);
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> printable_cells() const;

  std::vector<std::vector<std::string>> rows_;
  std::map<std::pair<std::size_t, std::size_t>, Colour> colours_;  ///< by row and column
};

/// `path:line:column: error: message [rule]` and what was found, expected, meant.
std::string finding_text(const std::string& path, const Finding& finding);

/// "12s ago", "3m ago"; "" for the beginning of time.
std::string ago(Time then, Time now);

}  // namespace baton
