// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("times are written as ISO 8601 in UTC") {
  CHECK(iso_time(Time{Millis{0}}) == "1970-01-01T00:00:00Z");
  CHECK(iso_time(Time{Millis{1769076000123}}) == "2026-01-22T10:00:00Z");
  CHECK(iso_time(Time{Millis{1769076000007}}, true) == "2026-01-22T10:00:00.007Z");
  CHECK(iso_time(Time{Millis{-1}}, true) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("RFC 3339 times are read") {
  const auto ten = Time{Millis{1769076000000}};
  struct Row {
    std::string_view text;
    Time time;
  };
  for (const Row& row : {
           Row{"2026-01-22T10:00:00Z", ten},
           Row{"2026-01-22t10:00:00z", ten},
           Row{"2026-01-22T11:30:00+01:30", ten},
           Row{"2026-01-22T08:00:00-02:00", ten},
           Row{"2026-01-22T10:00:00.5Z", ten + Millis{500}},
           Row{"2026-01-22T10:00:00.123999999999Z", ten + Millis{123}},
           Row{"1970-01-01T00:00:00Z", Time{}},
       }) {
    CAPTURE(row.text);
    CHECK(parse_time(row.text) == row.time);
  }
  CHECK(parse_time("2024-02-29T00:00:00Z").has_value());
}

TEST_CASE("what is no RFC 3339 time is refused") {
  for (const char* text : {
           "",
           "2026-01-22",
           "2026-01-22 10:00:00Z",
           "2026-01-22T10:00:00",
           "2026-1-22T10:00:00Z",
           "2026-13-01T00:00:00Z",
           "2026-00-01T00:00:00Z",
           "2026-02-29T00:00:00Z",
           "1900-02-29T00:00:00Z",
           "2026-04-31T00:00:00Z",
           "2026-01-22T24:00:00Z",
           "2026-01-22T10:60:00Z",
           "2026-01-22T10:00:60Z",
           "2026-01-22T10:00:00.Z",
           "2026-01-22T10:00:00+1:00",
           "2026-01-22T10:00:00+24:00",
           "2026-01-22T10:00:00Z ",
           "02026-01-22T10:00:00Z",
           "2026-01-22T10:00:00|01:00",
       }) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text).has_value());
  }
}

TEST_CASE("durations are read with units only") {
  struct Row {
    std::string_view text;
    std::int64_t millis;
  };
  for (const Row& row :
       {Row{"250ms", 250}, Row{"10s", 10'000}, Row{"5m", 300'000}, Row{"1h30m", 5'400'000},
        Row{"2d", 172'800'000}, Row{"0s", 0}, Row{"1s500ms", 1500}, Row{"90s", 90'000}}) {
    CAPTURE(row.text);
    CHECK(parse_duration(row.text) == Millis{row.millis});
  }
  for (const char* text : {"", "10", "s", "-1s", "1.5s", "1x", "1m1h", "1s1s", "10 s", "1s ",
                           "99999999999999999999s", "9223372036854775807d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("the shortest spelling of a duration is read back") {
  CHECK(duration_text(Millis{90'000}) == "1m30s");
  CHECK(duration_text(Millis{0}) == "0s");
  CHECK(duration_text(Millis{250}) == "250ms");
  CHECK(duration_text(Millis{90'061'001}) == "1d1h1m1s1ms");
  for (const std::int64_t millis : {1, 999, 1000, 60'000, 3'600'000, 86'400'000, 123'456'789})
    CHECK(parse_duration(duration_text(Millis{millis})) == Millis{millis});
}

}  // namespace baton
