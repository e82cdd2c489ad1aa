// SPDX-License-Identifier: Apache-2.0
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
      status_with({{"qa", "A", Reason::free_place, "4 of 4 places for agents are taken"},
                   {"lead", "B", Reason::role_missing, "no agent plays `lead`"},
                   {"lead", "C", Reason::role_missing, "no agent plays `lead`"}});
  CHECK(status.cause.condition == Condition::blocked);
  CHECK(status.cause.reason == Reason::role_missing);
  CHECK(status.why == "B, C: no agent plays `lead`; A: 4 of 4 places for agents are taken");
}

TEST_CASE("status names the first few of many subjects, and counts the others") {
  std::vector<Hold> holds;
  for (const char* const subject : {"s1", "s2", "s3", "s4", "s5", "s6", "s7"})
    holds.push_back({"qa", subject, Reason::free_place, "there is no place"});
  const FlowStatus status = status_with(holds);
  CHECK(status.cause.condition == Condition::waiting);
  CHECK(status.why == "s1, s2, s3, s4, s5 and 2 more: there is no place");
  CHECK(status_with({{"qa", "main", Reason::free_place, "full"}}).why == "full");
  CHECK(status_with({{"pm", "*session", Reason::free_place, "full"}}).why == "full");
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
  CHECK(whole.cause.condition == Condition::running);
  CHECK(whole.why == "paused by anna (the whole root)" + says);
  record.control = paused;
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "paused by anna" + says);
}

TEST_CASE("a pause that baton itself ordered is told once while an agent runs") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  Run run;
  run.key.role = "qa";
  run.key.subject = "main";
  run.why = "status is ready";
  record.runs.push_back(run);
  record.control.control = Control::pause;
  record.control.reason = "cap_reached";
  record.control.why = "60 starts within an hour";
  CHECK(status_of(record, Plan{}, ControlRow{}).why ==
        "qa: status is ready; not started: 60 starts within an hour");
}

TEST_CASE("steps that wait for other steps do not make a flow loud") {
  const FlowStatus status =
      status_with({{"dev", "two", Reason::dependency, "waits for the step one"},
                   {"dev", "one", Reason::back_off, "attempt 1 of 3"},
                   {"dev", "three", Reason::dependency, "waits for the step two"}});
  CHECK(status.cause == Cause(Reason::back_off));
  CHECK(status.why == "one: attempt 1 of 3");
  CHECK(status_with({{"dev", "b", Reason::dependency, "waits for the step a"}}).cause ==
        Cause(Reason::dependency));
}

TEST_CASE(
    "status of a flow whose agents run says what is not started and which file is wrong besides") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  Run run;
  run.key.role = "dev";
  run.key.subject = "A";
  run.why = "A is ready";
  record.runs.push_back(run);
  record.holds = {{"dev", "B", Reason::free_place, "1 of 1 is at work"}};
  CHECK(status_of(record, Plan{}, ControlRow{}).why ==
        "dev for A: A is ready; not started: B: 1 of 1 is at work");
  record.runs.front().agent = "dev_codex";  // stands in
  CHECK(status_of(record, Plan{}, ControlRow{}).why.starts_with("dev (by dev_codex) for A: "));
  record.runs.front().agent = "dev";
  record.holds.push_back({"dev", "C", Reason::by_operator, "paused by anna"});
  RejectedRow bad;
  bad.path = "mail.json";
  record.rejected["mail.json"] = bad;
  const FlowStatus status = status_of(record, Plan{}, ControlRow{});
  CHECK(status.cause.condition == Condition::running);
  CHECK(status.why ==
        "dev for A: A is ready; not started: B: 1 of 1 is at work; mail.json is rejected");
  record.runs.clear();
  record.holds.pop_back();
  CHECK(status_of(record, Plan{}, ControlRow{}).why ==
        "mail.json is rejected; B: 1 of 1 is at work");
}

TEST_CASE("of files that are gone status says only that, and each path once") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  record.held = Hold{"", "", {Condition::gone, Reason::files}, "a.json is gone"};
  record.holds = {{"qa", "main", Reason::no_change, "it left the stage as it was"},
                  {"dev", "main", Reason::condition, "waits until /go is true"}};
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "a.json is gone");
  record.holds.push_back({"", "", {Condition::gone, Reason::files}, "its state a.json is missing"});
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "its state a.json is missing");
  record.holds.pop_back();
  record.decision.standing = {Reason::no_stage, "`5` is no stage", "", {}};
  CHECK(status_of(record, Plan{}, ControlRow{}).why == "a.json is gone");
}

TEST_CASE("status leaves out subjects that baton itself has named") {
  CHECK(status_with({{"pm", "*session", Reason::free_place, "full"}}).why == "full");
}

