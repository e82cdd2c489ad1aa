// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "core/catalog.h"
#include "dialects/dialects.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/steps.h"
#include "dialects/timestamps.h"

namespace baton {

TEST_CASE("both loops and a run without faults are in order") {
  using ml_workflow::follows;
  struct Row {
    int step;
    std::string next;
  };
  for (const Row& row : {Row{0, "1"}, Row{1, "2"}, Row{2, "34"}, Row{3, "2"}, Row{4, "5"},
                         Row{5, "56"}, Row{6, "57"}, Row{7, "67"}}) {
    for (int next = 0; next <= 8; ++next) {
      CAPTURE(row.step);
      CAPTURE(next);
      CHECK(follows(row.step, next) == (row.next.find(std::to_string(next)) != std::string::npos));
    }
  }
}

TEST_CASE("K-19: both names of template 5a belong to steps 5 and 7") {
  using ml_workflow::template_fits;
  for (const int step : {5, 7}) {
    CHECK(template_fits(step, "step5a_two_level_validation_agent_prompt_template.md"));
    CHECK(template_fits(step, "step5a_three_level_validation_agent_prompt_template.md"));
    CHECK(template_fits(step, "step5a.md, step5b.md"));
    CHECK_FALSE(template_fits(step, "step2_plan_validator_prompt_template.md"));
  }
  CHECK_FALSE(template_fits(8, "step2_plan_validator_prompt_template.md"));
  CHECK_FALSE(template_fits(1, ""));
}

TEST_CASE("only a path like a workflow's says which workflow it is") {
  using ml_workflow::workflow_of_path;
  CHECK(workflow_of_path("/srv/workflow_states/wf_1/state.json", Json()) == "wf_1");
  CHECK(workflow_of_path("workflow_states/wf_1/state.json", Json()) == "wf_1");
  CHECK_FALSE(workflow_of_path("elsewhere/wf_1/state.json", Json()));
  CHECK_FALSE(workflow_of_path("wf_1/state.json", Json()));
  CHECK_FALSE(workflow_of_path("workflow_states/wf_1/copy.json", Json()));
  const Json options = Json::object({{"path", "a/flows"}});
  CHECK(workflow_of_path("flows/wf_1/state.json", options) == "wf_1");
  CHECK_FALSE(workflow_of_path("workflow_states/wf_1/state.json", options));
}

TEST_CASE("without `approvals` a plan and the end are approved by people") {
  const auto document = load_document(
      R"({"workflow_id": "w", "status": "completed", "current_phase": "phase_2",
          "current_step": 5, "convergence_status": {"phase_1_converged": true,
          "phase_2_converged": true}})",
      Format::json);
  REQUIRE(document);
  const Accepted accepted{*document, "state"};
  const auto rules = [&](const Json& options) {
    std::string all;
    for (const Finding& finding : ml_workflow_dialect().check("x.json", accepted, options, {}))
      all += finding.rule + " ";
    return all;
  };
  CHECK(rules(Json()) == "ml_workflow/S10 ml_workflow/S11 ml_workflow/S20 ");
  const Json plan = Json::object({{"approvals", Json::array({Json("plan")})}});
  CHECK(rules(plan) == "ml_workflow/S11 ml_workflow/S20 ");
  CHECK(rules(Json::object({{"approvals", Json::array()}})) == "ml_workflow/S20 ");
}

TEST_CASE("times are read as writers of state files spell them") {
  const auto reference = parse_time("2026-01-22T10:00:00Z");
  struct Row {
    std::string text;
    bool zoned;
  };
  for (const Row& row :
       {Row{"2026-01-22T10:00:00Z", true}, Row{"2026-01-22T18:00:00+08:00", true},
        Row{"2026-01-22T18:00:00+0800", true}, Row{"2026-01-22T02:00:00.000-0800", true},
        Row{"2026-01-22T10:00:00", false}, Row{"2026-01-22T10:00:00.000001", false}}) {
    CAPTURE(row.text);
    const auto parsed = parse_timestamp(row.text);
    REQUIRE(parsed);
    CHECK(parsed->time == *reference);
    CHECK(parsed->zoned == row.zoned);
  }
  for (const std::string text : {"", "2026-01-22", "2026-02-30T10:00:00", "yesterday",
                                 "iso_datetime", "2026-01-22T10:00:00+08"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_timestamp(text));
  }
}

}  // namespace baton
