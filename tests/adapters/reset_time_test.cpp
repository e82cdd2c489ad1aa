// SPDX-License-Identifier: Apache-2.0
#include "adapters/reset_time.h"

#include <string>

#include <doctest/doctest.h>

#include "zones.h"

using namespace baton;

namespace {

std::string read(const std::string& text, const std::string& now,
                 const std::string& zone = "Europe/Berlin") {
  const FakeZones zones;
  const auto found = reset_time(text, {.now = *parse_time(now), .zone = zone, .zones = zones});
  return found ? iso_time(*found) : "";
}

struct Row {
  std::string text;
  std::string now;
  std::string until;  ///< empty: no time
  std::string zone = "Europe/Berlin";
};

void check(const Row& row) {
  CAPTURE(row.text);
  CAPTURE(row.now);
  CAPTURE(row.zone);
  CHECK(read(row.text, row.now, row.zone) == row.until);
}

}  // namespace

TEST_CASE("a clock time is the next one, in the zone of the text or of the agent") {
  const std::string noon = "2026-01-22T12:00:00Z";
  for (const Row& row : {
           Row{"resets 3:45pm", noon, "2026-01-22T14:45:00Z"},
           Row{"resets 3:45pm", noon, "2026-01-22T15:45:00Z", "UTC"},
           Row{"resets 3:45pm", noon, "2026-01-22T15:45:00Z", ""},
           Row{"resets 3:45 PM", noon, "2026-01-22T14:45:00Z"},
           Row{"resets 8pm", noon, "2026-01-22T19:00:00Z"},
           Row{"resets 1pm", noon, "2026-01-22T12:00:00Z"},
           Row{"resets 12pm", noon, "2026-01-23T11:00:00Z"},
           Row{"resets 12am", noon, "2026-01-22T23:00:00Z"},
           Row{"resets 12:30am", noon, "2026-01-22T23:30:00Z"},
           Row{"resets 12:30pm", noon, "2026-01-23T11:30:00Z"},
           // West and east of here, on both sides of midnight
           Row{"resets 10:20pm (America/Edmonton)", noon, "2026-01-23T05:20:00Z"},
           Row{"resets 5am (America/Los_Angeles)", noon, "2026-01-22T13:00:00Z"},
           Row{"resets 1am (Asia/Calcutta)", noon, "2026-01-22T19:30:00Z"},
           Row{"resets 3am (Pacific/Kiritimati)", noon, "2026-01-22T13:00:00Z"},
           Row{"resets 1am (Pacific/Kiritimati)", noon, "2026-01-23T11:00:00Z"},
           Row{"resets 6pm (UTC)", noon, "2026-01-22T18:00:00Z"},
           Row{"resets 6pm UTC", noon, "2026-01-22T18:00:00Z"},
           Row{"resets 3:45pm (or later)", noon, "2026-01-22T14:45:00Z"},
           // Past by at most five minutes: now. The clock of the program and of baton may differ.
           Row{"resets 12:59pm", noon, noon},
           Row{"resets 12:56pm", noon, noon},
           Row{"resets 12:54pm", noon, "2026-01-23T11:54:00Z"},
           Row{"resets 11:59pm", "2026-01-22T23:01:00Z", "2026-01-22T23:01:00Z"},
           Row{"resets 12am", "2026-01-22T23:03:00Z", "2026-01-22T23:03:00Z"},
           Row{"resets 12am", "2026-01-22T22:59:00Z", "2026-01-22T23:00:00Z"},
           // No time
           Row{"resets 15:45", noon, ""},
           Row{"resets 3:45", noon, ""},
           Row{"resets 13pm", noon, ""},
           Row{"resets 0am", noon, ""},
           Row{"resets 3:75pm", noon, ""},
           Row{"resets 3:5pm", noon, ""},
           Row{"resets 8pm (Mars/Olympus)", noon, ""},
           Row{"resets 8pm (PST)", noon, ""},
           Row{"resets 8pm PST", noon, ""},
           Row{"resets 8pm Pacific time", noon, ""},
           Row{"resets 8pm (Pacific Time)", noon, ""},
           Row{"resets 8pm (../../x)", noon, ""},
           Row{"resets 8pm UTC+9", noon, ""},
           Row{"resets 8pm", noon, "", "Nowhere"},
           Row{"", noon, ""},
       })
    check(row);
}

