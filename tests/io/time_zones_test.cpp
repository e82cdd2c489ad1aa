// SPDX-License-Identifier: Apache-2.0
#include "io/system/time_zones.h"

#include <cstdlib>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "print.h"

using namespace baton;

namespace {

LocalTime shown(const std::string& text) {
  return LocalTime(parse_time(text + ":00Z")->time_since_epoch());
}

/// Sets TZ for the rest of its life.
class Zone {
 public:
  explicit Zone(const std::optional<std::string>& zone) {
    if (const char* const before = std::getenv("TZ"))
      before_ = before;
    set(zone);
  }
  ~Zone() { set(before_); }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  static void set(const std::optional<std::string>& zone) {
    if (zone)
      setenv("TZ", zone->c_str(), 1);
    else
      unsetenv("TZ");
  }
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a clock of a zone is read") {
  struct Row {
    std::string zone;
    std::string local;
    std::string moment;  ///< empty: the zone is unknown
  };
  const auto zones = real_time_zones();
  for (const Row& row : {
           Row{"UTC", "2026-01-22T10:00", "2026-01-22T10:00:00Z"},
           Row{"Europe/Berlin", "2026-01-22T10:00", "2026-01-22T09:00:00Z"},
           Row{"Europe/Berlin", "2026-07-22T10:00", "2026-07-22T08:00:00Z"},
           Row{"America/Edmonton", "2026-07-22T22:20", "2026-07-23T04:20:00Z"},
           Row{"Asia/Calcutta", "2026-01-22T10:00", "2026-01-22T04:30:00Z"},
           Row{"Pacific/Kiritimati", "2026-01-22T10:00", "2026-01-21T20:00:00Z"},
           // Clocks go from 2:00 to 3:00. The next valid minute is 3:00.
           Row{"Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59:00Z"},
           Row{"Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00:00Z"},
           Row{"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z"},
           Row{"Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z"},
           Row{"America/New_York", "2026-03-08T02:30", "2026-03-08T07:00:00Z"},
           // Clocks go from 3:00 to 2:00. The later of two moments counts.
           Row{"Europe/Berlin", "2026-10-25T01:59", "2026-10-24T23:59:00Z"},
           Row{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T01:30:00Z"},
           Row{"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z"},
           Row{"America/New_York", "2026-11-01T01:30", "2026-11-01T06:30:00Z"},
           Row{"Mars/Olympus", "2026-01-22T10:00", ""},
           Row{"../../etc/passwd", "2026-01-22T10:00", ""},
           Row{"Europe", "2026-01-22T10:00", ""},
           Row{"Europe/Berlin ", "2026-01-22T10:00", ""},
       }) {
    CAPTURE(row.zone);
    CAPTURE(row.local);
    const auto moment = zones->moment(row.zone, shown(row.local));
    CHECK((moment ? iso_time(*moment) : "") == row.moment);
    if (row.moment.empty())
      CHECK(zones->local(row.zone, Time{}) == std::nullopt);
  }
  CHECK(zones->local("Europe/Berlin", *parse_time("2026-07-22T08:00:00Z")) ==
        shown("2026-07-22T10:00"));
  CHECK(zones->local("Europe/Berlin", *parse_time("2026-03-29T01:00:00Z")) ==
        shown("2026-03-29T03:00"));
}

TEST_CASE("the zone of the machine is that of TZ") {
  struct Row {
    std::string variable;
    std::string moment;
  };
  const auto zones = real_time_zones();
  for (const Row& row : {
           Row{"Asia/Seoul", "2026-01-22T01:00:00Z"}, Row{":Asia/Seoul", "2026-01-22T01:00:00Z"},
           Row{"", "2026-01-22T10:00:00Z"},
           Row{"Nowhere/Land", "2026-01-22T10:00:00Z"},  // UTC, as in the C library
       }) {
    const Zone variable(row.variable);
    CAPTURE(row.variable);
    const auto moment = zones->moment("", shown("2026-01-22T10:00"));
    CHECK((moment ? iso_time(*moment) : "") == row.moment);
  }
  // Without TZ it is that of /etc/localtime, which differs from machine to machine.
  const Zone variable(std::nullopt);
  const auto moment = zones->moment("", shown("2026-01-22T10:00"));
  if (moment)
    CHECK(zones->local("", *moment) == shown("2026-01-22T10:00"));
}
