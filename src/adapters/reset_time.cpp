// SPDX-License-Identifier: Apache-2.0
#include "adapters/reset_time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/text.h"

namespace baton {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// A time that is past by at most this is now, and not the same time of tomorrow.
constexpr Millis kJustPast = minutes(5);

/// Replaces the quotes and blanks that programs print for beauty. Keeps capitals, for zones.
std::string plain(std::string_view text) {
  std::string out(text);
  for (const std::string_view quote : {"\u2019", "\u2018"})
    replace_all(out, quote, "'");
  for (const std::string_view blank : {"\u00A0", "\u202F", "\u2009"})
    replace_all(out, blank, " ");
  return out;
}

struct Token {
  enum class Kind { word, number, mark } kind = Kind::mark;
  std::string text;     ///< in lower case
  double value = 0;     ///< of a number
  std::size_t end = 0;  ///< in the plain text
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  const auto run = [&](auto&& belongs) {
    const std::size_t begin = at;
    while (at < text.size() && belongs(text[at]))
      ++at;
    return std::string(text.substr(begin, at - begin));
  };
  while (at < text.size()) {
    Token token;
    if (is_letter(text[at])) {
      token.kind = Token::Kind::word;
      token.text = lower(run(is_letter));
    } else if (is_digit(text[at])) {
      token.kind = Token::Kind::number;
      token.text = run(is_digit);
      if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        ++at;
        token.text += "." + run(is_digit);
      }
      token.value = token.text.size() < 20 ? std::stod(token.text) : HUGE_VAL;
    } else {
      token.text = text[at++];
      if (token.text == " " || token.text == "\n" || token.text == "\t" || token.text == "\r")
        continue;
    }
    token.end = at;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// What is believed without a word on the kind of limit.
constexpr Millis kLongest = days(32);

/// The longest time that is believed. A text that names two kinds of limits gets the longer one.
Millis bound_of(std::string_view text) {
  static constexpr std::array kWords = {
      std::pair{std::string_view("session limit"), Millis(hours(5))},
      std::pair{std::string_view("5-hour limit"), Millis(hours(5))},
      std::pair{std::string_view("daily"), Millis(hours(25))},
      std::pair{std::string_view("per-day"), Millis(hours(25))},
      std::pair{std::string_view("week"), Millis(days(7))},
      std::pair{std::string_view("7-day"), Millis(days(7))},
      std::pair{std::string_view("month"), kLongest},
      std::pair{std::string_view("spend"), kLongest},
      std::pair{std::string_view("billing"), kLongest},
  };
  Millis bound{0};
  for (const auto& [word, longest] : kWords)
    if (text.find(word) != std::string_view::npos)
      bound = std::max(bound, longest);
  return bound == Millis(0) ? kLongest : bound;
}

/// The moment, if it can be true; never before `now`.
std::optional<Time> believed(Time moment, Millis bound, const ResetClock& clock) {
  if (moment > clock.now + bound + kJustPast || moment <= clock.now - kJustPast)
    return std::nullopt;
  return std::max(moment, clock.now);
}

/// Reads one text. Each form is a function that reads at a token and moves `at_` behind what it has
/// read, or leaves it.
class Reader {
 public:
  Reader(std::string_view text, const ResetClock& clock)
      : text_(plain(text)),
        tokens_(tokens_of(text_)),
        clock_(clock),
        bound_(bound_of(lower(text_))) {}

  std::optional<Time> read() {
    // A form that says more comes before one that is a part of it. A time that is just past counts
    // only if the text names no other: the text may begin with the time at which it was written.
    std::optional<Time> past;
    for (const auto form :
         {&Reader::epoch, &Reader::iso, &Reader::slashes, &Reader::http_date, &Reader::month_day,
          &Reader::weekday, &Reader::clock_alone, &Reader::duration})
      for (std::size_t begin = 0; begin < tokens_.size(); ++begin) {
        at_ = begin;
        const std::optional<Found> found = (this->*form)();
        if (!found)
          continue;
        const auto moment = found->moment ? believed(*found->moment, bound_, clock_) : std::nullopt;
        if (!moment || *moment > clock_.now)
          return moment;
        past = moment;
      }
    return past;
  }

 private:
  struct Found {
    std::optional<Time> moment;  ///< nothing: the zone is unknown, or the time too far away
  };

  const Token* peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  bool take(std::string_view text) {
    if (peek() == nullptr || peek()->text != text)
      return false;
    ++at_;
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view each) { return take(each); });
  }
  /// A whole number with as many digits.
  std::optional<int> take_number(std::size_t least, std::size_t most) {
    const Token* const token = peek();
    if (token == nullptr || token->kind != Token::Kind::number || token->text.size() < least ||
        token->text.size() > most || !all_digits(token->text))
      return std::nullopt;
    ++at_;
    return static_cast<int>(token->value);
  }