TEST_CASE("summer time begins and ends") {
  for (const Row& row : {
           // 2:00 to 3:00 does not exist
           Row{"resets 2:30am", "2026-03-28T23:00:00Z", "2026-03-29T01:00:00Z"},
           Row{"resets 1:59am", "2026-03-28T23:00:00Z", "2026-03-29T00:59:00Z"},
           Row{"resets 3:01am", "2026-03-28T23:00:00Z", "2026-03-29T01:01:00Z"},
           Row{"resets Mar 29 at 2:30am", "2026-03-25T23:00:00Z", "2026-03-29T01:00:00Z"},
           // 2:00 to 3:00 exists twice
           Row{"resets 2:30am", "2026-10-24T22:00:00Z", "2026-10-25T01:30:00Z"},
           Row{"resets 2:30am", "2026-10-25T00:31:00Z", "2026-10-25T01:30:00Z"},
           Row{"resets 3am", "2026-10-24T22:00:00Z", "2026-10-25T02:00:00Z"},
           Row{"resets 10am", "2026-03-28T12:00:00Z", "2026-03-29T08:00:00Z"},
       })
    check(row);
}

TEST_CASE("dates are read") {
  for (const Row& row : {
           Row{"resets Oct 5 at 12am (UTC)", "2026-10-01T00:00:00Z", "2026-10-05T00:00:00Z"},
           Row{"resets Oct 5, 2pm (UTC)", "2026-10-01T00:00:00Z", "2026-10-05T14:00:00Z"},
           Row{"resets October 5th at 2:30pm (UTC)", "2026-10-01T00:00:00Z",
               "2026-10-05T14:30:00Z"},
           Row{"resets Oct 5 (UTC)", "2026-10-01T00:00:00Z", "2026-10-05T00:00:00Z"},
           Row{"try again at Oct 9th, 2026 11:58 PM.", "2026-10-01T00:00:00Z",
               "2026-10-09T21:58:00Z"},
           // The next such date
           Row{"resets Jan 3 at 4am (UTC)", "2026-12-28T00:00:00Z", "2027-01-03T04:00:00Z"},
           Row{"resets Dec 28 at 4am (UTC)", "2026-12-28T04:01:00Z", "2026-12-28T04:01:00Z"},
           Row{"resets Dec 28 at 4am (UTC)", "2026-12-28T05:00:00Z", ""},
           Row{"resets Feb 29 at 4am (UTC)", "2028-02-28T00:00:00Z", "2028-02-29T04:00:00Z"},
           Row{"resets Feb 30 at 4am (UTC)", "2028-02-28T00:00:00Z", ""},
           Row{"resets Feb 29 at 12am (UTC)", "2026-02-27T00:00:00Z", ""},
           // 2026-01-23 is a Friday
           Row{"resets Thurs 3pm (UTC)", "2026-01-23T12:00:00Z", "2026-01-29T15:00:00Z"},
           Row{"resets Tues 3pm (UTC)", "2026-01-23T12:00:00Z", "2026-01-27T15:00:00Z"},
           Row{"resets Weds 3pm (UTC)", "2026-01-23T12:00:00Z", "2026-01-28T15:00:00Z"},
           Row{"resets Oct 5 at 12am (Nowhere/Land)", "2026-10-01T00:00:00Z", ""},
           Row{"resets Mon 12:00am", "2026-01-22T12:00:00Z", "2026-01-25T23:00:00Z"},
           Row{"resets Thursday at 1:00pm", "2026-01-22T12:01:00Z", "2026-01-22T12:01:00Z"},
           Row{"resets Thu 12:30pm", "2026-01-22T12:01:00Z", "2026-01-29T11:30:00Z"},
           Row{"resets at 2026-02-01 00:00 UTC", "2026-01-22T12:00:00Z", "2026-02-01T00:00:00Z"},
           Row{"resets at 2026-02-01T10:00:30+02:00", "2026-01-22T12:00:00Z",
               "2026-02-01T08:00:30Z"},
           Row{"resets at 2026-02-01T10:00-05:30", "2026-01-22T12:00:00Z", "2026-02-01T15:30:00Z"},
           Row{"resets at 2026-02-01", "2026-01-22T12:00:00Z", "2026-01-31T23:00:00Z"},
           Row{"resets at 2026-13-01", "2026-01-22T12:00:00Z", ""},
           Row{"resets at 2026-01-01 00:00 UTC", "2026-01-22T12:00:00Z", ""},
           Row{"ends on 2/17/2026.", "2026-01-22T12:00:00Z", "2026-02-16T23:00:00Z"},
           Row{"ends on 17/2/2026.", "2026-01-22T12:00:00Z", ""},
           Row{"retry-after: Thu, 22 Jan 2026 12:30:00 GMT", "2026-01-22T12:00:00Z",
               "2026-01-22T12:30:00Z"},
           // The time of a line of a log is not that of the limit.
           Row{"2026-01-22T13:00:00 limit reached, retrying in 2h", "2026-01-22T12:00:00Z",
               "2026-01-22T14:00:00Z"},
           Row{"ERROR 2026-01-22T18:00:00 limit", "2026-01-22T12:00:00Z", ""},
           Row{"at 2026-01-22T11:59:59Z: limit, resets 8pm", "2026-01-22T12:00:00Z",
               "2026-01-22T19:00:00Z"},
           Row{"you may 3 times", "2026-01-22T12:00:00Z", ""},
       })
    check(row);
}

