// SPDX-License-Identifier: Apache-2.0
#include "adapters/output_values.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json/document.h"
#include "base/json/parse.h"
#include "base/text.h"

namespace baton {
namespace {

/// Prompts shorter than this may stand in an output by chance.
constexpr std::size_t kShortestEcho = 40;
constexpr std::size_t kEscapeChars = 6;  // \uXXXX

/// Whether `\uXXXX` stands here, as half of a surrogate pair: the high one, or the low one.
bool is_surrogate(std::string_view text, std::size_t at, std::string_view third_digit) {
  return at + kEscapeChars <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
         (text[at + 2] == 'd' || text[at + 2] == 'D') &&
         third_digit.find(text[at + 3]) != std::string_view::npos;
}

/// Copies a value with the faults that programs are known to make put right: half a surrogate pair
/// becomes U+FFFD, and a number that JSON or a double cannot hold becomes its text.
class Mender {
 public:
  /// `text` begins with the value. `fault`: where a parser found the first fault.
  Mender(std::string_view text, std::size_t fault) : text_(text), fault_(fault) {}

  /// Nothing: there is no such fault in it, or its end is missing.
  std::optional<std::string> mended() {
    std::size_t depth = 0;
    while (at_ < text_.size() && !is_hopeless()) {
      const char c = text_[at_];
      if (c == '"') {
        copy_string();
      } else if (is_word(c)) {
        copy_word();
      } else {
        depth += c == '{' || c == '[' ? 1U : 0U;
        depth -= c == '}' || c == ']' ? 1U : 0U;
        out_ += text_[at_++];
        if (depth == 0)
          return changed_ ? std::optional(std::move(out_)) : std::nullopt;
      }
    }
    return std::nullopt;
  }
  /// How far it has read.
  std::size_t end() const { return at_; }

 private:
  static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '+' || c == '.';
  }

  /// The fault is another one.
  bool is_hopeless() const { return !changed_ && at_ > fault_ + 2 * kEscapeChars; }

  void copy_string() {
    out_ += text_[at_++];
    while (at_ < text_.size() && text_[at_] != '"' && !is_hopeless()) {
      if (text_[at_] != '\\') {
        out_ += text_[at_++];
        continue;
      }
      constexpr std::string_view kHigh = "89abAB";
      constexpr std::string_view kLow = "cdefCDEF";
      const bool high = is_surrogate(text_, at_, kHigh);
      const bool pair = high && is_surrogate(text_, at_ + kEscapeChars, kLow);
      if (!pair && (high || is_surrogate(text_, at_, kLow))) {
        out_ += "\\ufffd";
        at_ += kEscapeChars;
        changed_ = true;
      } else {
        copy(pair ? 2 * kEscapeChars : 2);
      }
    }
    copy(1);
  }

  void copy(std::size_t chars) {
    chars = std::min(chars, text_.size() - at_);
    out_ += text_.substr(at_, chars);
    at_ += chars;
  }

  void copy_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_]))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const std::string_view name = word.substr(word.front() == '-' || word.front() == '+' ? 1 : 0);
    const bool usable = name != "NaN" && name != "nan" && name != "Infinity" && name != "inf" &&
                        (name.empty() || !is_digit(name.front()) || parse_json(word));
    changed_ = changed_ || !usable;
    out_ += usable ? std::string(word) : '"' + std::string(word) + '"';
  }

  const std::string_view text_;
  const std::size_t fault_;
  std::size_t at_ = 0;
  std::string out_;
  bool changed_ = false;
};

class Finder {
 public:
  Finder(std::string_view output, const std::function<void(const Value&)>& visit)
      : output_(output), visit_(visit) {
    limits_.max_memory_bytes = 256U << 20U;
    limits_.max_object_members = 100'000;
    // What begins like a value and is none is read only so often that the time stays linear.
    budget_ = 4 * output.size() + 65'536;
  }

  void find() {
    std::size_t at = 0;
    while (at < output_.size()) {
      const std::size_t end = std::min(output_.find('\n', at), output_.size());
      at = take(at, end);
    }
  }

 private:
  /// Reads what begins on the line [begin, end). Returns where to go on.
  std::size_t take(std::size_t begin, std::size_t end) {
    bool first = true;
    for (std::size_t at = begin; at < end;) {
      const std::size_t open = output_.substr(0, end).find_first_of("{[", at);
      if (open == std::string_view::npos)
        break;
      at = open + 1;
      if (!may_hold_objects(open) || is_quoted_or_inner(begin, open))
        continue;
      // One try on each line is free.
      if (!first && !pay(kOfEachTry))
        break;
      if (const auto after = keep_at(open, end, first)) {
        at = *after;
        budget_ += first ? 0 : kOfEachTry;
      }
      first = false;
      if (at > end)
        return at;
    }
    return end + 1;
  }

  /// Whether an object or an array of objects may begin here. Most lines of logs are no JSON, also
  /// if they begin with a bracket; that is seen without reading them.
  bool may_hold_objects(std::size_t from) const {
    const char first = output_[from];
    const std::size_t second = output_.find_first_not_of(" \t\r\n", from + 1);
    return second != std::string_view::npos && output_[second] == (first == '{' ? '"' : '{');
  }