  std::optional<Found> epoch() {
    const Token* const token = peek();
    if (token == nullptr || token->kind != Token::Kind::number || !all_digits(token->text) ||
        (token->text.size() != 10 && token->text.size() != 13) || !names_reset())
      return std::nullopt;
    const auto number = static_cast<std::int64_t>(token->value);
    const Time moment{Millis(token->text.size() == 10 ? number * 1000 : number)};
    return believed(moment, bound_, clock_) ? std::optional(Found{moment}) : std::nullopt;
  }
  /// Whether the words before a number say that it is a time: `limit reached|1755806400`,
  /// `X-RateLimit-Reset: 1755806400`, `"resetsAt": 1755806400`. It may be the id of a request.
  bool names_reset() const {
    if (at_ > 0 && tokens_[at_ - 1].text == "|")
      return true;
    const std::size_t near = at_ - std::min<std::size_t>(at_, 4);
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(near),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                       [](const Token& each) { return each.text.starts_with("reset"); });
  }

  /// `3:45pm`, `8pm`, `11:58 PM`. A clock without am or pm may be either, and is none.
  std::optional<Millis> take_clock() {
    const std::size_t begin = at_;
    // `3:5pm` is no time, and not 5pm.
    if (at_ > 1 && tokens_[at_ - 1].text == ":" && tokens_[at_ - 2].kind == Token::Kind::number)
      return std::nullopt;
    const std::optional<int> hour = take_number(1, 2);
    std::optional<int> minute = 0;
    if (hour && take(":"))
      minute = take_number(2, 2);
    const bool am = take("am");
    if (!hour || !minute || (!am && !take("pm")) || *hour < 1 || *hour > 12 || *minute > 59) {
      at_ = begin;
      return std::nullopt;
    }
    return Millis(hours(*hour % 12 + (am ? 0 : 12)) + minutes(*minute));
  }

  /// `00:00`, `19:14:08.5`
  std::optional<Millis> take_day_clock() {
    const std::size_t begin = at_;
    const std::optional<int> hour = take_number(2, 2);
    const std::optional<int> minute = hour && take(":") ? take_number(2, 2) : std::nullopt;
    if (!minute || *hour > 23 || *minute > 59) {
      at_ = begin;
      return std::nullopt;
    }
    Millis time = hours(*hour) + minutes(*minute);
    if (peek() != nullptr && peek()->text == ":" && peek(1) != nullptr &&
        peek(1)->kind == Token::Kind::number && peek(1)->value < 61) {
      time += seconds(static_cast<int>(peek(1)->value));
      at_ += 2;
    }
    return time;
  }

  /// The zone that follows: `(Europe/Berlin)`, `UTC`, else that of the agent's process. A name that
  /// baton cannot look up is `kUnknownZone`.
  std::string take_zone() {
    if (take_any({"utc", "gmt", "z"})) {
      const bool offset = peek() != nullptr && (peek()->text == "+" || peek()->text == "-") &&
                          peek(1) != nullptr && peek(1)->kind == Token::Kind::number;
      return offset ? kUnknownZone : "UTC";
    }
    if (peek() == nullptr || peek()->text != "(")
      return names_zone() ? kUnknownZone : clock_.zone;
    const std::size_t begin = peek()->end;
    const std::size_t end = text_.find(')', begin);
    const std::string name = text_.substr(begin, end == std::string::npos ? 0 : end - begin);
    const bool zone =
        !name.empty() && is_letter(name.front()) &&
        std::all_of(name.begin(), name.end(), [](char c) {
          return is_letter(c) || is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
        });
    if (zone)
      return name;
    // `(Pacific Time)`, `(../x)`; but not `(or later)`.
    const bool meant =
        !name.empty() && (is_capital(name.front()) || name.find('/') != std::string::npos);
    return meant ? kUnknownZone : clock_.zone;
  }
  /// `PST`, `Pacific Time`
  bool names_zone() const {
    const Token* const token = peek();
    if (token == nullptr || token->kind != Token::Kind::word)
      return false;
    const std::string_view word =
        std::string_view(text_).substr(token->end - token->text.size(), token->text.size());
    constexpr std::size_t kMostLetters = 5;
    return (word.size() > 1 && word.size() <= kMostLetters &&
            std::all_of(word.begin(), word.end(), is_capital)) ||
           (peek(1) != nullptr && peek(1)->text == "time");
  }
  static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
  static constexpr const char* kUnknownZone = "?";

  std::optional<Time> moment(const std::string& zone, std::chrono::local_days day,
                             Millis time) const {
    return clock_.zones.moment(zone, LocalTime(day) + time);
  }
  static std::optional<std::chrono::local_days> day_of(int year, int month, int day) {
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    return date.ok() ? std::optional(std::chrono::local_days(date)) : std::nullopt;
  }
  std::optional<std::chrono::local_days> today(const std::string& zone) const {
    const std::optional<LocalTime> now = clock_.zones.local(zone, clock_.now);
    return now ? std::optional(std::chrono::floor<days>(*now)) : std::nullopt;
  }

  /// `2026-08-09 00:00 UTC`, `2025-10-20T19:14:08Z`, `2026-08-01 at 00:00 UTC`, `2026-08-01`
  std::optional<Found> iso() {
    // The first or second word of a line of a log is the time of that line.
    if (at_ < 2)
      return std::nullopt;
    const std::optional<int> year = take_number(4, 4);
    const std::optional<int> month = year && take("-") ? take_number(2, 2) : std::nullopt;
    const std::optional<int> day = month && take("-") ? take_number(2, 2) : std::nullopt;
    if (!day || *year < 2000)
      return std::nullopt;
    take_any({"t", "at"});
    const Millis time = take_day_clock().value_or(Millis(0));
    // An offset such as +02:00 counts as well.
    const bool east = take("+");
    const bool west = !east && take("-");
    const std::optional<Millis> offset = east || west ? take_day_clock() : std::nullopt;
    const std::string zone = offset ? "UTC" : take_zone();
    const auto date = day_of(*year, *month, *day);
    if (!date)
      return std::nullopt;
    return Found{moment(zone, *date, time - offset.value_or(Millis(0)) * (east ? 1 : -1))};
  }

  /// `11/17/2025`: month, day, year
  std::optional<Found> slashes() {
    const std::optional<int> month = take_number(1, 2);
    const std::optional<int> day = month && take("/") ? take_number(1, 2) : std::nullopt;
    const std::optional<int> year = day && take("/") ? take_number(4, 4) : std::nullopt;
    const auto date = year ? day_of(*year, *month, *day) : std::nullopt;
    return date ? std::optional(Found{moment(clock_.zone, *date, Millis(0))}) : std::nullopt;
  }

  std::optional<int> take_month() {
    static constexpr std::array<std::string_view, 12> kMonths = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};
    const Token* const token = peek();
    if (token == nullptr || token->kind != Token::Kind::word || token->text.size() < 3)
      return std::nullopt;
    for (std::size_t i = 0; i < kMonths.size(); ++i)
      if (token->text == kMonths.at(i) || token->text == kMonths.at(i).substr(0, 3) ||
          (i == 8 && token->text == "sept")) {
        ++at_;
        return static_cast<int>(i) + 1;
      }
    return std::nullopt;
  }

  /// `21 Oct 2026 07:28:00 GMT`
  std::optional<Found> http_date() {
    const std::optional<int> day = take_number(1, 2);
    const std::optional<int> month = day ? take_month() : std::nullopt;
    const std::optional<int> year = month ? take_number(4, 4) : std::nullopt;
    const std::optional<Millis> time = year ? take_day_clock() : std::nullopt;
    const auto date = time ? day_of(*year, *month, *day) : std::nullopt;
    return date ? std::optional(Found{moment(take_zone(), *date, *time)}) : std::nullopt;
  }

  /// `Oct 5 at 12am (America/Chicago)`, `Jul 7, 2pm`, `Feb 23rd, 2026 9:01 PM`, `resets Oct 5`
  std::optional<Found> month_day() {
    const bool announced =
        at_ > 0 && (tokens_[at_ - 1].text == "on" || tokens_[at_ - 1].text == "resets" ||
                    tokens_[at_ - 1].text == "until");
    const std::optional<int> month = take_month();
    const std::optional<int> day = month ? take_number(1, 2) : std::nullopt;
    if (!day)
      return std::nullopt;
    take_any({"st", "nd", "rd", "th"});
    take(",");
    const std::optional<int> year = take_number(4, 4);
    take(",");
    take("at");
    const std::optional<Millis> time = take_clock();
    if (!time && !announced)
      return std::nullopt;  // `you may 3 times`
    const std::string zone = take_zone();
    const auto now = today(zone);
    if (!now)
      return Found{};
    const int this_year = static_cast<int>(std::chrono::year_month_day(*now).year());
    for (const int each : {year.value_or(this_year), year.value_or(this_year + 1)})
      if (const auto date = day_of(each, *month, *day)) {
        const auto found = moment(zone, *date, time.value_or(Millis(0)));
        if (year || !found || *found > clock_.now - kJustPast)
          return Found{found};
      }
    return Found{};  // no such day, so its clock time says nothing
  }

  /// `Mon 12:00am`
  std::optional<Found> weekday() {
    static constexpr std::array<std::string_view, 7> kDays = {
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};
    const Token* const token = peek();
    const auto* const wanted = std::find_if(kDays.begin(), kDays.end(), [&](std::string_view each) {
      return token != nullptr && token->text.size() >= 3 &&
             (each.starts_with(token->text) || (token->text == "weds" && each[0] == 'w'));
    });
    if (wanted == kDays.end())
      return std::nullopt;
    ++at_;
    take(",");
    take("at");
    const std::optional<Millis> time = take_clock();
    if (!time)
      return std::nullopt;
    const std::chrono::weekday day(static_cast<unsigned>(wanted - kDays.begin()));
    return next(take_zone(), *time,
                [&](std::chrono::local_days each) { return std::chrono::weekday(each) == day; });
  }

  std::optional<Found> clock_alone() {
    const std::optional<Millis> time = take_clock();
    if (!time)
      return std::nullopt;
    return next(take_zone(), *time, [](std::chrono::local_days) { return true; });
  }

  /// The first day that fits, on which the time is not past.
  template <class Fits>
  std::optional<Found> next(const std::string& zone, Millis time, const Fits& fits) const {
    const auto now = today(zone);
    if (!now)
      return Found{};
    // A time of yesterday may be past by less than five minutes.
    for (int ahead = -1; ahead <= 8; ++ahead) {
      const std::chrono::local_days day = *now + days(ahead);
      const auto found = fits(day) ? moment(zone, day, time) : std::nullopt;
      if (found && *found > clock_.now - kJustPast)
        return Found{found};
    }
    return Found{};
  }

  std::optional<Millis> take_unit() {
    struct Unit {
      std::string_view word;
      Millis length;
    };
    static constexpr std::array kUnits = {
        Unit{"ms", Millis(1)},       Unit{"milliseconds", Millis(1)},
        Unit{"s", seconds(1)},       Unit{"sec", seconds(1)},
        Unit{"secs", seconds(1)},    Unit{"second", seconds(1)},
        Unit{"seconds", seconds(1)}, Unit{"m", minutes(1)},
        Unit{"min", minutes(1)},     Unit{"mins", minutes(1)},
        Unit{"minute", minutes(1)},  Unit{"minutes", minutes(1)},
        Unit{"h", hours(1)},         Unit{"hr", hours(1)},
        Unit{"hrs", hours(1)},       Unit{"hour", hours(1)},
        Unit{"hours", hours(1)},     Unit{"d", days(1)},
        Unit{"day", days(1)},        Unit{"days", days(1)},
        Unit{"week", days(7)},       Unit{"weeks", days(7)},
    };
    for (const Unit& unit : kUnits)
      if (take(unit.word))
        return unit.length;
    return std::nullopt;
  }

  /// `in 4 days 20 hours 9 minutes`, `after 19h14m47s`, `retry-after: 30`, `retryDelay: "60s"`
  std::optional<Found> duration() {
    if (!take_any({"in", "after", "wait", "retrydelay"}))
      return std::nullopt;
    const bool header = at_ >= 3 && tokens_[at_ - 3].text == "retry" &&
                        (tokens_[at_ - 2].text == "-" || tokens_[at_ - 2].text == "_");
    const bool millis = header && peek() != nullptr && peek()->text == "-" && peek(1) != nullptr &&
                        peek(1)->text == "ms";
    if (millis)
      at_ += 2;
    while (take_any({":", "\"", "=", "about", "approximately"})) {}
    double total_ms = 0;
    bool any = false;
    while (peek() != nullptr && peek()->kind == Token::Kind::number) {
      const double amount = peek()->value;
      ++at_;
      const std::optional<Millis> unit = take_unit();
      if (!unit && !(header && !any))
        break;
      total_ms += amount * static_cast<double>(unit ? unit->count() : millis ? 1 : 1000);
      any = true;
      while (take_any({",", "and"})) {}
    }
    // `0s` says only that the program does not know.
    if (!any || !(total_ms > 0))
      return std::nullopt;
    constexpr double kMost = 1e12;
    return Found{
        total_ms > kMost
            ? std::nullopt
            : std::optional(clock_.now + Millis(static_cast<std::int64_t>(std::ceil(total_ms))))};
  }

  const std::string text_;
  const std::vector<Token> tokens_;
  const ResetClock& clock_;
  const Millis bound_;
  std::size_t at_ = 0;
};

}  // namespace

std::string folded(std::string_view text) {
  return lower(plain(text));
}

std::optional<Time> reset_time(std::string_view text, const ResetClock& clock) {
  // What is longer than this is no error text, and only its beginning is looked at.
  constexpr std::size_t kMost = 4096;
  return Reader(text.substr(0, kMost), clock).read();
}

std::optional<Time> reset_epoch(double number, const ResetClock& clock) {
  if (!(number >= 1e9 && number < 1e13))
    return std::nullopt;
  const Time moment{Millis(static_cast<std::int64_t>(number < 1e10 ? number * 1000 : number))};
  return believed(moment, kLongest, clock);
}

}  // namespace baton
