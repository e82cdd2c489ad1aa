// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dates and times in state files. Programs write them as RFC 3339, but may leave out the zone or
// its colon.

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "dialects/findings.h"

namespace baton {

/// A time in a state file: RFC 3339. A missing zone means UTC. The zone may lack its colon
/// (`+0800`).
struct Timestamp {
  Time time{};
  bool zoned = true;
};
std::optional<Timestamp> parse_timestamp(std::string_view text);
/// The time in a member. Empty if the member is missing or holds no time.
std::optional<Time> timestamp(const Value& object, std::string_view name);

/// A time as baton writes it into state files: `2026-01-15T14:30:00.123000Z`.
std::string stamp(Time time);

/// Warns if the second time is before the first. Many programs write whole seconds, so fractions of
/// a second do not count.
void check_order(const Value& object, const std::string& pointer, std::string_view first,
                 std::string_view second, std::string_view rule, FindingList& findings);

/// Checks the times of one document. Warns once about all times without a zone.
class TimestampCheck {
 public:
  /// Checks members of the object at `pointer`. Reports an error (rule `day_id`) for a date that
  /// does not exist, such as 30 February.
  void look(const Value& object, const std::string& pointer,
            std::initializer_list<std::string_view> names, std::string_view day_id,
            FindingList& findings);
  /// Warns (rule `id`) at the first time without a zone.
  void report(std::string_view id, FindingList& findings) const;

 private:
  std::size_t zoneless_ = 0;
  std::string first_;
  std::string text_;
};

}  // namespace baton
