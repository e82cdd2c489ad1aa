// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/coordination.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "base/embedded.h"
#include "core/catalog.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/words.h"
#include "dialects/dialects.h"
#include "engine/intake/document_check.h"
#include "print.h"
#include "stand.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

const fs::path samples_folder = BATON_SAMPLES;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json read(const fs::path& path) {
  auto json = parse_json(slurp(path));
  REQUIRE(json);
  return *json;
}

const Dialect& dialect_under_test() {
  return coordination_dialect();
}

const Catalog& catalog() {
  static const Catalog all = Catalog::of({{&dialect_under_test(), Json::object()}});
  return all;
}

const Catalog& lenient_catalog() {
  static const Catalog all =
      Catalog::of({{&dialect_under_test(), Json::object({{"lenient", true}})}});
  return all;
}

DocumentCheck judged(const std::string& kind, const std::string& text,
                     const Catalog& rules = catalog()) {
  Schemas schemas([](std::string_view name) -> Result<std::string> {
    return fail(Errc::not_found, "there is no schema " + std::string(name));
  });
  const bool mail = coordination::mailbox(kind).has_value();
  const std::string path = "coordination/" + std::string(mail ? "messages/" : "") + kind + ".json";
  const auto match = rules.match(path);
  REQUIRE(match);
  return check_document(*match, path, text, schemas, LoadLimits{});
}

struct Folder : testing::Stand {
  Folder() { flow = {"coordination", "coordination"}; }
  Folder& put(const std::string& path, const std::string& text) {
    Stand::put(catalog(), path, text);
    return *this;
  }
  Decision decide() {
    for (const auto& [subject, stage] : dialect_under_test().stages(view())) {
      StageState& state = stages[subject];
      if (state.stage != stage)
        ++state.generation;
      state.stage = stage;
    }
    Decision decision = dialect_under_test().decide(view());
    memo = decision.memo;
    return decision;
  }
  Admission offer(const std::string& path, const std::string& text) {
    auto document = load_document(text, Format::json);
    REQUIRE(document);
    const Accepted& before = docs.at(path);
    return dialect_under_test().admit(
        view(), Change{path, before.kind, before.document.get(), **document, {}});
  }
};

constexpr const char* kStatus = "coordination/group_status.json";
constexpr const char* kPlan = "coordination/pm_state.json";

std::string plan(const std::string& more) {
  return R"({"session_id": "s", "mode": "parallel", "original_requirements": "x", "iteration": 1,
             "last_update": "2026-01-22T10:00:00Z", )" +
         more + "}";
}

/// `role:purpose` of what is wanted for a subject, `hold:reason`, or nothing.
std::string wanted(const Decision& decision, const std::string& subject) {
  for (const Desired& desired : decision.desired)
    if (desired.subject == subject)
      return desired.role + ":" + desired.purpose;
  for (const Hold& hold : decision.holds)
    if (hold.subject == subject)
      return "hold:" + std::string(word(hold.cause.reason));
  return "";
}

bool has_rule(const Findings& findings, const std::string& rule) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.rule == rule; });
}

std::string stage_words(const Folder& folder) {
  std::string all;
  for (const auto& [subject, stage] : dialect_under_test().stages(folder.view()))
    all += subject + ' ' + stage + '\n';
  return all;
}

/// Words of the lenient profile that stand for no other one.
struct FurtherWord {
  std::string_view member;
  std::string_view word;
};
constexpr std::array kFurtherWords = {FurtherWord{"current_agent", "project_manager"},
                                      FurtherWord{"result", "BLOCKED"},
                                      FurtherWord{"result", "FLAKY"}};

/// The words the lenient profile takes for a member besides those the strict one takes.
std::set<std::string> further_words(const std::string& member,
                                    const std::set<std::string>& strict) {
  std::set<std::string> more;
  for (const FurtherWord& row : kFurtherWords)
    if (row.member == member)
      more.emplace(row.word);
  for (const coordination::AliasRow& row : coordination::kAliases)
    if (row.member == member &&
        (strict.contains(std::string(row.word)) || more.contains(std::string(row.word))))
      more.emplace(row.alias);
  return more;
}