  /// Prose quotes an object: `{"a":1}` in backticks or quotes. An inner value of a broken object
  /// says nothing: `"a":{`, `[{`, `},{`.
  bool is_quoted_or_inner(std::size_t begin, std::size_t open) const {
    const std::string_view before = trimmed(output_.substr(begin, open - begin));
    if (before.empty())
      return false;
    const char last = before.back();
    const char prior = before.size() > 1 ? before[before.size() - 2] : ' ';
    const bool quoted =
        output_[open - 1] == '`' || output_[open - 1] == '"' || output_[open - 1] == '\'';
    return quoted || last == '[' || (last == ':' && prior == '"') ||
           (last == ',' && (prior == '}' || prior == ']' || prior == '"'));
  }

  bool pay(std::size_t cost) {
    const bool enough = budget_ >= cost;
    budget_ -= std::min(budget_, cost);
    return enough;
  }

  /// The value that begins here. Returns where to go on behind it; nothing: there is none.
  std::optional<std::size_t> keep_at(std::size_t open, std::size_t line_end, bool free) {
    const auto on_line = parse_value(output_.substr(open, line_end - open), 0, limits_);
    if (on_line) {
      keep(on_line->value);
      return open + on_line->end;
    }
    if (!free)
      pay(on_line.error().begin);
    if (!on_line.error().incomplete)
      return keep_mended(open, on_line.error().begin);
    if (!pay(kOfEachTry))
      return std::nullopt;
    const auto value = parse_value(output_.substr(open), 0, limits_);
    pay(value ? value->end : value.error().begin);
    if (!value)
      return keep_mended(open, value.error().begin);
    keep(value->value);
    return open + value->end;
  }

  std::optional<std::size_t> keep_mended(std::size_t open, std::size_t fault) {
    if (budget_ == 0)
      return std::nullopt;
    Mender mender(output_.substr(open, budget_), fault);
    const auto text = mender.mended();
    pay(mender.end());
    if (!text)
      return std::nullopt;
    const auto value = parse_json(*text, limits_);
    if (!value)
      return std::nullopt;
    keep(*value);
    return open + mender.end();
  }

  void keep(const Json& value) {
    if (value->IsObject())
      visit_(*value);
    else if (value->IsArray())
      for (const Value& each : value->GetArray())
        if (each.IsObject())
          visit_(each);
  }

  static constexpr std::size_t kOfEachTry = 256;
  const std::string_view output_;
  const std::function<void(const Value&)>& visit_;
  LoadLimits limits_;
  std::size_t budget_ = 0;
};

/// The lines of a prompt, without empty ones at both ends.
std::vector<std::string_view> lines_of(std::string_view prompt) {
  std::vector<std::string_view> lines;
  while (!prompt.empty())
    if (const std::string_view line = take_line(prompt); !lines.empty() || !line.empty())
      lines.push_back(line);
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  return lines;
}

/// Where the lines stand in the text: its part from the first to the last of them, or an empty
/// part. In linear time (Knuth, Morris and Pratt), because both may be long and made of equal
/// lines.
std::string_view find_lines(std::string_view text, const std::vector<std::string_view>& wanted) {
  std::vector<std::size_t> back(wanted.size(), 0);
  for (std::size_t i = 1, fits = 0; i < wanted.size(); ++i) {
    while (fits > 0 && wanted[i] != wanted[fits])
      fits = back[fits - 1];
    if (wanted[i] == wanted[fits])
      ++fits;
    back[i] = fits;
  }
  std::size_t fits = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    while (fits > 0 && line != wanted[fits])
      fits = back[fits - 1];
    if (line == wanted[fits])
      ++fits;
    if (fits < wanted.size())
      continue;
    // Back over the line feeds between the lines.
    const std::size_t end = text.size() - rest.size();
    std::size_t begin = static_cast<std::size_t>(line.data() - text.data());
    for (std::size_t lines = wanted.size() - 1; lines > 0; --lines)
      begin = begin < 2 ? 0 : text.rfind('\n', begin - 2) + 1;
    return text.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

void for_each_object(std::string_view output, const std::function<void(const Value&)>& visit) {
  Finder(output, visit).find();
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

std::string without_echo(std::string output, std::string_view prompt) {
  if (trimmed(prompt).size() < kShortestEcho)
    return output;
  const std::string_view echo = find_lines(output, lines_of(prompt));
  if (!echo.empty())
    output.erase(static_cast<std::size_t>(echo.data() - output.data()), echo.size());
  return output;
}

std::string_view last_lines(std::string_view output, std::size_t lines) {
  output = trimmed(output);
  std::size_t at = output.size();
  for (; lines > 0 && at != 0; --lines) {
    const std::size_t before = output.rfind('\n', at - 1);
    if (before == std::string_view::npos)
      return output;
    at = before;
  }
  return at == output.size() ? std::string_view() : output.substr(at + 1);
}

}  // namespace baton
