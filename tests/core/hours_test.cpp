// SPDX-License-Identifier: Apache-2.0
#include "core/hours.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/text.h"
#include "zones.h"

namespace baton {
namespace {

Hours hours_of(const std::vector<std::string>& spans) {
  Hours hours;
  for (const std::string& text : spans) {
    hours.spans.push_back(*parse_span(text));
    hours.text += (hours.text.empty() ? "" : ", ") + text;
  }
  return hours;
}

Time time(const std::string& text) {
  return *parse_time(text + ":00Z");
}

TEST_CASE("hours are open, or open next, as clocks of their zone show") {
  struct Row {
    const char* what;
    std::vector<std::string> spans;
    const char* at;
    const char* opens;  ///< empty: they are open
  };
  // Clocks of Berlin go from 2:00 to 3:00 on 2026-03-29, and from 3:00 to 2:00 on 2026-10-25.
  for (const Row& row : {
           Row{"the first minute", {"10:00-11:00"}, "2026-01-22T10:00", ""},
           Row{"the last minute", {"10:00-11:00"}, "2026-01-22T10:59", ""},
           Row{"behind the last one", {"10:00-11:00"}, "2026-01-22T11:00", "2026-01-23T10:00"},
           Row{"before the first one", {"10:00-11:00"}, "2026-01-22T09:59", "2026-01-22T10:00"},
           Row{"over midnight, before", {"22:00-06:00"}, "2026-01-22T23:30", ""},
           Row{"over midnight, after", {"22:00-06:00"}, "2026-01-22T05:59", ""},
           Row{"over midnight, outside", {"22:00-06:00"}, "2026-01-22T06:00", "2026-01-22T22:00"},
           Row{"up to midnight", {"22:00-24:00"}, "2026-01-22T23:59", ""},
           Row{"behind midnight", {"22:00-24:00"}, "2026-01-23T00:00", "2026-01-23T22:00"},
           Row{"the whole day", {"00:00-24:00"}, "2026-01-22T23:59", ""},
           Row{"the last day of a year", {"00:30-01:00"}, "2026-12-31T12:00", "2027-01-01T00:30"},
           Row{"the second of two spans", {"08:00-09:00", "12:00-13:00"}, "2026-01-22T12:30", ""},
           Row{"between two spans",
               {"08:00-09:00", "12:00-13:00"},
               "2026-01-22T09:30",
               "2026-01-22T12:00"},
           Row{"two zones",
               {"08:00-09:00 Europe/Berlin", "08:00-09:00 Asia/Seoul"},
               "2026-01-22T08:00",
               "2026-01-22T23:00"},
           Row{"a zone in winter", {"22:00-06:00 Europe/Berlin"}, "2026-01-22T21:00", ""},
           Row{"a zone in summer", {"22:00-06:00 Europe/Berlin"}, "2026-07-22T20:00", ""},
           Row{"a zone with half an hour", {"12:00-13:00 Asia/Calcutta"}, "2026-01-22T06:30", ""},
           Row{"the day before in the zone",
               {"12:00-13:00 Pacific/Kiritimati"},
               "2026-01-22T12:00",
               "2026-01-22T22:00"},
           Row{"clocks skip the beginning",
               {"02:30-05:00 Europe/Berlin"},
               "2026-03-29T00:00",
               "2026-03-29T01:00"},
           Row{"clocks skip all of it: not that day",
               {"02:00-03:00 Europe/Berlin"},
               "2026-03-29T00:00",
               "2026-03-30T00:00"},
           Row{"clocks skip an hour in the middle",
               {"22:00-06:00 Europe/Berlin"},
               "2026-03-29T01:00",
               ""},
           Row{"clocks show it twice, the first time",
               {"02:00-03:00 Europe/Berlin"},
               "2026-10-25T00:30",
               ""},
           Row{"clocks show it twice, the second time",
               {"02:00-03:00 Europe/Berlin"},
               "2026-10-25T01:30",
               ""},
           Row{"clocks show it twice: it opens at the first",
               {"02:00-03:00 Europe/Berlin"},
               "2026-10-24T23:59",
               "2026-10-25T00:00"},
           Row{"clocks show the beginning twice: between, they are closed",
               {"02:30-02:45 Europe/Berlin"},
               "2026-10-25T00:50",
               "2026-10-25T01:30"},
       }) {
    CAPTURE(row.what);
    const Hours hours = hours_of(row.spans);
    const bool open = std::string(row.opens).empty();
    CHECK(are_open(hours, FakeZones(), time(row.at)) == open);
    if (!open)
      CHECK(iso_time(next_opening(hours, FakeZones(), time(row.at)).value_or(Time{})) ==
            std::string(row.opens) + ":00Z");
  }
  CHECK(are_open(Hours{}, FakeZones(), time("2026-01-22T10:00")) == true);
}

TEST_CASE("what is no span of hours is refused with the form") {
  struct Row {
    const char* text;
    const char* fault;
  };
  for (const Row& row : {
           Row{"", "'' is not a span of hours; write the hours as \"22:00-06:00\" or"},
           Row{"22:00", "is not a span of hours"},
           Row{"22-6", "is not a span of hours"},
           Row{"9:00-17:00", "is not a span of hours"},
           Row{"22:00 - 06:00", "is not a span of hours"},
           Row{"25:00-06:00", "is not a span of hours"},
           Row{"22:60-06:00", "is not a span of hours"},
           Row{"24:00-06:00", "is not a span of hours"},
           Row{"22:00-24:01", "is not a span of hours"},
           Row{"+1:00-06:00", "is not a span of hours"},
           Row{"22:00-06:00 ", "is not a span of hours"},
           Row{"Mon 22:00-06:00", "is not a span of hours"},
           Row{"22:00-22:00", "begins and ends at the same time"},
           Row{"22:00-06:00 ../../etc/passwd", "has no name of a time zone behind the times"},
           Row{"22:00-06:00 /etc/localtime", "has no name of a time zone behind the times"},
           Row{"22:00-06:00 Europe/Berlin Mon", "has no name of a time zone behind the times"},
           Row{"22:00-06:00\n", "is not a span of hours"},
       }) {
    CAPTURE(row.text);
    const auto span = parse_span(row.text);
    REQUIRE_FALSE(span);
    CHECK(span.error().message.find(row.fault) != std::string::npos);
  }
}

TEST_CASE("a zone that the machine no longer knows closes the hours and says so") {
  const AllHours all{hours_of({"22:00-06:00 Mars/Olympus"}), {}, {}};
  const FakeZones zones;
  HoursWatch watch(all, zones);
  const ClosedHours closed = watch.closed(time("2026-01-22T23:00"));
  REQUIRE(closed.everything);
  CHECK(closed.everything->cause == Cause(Reason::hours));
  CHECK(closed.everything->why.find("does not know the time zone Mars/Olympus") !=
        std::string::npos);
  CHECK_FALSE(closed.everything->until);
  CHECK_FALSE(watch.opens());
}

TEST_CASE("of several hours that are closed the latest opening counts") {
  AllHours all;
  all.everything = hours_of({"20:00-24:00"});
  all.agents["dev"] = hours_of({"22:00-24:00"});
  all.rules["t"] = hours_of({"21:00-24:00"});
  const FakeZones zones;
  HoursWatch watch(all, zones);
  const auto opening = [&](const char* agent, const char* rule, const char* at) {
    const ClosedHours closed = watch.closed(time(at));
    const Hold* const hold = closed.of(agent, rule);
    return hold == nullptr ? std::string("open") : iso_time(hold->until.value_or(Time{}));
  };
  CHECK(opening("dev", "t", "2026-01-22T10:00") == "2026-01-22T22:00:00Z");
  CHECK(opening("qa", "t", "2026-01-22T10:00") == "2026-01-22T21:00:00Z");
  CHECK(opening("qa", "u", "2026-01-22T10:00") == "2026-01-22T20:00:00Z");
  CHECK(opening("", "t", "2026-01-22T21:00") == "open");
  CHECK(opening("dev", "t", "2026-01-22T21:00") == "2026-01-22T22:00:00Z");
  CHECK(watch.opens() == time("2026-01-22T22:00"));
  // The wall clock was set back.
  CHECK(opening("dev", "", "2026-01-20T10:00") == "2026-01-20T22:00:00Z");
  CHECK(opening("dev", "t", "2026-01-22T22:00") == "open");
  CHECK_FALSE(watch.opens());
}

}  // namespace
}  // namespace baton