/// What `enum` or `const` of a schema allow; empty when it has neither.
std::set<std::string> words_in(const Value& schema) {
  std::set<std::string> words;
  if (const auto only = json::text(schema, "const"))
    words.emplace(*only);
  for (const std::string& word : texts_of(schema, "enum"))
    words.insert(word);
  return words;
}

/// What names a schema, and the words; these may be others.
bool may_differ(const std::string& member, std::string_view name) {
  return name == "const" || name == "enum" ||
         (member.empty() && (name == "$id" || name == "title"));
}

/// How many words the lenient schema of a member has more; they have to be the ones of the table.
std::size_t compare_words(const std::string& member, const Value& strict, const Value& lenient) {
  std::set<std::string> wanted = words_in(strict);
  const std::size_t before = wanted.size();
  wanted.merge(further_words(member, wanted));
  CHECK(words_in(lenient) == wanted);
  return wanted.size() - before;
}

std::size_t compare(const std::string& member, const Value& strict, const Value& lenient);

/// The same of the elements of lists.
std::size_t compare_elements(const std::string& member, const Value& strict, const Value& lenient) {
  REQUIRE(strict.Size() == lenient.Size());
  std::size_t more = 0;
  for (rapidjson::SizeType i = 0; i < strict.Size(); ++i)
    more += compare(member, strict[i], lenient[i]);
  return more;
}

/// Both schemas are the same but for the words; counts the words that are in the lenient one alone.
std::size_t compare(const std::string& member, const Value& strict, const Value& lenient) {
  CAPTURE(member);
  if (strict.IsArray() && lenient.IsArray())
    return compare_elements(member, strict, lenient);
  if (!strict.IsObject() || !lenient.IsObject()) {
    CHECK(json::equal(strict, lenient));
    return 0;
  }
  CHECK(strict.MemberCount() == lenient.MemberCount());
  std::size_t more = compare_words(member, strict, lenient);
  for (const auto& row : strict.GetObject()) {
    const std::string name = row.name.GetString();
    if (may_differ(member, name))
      continue;
    const Value* const other = json::child(lenient, name);
    REQUIRE_MESSAGE(other != nullptr, name);
    more += compare(name, row.value, *other);
  }
  return more;
}

/// A valid document with one word in one place.
struct WordRow {
  const char* kind;
  const char* member;
  const char* before;
  const char* behind;
};
constexpr const char* kSent = R"("id": "1", "group_id": "A", "timestamp": "2026-01-22T10:00:00Z")";
const std::array word_places = {
    WordRow{"group_status", "status", R"({"A": {"status": ")", R"("}})"},
    WordRow{"group_status", "current_agent", R"({"A": {"status": "pending", "current_agent": ")",
            R"("}})"},
    WordRow{"group_status", "decision",
            R"({"A": {"status": "pending", "tech_lead_feedback": [{"decision": ")", R"("}]}})"},
    WordRow{"pm_state", "status", R"("task_groups": [{"id": "A", "status": ")", R"("}])"},
    WordRow{"pm_state", "status", R"("task_groups": [], "all_tasks": [{"id": "T", "status": ")",
            R"("}])"},
    WordRow{"pm_state", "status",
            R"("task_groups": [], "execution_phases": [{"phase_number": 1, "group_ids": [],
               "status": ")",
            R"("}])"},
    WordRow{"dev_to_qa", "to", R"("from": "developer", "to": ")", R"(")"},
    WordRow{"qa_to_techlead", "from", R"("to": "tech_lead", "from": ")", R"(")"},
    WordRow{"qa_to_techlead", "to", R"("from": "qa_expert", "to": ")", R"(")"},
    WordRow{"qa_to_techlead", "result", R"("from": "qa_expert", "to": "tech_lead", "result": ")",
            R"(")"},
    WordRow{"techlead_to_dev", "from", R"("to": "developer", "from": ")", R"(")"},
    WordRow{"techlead_to_dev", "decision",
            R"("to": "developer", "from": "tech_lead", "decision": ")", R"(")"},
};

std::string document_with(const WordRow& place, std::string_view word) {
  const std::string text = place.before + std::string(word) + place.behind;
  if (coordination::mailbox(place.kind))
    return R"({"messages": [{)" + std::string(kSent) + ", " + text + "}]}";
  return std::string(place.kind) == "pm_state" ? plan(text) : text;
}

}  // namespace

