// SPDX-License-Identifier: Apache-2.0
#include "dialects/timestamps.h"

namespace baton {
namespace {

constexpr std::size_t kTimeBegin = 11;  // after `2026-01-22T`

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  if (text.size() <= kTimeBegin)
    return std::nullopt;
  const auto zone = text.find_first_of("Zz+-", kTimeBegin);
  std::string full(text);
  if (zone == std::string_view::npos)
    full += 'Z';
  else if (text.size() == zone + 5 && text.find(':', zone) == std::string_view::npos)
    full.insert(zone + 3, ":");
  const auto time = parse_time(full);
  if (!time)
    return std::nullopt;
  return Timestamp{*time, zone != std::string_view::npos};
}

std::optional<Time> timestamp(const Value& object, std::string_view name) {
  const auto text = json::text(object, name);
  const auto parsed = text ? parse_timestamp(*text) : std::nullopt;
  return parsed ? std::optional(parsed->time) : std::nullopt;
}

std::string stamp(Time time) {
  std::string text = iso_time(time, true);
  return text.insert(text.size() - 1, "000");
}

void check_order(const Value& object, const std::string& pointer, std::string_view first,
                 std::string_view second, std::string_view rule, FindingList& findings) {
  using std::chrono::floor;
  using std::chrono::seconds;
  const auto begin = timestamp(object, first);
  const auto end = timestamp(object, second);
  if (begin && end && floor<seconds>(*end) < floor<seconds>(*begin))
    findings.warning(rule, member_pointer(pointer, second),
                     std::string(second) + " is before " + std::string(first),
                     {.found = std::string(*json::text(object, second)),
                      .expected = "not before " + std::string(*json::text(object, first))});
}

void TimestampCheck::look(const Value& object, const std::string& pointer,
                          std::initializer_list<std::string_view> names, std::string_view day_id,
                          FindingList& findings) {
  for (const std::string_view name : names) {
    const auto text = json::text(object, name);
    if (!text)
      continue;
    const std::string where = pointer + "/" + std::string(name);
    const auto parsed = parse_timestamp(*text);
    if (!parsed) {
      findings.error(day_id, where, shown(*text) + " is not an existing date and time",
                     json::child(object, name), "a date and time that exist");
      continue;
    }
    if (parsed->zoned)
      continue;
    if (zoneless_++ == 0) {
      first_ = where;
      text_ = shown(*text);
    }
  }
}

void TimestampCheck::report(std::string_view id, FindingList& findings) const {
  if (zoneless_ == 0)
    return;
  std::string message = text_ + " has no zone and is read as UTC";
  if (zoneless_ > 1)
    message += ", and " + std::to_string(zoneless_ - 1) + " more";
  findings.warning(id, first_, message, nullptr, "Z or an offset such as +08:00");
}

}  // namespace baton
