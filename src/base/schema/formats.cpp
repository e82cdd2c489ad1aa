
#include <algorithm>
#include <array>
#include <cstddef>

#include "base/json/json.h"
#include "base/schema/pattern.h"
#include "base/text.h"
#include "base/time.h"

namespace baton {
namespace {

bool is_alnum(char c) {
  return is_digit(c) || is_letter(c);
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// `%` and two digits.
bool is_escaped(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && is_hex(text[1]) && is_hex(text[2]);
}

template <class Predicate>
bool all(std::string_view text, Predicate predicate) {
  return std::all_of(text.begin(), text.end(), predicate);
}

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_time(std::string(text) + "T00:00:00Z").has_value();
}

/// The UTC day that ends with the leap second `time`; nothing if `time` is no leap second. RFC 3339
/// allows a leap second only in months that have one: so far June and December. `parse_time` knows
/// no leap seconds.
std::optional<std::string> leap_day(std::string_view day, std::string_view time) {
  if (time.size() < 9 || time.substr(6, 2) != "60" || !is_digit(time[0]) || !is_digit(time[1]) ||
      !is_digit(time[3]) || !is_digit(time[4]))
    return std::nullopt;
  std::string minute(time);
  minute.replace(6, 2, "59");
  const auto moment = parse_time(std::string(day) + "T" + minute);
  if (!moment || (moment->time_since_epoch() / std::chrono::seconds(1) + 1) % 86400 != 0)
    return std::nullopt;
  return iso_time(*moment).substr(0, 10);
}

bool is_time(std::string_view text) {
  constexpr std::string_view kDay = "2020-01-01";
  return parse_time(std::string(kDay) + "T" + std::string(text)).has_value() ||
         leap_day(kDay, text).has_value();
}

bool is_date_time(std::string_view text) {
  if (parse_time(text))
    return true;
  if (text.size() <= 11 || (text[10] != 'T' && text[10] != 't'))
    return false;
  const auto day = leap_day(text.substr(0, 10), text.substr(11));
  return day && (day->ends_with("-06-30") || day->ends_with("-12-31"));
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253)
    return false;
  const std::vector<std::string> labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
    return !label.empty() && label.size() <= 63 && is_alnum(label.front()) &&
           is_alnum(label.back()) && all(label, [](char c) { return is_alnum(c) || c == '-'; });
  });
}

bool is_ipv4(std::string_view text) {
  const std::vector<std::string> parts = split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           if (part.empty() || part.size() > 3 || !all(part, is_digit))
             return false;
           return (part.size() == 1 || part.front() != '0') && std::stoi(part) <= 255;
         });
}

/// Counts the groups of one side of `::`; nothing when one is wrong.
std::optional<std::size_t> ipv6_groups(std::string_view text, bool last) {
  if (text.empty())
    return 0;
  const std::vector<std::string> groups = split(text, ':');
  std::size_t count = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (last && i + 1 == groups.size() && is_ipv4(groups[i])) {
      count += 2;
      continue;
    }
    if (groups[i].empty() || groups[i].size() > 4 || !all(groups[i], is_hex))
      return std::nullopt;
    ++count;
  }
  return count;
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos)
    return ipv6_groups(text, true) == 8U;
  const auto left = ipv6_groups(text.substr(0, gap), false);
  const auto right = ipv6_groups(text.substr(gap + 2), true);
  return left && right && *left + *right < 8;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64)
    return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  if (domain.size() > 2 && domain.front() == '[' && domain.back() == ']') {
    const std::string_view address = domain.substr(1, domain.size() - 2);
    if (!(address.starts_with("IPv6:") ? is_ipv6(address.substr(5)) : is_ipv4(address)))
      return false;
  } else if (!is_hostname(domain)) {
    return false;
  }
  if (local.size() > 1 && local.front() == '"' && local.back() == '"')
    return local.substr(1, local.size() - 2).find('"') == std::string_view::npos;
  constexpr std::string_view kSpecial = "!#$%&'*+-/=?^_`{|}~.";
  return local.front() != '.' && local.back() != '.' &&
         local.find("..") == std::string_view::npos && all(local, [&](char c) {
           return is_alnum(c) || kSpecial.find(c) != std::string_view::npos;
         });
}

