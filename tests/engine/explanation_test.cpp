// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/explanation.h"

#include <doctest/doctest.h>

#include "print.h"

namespace baton {
namespace {

FlowRecord record_of_ticket() {
  FlowRecord record;
  record.id = FlowId{"rules", "tickets/a"};
  return record;
}

}  // namespace

TEST_CASE("explain names the causes that status names, also an order of baton itself") {
  for (const char* const reason : {"write_conflict", "existing", "cap_reached", "moved"}) {
    CAPTURE(reason);
    FlowRecord record = record_of_ticket();
    record.control.control = Control::pause;
    record.control.reason = reason;
    record.control.why = "a person has to look";
    record.holds = {{"dev", "main", Reason::free_place, "4 of 4 places are taken"}};
    const Explanation explanation = explain(record, Plan{}, ControlRow{}, {});
    REQUIRE(explanation.holds.size() == 2);
    CHECK(explanation.holds[0].cause == explanation.status.cause);
    CHECK(word(explanation.holds[0].cause.reason) == reason);
    CHECK(explanation.holds[1].cause == Cause(Reason::free_place));
  }
}

TEST_CASE("explain shows where a file is wrong that is rejected because of its history") {
  FlowRecord record = record_of_ticket();
  record.rejected["a.json"] = RejectedRow{
      .path = "a.json",
      .findings =
          R"([{"line": 4, "column": 7, "pointer": "/status", "message": "must not change"}])"};
  const Explanation explanation =
      explain(record, Plan{}, ControlRow{}, {{"a.json", "ticket", DocumentVerdict::accepted, {}}});
  REQUIRE(explanation.documents.size() == 1);
  CHECK(explanation.documents[0].verdict == DocumentVerdict::rejected);
  REQUIRE(explanation.documents[0].findings.size() == 1);
  const Finding& finding = explanation.documents[0].findings[0];
  CHECK(finding.rule == "history");
  CHECK(finding.message == "must not change");
  CHECK(finding.pointer == "/status");
  CHECK(finding.span.begin.line == 4);
  CHECK(finding.span.begin.column == 7);
}

}  // namespace baton