TEST_CASE("durations and numbers are read") {
  const std::string now = "2026-01-22T12:00:00Z";
  for (const Row& row : {
           Row{"try again in 4 days 20 hours 9 minutes", now, "2026-01-27T08:09:00Z"},
           Row{"Refreshes in 6 days and 18 hours", now, "2026-01-29T06:00:00Z"},
           Row{"will reset after 19h14m47s", now, "2026-01-23T07:14:47Z"},
           Row{"retry in 54.2s", now, "2026-01-22T12:00:54Z"},
           Row{"retry in 887.5ms", now, "2026-01-22T12:00:00Z"},
           Row{"[retrying in 2h5m attempt #4]", now, "2026-01-22T14:05:00Z"},
           Row{"Please wait 12 hours.", now, "2026-01-23T00:00:00Z"},
           Row{"after 1 seconds", now, "2026-01-22T12:00:01Z"},
           Row{"retry-after: 30", now, "2026-01-22T12:00:30Z"},
           Row{"Retry-After=30", now, "2026-01-22T12:00:30Z"},
           Row{R"("retry_after": 30)", now, "2026-01-22T12:00:30Z"},
           Row{"retry-after-ms: 2500", now, "2026-01-22T12:00:02Z"},
           Row{R"("retryDelay": "68940s")", now, "2026-01-23T07:09:00Z"},
           Row{"reset after 0s", now, ""},
           Row{"in 40 days", now, ""},
           Row{"in 99999999999999999999999 days", now, ""},
           Row{"in 3 files", now, ""},
           Row{"in 5", now, ""},
           Row{"after 3 attempts", now, ""},
           Row{"limit reached|1769090400", now, "2026-01-22T14:00:00Z"},
           Row{"limit reached|1769090400000", now, "2026-01-22T14:00:00Z"},
           Row{"limit reached|1755806400", now, ""},
           Row{"request 9999999999", now, ""},
           Row{"request 12345678901234567890123", now, ""},
       })
    check(row);
}

TEST_CASE("a time that is too far away for its kind of limit is not believed") {
  const std::string now = "2026-01-22T12:00:00Z";
  for (const Row& row : {
           Row{"session limit · resets 6pm (UTC)", now, ""},
           Row{"session limit · resets 5pm (UTC)", now, "2026-01-22T17:00:00Z"},
           Row{"daily limit, in 26 hours", now, ""},
           Row{"daily limit, in 24 hours", now, "2026-01-23T12:00:00Z"},
           Row{"weekly limit, in 8 days", now, ""},
           Row{"weekly limit, in 7 days", now, "2026-01-29T12:00:00Z"},
           Row{"monthly limit, in 33 days", now, ""},
           Row{"monthly limit, in 32 days", now, "2026-02-23T12:00:00Z"},
           Row{"daily spend limit, in 20 days", now, "2026-02-11T12:00:00Z"},
           Row{"limit, in 33 days", now, ""},
       })
    check(row);
}

TEST_CASE("the number of a reset is read in seconds and milliseconds") {
  const FakeZones zones;
  const ResetClock clock{.now = *parse_time("2026-01-22T12:00:00Z"), .zone = "", .zones = zones};
  struct Number {
    double number;
    std::string until;
  };
  for (const Number& row : {
           Number{1769090400, "2026-01-22T14:00:00Z"},
           Number{1769090400000, "2026-01-22T14:00:00Z"},
           Number{1769083140, "2026-01-22T12:00:00Z"},  // a minute ago
           Number{1769083200.0 + 31 * 86400, "2026-02-22T12:00:00Z"},
           Number{1769083200.0 + 33 * 86400, ""},
           Number{1769079600, ""},
           Number{0, ""},
           Number{-1, ""},
           Number{1e300, ""},
           Number{-1e300, ""},
           Number{1769090400000000, ""},
       }) {
    CAPTURE(row.number);
    const auto found = reset_epoch(row.number, clock);
    CHECK((found ? iso_time(*found) : "") == row.until);
  }
}
