// SPDX-License-Identifier: Apache-2.0
#include "core/run_text.h"

#include <doctest/doctest.h>

namespace baton {
namespace {

Run ended(std::string reason, std::string errors) {
  Run run;
  run.id = "0123456789abcdef";
  run.state = RunState::ended;
  run.outcome = Outcome::failed;
  run.reason = std::move(reason);
  run.errors = std::move(errors);
  return run;
}

TEST_CASE("how a run ended is said with its reason") {
  CHECK(outcome_text(ended("", "")) == "failed");
  CHECK(outcome_text(ended("failed", "")) == "failed");
  CHECK(outcome_text(ended("exit_1", "baton: the program is fine\n")) == "failed (exit_1)");
  CHECK(run_name(ended("exit_1", "")) == "run 01234567");
  CHECK(last_words(ended("exit_1", "one\ntwo \n\n")) == "\"two\"");
  CHECK(last_words(ended("exit_1", "")).empty());
}

TEST_CASE("a run that ended well while its work failed says both") {
  Run run = ended("no_report", "");
  run.outcome = Outcome::succeeded;
  CHECK(outcome_text(run) == "exit 0, step failed: no report");
  run.reason.clear();
  CHECK(outcome_text(run) == "succeeded");
}

TEST_CASE("a run that ended well and has to be repeated reads as failed") {
  Run run = ended("", "");
  run.outcome = Outcome::succeeded;
  CHECK(repeated_as(run) == "failed (no_change)");
  run.error = kWasDenied;
  CHECK(repeated_as(run) == "failed (permission_denied)");
  run.error = kEmptyAnswer;
  CHECK(repeated_as(run) == "failed (empty_answer)");
  CHECK(repeated_as(ended("exit_1", "")) == "failed (exit_1)");
  run = ended("no_report", "");
  run.outcome = Outcome::succeeded;
  CHECK(repeated_as(run) == "exit 0, step failed: no report");
}

TEST_CASE("an agent that stands in for a role is named") {
  CHECK(role_text("dev", "dev") == "dev");
  CHECK(role_text("dev", "") == "dev");
  CHECK(role_text("dev", "default") == "dev");
  CHECK(role_text("dev", "dev_codex") == "dev (by dev_codex)");
}

TEST_CASE("a program that was never entered is said with what the system said") {
  const Run run = ended("exec_failed", "before: ready\nbaton: the program /x cannot be run: why\n");
  CHECK(outcome_text(run) == "failed (exec_failed: the program /x cannot be run: why)");
  CHECK(outcome_text(ended("exec_failed", "")) == "failed (exec_failed)");
  CHECK(outcome_text(ended("before_failed", "something of its own\n")) == "failed (before_failed)");
}

TEST_CASE("of a shim that refused a start is said what to do") {
  Run run = ended("shim_misfit", "");
  run.outcome = Outcome::voided;
  CHECK(reason_text(run) ==
        "shim_misfit: baton-shim and the daemon are of different versions; install both of one, "
        "then restart the daemon");
  run.reason = "shim_unready";
  CHECK(outcome_text(run) ==
        "voided (shim_unready: baton-shim found no processes, no room or no folder for the start)");
  run.reason = "not_claimed";
  CHECK(reason_text(run) == "not_claimed");
  run.reason.clear();
  CHECK(reason_text(run).empty());
}

}  // namespace
}  // namespace baton
