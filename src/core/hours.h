// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hours in which agents may start: `hours: "22:00-06:00 Europe/Berlin"`.
//
// Problem: agents are to work at night, and clocks of a zone skip an hour or show it twice.
// Way: what clocks of the zone show decides. A span that clocks skip does not happen that day; one
// that they show twice happens twice.
// Limits: spans have no days of the week. Running agents are not stopped.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/condition.h"
#include "core/effect.h"
#include "core/flow.h"

namespace baton {

class TimeZones;  // core/ports.h

/// From one minute of the day up to another one; over midnight if it is not later.
struct HourSpan {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string zone;  ///< empty: that of this machine
  bool operator==(const HourSpan&) const = default;
};

struct Hours {
  std::vector<HourSpan> spans;  ///< empty: always
  std::string text;             ///< as it is written
  bool operator==(const Hours&) const = default;
};

/// One span: `22:00-06:00`, or with a zone behind it. Errc::parse: what is wrong, and how to write
/// it. Whether the zone exists is known elsewhere.
Result<HourSpan> parse_span(std::string_view text);

/// Whether agents may start at this moment of the wall clock. Nothing: a zone is unknown.
std::optional<bool> are_open(const Hours& hours, const TimeZones& zones, Time wall);
/// The next minute after `wall` in which agents may start. Nothing: none in the next three days.
std::optional<Time> next_opening(const Hours& hours, const TimeZones& zones, Time wall);

/// All hours of a configuration.
struct AllHours {
  Hours everything;
  std::map<Role, Hours> agents;
  std::map<std::string, Hours> rules;
  bool operator==(const AllHours&) const = default;
};

/// What may not start now, and why.
struct ClosedHours {
  std::optional<Hold> everything;
  std::map<Role, Hold> agents;
  std::map<std::string, Hold> rules;
  bool operator==(const ClosedHours&) const = default;

  /// The hold that lasts longest of those for a start; nullptr: it may start. `agent` is empty for
  /// an action.
  const Hold* of(const Role& agent, const std::string& rule) const;
  const Hold* of_agent(const Role& agent) const;
};

/// Looks at the hours again and again without much work.
class HoursWatch {
 public:
  HoursWatch(const AllHours& hours, const TimeZones& zones) : hours_(hours), zones_(zones) {}
  /// The times in the holds are those of the wall clock.
  ClosedHours closed(Time wall);
  /// The first opening after the last look; nothing: all is open, or nobody knows.
  std::optional<Time> opens() const { return opens_; }

 private:
  std::optional<Hold> look(const Hours& hours, const std::string& whose, Time wall);

  const AllHours& hours_;
  const TimeZones& zones_;
  /// By text: since when and until when the hours are closed.
  std::map<std::string, std::pair<Time, std::optional<Time>>> known_;
  std::optional<Time> opens_;
};

}  // namespace baton