TEST_CASE("an operator's pause of the root is shown for flows that have something left to do") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  ControlRow root;
  root.control = Control::pause;
  root.reason = "operator";
  root.why = "paused by anna";
  CHECK(status_of(record, Plan{}, root).cause.condition == Condition::idle);
  record.decision.standing = {Reason::attempts_exhausted, "3 of 3 attempts failed", "", {}};
  const FlowStatus failed = status_of(record, Plan{}, root);
  CHECK(failed.cause.condition == Condition::paused);
  CHECK(failed.why == "paused by anna (the whole root)");
  CHECK(failed.action == "baton resume --all");
  record.decision.standing = {};
  record.holds = {{"qa", "main", Reason::role_missing, "no agent plays `qa`"}};
  CHECK(status_of(record, Plan{}, root).why ==
        "paused by anna (the whole root); no agent plays `qa`");
  record.control.control = Control::stop;
  record.control.why = "stopped by bob";
  const FlowStatus stopped = status_of(record, Plan{}, root);
  CHECK(stopped.cause.condition == Condition::stopped);
  CHECK(stopped.action == "baton resume rules/groups");
}

TEST_CASE("an idle flow without files and its subject agree") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  record.accepted["a.json"].present = false;
  record.stages["main"].stage = "rest";
  record.held = Hold{"", "", {Condition::gone, Reason::files}, "a.json is gone"};
  record.decision.standing.cause = {Condition::idle, Reason::no_reaction};
  const FlowStatus status = status_of(record, Plan{}, ControlRow{});
  CHECK(status.absent);
  REQUIRE(status.subjects.size() == 1);
  CHECK(status.subjects.front().cause == status.cause);
  CHECK(status.cause.condition == Condition::idle);
}

TEST_CASE("a file that is wrong blocks a flow, and none that is done") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  RejectedRow bad;
  bad.path = "messages.json";
  record.rejected["messages.json"] = bad;
  const FlowStatus held = status_of(record, Plan{}, ControlRow{});
  CHECK(held.cause.condition == Condition::blocked);
  CHECK(held.cause.reason == Reason::file_rejected);
  record.decision.standing.cause = {Condition::done, Reason::none};
  const FlowStatus completed = status_of(record, Plan{}, ControlRow{});
  CHECK(completed.cause.condition == Condition::done);
  CHECK(completed.cause.reason == Reason::none);
  CHECK(completed.why.ends_with("; messages.json is rejected"));
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
  run.reason = "file_changed";
  CHECK(ending_text(run) == "did not run (file_changed)");
}

TEST_CASE("a file that is rejected is told beside every other hold") {
  FlowRecord record;
  record.id = FlowId{"rules", "groups"};
  record.rejected["a.json"].path = "a.json";
  const std::string rejected = "a.json is rejected";
  SUBCASE("an agent that has left it has not left the stage as it was") {
    record.holds = {{"qa", "main", Reason::no_change, "it left the stage as it was"}};
    const FlowStatus status = status_of(record, Plan{}, ControlRow{});
    CHECK(status.cause.condition == Condition::blocked);
    CHECK(status.cause.reason == Reason::file_rejected);
    CHECK(status.why == rejected);
  }
  SUBCASE("but not if the dialect deals with it") {
    record.decision.own_faults = {"a.json"};
    record.holds = {{"qa", "main", Reason::back_off, "attempt 1 of 3"}};
    const FlowStatus status = status_of(record, Plan{}, ControlRow{});
    CHECK(status.cause.condition == Condition::waiting);
    CHECK(status.why == "attempt 1 of 3");
  }
  SUBCASE("also where it is named as the place to write to") {
    record.holds = {{"qa", "main", Reason::answer_wanted, "write a.json"}};
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "write a.json; " + rejected);
  }
  SUBCASE("what else holds the flow is still the first thing to do") {
    record.holds = {{"qa", "main", Reason::role_missing, "no agent plays `qa`"}};
    const FlowStatus status = status_of(record, Plan{}, ControlRow{});
    CHECK(status.cause.reason == Reason::role_missing);
    CHECK(status.why == "no agent plays `qa`; " + rejected);
  }
  SUBCASE("while an agent runs, and when the file it needs is gone then") {
    Run run;
    run.key.role = "qa";
    run.key.subject = "main";
    run.why = "status is ready";
    record.runs.push_back(run);
    CHECK(status_of(record, Plan{}, ControlRow{}).cause.condition == Condition::running);
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "qa: status is ready; " + rejected);
    record.rejected.clear();
    record.held = Hold{"", "", {Condition::gone, Reason::files}, "a.json is gone"};
    CHECK(status_of(record, Plan{}, ControlRow{}).cause.condition == Condition::running);
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "qa: status is ready; a.json is gone");
  }
  SUBCASE("while the flow is paused") {
    record.control.control = Control::pause;
    record.control.why = "paused by anna";
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "paused by anna; " + rejected);
  }
  SUBCASE("several") {
    record.rejected["b.json"].path = "b.json";
    CHECK(status_of(record, Plan{}, ControlRow{}).why == "a.json is rejected; b.json is rejected");
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
  CHECK(all[0].cause.condition == Condition::blocked);
  CHECK(all[0].cause.reason == Reason::folder_unreadable);
  CHECK(all[0].why == "bad: leads over a symbolic link");
  CHECK(json::text(*status_json(all[0]), "flow") == "");
}

}  // namespace
}  // namespace baton
