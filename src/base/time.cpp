// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace baton {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

void append_padded(std::string& out, std::int64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width)
    out.append(width - digits.size(), '0');
  out += digits;
}

/// Reads a text from left to right; after one wrong character everything fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!at_digit()) {
        good_ = false;
        return 0;
      }
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  char one_of(std::string_view allowed) {
    if (text_.empty() || allowed.find(text_.front()) == std::string_view::npos) {
      good_ = false;
      return '\0';
    }
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  bool at(char c) const { return !text_.empty() && text_.front() == c; }
  bool at_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  bool good() const { return good_; }
  bool finished() const { return good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

/// `.123456` as milliseconds, cut.
Millis fraction(Reader& reader) {
  int value = reader.digits(1);
  int read = 1;
  while (reader.good() && reader.at_digit()) {
    const int digit = reader.digits(1);
    if (read++ < 3)
      value = value * 10 + digit;
  }
  for (; read < 3; ++read)
    value *= 10;
  return Millis{value};
}

struct Unit {
  std::string_view name;
  Millis length;
};
constexpr std::array kUnits = {
    Unit{"d", days{1}},    Unit{"h", hours{1}},   Unit{"m", minutes{1}},
    Unit{"s", seconds{1}}, Unit{"ms", Millis{1}},
};

}  // namespace

std::string iso_time(Time time, bool millis) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::string out;
  append_padded(out, static_cast<int>(date.year()), 4);
  append_padded(out += '-', static_cast<unsigned>(date.month()), 2);
  append_padded(out += '-', static_cast<unsigned>(date.day()), 2);
  append_padded(out += 'T', clock.hours().count(), 2);
  append_padded(out += ':', clock.minutes().count(), 2);
  append_padded(out += ':', clock.seconds().count(), 2);
  if (millis)
    append_padded(out += '.', clock.subseconds().count(), 3);
  return out += 'Z';
}

std::optional<Time> parse_time(std::string_view text) {
  Reader reader(text);
  const std::chrono::year year{reader.digits(4)};
  reader.one_of("-");
  const std::chrono::month month{static_cast<unsigned>(reader.digits(2))};
  reader.one_of("-");
  const std::chrono::year_month_day date{year, month,
                                         std::chrono::day{static_cast<unsigned>(reader.digits(2))}};
  reader.one_of("Tt");
  const int hour = reader.digits(2);
  reader.one_of(":");
  const int minute = reader.digits(2);
  reader.one_of(":");
  // Unix time has no leap seconds, so the second 60 is refused.
  const int second = reader.digits(2);
  if (!reader.good() || !date.ok() || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  Millis part{0};
  if (reader.at('.')) {
    reader.one_of(".");
    part = fraction(reader);
  }
  minutes offset{0};
  const char zone = reader.one_of("Zz+-");
  if (zone == '+' || zone == '-') {
    const int offset_hours = reader.digits(2);
    reader.one_of(":");
    const int offset_minutes = reader.digits(2);
    if (offset_hours > 23 || offset_minutes > 59)
      return std::nullopt;
    offset = minutes{offset_hours * 60 + offset_minutes} * (zone == '+' ? 1 : -1);
  }
  if (!reader.finished())
    return std::nullopt;
  return Time{std::chrono::sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} +
         part - offset;
}

std::optional<Millis> parse_duration(std::string_view text) {
  Millis total{0};
  // Each unit once, from large to small: `1m1h` is more likely a mistake.
  std::size_t next_unit = 0;
  if (text.empty())
    return std::nullopt;
  while (!text.empty()) {
    if (text.front() < '0' || text.front() > '9')
      return std::nullopt;
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc())
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(name.size());
    while (next_unit < kUnits.size() && kUnits[next_unit].name != name)
      ++next_unit;
    if (next_unit == kUnits.size())
      return std::nullopt;
    const Millis unit = kUnits[next_unit++].length;
    if (count > (std::numeric_limits<std::int64_t>::max() - total.count()) / unit.count())
      return std::nullopt;
    total += unit * count;
  }
  return total;
}

std::string duration_text(Millis duration) {
  if (duration <= Millis{0})
    return "0s";
  std::string out;
  for (const Unit& unit : kUnits) {
    const auto count = duration / unit.length;
    if (count > 0) {
      out += std::to_string(count);
      out += unit.name;
    }
    duration %= unit.length;
  }
  return out;
}

}  // namespace baton
