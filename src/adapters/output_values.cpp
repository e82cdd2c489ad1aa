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

class Finder {
 public:
  Finder(std::string_view output, bool mixed, const std::function<void(const Value&)>& visit)
      : output_(output), mixed_(mixed), visit_(visit) {
    limits_.max_memory_bytes = 256U << 20U;
    limits_.max_object_members = 100'000;
    // What begins like a value on several lines and is none is read only so often that the time
    // stays linear.
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
    const std::size_t next = end + 1;
    const std::string_view line = trimmed(output_.substr(begin, end - begin));
    if (line.empty())
      return next;
    const auto from = static_cast<std::size_t>(line.data() - output_.data());
    if (may_hold_objects(from)) {
      if ((line.back() == '}' || line.back() == ']') && keep(line))
        return next;
      if (const auto after = keep_lines(from))
        return *after;
    }
    if (const std::size_t open = line.find('{', 1);
        mixed_ && open != std::string_view::npos && line.back() == '}')
      keep(line.substr(open));
    return next;
  }

  /// Whether an object or an array of objects may begin here. Most lines of logs are no JSON, also
  /// if they begin with a bracket; that is seen without reading them.
  bool may_hold_objects(std::size_t from) const {
    const char first = output_[from];
    if (first != '{' && first != '[')
      return false;
    const std::size_t second = output_.find_first_not_of(" \t\r\n", from + 1);
    return second != std::string_view::npos && output_[second] == (first == '{' ? '"' : '{');
  }

  /// A text that is one value. Returns whether it is.
  bool keep(std::string_view text) {
    const auto value = parse_value(text, 0, limits_);
    if (!value || !trimmed(text.substr(value->end)).empty())
      return false;
    keep(value->value);
    return true;
  }

  /// A value that goes on on further lines, or that text follows. Returns where to go on.
  std::optional<std::size_t> keep_lines(std::size_t from) {
    if (budget_ == 0)
      return std::nullopt;
    const std::string_view rest = output_.substr(from);
    const auto value = parse_value(rest, 0, limits_);
    constexpr std::size_t kOfEachTry = 256;
    budget_ -= std::min(budget_, kOfEachTry + (value ? value->end : value.error().begin));
    if (!value)
      return std::nullopt;
    keep(value->value);
    return std::min(output_.find('\n', from + value->end), output_.size() - 1) + 1;
  }

  void keep(const Json& value) {
    if (value->IsObject())
      visit_(*value);
    else if (value->IsArray())
      for (const Value& each : value->GetArray())
        if (each.IsObject())
          visit_(each);
  }

  const std::string_view output_;
  const bool mixed_;
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

void for_each_object(std::string_view output, bool mixed,
                     const std::function<void(const Value&)>& visit) {
  Finder(output, mixed, visit).find();
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
