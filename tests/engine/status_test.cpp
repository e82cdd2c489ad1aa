#include "engine/decide/status.h"

#include <doctest/doctest.h>

#include "print.h"

namespace baton {
namespace {

FlowStatus status_with(std::vector<Hold> holds) {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  record.holds = std::move(holds);
  return status_of(record, Plan{}, ControlRow{});
}

TEST_CASE("status says every hold, and what several subjects share once") {
  const FlowStatus status =
      status_with({{"qa", "A", "no_place", "4 of 4 places for agents are taken"},
                   {"lead", "B", "missing_role", "no agent plays `lead`"},
                   {"lead", "C", "missing_role", "no agent plays `lead`"}});
  CHECK(status.process == Process::held);
  CHECK(status.waiting_for == "missing_role");
  CHECK(status.why == "B, C: no agent plays `lead`; A: 4 of 4 places for agents are taken");
}

TEST_CASE("status names the first few of many subjects, and counts the others") {
  std::vector<Hold> holds;
  for (const char* const subject : {"s1", "s2", "s3", "s4", "s5", "s6", "s7"})
    holds.push_back({"qa", subject, "no_place", "there is no place"});
  const FlowStatus status = status_with(holds);
  CHECK(status.process == Process::waiting);
  CHECK(status.why == "s1, s2, s3, s4, s5 and 2 more: there is no place");
  CHECK(status_with({{"qa", "main", "no_place", "full"}}).why == "full");
}

TEST_CASE("status of an agent that runs on after a pause says both") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  Run run;
  run.key.role = "qa";
  run.key.subject = "main";
  run.why = "status is ready";
  record.runs.push_back(run);
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "qa: status is ready");
  ControlRow paused;
  paused.control = Control::pause;
  paused.why = "paused by anna";
  const std::string says = "; 1 agent may finish: qa: status is ready";
  const FlowStatus whole = status_of(record, Plan{}, paused);
  CHECK(whole.process == Process::running);
  CHECK(whole.why == "paused by anna (the whole root)" + says);
  record.control = paused;
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "paused by anna" + says);
}

TEST_CASE("status of a flow whose agents run says what is held and which file is wrong besides") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  Run run;
  run.key.role = "dev";
  run.key.subject = "A";
  run.why = "A is ready";
  record.runs.push_back(run);
  record.holds = {{"dev", "B", "no_slot", "1 of 1 is at work"}};
  CHECK(status_of(record, Plan{}, ControlRow{}).why ==
        "dev for A: A is ready; held: B: 1 of 1 is at work");
  record.holds.push_back({"dev", "C", "paused", "paused by anna"});
  RejectedRow bad;
  bad.path = "mail.json";
  record.rejected["mail.json"] = bad;
  const FlowStatus status = status_of(record, Plan{}, ControlRow{});
  CHECK(status.process == Process::running);
  CHECK(status.why ==
        "mail.json is rejected; `baton explain rules/groups` says why; dev for A: A is ready; "
        "held: B: 1 of 1 "
        "is at work");
  record.runs.clear();
  record.holds.pop_back();
  CHECK(status_of(record, Plan{}, ControlRow{}).why ==
        "mail.json is rejected; `baton explain rules/groups` says why; B: 1 of 1 is at work");
}

TEST_CASE("a file that is wrong holds a flow, and none that has completed") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  RejectedRow bad;
  bad.path = "messages.json";
  record.rejected["messages.json"] = bad;
  const FlowStatus held = status_of(record, Plan{}, ControlRow{});
  CHECK(held.process == Process::held);
  CHECK(held.waiting_for == "valid_file");
  record.decision.declared = "completed";
  const FlowStatus completed = status_of(record, Plan{}, ControlRow{});
  CHECK(completed.process == Process::idle);
  CHECK(completed.waiting_for == "change");
  CHECK(completed.why.ends_with(
      "; messages.json is rejected; `baton explain rules/groups` says why"));
}

TEST_CASE(
    "of a run people read how it ended, and of a start that was taken back that it did not run") {
  Run run;
  run.outcome = Outcome::succeeded;
  CHECK(ending_text(run) == "succeeded");
  run.outcome = Outcome::failed;
  run.reason = "exit_1";
  CHECK(ending_text(run) == "failed (exit_1)");
  run.outcome = Outcome::voided;
  run.reason = "write_refused";
  CHECK(ending_text(run) == "did not run (write_refused)");
}

TEST_CASE("a file that is rejected is told beside every other hold") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  record.rejected["a.json"].path = "a.json";
  const std::string rejected = "a.json is rejected; `baton explain rules/groups` says why";
  SUBCASE("an agent that has left it has not left the stage as it was") {
    record.holds = {{"qa", "main", "ended_without_change", "change the file, or `baton retry`"}};
    const FlowStatus status = status_of(record, Plan{}, ControlRow{});
    CHECK(status.process == Process::held);
    CHECK(status.waiting_for == "valid_file");
    CHECK(status.why == rejected + "; change the file, or `baton retry`");
  }
  SUBCASE("also where it is named as the place to write to") {
    record.holds = {{"qa", "main", "awaiting_input", "write a.json"}};
    CHECK(status_of(record, Plan{}, ControlRow{}).why == rejected + "; write a.json");
  }
  SUBCASE("what else holds the flow is still the first thing to do") {
    record.holds = {{"qa", "main", "missing_role", "no agent plays `qa`"}};
    const FlowStatus status = status_of(record, Plan{}, ControlRow{});
    CHECK(status.waiting_for == "missing_role");
    CHECK(status.why == rejected + "; no agent plays `qa`");
  }
  SUBCASE("while an agent runs, and when the file it needs is gone then") {
    Run run;
    run.key.role = "qa";
    run.key.subject = "main";
    run.why = "status is ready";
    record.runs.push_back(run);
    CHECK(status_of(record, Plan{}, ControlRow{}).process == Process::running);
    CHECK(status_of(record, Plan{}, ControlRow{}).why == rejected + "; qa: status is ready");
    record.rejected.clear();
    record.held = Hold{"", "", "gone", "a.json is gone"};
    CHECK(status_of(record, Plan{}, ControlRow{}).process == Process::running);
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "qa: status is ready; a.json is gone");
  }
  SUBCASE("while the flow is paused") {
    record.control.control = Control::pause;
    record.control.why = "paused by anna";
    CHECK(status_of(record, Plan{}, ControlRow{}).why == rejected + "; paused by anna");
  }
  SUBCASE("several") {
    record.rejected["b.json"].path = "b.json";
    CHECK(status_of(record, Plan{}, ControlRow{}).why ==
          "a.json, b.json are rejected; `baton explain rules/groups` says why");
  }
}

TEST_CASE("folders that cannot be listed are told of the root, before all flows") {
  FlowRecords records;
  records[FlowId{"rules", "x"}].id = FlowId{"rules", "x"};
  CHECK(statuses(records, Plan{}).size() == 1);
  RejectedRow& row = records[FlowId{}].rejected["bad"];
  row.path = "bad";
  row.findings = R"([{"message": "leads over a symbolic link"}])";
  row.time = Time(Millis(5));
  const auto all = statuses(records, Plan{});
  REQUIRE(all.size() == 2);
  CHECK(all[0].flow == FlowId{});
  CHECK(all[0].process == Process::held);
  CHECK(all[0].waiting_for == "valid_file");
  CHECK(all[0].why == "bad: leads over a symbolic link");
  CHECK(json::text(*status_json(all[0]), "flow") == "");
}

}  // namespace
}  // namespace baton