TEST_SUITE("coordination") {
  TEST_CASE("every sample is routed as expected") {
    const Json routing = read(samples_folder / "coordination/routing.json");
    for (const auto& member : routing->GetObject()) {
      const std::string name = member.name.GetString();
      CAPTURE(name);
      Folder folder;
      const fs::path place = samples_folder / "coordination" / name;
      if (name.ends_with('/')) {
        for (const auto& entry : fs::recursive_directory_iterator(place))
          if (entry.is_regular_file())
            folder.put("coordination/" + fs::relative(entry.path(), place).string(),
                       slurp(entry.path()));
      } else {
        // Without a plan nothing starts, so there is one with the groups of the sample.
        std::string groups;
        for (const auto& row : member.value.GetObject())
          groups += std::string(groups.empty() ? "" : ", ") + R"({"id": ")" + row.name.GetString() +
                    R"("})";
        folder.put(kStatus, slurp(place)).put(kPlan, plan(R"("task_groups": [)" + groups + "]"));
      }
      const Decision decision = folder.decide();
      for (const auto& row : member.value.GetObject()) {
        const std::string subject = row.name.GetString();
        CAPTURE(subject);
        CHECK(wanted(decision, subject) == *json::text(row.value));
      }
    }
  }

  TEST_CASE("a stale overwrite is merged as the sample says") {
    const fs::path place = samples_folder / "coordination/transitions/lost_update";
    Folder folder;
    folder.put(kPlan, plan(R"("task_groups": [{"id": "A"}, {"id": "B"}])"));
    folder.put(kStatus, slurp(place / "1_base.json")).decide();
    CHECK(folder.offer(kStatus, slurp(place / "2_dev_A_writes.json")).verdict ==
          Admission::Verdict::accept);
    folder.put(kStatus, slurp(place / "2_dev_A_writes.json")).decide();
    const Admission last = folder.offer(kStatus, slurp(place / "3_dev_B_overwrites.json"));
    REQUIRE(last.verdict == Admission::Verdict::merged);
    auto merged = parse_json(last.text);
    REQUIRE(merged);
    CHECK(*merged == read(place / "4_expected_merge.json"));
  }

  TEST_CASE("deciding twice says the same and remembers the same") {
    Folder folder;
    folder.put(kPlan, plan(R"("task_groups": [{"id": "A"}, {"id": "B"}])")).put(kStatus, "{}");
    const Decision first = folder.decide();
    const Decision second = folder.decide();
    CHECK(first.desired == second.desired);
    CHECK(first.memo == second.memo);
  }

  TEST_CASE("moves between statuses") {
    using coordination::Status;
    struct Row {
      Status from;
      Status to;
      bool legal;
    };
    for (const Row& row : {
             Row{Status::pending, Status::dev_working, true},
             Row{Status::pending, Status::waiting_qa, true},
             Row{Status::pending, Status::complete, false},
             Row{Status::dev_working, Status::complete, false},
             Row{Status::dev_working, Status::waiting_review, true},
             Row{Status::dev_working, Status::qa_testing, false},
             Row{Status::qa_testing, Status::complete, false},
             Row{Status::qa_testing, Status::waiting_qa, true},
             Row{Status::qa_failed, Status::waiting_qa, false},
             Row{Status::waiting_review, Status::complete, true},
             Row{Status::tech_review, Status::waiting_review, true},
             Row{Status::complete, Status::dev_working, false},
             Row{Status::dev_blocked, Status::dev_working, true},
         }) {
      CAPTURE(coordination::word(row.from));
      CAPTURE(coordination::word(row.to));
      CHECK(coordination::legal_move(row.from, row.to) == row.legal);
    }
  }

  TEST_CASE("rules of one document") {
    struct Row {
      const char* kind;
      std::string text;
      const char* rule;  // "" when nothing is found
    };
    const std::string stamp = R"("timestamp": "2026-01-22T10:00:00Z")";
    for (
        const Row& row : {
            Row{"pm_state", plan(R"("task_groups": [{"id": "A", "depends_on": ["B"]}])"), "S1"},
            Row{"pm_state", plan(R"("task_groups": [{"id": "A", "depends_on": ["B"]},
                                         {"id": "B", "depends_on": ["A"]}])"),
                "S2"},
            Row{"pm_state", plan(R"("task_groups": [{"id": "A", "depends_on": ["A"]}])"), "S2"},
            Row{"pm_state", plan(R"("task_groups": [{"id": "A"}], "pending_groups": ["A"],
                         "in_progress_groups": ["A"])"),
                "S3"},
            Row{"pm_state", plan(R"("task_groups": [{"id": "A", "status": "pending"}],
                         "completed_groups": ["A"])"),
                "S4"},
            Row{"pm_state",
                plan(R"("task_groups": [{"id": "A"}, {"id": "B"}], "completed_groups": ["A"],
                         "completion_percentage": 75)"),
                "S15"},
            Row{"pm_state", plan(R"("task_groups": [{"id": "A"}, {"id": "B"}, {"id": "C"}],
                         "completed_groups": ["A", "B"], "completion_percentage": 66.7)"),
                ""},
            Row{"group_status", R"({"A": {"status": "pending", "group_id": "B"}})", "S7"},
            Row{"group_status",
                R"({"A": {"status": "complete", "current_agent": "developer",
                           "tech_lead_feedback": [{"decision": "approved"}]}})",
                "S8"},
            Row{"group_status", R"({"A": {"status": "dev_blocked", "blockers": []}})", "S19"},
            Row{"group_status",
                R"({"A": {"status": "pending",
                           "test_results": {"unit_tests": {"total": 3, "passed": 3, "failed": 1}}}})",
                "S20"},
            Row{"group_status",
                R"({"A": {"status": "waiting_review",
                           "test_results": {"unit_tests": {"total": 3, "passed": 2, "failed": 1}}}})",
                "S20"},
            Row{"group_status", R"({"_note": 1, "A": {"status": "pending"}})", ""},
            Row{"orchestrator_state",
                R"({"session_id": "s", "current_phase": "developer_working", "iteration": 5,
                     "status": "running", "start_time": "2026-01-22T10:00:00Z", "active_agents": [
                     {"agent_type": "developer"}, {"agent_type": "developer"},
                     {"agent_type": "developer"}, {"agent_type": "developer"},
                     {"agent_type": "developer"}]})",
                "S6"},
            Row{"qa_to_techlead",
                R"({"messages": [{"id": "1", "group_id": "A", "from": "qa_expert", "to": "tech_lead",
                     "result": "PASS", "test_results": {"e2e_tests": "7/8 passed"}, )" +
                    stamp + "}]}",
                "S14"},
            Row{"qa_to_techlead",
                R"({"messages": [{"id": "1", "group_id": "A", "from": "qa_expert", "to": "tech_lead",
                     "result": "PASS", "test_results": {"e2e_tests": "8/8 passed"}, )" +
                    stamp + "}]}",
                ""},
        }) {
      CAPTURE(row.text);
      const DocumentCheck verdict = judged(row.kind, row.text);
      if (*row.rule == '\0')
        CHECK(verdict.findings.empty());
      else
        CHECK(has_rule(verdict.findings, std::string("coordination/") + row.rule));
    }
  }

  TEST_CASE("rules across documents") {
    Folder folder;
    folder.put(kPlan, plan(R"("task_groups": [{"id": "A"}], "completed_groups": ["A"],
                              "signal": "BAZINGA")"));
    folder.put(kStatus, R"({"A": {"status": "qa_failed"}})");
    folder.put("coordination/orchestrator_state.json",
               R"({"session_id": "other", "current_phase": "initialization", "iteration": 0,
                   "status": "running", "start_time": "2026-01-22T10:00:00Z"})");
    folder.put("coordination/messages/dev_to_qa.json",
               R"({"messages": [{"id": "1", "group_id": "Z", "from": "developer"}]})");
    const auto found = dialect_under_test().check_flow(folder.docs, folder.options);
    REQUIRE(found.contains(kPlan));
    CHECK(has_rule(found.at(kPlan), "coordination/S4"));
    CHECK(has_rule(found.at(kPlan), "coordination/S17"));
    CHECK(has_rule(found.at("coordination/orchestrator_state.json"), "coordination/S22"));
    CHECK(has_rule(found.at("coordination/messages/dev_to_qa.json"), "coordination/S13"));
  }

  TEST_CASE("what the plan says else than group_status is told, ahead or behind (S4)") {
    struct Row {
      const char* says;
      const char* status;
      const char* pointer;  // "" when they agree
    };
    for (const Row& row : {
             Row{R"("completed_groups": ["A"])", "tech_review", "/completed_groups/0"},
             Row{R"("completed_groups": ["A"])", "complete", ""},
             Row{R"("in_progress_groups": ["A"])", "complete", "/in_progress_groups/0"},
             Row{R"("in_progress_groups": ["A"])", "pending", "/in_progress_groups/0"},
             Row{R"("in_progress_groups": ["A"])", "qa_failed", ""},
             Row{R"("pending_groups": ["A"])", "dev_working", "/pending_groups/0"},
             Row{R"("pending_groups": ["A", "B"])", "pending", ""},
             Row{R"("task_groups": [{"id": "A", "status": "complete"}])", "dev_working",
                 "/task_groups/0/status"},
             Row{R"("task_groups": [{"id": "A", "status": "in_progress"}])", "complete",
                 "/task_groups/0/status"},
             Row{R"("task_groups": [{"id": "A", "status": "assigned"}])", "pending", ""},
             Row{R"("task_groups": [{"id": "A"}])", "complete", ""},
             Row{R"("execution_phases": [{"phase_number": 1, "group_ids": ["A"],
                                          "status": "complete"}])",
                 "qa_testing", "/execution_phases/0/group_ids/0"},
             Row{R"("execution_phases": [{"phase_number": 1, "group_ids": ["A"],
                                          "status": "in_progress"}])",
                 "complete", ""},
             Row{R"("all_tasks": [{"id": "t", "group_id": "A", "status": "pending"}])", "complete",
                 "/all_tasks/0/status"},
             Row{R"("all_tasks": [{"id": "t", "group_id": "A", "status": "complete"}])", "pending",
                 "/all_tasks/0/status"},
             Row{R"("all_tasks": [{"id": "t", "group_id": "A", "status": "complete"}])",
                 "dev_working", ""},
         }) {
      CAPTURE(row.says);
      CAPTURE(row.status);
      Folder folder;
      folder.put(kPlan, plan(row.says));
      folder.put(kStatus, std::string(R"({"A": {"status": ")") + row.status + "\"}}");
      const auto found = dialect_under_test().check_flow(folder.docs, folder.options);
      const Findings findings = found.contains(kPlan) ? found.at(kPlan) : Findings{};
      CHECK(has_rule(findings, "coordination/S4") == (*row.pointer != '\0'));
      for (const Finding& finding : findings)
        CHECK(finding.pointer == row.pointer);
    }
  }

  TEST_CASE("a start with requirements writes what is missing, and says no to a second session") {
    Request request;
    request.verb = "start";
    request.arguments = Json::object({{"requirements", "Build it."}});
    Folder folder;
    const auto fresh = dialect_under_test().create(request, folder.view());
    REQUIRE(fresh);
    REQUIRE(fresh->size() == 6);
    for (const Update& update : *fresh) {
      const auto& created = std::get<Create>(update);
      CAPTURE(created.path);
      CHECK(judged(fs::path(created.path).stem().string(), created.text).findings.empty());
      folder.put(created.path, created.text);
    }
    CHECK(wanted(folder.decide(), "*session") == "project_manager:planning");
    const auto again = dialect_under_test().create(request, folder.view());
    REQUIRE(again);
    CHECK(again->empty());
    request.arguments = Json::object({{"requirements", "Something else."}});
    CHECK_FALSE(dialect_under_test().create(request, folder.view()));
  }

  TEST_CASE("a message is completed, and nobody can speak for somebody else") {
    auto mailbox = load_document("{\"messages\": []}\n", Format::json);
    REQUIRE(mailbox);
    const Json said = Json::object({{"group_id", "A"}, {"status", "READY_FOR_QA"}, {"read", true}});
    const auto one = coordination::with_message(**mailbox, "dev_to_qa", *said, Time{});
    REQUIRE(one);
    CHECK(judged("dev_to_qa", *one).findings.empty());
    auto second = load_document(*one, Format::json);
    const auto two = coordination::with_message(**second, "dev_to_qa", *said, Time{});
    REQUIRE(two);
    const DocumentCheck verdict = judged("dev_to_qa", *two);
    CHECK(verdict.findings.empty());
    CHECK(json::boolean(*json::at(verdict.document->root(), "/messages/1"), "read") == false);
    const Json spoofed = Json::object({{"group_id", "A"}, {"from", "tech_lead"}});
    CHECK_FALSE(coordination::with_message(**mailbox, "dev_to_qa", *spoofed, Time{}));
    CHECK_FALSE(coordination::with_message(**mailbox, "dev_to_pm", *said, Time{}));
  }

  TEST_CASE("every role and purpose has a prompt with files and ends") {
    Folder folder;
    folder.put(kPlan, plan(R"("task_groups": [{"id": "A", "tasks": ["T1"], "branch_name": "b"}],
                              "all_tasks": [{"id": "T1", "description": "do it"}])"));
    folder.put(kStatus, R"({"A": {"status": "tech_review", "revision_count": 3}})");
    for (const auto& start :
         {std::pair("developer", "implement"), std::pair("developer", "continue"),
          std::pair("developer", "continue_with_solution"), std::pair("developer", "fix_tests"),
          std::pair("developer", "revise"), std::pair("qa_expert", "test"),
          std::pair("tech_lead", "review"), std::pair("tech_lead", "unblock"),
          std::pair("tech_lead", "guidance"), std::pair("tech_lead", "troubleshoot"),
          std::pair("tech_lead", "explain_tests"), std::pair("tech_lead", "qa_blocked"),
          std::pair("project_manager", "planning"), std::pair("project_manager", "repair_plan"),
          std::pair("project_manager", "phase_completion"), std::pair("project_manager", "stuck"),
          std::pair("project_manager", "mediate"), std::pair("project_manager", "final_check"),
          std::pair("project_manager", "review_blocked")}) {
      const std::string role = start.first;
      const std::string purpose = start.second;
      CAPTURE(purpose);
      Desired desired;
      desired.role = role;
      desired.purpose = purpose;
      desired.subject = "A";
      const Brief brief = dialect_under_test().brief(folder.view(), desired);
      const std::string prompt = testing::prompt_of(dialect_under_test(), folder.view(), desired);
      CHECK(prompt.find("## Your job: " + purpose + "\n\n") != std::string::npos);
      CHECK(prompt.find("/root/coordination/group_status.json") != std::string::npos);
      CHECK(prompt.find("## How to end") != std::string::npos);
      CHECK(prompt.find("do it") != std::string::npos);
      CHECK(brief.values.at("branch") == "b");
      CHECK(brief.values.at("tier") == (std::string(role) == "tech_lead" ? "strong" : "standard"));
    }
  }

  TEST_CASE("what a prompt shows as an example is right by the schemas") {
    Folder folder;
    folder.put(kPlan, plan(R"("task_groups": [{"id": "A"}])"));
    folder.put(kStatus, R"({"A": {"status": "tech_review"}})");
    for (const auto& [role, kind] :
         {std::pair("developer", "dev_to_qa"), std::pair("qa_expert", "qa_to_techlead"),
          std::pair("tech_lead", "techlead_to_dev"), std::pair("project_manager", "pm_state")}) {
      Desired desired;
      desired.role = role;
      CAPTURE(desired.role);
      desired.subject = "A";
      const std::string prompt = testing::prompt_of(dialect_under_test(), folder.view(), desired);
      const std::string fence = "```json\n";
      const auto from = prompt.find(fence, prompt.find("## File formats")) + fence.size();
      const std::string example = prompt.substr(from, prompt.find("```", from) - from);
      const DocumentCheck verdict =
          std::string(kind) == "pm_state"
              ? judged(kind, R"({"session_id": "s", "original_requirements": "x",)" +
                                 example.substr(example.find('{') + 1))
              : judged(kind, R"({"messages": [)" + example + "]}");
      CHECK(verdict.accepted());
      CHECK(verdict.findings.empty());
    }
  }

  TEST_CASE("a mailbox that nobody reads is said") {
    for (const coordination::MisnamedRow& row : coordination::kMisnamed) {
      const std::string path = "coordination/messages/" + std::string(row.name) + ".json";
      const auto match = catalog().match(path);
      REQUIRE(match);
      const Accepted accepted{*load_document("{}", Format::json), match->kind->kind};
      const Findings findings = dialect_under_test().check(path, accepted, Json(), {});
      REQUIRE(findings.size() == 1);
      CHECK(findings.front().severity == Severity::warning);
      CHECK(findings.front().rule == "coordination/S26");
      CHECK(coordination::mailbox(row.meant));
    }
  }

  TEST_CASE("lenient schemas are the strict ones with further words") {
    std::size_t more = 0;
    std::size_t schemas = 0;
    const auto& strict_kinds = catalog().entries().front().kinds;
    const auto& lenient_kinds = lenient_catalog().entries().front().kinds;
    REQUIRE(strict_kinds.size() == lenient_kinds.size());
    for (std::size_t i = 0; i < strict_kinds.size(); ++i) {
      CAPTURE(strict_kinds[i].kind);
      CHECK(strict_kinds[i].pattern == lenient_kinds[i].pattern);
      if (strict_kinds[i].kind == coordination::kMisnamedKind)
        continue;
      CHECK(strict_kinds[i].schema ==
            "schemas/coordination/" + strict_kinds[i].kind + ".schema.json");
      const auto strict = parse_json(*embedded_file(strict_kinds[i].schema));
      const auto lenient = parse_json(*embedded_file(lenient_kinds[i].schema));
      REQUIRE(strict);
      REQUIRE(lenient);
      more += compare("", **strict, **lenient);
      schemas += strict_kinds[i].schema == lenient_kinds[i].schema ? 0U : 1U;
    }
    CHECK(schemas == 7);
    // Three statuses of pm_state; 1 + 4 + 3 each of group_status and inbox; 1; 1 + 1 + 2; 1 + 3; a
    // phase.
    CHECK(more == 3 + 8 + 8 + 1 + 4 + 4 + 1);
  }

  TEST_CASE("every further word is refused by the strict profile and taken by the lenient one") {
    std::size_t seen = 0;
    for (const WordRow& place : word_places) {
      std::vector<std::string_view> words;
      for (const coordination::AliasRow& row : coordination::kAliases)
        if (row.member == std::string_view(place.member) &&
            (place.kind != std::string_view("dev_to_qa") || row.word == coordination::kQa) &&
            (place.kind != std::string_view("qa_to_techlead") ||
             (row.word == coordination::kQa) == (row.member == "from")) &&
            (place.kind != std::string_view("techlead_to_dev") || row.word != coordination::kQa))
          words.push_back(row.alias);
      for (const FurtherWord& row : kFurtherWords)
        if (row.member == place.member)
          words.push_back(row.word);
      CHECK_FALSE(words.empty());
      for (const std::string_view word : words) {
        const std::string text = document_with(place, word);
        CAPTURE(text);
        const DocumentCheck strict = judged(place.kind, text);
        REQUIRE(has_error(strict.findings));
        CHECK(strict.findings.front().pointer.ends_with("/" + std::string(place.member)));
        if (const auto ours = coordination::canonical_word(place.member, word);
            ours != word && ours != coordination::kManager)
          CHECK(strict.findings.front().expected.find(ours) != std::string::npos);
        if (word == "completed" ||
            (word == "techlead" && place.kind == std::string_view("group_status")))
          CHECK(strict.findings.front().suggestion ==
                coordination::canonical_word(place.member, word));
        CHECK_FALSE(has_error(judged(place.kind, text, lenient_catalog()).findings));
        ++seen;
      }
      CHECK(has_error(
          judged(place.kind, document_with(place, "SOMETHING"), lenient_catalog()).findings));
    }
    CHECK(seen == 1 + 4 + 3 + 3 + 1 + 1 + 1 + 2 + 1 + 3);
  }

  TEST_CASE("an alias is judged as the word it stands for") {
    for (const coordination::AliasRow& row : coordination::kAliases)
      CHECK(coordination::canonical_word(row.member, row.alias) == row.word);
    CHECK(coordination::canonical_word("subject", "qa") == "qa");
    const std::string groups = R"({"A": {"status": "qa_testing", "current_agent": "qa"},
        "B": {"status": "tech_review", "current_agent": "techlead"},
        "C": {"status": "completed", "current_agent": "none",
              "tech_lead_feedback": [{"decision": "APPROVED"}]}})";
    CHECK(judged("group_status", groups, lenient_catalog()).findings.empty());
    CHECK(
        has_rule(judged("group_status", R"({"A": {"status": "completed", "current_agent": "pm"}})",
                        lenient_catalog())
                     .findings,
                 "coordination/S8"));
  }

  TEST_CASE("what follows from aliases follows from the seed's words") {
    struct Row {
      const char* what;
      const char* plan;
      const char* groups;
      const char* feedback;  ///< messages of techlead_to_dev
      const char* wanted;    ///< for group A
    };
    const std::string from = R"("from": "tech_lead", "to": "developer", )";
    for (const Row& row : {
             Row{"a dependency is complete", R"("task_groups": [{"id": "B"}, {"id": "A",
                 "depends_on": ["B"]}])",
                 R"({"B": {"status": "complete"}})", "", "developer:implement"},
             Row{"lists and statuses of the plan differ", R"("completed_groups": ["A"],
                 "task_groups": [{"id": "A", "status": "complete"}, {"id": "B"}],
                 "pending_groups": ["A"],
                 "execution_phases": [{"phase_number": 1, "group_ids": ["A"],
                 "status": "complete"}])",
                 R"({"A": {"status": "pending"}})", "", "developer:implement"},
             Row{"unblocked by feedback", R"("task_groups": [{"id": "A"}])",
                 R"({"A": {"status": "dev_blocked",
                           "tech_lead_feedback": [{"decision": "unblocked"}]}})",
                 "", "developer:continue_with_solution"},
             Row{"unblocked by a message", R"("task_groups": [{"id": "A"}])",
                 R"({"A": {"status": "dev_blocked"}})", R"("decision": "unblocked")",
                 "developer:continue_with_solution"},
             Row{"three revisions", R"("task_groups": [{"id": "A"}])",
                 R"({"A": {"status": "waiting_review", "tech_lead_feedback": [
                     {"decision": "changes_requested"}, {"decision": "changes_requested"},
                     {"decision": "changes_requested"}]}})",
                 "", "tech_lead:review"},
             Row{"completed, and approved by a message", R"("status": "complete",
                 "task_groups": [{"id": "A"}])",
                 R"({"A": {"status": "complete"}})", R"("decision": "approved")", ""},
             Row{"completed without an approval", R"("status": "complete",
                 "task_groups": [{"id": "A"}])",
                 R"({"A": {"status": "complete"}})", "", ""},
         }) {
      const std::string what = row.what;
      CAPTURE(what);
      const auto outcome = [&](bool aliases) {
        const auto said = [&](std::string text) {
          for (const coordination::AliasRow& alias : coordination::kAliases) {
            const std::string member = "\"" + std::string(alias.member) + "\": \"";
            const std::string ours = member + std::string(alias.word) + "\"";
            const std::string other = member + std::string(alias.alias) + "\"";
            for (auto at = text.find(ours); aliases && at != std::string::npos;
                 at = text.find(ours, at + other.size()))
              text.replace(at, ours.size(), other);
          }
          return text;
        };
        Folder folder;
        folder.options = Json::object({{"lenient", true}});
        const std::string pm = said(plan(row.plan));
        folder.put(kPlan, pm).put(kStatus, said(row.groups));
        if (*row.feedback != '\0')
          folder.put(
              "coordination/messages/techlead_to_dev.json",
              said(R"({"messages": [{"id": "1", "group_id": "A", )" + from + row.feedback + "}]}"));
        const Decision decision = folder.decide();
        CHECK(wanted(decision, "A") == row.wanted);
        std::string all = stage_words(folder);
        for (const Desired& desired : decision.desired)
          all += desired.role + ' ' + desired.purpose + ' ' + desired.why + ' ' +
                 dialect_under_test().brief(folder.view(), desired).values.at("tier") + '\n';
        for (const Hold& hold : decision.holds)
          all += hold.subject + ' ' + std::string(word(hold.cause.reason)) + ' ' + hold.why + '\n';
        const auto tell = [&all](const Findings& findings) {
          for (const Finding& finding : findings)
            all += finding.rule + finding.pointer + ' ' + finding.message + '\n';
        };
        for (const auto& [path, accepted] : folder.docs)
          tell(dialect_under_test().check(path, accepted, folder.options, {}));
        for (const auto& [path, findings] :
             dialect_under_test().check_flow(folder.docs, folder.options))
          tell(findings);
        return all;
      };
      CHECK(outcome(true) == outcome(false));
    }
  }
}

}  // namespace baton
