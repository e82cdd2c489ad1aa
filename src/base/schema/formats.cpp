// SPDX-License-Identifier: Apache-2.0
#include "base/schema/formats.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/json/json.h"
#include "base/schema/host_names.h"
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

bool fits(const Pattern& pattern, std::string_view text) {
  return pattern.search(text).match == Pattern::Match::yes;
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

bool is_ipv4(std::string_view text) {
  constexpr std::size_t kMostBytes = 15;
  if (text.size() > kMostBytes)
    return false;
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
  constexpr std::size_t kMostBytes = 45;
  if (text.size() > kMostBytes)
    return false;
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos)
    return ipv6_groups(text, true) == 8U;
  const auto left = ipv6_groups(text.substr(0, gap), false);
  const auto right = ipv6_groups(text.substr(gap + 2), true);
  return left && right && *left + *right < 8;
}

/// RFC 5321, section 4.1.2: what stands between the quotes of a local part. `wide`: letters of any
/// language.
bool is_quoted(std::string_view text, bool wide) {
  const auto printable = [&](char c) { return is_ascii(c) ? c >= ' ' && c <= '~' : wide; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escaped = text[at] == '\\';
    if (escaped && ++at == text.size())
      return false;
    if (!printable(text[at]) || (text[at] == '"' && !escaped))
      return false;
  }
  return true;
}

/// `wide`: letters of any language.
bool is_mailbox(std::string_view text, bool wide) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64)
    return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  if (domain.size() > 2 && domain.front() == '[' && domain.back() == ']') {
    const std::string_view address = domain.substr(1, domain.size() - 2);
    if (!(address.starts_with("IPv6:") ? is_ipv6(address.substr(5)) : is_ipv4(address)))
      return false;
  } else if (!(wide ? is_international_hostname(domain, false) : is_plain_hostname(domain))) {
    return false;
  }
  if (local.size() > 1 && local.front() == '"' && local.back() == '"')
    return is_quoted(local.substr(1, local.size() - 2), wide);
  constexpr std::string_view kSpecial = "!#$%&'*+-/=?^_`{|}~.";
  return local.front() != '.' && local.back() != '.' &&
         local.find("..") == std::string_view::npos && all(local, [&](char c) {
           return is_alnum(c) || kSpecial.find(c) != std::string_view::npos ||
                  (wide && !is_ascii(c));
         });
}

/// Characters that may stand in a URI; `wide`: in an IRI.
bool uri_characters(std::string_view text, bool wide) {
  constexpr std::string_view kAllowed = "-._~:/?#[]@!$&'()*+,;=%";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (wide && !is_ascii(c))
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
    if (!is_ipv6(inside) && !inside.starts_with('v') && !inside.starts_with('V'))
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

/// RFC 6570: literals, and expressions such as `{?first,list*,part:3}`.
bool is_uri_template(std::string_view text) {
  static const Pattern uri_template = [] {
    const std::string escaped = "%[0-9A-Fa-f]{2}";
    const std::string character = "(?:[A-Za-z0-9_]|" + escaped + ")";
    const std::string variable = character + "(?:\\.?" + character + ")*(?::[1-9]\\d{0,3}|\\*)?";
    const std::string literal = "[^\\x00-\\x20\\x7f\"<>\\\\^`{|}%]|" + escaped;
    return *Pattern::compile("^(?:" + literal + "|\\{[+#./;?&=,!@|]?" + variable + "(?:," +
                             variable + ")*\\})*$");
  }();
  return fits(uri_template, text);
}

bool is_relative_pointer(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || (digits > 1 && text.front() == '0'))
    return false;
  text.remove_prefix(digits);
  return text == "#" || json::pointer_tokens(text).has_value();
}

bool is_uuid(std::string_view text) {
  static const Pattern uuid = *Pattern::compile(
      "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$");
  return fits(uuid, text);
}

/// The grammar of RFC 3339, appendix A: between two units none is left out.
bool is_duration(std::string_view text) {
  static const Pattern duration = *Pattern::compile(
      "^P(?=.)(\\d+W|"
      "(\\d+Y(\\d+M(\\d+D)?)?|\\d+M(\\d+D)?|\\d+D)?"
      "(T(\\d+H(\\d+M(\\d+S)?)?|\\d+M(\\d+S)?|\\d+S))?)$");
  return fits(duration, text);
}

bool is_composed_hostname(std::string_view text) {
  return is_international_hostname(text, true);
}
bool is_email(std::string_view text) {
  return is_mailbox(text, false);
}
bool is_international_email(std::string_view text) {
  return is_mailbox(text, true);
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
  bool (*holds)(std::string_view);
  bool (*before_draft7)(std::string_view) = nullptr;  ///< where it meant something else
};
constexpr std::array kFormats = {
    FormatRow{"date", is_date},
    FormatRow{"date-time", is_date_time},
    FormatRow{"duration", is_duration},
    FormatRow{"email", is_email},
    FormatRow{"hostname", is_encoded_hostname, is_plain_hostname},
    FormatRow{"idn-email", is_international_email},
    FormatRow{"idn-hostname", is_composed_hostname},
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

std::optional<bool> format_holds(std::string_view name, std::string_view text, SchemaDraft draft) {
  for (const FormatRow& row : kFormats)
    if (row.name == name)
      return row.before_draft7 != nullptr && draft < SchemaDraft::draft7 ? row.before_draft7(text)
                                                                         : row.holds(text);
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