/// Characters that may stand in a URI; `wide`: in an IRI.
bool uri_characters(std::string_view text, bool wide) {
  constexpr std::string_view kAllowed = "-._~:/?#[]@!$&'()*+,;=%";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (wide && (static_cast<unsigned char>(c) & 0x80U) != 0)
      continue;
    if (!is_alnum(c) && kAllowed.find(c) == std::string_view::npos)
      return false;
    if (c == '%' && !is_escaped(text.substr(i)))
      return false;
  }
  return true;
}

bool is_authority(std::string_view authority) {
  const std::size_t user = authority.rfind('@');
  if (user != std::string_view::npos) {
    if (authority.substr(0, user).find_first_of("[]@") != std::string_view::npos)
      return false;
    authority.remove_prefix(user + 1);
  }
  std::size_t port = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos)
      return false;
    const std::string_view inside = authority.substr(1, close - 1);
    if (!is_ipv6(inside) && !inside.starts_with('v'))
      return false;
    port = close + 1 < authority.size() ? close + 1 : std::string_view::npos;
    if (port != std::string_view::npos && authority[port] != ':')
      return false;
  } else if (authority.find_first_of("[]") != std::string_view::npos ||
             authority.find(':') != port) {
    return false;
  }
  return port == std::string_view::npos || all(authority.substr(port + 1), is_digit);
}

bool is_reference(std::string_view text, bool wide) {
  if (!uri_characters(text, wide))
    return false;
  const std::size_t hash = text.find('#');
  if (hash != std::string_view::npos &&
      text.find_first_of("#[]", hash + 1) != std::string_view::npos)
    return false;
  std::string_view rest = text.substr(0, hash);
  const std::size_t colon = rest.find(':');
  const std::size_t slash = rest.find_first_of("/?");
  if (colon != std::string_view::npos && colon < slash) {
    const std::string_view scheme = rest.substr(0, colon);
    if (scheme.empty() || !is_letter(scheme.front()) ||
        !all(scheme, [](char c) { return is_alnum(c) || c == '+' || c == '-' || c == '.'; }))
      return false;
    rest.remove_prefix(colon + 1);
  }
  if (!rest.starts_with("//"))
    return rest.find_first_of("[]") == std::string_view::npos;
  rest.remove_prefix(2);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  return is_authority(rest.substr(0, end)) &&
         rest.substr(end).find_first_of("[]") == std::string_view::npos;
}

bool is_absolute(std::string_view text, bool wide) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && colon < text.find_first_of("/?#") &&
         is_reference(text, wide);
}

/// A variable of RFC 6570: its name, then `:` and at most four digits, or `*`.
bool is_variable(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of(":*"), text.size());
  const std::string_view modifier = text.substr(mark);
  std::string_view name = text.substr(0, mark);
  bool dot = true;  // a dot may not be first, last, or after another dot
  while (!name.empty()) {
    const bool escaped = is_escaped(name);
    const bool now = name.front() == '.';
    if (now ? dot : !escaped && !is_alnum(name.front()) && name.front() != '_')
      return false;
    dot = now;
    name.remove_prefix(escaped ? 3 : 1);
  }
  if (dot)
    return false;
  if (modifier.empty() || modifier == "*")
    return true;
  const std::string_view digits = modifier.substr(1);
  return modifier.front() == ':' && !digits.empty() && digits.size() <= 4 &&
         digits.front() != '0' && all(digits, is_digit);
}

