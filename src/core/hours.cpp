// SPDX-License-Identifier: Apache-2.0
#include "core/hours.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "core/ports.h"

namespace baton {
namespace {

constexpr std::uint32_t kDay = 24 * 60;
constexpr Millis kMinute{60'000};
/// Longer than any span and any change of clocks.
constexpr Millis kAhead = std::chrono::hours(3 * 24);
constexpr std::string_view kForm =
    "write the hours as \"22:00-06:00\" or, with a time zone, \"22:00-06:00 Europe/Berlin\"";

/// `07:30` as minutes; 24:00 is the end of the day.
std::optional<std::uint32_t> minutes_of(std::string_view text) {
  const auto number = [&](std::string_view digits) -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value)
                                                                        : std::nullopt;
  };
  if (text.size() != 5 || text[2] != ':')
    return std::nullopt;
  const auto hour = number(text.substr(0, 2));
  const auto minute = number(text.substr(3));
  if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > kDay)
    return std::nullopt;
  return *hour * 60 + *minute;
}

bool is_zone_name(std::string_view zone) {
  return std::all_of(zone.begin(), zone.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '-' ||
                              c == '+';
                     }) &&
         !zone.starts_with('/');
}

bool shows(const HourSpan& span, LocalTime local) {
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const auto minute = static_cast<std::uint32_t>((local - day) / kMinute);
  return span.from < span.to ? minute >= span.from && minute < span.to
                             : minute >= span.from || minute < span.to;
}

std::string unknown_zone(const Hours& hours, const TimeZones& zones, Time wall) {
  const auto found =
      std::find_if(hours.spans.begin(), hours.spans.end(),
                   [&](const HourSpan& span) { return !zones.local(span.zone, wall); });
  return found == hours.spans.end() ? "" : found->zone;
}

}  // namespace

Result<HourSpan> parse_span(std::string_view text) {
  const std::string given = "'" + printable(text, 80) + "'";
  const std::size_t blank = text.find(' ');
  const std::string_view times = text.substr(0, blank);
  const std::size_t dash = times.find('-');
  HourSpan span;
  if (blank != std::string_view::npos)
    span.zone = text.substr(blank + 1);
  const auto from = minutes_of(times.substr(0, dash));
  const auto to =
      dash == std::string_view::npos ? std::nullopt : minutes_of(times.substr(dash + 1));
  if (!from || !to || *from == kDay || (blank != std::string_view::npos && span.zone.empty()))
    return fail(Errc::parse, given + " is not a span of hours; " + std::string(kForm));
  if (*from == *to)
    return fail(Errc::parse, given + " begins and ends at the same time; " + std::string(kForm) +
                                 ". The whole day is \"00:00-24:00\"");
  if (!is_zone_name(span.zone))
    return fail(Errc::parse,
                given + " has no name of a time zone behind the times; " + std::string(kForm));
  span.from = *from;
  span.to = *to;
  return span;
}

std::optional<bool> are_open(const Hours& hours, const TimeZones& zones, Time wall) {
  bool open = hours.spans.empty();
  for (const HourSpan& span : hours.spans) {
    const auto local = zones.local(span.zone, wall);
    if (!local)
      return std::nullopt;
    open = open || shows(span, *local);
  }
  return open;
}

std::optional<Time> next_opening(const Hours& hours, const TimeZones& zones, Time wall) {
  // All zones in use differ from UTC by whole minutes.
  const Time first = std::chrono::floor<std::chrono::minutes>(wall) + kMinute;
  for (Time at = first; at < first + kAhead; at += kMinute)
    if (are_open(hours, zones, at).value_or(false))
      return at;
  return std::nullopt;
}

const Hold* ClosedHours::of_agent(const Role& agent) const {
  const auto found = agents.find(agent);
  return found == agents.end() ? nullptr : &found->second;
}

const Hold* ClosedHours::of(const Role& agent, const std::string& rule) const {
  const Hold* longest = everything ? &*everything : nullptr;
  const auto take = [&](const Hold* hold) {
    if (hold != nullptr && (longest == nullptr ||
                            (longest->until && (!hold->until || *hold->until > *longest->until))))
      longest = hold;
  };
  take(agent.empty() ? nullptr : of_agent(agent));
  const auto found = rules.find(rule);
  take(found == rules.end() ? nullptr : &found->second);
  return longest;
}

std::optional<Hold> HoursWatch::look(const Hours& hours, const std::string& whose, Time wall) {
  const auto open = are_open(hours, zones_, wall);
  if (open.value_or(false))
    return std::nullopt;
  const std::string outside = "it is outside the hours of " + whose + " (" + hours.text + ")";
  if (!open)
    return Hold{
        "", "", Reason::hours,
        outside + ": this machine does not know the time zone " +
            printable(unknown_zone(hours, zones_, wall), 80),
        "install the time zones (package tzdata), or correct `hours:`, then `baton reload`"};
  auto& [since, until] = known_[hours.text];
  if (wall < since || !until || wall >= *until) {
    since = wall;
    until = next_opening(hours, zones_, wall);
  }
  if (until && (!opens_ || *until < *opens_))
    opens_ = until;
  return Hold{
      "", "",   Reason::hours, outside + (until ? "; starts go on at " + iso_time(*until) : ""),
      "", until};
}

ClosedHours HoursWatch::closed(Time wall) {
  opens_.reset();
  ClosedHours closed;
  closed.everything = look(hours_.everything, "the configuration", wall);
  for (const auto& [role, hours] : hours_.agents)
    if (auto hold = look(hours, "the agent `" + role + "`", wall))
      closed.agents.emplace(role, *std::move(hold));
  for (const auto& [rule, hours] : hours_.rules)
    if (auto hold = look(hours, "the rule " + rule, wall))
      closed.rules.emplace(rule, *std::move(hold));
  return closed;
}

}  // namespace baton