/// The text between the braces.
bool is_expression(std::string_view text) {
  constexpr std::string_view kOperators = "+#./;?&=,!@|";
  if (!text.empty() && kOperators.find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  const std::vector<std::string> variables = split(text, ',');
  return std::all_of(variables.begin(), variables.end(),
                     [](const std::string& variable) { return is_variable(variable); });
}

/// RFC 6570, with the apostrophe of its erratum 6937.
bool is_uri_template(std::string_view text) {
  constexpr std::string_view kForbidden = "\"<>\\^`|}";
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    if (c == '{') {
      length = text.find('}');
      if (length == std::string_view::npos || !is_expression(text.substr(1, length - 1)))
        return false;
      ++length;
    } else if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F ||
               kForbidden.find(c) != std::string_view::npos || (c == '%' && !is_escaped(text))) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

bool is_relative_pointer(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || (digits > 1 && text.front() == '0'))
    return false;
  text.remove_prefix(digits);
  return text == "#" || json::pointer_tokens(text).has_value();
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36)
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i]))
      return false;
  }
  return true;
}

/// Reads `<digits><unit>` in the order of `units`; false when something else is there.
bool duration_part(std::string_view& text, std::string_view units, std::size_t& read) {
  std::size_t next = 0;
  while (!text.empty() && is_digit(text.front())) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::size_t unit =
        digits < text.size() ? units.find(text[digits], next) : std::string_view::npos;
    // Units may not be left out in the middle: P1Y1D is not a duration.
    if (unit == std::string_view::npos || (read > 0 && next > 0 && unit != next))
      return false;
    next = unit + 1;
    ++read;
    text.remove_prefix(digits + 1);
  }
  return true;
}

bool is_duration(std::string_view text) {
  if (!text.starts_with('P'))
    return false;
  text.remove_prefix(1);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0 && digits + 1 == text.size() && text[digits] == 'W')
    return true;
  std::size_t read = 0;
  if (!duration_part(text, "YMD", read))
    return false;
  if (text.empty())
    return read > 0;
  if (text.front() != 'T')
    return false;
  text.remove_prefix(1);
  std::size_t clock = 0;
  return duration_part(text, "HMS", clock) && clock > 0 && text.empty();
}

bool is_regex(std::string_view text) {
  return Pattern::compile(text).has_value();
}
bool is_uri(std::string_view text) {
  return is_absolute(text, false);
}
bool is_uri_reference(std::string_view text) {
  return is_reference(text, false);
}
bool is_iri(std::string_view text) {
  return is_absolute(text, true);
}
bool is_iri_reference(std::string_view text) {
  return is_reference(text, true);
}
bool is_pointer(std::string_view text) {
  return json::pointer_tokens(text).has_value();
}

struct FormatRow {
  std::string_view name;
  bool (*holds)(std::string_view);  ///< null: known, but not checked
};
constexpr std::array kFormats = {
    FormatRow{"date", is_date},
    FormatRow{"date-time", is_date_time},
    FormatRow{"duration", is_duration},
    FormatRow{"email", is_email},
    FormatRow{"hostname", is_hostname},
    FormatRow{"idn-email", nullptr},
    FormatRow{"idn-hostname", nullptr},
    FormatRow{"ipv4", is_ipv4},
    FormatRow{"ipv6", is_ipv6},
    FormatRow{"iri", is_iri},
    FormatRow{"iri-reference", is_iri_reference},
    FormatRow{"json-pointer", is_pointer},
    FormatRow{"regex", is_regex},
    FormatRow{"relative-json-pointer", is_relative_pointer},
    FormatRow{"time", is_time},
    FormatRow{"uri", is_uri},
    FormatRow{"uri-reference", is_uri_reference},
    FormatRow{"uri-template", is_uri_template},
    FormatRow{"uuid", is_uuid},
};

}  // namespace

std::optional<bool> format_holds(std::string_view name, std::string_view text) {
  for (const FormatRow& row : kFormats)
    if (row.name == name)
      return row.holds == nullptr ? std::nullopt : std::optional(row.holds(text));
  return std::nullopt;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const FormatRow& row : kFormats)
    names.emplace_back(row.name);
  return names;
}

bool format_known(std::string_view name) {
  return std::any_of(kFormats.begin(), kFormats.end(),
                     [&](const FormatRow& row) { return row.name == name; });
}

}  // namespace baton
