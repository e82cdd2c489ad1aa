// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <doctest/doctest.h>

#include "dialects/fsm_loop/verdict.h"
#include "dialects/fsm_parts.h"

namespace baton::fsm_loop {

using baton::testing::json_from;
using baton::testing::loop_from;

namespace {

/// A loop whose state `a` has these members; `max_steps` makes it one of the later generation.
Loop loop_with(const std::string& state, const std::string& top = "max_steps: 50") {
  return loop_from("name: t\ninitial: a\n" + top + "\nstates:\n  a: {" + state +
                   ", route: {_: done}}\n  done: {terminal: true}\n");
}

ActionResult ended(const std::string& output, int exit_code = 0) {
  ActionResult result;
  result.exit_code = exit_code;
  result.output = output;
  return result;
}

struct Asked {
  std::string state = "action: x";
  std::string top = "max_steps: 50";
  std::optional<ActionResult> action = ActionResult{};
  std::optional<ActionResult> side = {};
  Json memory = {};
  std::string context = "{}";
  std::string captured = "{}";
};

Verdict verdict_of(const Asked& asked) {
  const Loop loop = loop_with(asked.state, asked.top);
  const Json context = json_from(asked.context);
  const Json captured = json_from(asked.captured);
  Values values;
  values.context = &*context;
  values.captured = &*captured;
  return evaluate({loop, *loop.state("a"), asked.action ? &*asked.action : nullptr, asked.state,
                   asked.side ? &*asked.side : nullptr, values,
                   asked.memory.is_null() ? nullptr : &*asked.memory});
}

/// Each member that is expected, and its value.
void check_details(const Json& details, const std::string& expected) {
  const Json wanted = json_from(expected);
  for (const auto& member : wanted->GetObject()) {
    const Value* const found = json::child(*details, member.name.GetString());
    const std::string text = details.dump();
    CAPTURE(text);
    CAPTURE(expected);
    REQUIRE(found != nullptr);
    CHECK(json::equal(*found, member.value));
  }
}

bool says(const Verdict& verdict, std::string_view words) {
  return json::text(*verdict.details, "error").value_or("").find(words) != std::string_view::npos;
}

struct Case {
  const char* evaluate;
  const char* output;
  int exit_code;
  const char* verdict;
  const char* details;
};

Verdict verdict_of(const Case& row) {
  Asked asked;
  asked.state = "action: x, evaluate: {" + std::string(row.evaluate) + "}";
  asked.action = ended(row.output, row.exit_code);
  asked.context = R"({"goal": 5, "text": "five", "no": null, "name": "ok"})";
  return verdict_of(asked);
}

void check_verdict(const Verdict& verdict, const Case& row) {
  CHECK(verdict.name == row.verdict);
  CHECK_FALSE(verdict.implicit);
  check_details(verdict.details, row.details);
  CHECK((verdict.name == "error") == (json::child(*verdict.details, "error") != nullptr));
  CHECK_FALSE(verdict.type.empty());
}

void check_rows(std::initializer_list<Case> rows) {
  for (const Case& row : rows) {
    CAPTURE(row.evaluate);
    CAPTURE(row.output);
    CAPTURE(row.exit_code);
    check_verdict(verdict_of(row), row);
  }
}

}  // namespace

TEST_CASE("exit_code: 0, 1 and everything else") {
  for (const Case& row :
       {Case{"", "", 0, "yes", R"({"exit_code": 0})"}, Case{"", "", 1, "no", R"({"exit_code": 1})"},
        Case{"", "", 2, "error", R"({"exit_code": 2})"},
        Case{"", "", 255, "error", R"({"exit_code": 255})"},
        Case{"", "", 124, "error", R"({"exit_code": 124})"},
        Case{"", "", -9, "error", R"({"exit_code": -9})"}}) {
    CAPTURE(row.exit_code);
    Asked asked;
    asked.state = "action: x, evaluate: {type: exit_code}";
    asked.action = ended("x", row.exit_code);
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == row.verdict);
    CHECK(verdict.type == "exit_code");
    check_details(verdict.details, row.details);
  }
}

TEST_CASE("output_numeric: every operator, and numbers as programs print them") {
  check_rows({
      {"type: output_numeric, operator: eq, target: 5", "5\n", 0, "yes",
       R"({"value": 5, "target": 5, "operator": "eq"})"},
      {"type: output_numeric, operator: eq, target: 5", " 5.0 \n", 0, "yes", R"({"value": 5})"},
      {"type: output_numeric, operator: ne, target: 5", "5", 0, "no", "{}"},
      {"type: output_numeric, operator: ne, target: 5", "6", 0, "yes", "{}"},
      {"type: output_numeric, operator: lt, target: 5", "4.9", 0, "yes", R"({"value": 4.9})"},
      {"type: output_numeric, operator: lt, target: 5", "5", 0, "no", "{}"},
      {"type: output_numeric, operator: le, target: 5", "5", 0, "yes", "{}"},
      {"type: output_numeric, operator: gt, target: 5", "5", 0, "no", "{}"},
      {"type: output_numeric, operator: gt, target: 5", "1e1", 0, "yes", R"({"value": 10})"},
      {"type: output_numeric, operator: ge, target: 5", "+5", 0, "yes", "{}"},
      {"type: output_numeric, operator: ge, target: -1", "-1.5", 0, "no", R"({"target": -1})"},
      {"type: output_numeric, operator: eq, target: 1000", "1_000", 0, "yes", "{}"},
      {"type: output_numeric, operator: eq, target: 0.5", ".5", 0, "yes", "{}"},
      {"type: output_numeric, operator: eq, target: 0", "1e-999", 0, "yes", "{}"},
      {"type: output_numeric, operator: le, target: '${context.goal}'", "5", 0, "yes",
       R"({"target": 5})"},
      {"type: output_numeric, operator: le, target: '7'", "5", 0, "yes", "{}"},
      {"type: output_numeric, operator: eq, target: 3, key: errors", "warnings=9\nerrors=3\n", 0,
       "yes", R"({"value": 3})"},
      {"type: output_numeric, operator: eq, target: 4, key: errors", "errors: 3\n errors = 4\n", 0,
       "yes", "{}"},
      // What is no number.
      {"type: output_numeric, operator: eq, target: 5", "", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "five", 0, "error", R"({"target": 5})"},
      {"type: output_numeric, operator: eq, target: 5", "5 errors", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "nan", 0, "error", "{}"},
      {"type: output_numeric, operator: lt, target: 5", "-inf", 0, "error", "{}"},
      {"type: output_numeric, operator: lt, target: 5", "Infinity", 0, "error", "{}"},
      {"type: output_numeric, operator: lt, target: 5", "1e999", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "0x5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "1,000", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "5__0", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "_5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 5", "+-5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: '${context.text}'", "5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: '${context.missing}'", "5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: '${context.no}'", "5", 0, "error", "{}"},
      {"type: output_numeric, operator: eq, target: 3, key: errors", "warnings=9", 0, "error",
       "{}"},
      // An action that failed says nothing about its number.
      {"type: output_numeric, operator: eq, target: 0", "0", 1, "error", R"({"exit_code": 1})"},
      {"type: output_numeric, operator: eq, target: 0", "0", 124, "error", R"({"exit_code": 124})"},
      {"type: output_numeric, operator: eq, target: 0", "0", -15, "error", R"({"exit_code": -15})"},
  });
}

TEST_CASE("a text that is no number is quoted, but not without end") {
  Asked asked;
  asked.state = "action: x, evaluate: {type: output_numeric, operator: eq, target: 5}";
  asked.action = ended("\x1b[31m" + std::string(1000, 'x'));
  const Verdict verdict = verdict_of(asked);
  CHECK(says(verdict, "\\x1b[31m"));
  CHECK(json::text(*verdict.details, "error")->size() < 200);
}

TEST_CASE("output_json: paths, types and operators") {
  constexpr const char* kJson =
      R"({"a": {"b": [1, {"c": "x"}]}, "t": true, "n": null, "f": 2.5, "s": "5", "0": "zero"})";
  check_rows({
      {"type: output_json, path: .a.b.0, operator: eq, target: 1", kJson, 0, "yes",
       R"({"value": 1, "path": ".a.b.0", "target": 1, "operator": "eq"})"},
      {"type: output_json, path: a.b.1.c, operator: eq, target: x", kJson, 0, "yes",
       R"({"value": "x"})"},
      {"type: output_json, path: '0', operator: eq, target: zero", kJson, 0, "yes", "{}"},
      {"type: output_json, path: f, operator: gt, target: 2", kJson, 0, "yes", "{}"},
      {"type: output_json, path: f, operator: lt, target: 2", kJson, 0, "no", "{}"},
      {"type: output_json, path: f, operator: ge, target: '${context.goal}'", kJson, 0, "no", "{}"},
      {"type: output_json, path: t, operator: eq, target: true", kJson, 0, "yes", "{}"},
      {"type: output_json, path: t, operator: ne, target: false", kJson, 0, "yes", "{}"},
      {"type: output_json, path: n, operator: eq, target: x", kJson, 0, "no", "{}"},
      {"type: output_json, path: a.b.1.c, operator: eq, target: '${context.name}'", kJson, 0, "no",
       "{}"},
      // A truth value is no number, nor is a text.
      {"type: output_json, path: t, operator: eq, target: 1", kJson, 0, "no", "{}"},
      {"type: output_json, path: t, operator: lt, target: 2", kJson, 0, "error", "{}"},
      {"type: output_json, path: s, operator: eq, target: 5", kJson, 0, "no", "{}"},
      {"type: output_json, path: s, operator: ge, target: 5", kJson, 0, "error", "{}"},
      {"type: output_json, path: a, operator: gt, target: 1", kJson, 0, "error", "{}"},
      // Nothing there, or no JSON.
      {"type: output_json, path: a.x, operator: eq, target: 1", kJson, 0, "error",
       R"({"path": "a.x"})"},
      {"type: output_json, path: a.b.2, operator: eq, target: 1", kJson, 0, "error", "{}"},
      {"type: output_json, path: a.b.-1, operator: eq, target: 1", kJson, 0, "error", "{}"},
      {"type: output_json, path: a.b.99999999999999999999, operator: eq, target: 1", kJson, 0,
       "error", "{}"},
      {"type: output_json, path: f.x, operator: eq, target: 1", kJson, 0, "error", "{}"},
      {"type: output_json, path: '.', operator: eq, target: 1", kJson, 0, "error", "{}"},
      {"type: output_json, path: a, operator: eq, target: 1", "", 0, "error", "{}"},
      {"type: output_json, path: a, operator: eq, target: 1", "{\"a\": NaN}", 0, "error", "{}"},
      {"type: output_json, path: a, operator: eq, target: 1", "{\"a\": 1} {}", 0, "error", "{}"},
      {"type: output_json, path: f, operator: eq, target: '${context.missing}'", kJson, 0, "error",
       "{}"},
      {"type: output_json, path: f, operator: eq, target: 2.5", kJson, 3, "error",
       R"({"exit_code": 3})"},
  });
}

TEST_CASE("an ordinary pattern finds its way through an ordinary output") {
  std::string output;
  for (int line = 0; line < 260; ++line)
    output += "the quick brown fox jumps over the lazy dog and goes on to the next one " +
              std::to_string(1000 + line) + "\n";
  const auto matched = [&](const char* pattern, const std::string& text) {
    const auto compiled = compile_pattern(pattern);
    REQUIRE(compiled.has_value());
    return compiled->search(text).match;
  };
  struct Tried {
    const char* pattern;
    const char* end;
  };
  for (const Tried& row :
       {Tried{".*passed", "all passed"}, Tried{".*[Ss]uccess.*", "A Success."},
        Tried{"(PASS|pass)$", "all pass"}, Tried{"(?<![^\\n]).*passed(?![^\\n])", "all passed"},
        Tried{"[a-z]+$", "all"}, Tried{"\\s+passed$", "all passed"}}) {
    CAPTURE(row.pattern);
    CHECK(matched(row.pattern, output) == Pattern::Match::no);
    CHECK(matched(row.pattern, output + row.end) == Pattern::Match::yes);
  }
  CHECK(matched("t$", std::string(20'000, 's') + "t") == Pattern::Match::yes);
}

TEST_CASE("output_contains: patterns, plain texts, what must not be there, what is an error") {
  check_rows({
      {"type: output_contains, pattern: 'pass(ed)?'", "all passed\n", 0, "yes",
       R"({"matched": true, "pattern": "pass(ed)?", "negate": false})"},
      {"type: output_contains, pattern: 'Passed'", "all passed\n", 0, "no",
       R"({"matched": false})"},
      {"type: output_contains, pattern: '[Pp]assed'", "all passed\n", 0, "yes", "{}"},
      {"type: output_contains, pattern: 'passed$'", "all passed\n", 0, "yes", "{}"},
      {"type: output_contains, pattern: 'passed$'", "all passed\n\n", 0, "no", "{}"},
      {"type: output_contains, pattern: 'passed(?![\\s\\S])'", "all passed\n", 0, "no", "{}"},
      {"type: output_contains, pattern: 'passed(?!\\n)'", "all passed\n", 0, "no", "{}"},
      {"type: output_contains, pattern: '^a.b$'", "a\rb\n", 0, "yes", "{}"},
      {"type: output_contains, pattern: '^[$.^]\\$\\.'", "^$.", 0, "yes", "{}"},
      {"type: output_contains, pattern: '^[$.^]\\$\\.'", "x$.", 0, "no", "{}"},
      {"type: output_contains, pattern: '^two'", "one\ntwo\n", 0, "no", "{}"},
      {"type: output_contains, pattern: '(?<![^\\n])two(?![^\\n])'", "one\ntwo\nthree\n", 0, "yes",
       "{}"},
      {"type: output_contains, pattern: 'one.two'", "one\ntwo\n", 0, "no", "{}"},
      {"type: output_contains, pattern: 'one[\\s\\S]two'", "one\ntwo\n", 0, "yes", "{}"},
      {"type: output_contains, pattern: '^[a[]]$'", "[]", 0, "yes", "{}"},
      {"type: output_contains, pattern: '^[{,4}]$'", ",", 0, "yes", "{}"},
      {"type: output_contains, pattern: 'r\\{,4}'", "r{,4}", 0, "yes", "{}"},
      {"type: output_contains, pattern: ''", "", 0, "yes", "{}"},
      {"type: output_contains, pattern: x, negate: true", "abc", 0, "yes", R"({"negate": true})"},
      {"type: output_contains, pattern: b, negate: true", "abc", 0, "no", R"({"matched": true})"},
      {"type: output_contains, pattern: ok, error_patterns: [Traceback]", "Traceback (most", 0,
       "error", R"({"error_pattern": "Traceback"})"},
      {"type: output_contains, pattern: ok, error_patterns: [Traceback]", "Traceback ok", 0, "yes",
       "{}"},
      {"type: output_contains, pattern: ok, error_patterns: [Traceback]", "nothing", 0, "no", "{}"},
      {"type: output_contains, pattern: ok", "ok", 1, "error", R"({"exit_code": 1})"},
      {"type: output_contains, pattern: '(a|aa)+$'", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
       0, "error", "{}"},
  });
}

TEST_CASE("a spelling that only Python has is an error, which names the one to write") {
  struct Spelling {
    const char* pattern;
    const char* found;  ///< empty: no such spelling
    const char* advice;
  };
  for (const Spelling& row : {
           Spelling{"(?i)passed", "`(?i)`", "no such flag; write both cases"},
           Spelling{"(?im)passed", "`(?im)`", "no such flag; write both cases"},
           Spelling{"(?m)^a$", "`(?m)`", "write `(?<![^\\n])` for `^`"},
           Spelling{"a(?s)b.c", "`(?s)`", "write `[\\s\\S]`"},
           Spelling{"(?a)\\w", "`(?a)`", "leave it out"},
           Spelling{"(?u)\\w", "`(?u)`", "leave it out"},
           Spelling{"(?P<q>a)", "`(?P<`", "write `(?<name>...)`"},
           Spelling{"(?<q>a)(?P=q)", "`(?P=`", "write `\\k<name>`"},
           Spelling{"\\A42", "`\\A`", "write `^`"},
           Spelling{"42\\Z", "`\\Z`", "write `(?![\\s\\S])`"},
           Spelling{"er{,4}", "`{,4}`", "write `{0,`"},
           Spelling{"er{,}", "`{,}`", "write `{0,`"},
           Spelling{"[]x]", "`[]`", "write `[\\]`"},
           Spelling{"[^]x]", "`[^]`", "write `[^\\]`"},
           Spelling{"[{,4}(?i)]", "", ""},
           Spelling{"r\\{,4}", "", ""},
           Spelling{"\\\\Astra", "", ""},
           Spelling{"[\\]x]{1,4}", "", ""},
           Spelling{"(?<q>a)\\k<q>", "", ""},
           Spelling{"a(?:b)(?=c)", "", ""},
       }) {
    CAPTURE(row.pattern);
    const auto compiled = compile_pattern(row.pattern);
    const Loaded loaded =
        load(".loops/x.yaml",
             baton::testing::library_with(
                 {{".loops/x.yaml",
                   "name: x\ninitial: a\nstates:\n  a: {action: x, evaluate: {type: "
                   "output_contains, pattern: '" +
                       std::string(row.pattern) + "'}, next: b}\n  b: {terminal: true}\n"}}));
    const bool python = *row.found != '\0';
    CHECK(compiled.has_value() != python);
    CHECK(loaded.definition.has_value() != python);
    if (!python || compiled)
      continue;
    CHECK(compiled.error().code == Errc::usage);
    CHECK(compiled.error().message.find(row.found) != std::string::npos);
    CHECK(compiled.error().message.find(row.advice) != std::string::npos);
    CHECK(loaded.error.ends_with(compiled.error().message));
  }
}

TEST_CASE("a pattern that does not compile is looked for as a text, and the event says so") {
  for (const char* const pattern : {"[0/3", "(?x)a", "*"}) {
    CAPTURE(pattern);
    Asked asked;
    asked.state =
        "action: x, evaluate: {type: output_contains, pattern: '" + std::string(pattern) + "'}";
    asked.action = ended("[0/3 (?x)a *");
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == "yes");
    CHECK(json::text(*verdict.details, "warning").has_value());
  }
}

TEST_CASE("convergence: target, progress, stall") {
  check_rows({
      {"type: convergence, target: 0", "0", 0, "target", R"({"current": 0, "target": 0})"},
      {"type: convergence, target: 10, tolerance: 2", "12", 0, "target", "{}"},
      {"type: convergence, target: 10, tolerance: 2", "12.1", 0, "progress",
       R"({"previous": null, "delta": null, "direction": "minimize"})"},
      {"type: convergence, target: 0, previous: 7", "5", 0, "progress",
       R"({"previous": 7, "delta": -2})"},
      {"type: convergence, target: 0, previous: '7'", "7", 0, "stall", R"({"delta": 0})"},
      {"type: convergence, target: 0, previous: 7", "8", 0, "stall", "{}"},
      {"type: convergence, target: 9, previous: 7, direction: maximize", "8", 0, "progress",
       R"({"direction": "maximize"})"},
      {"type: convergence, target: 9, previous: 7, direction: maximize", "7", 0, "stall", "{}"},
      // Beyond the target it goes on for ever; the limits end it.
      {"type: convergence, target: 0, previous: -1", "-5", 0, "progress", "{}"},
      // What cannot be read counts as absent, but for the target and the output.
      {"type: convergence, target: 0, previous: '${captured.none.output}'", "5", 0, "progress",
       R"({"previous": null})"},
      {"type: convergence, target: 0, previous: '${context.text}'", "5", 0, "progress", "{}"},
      {"type: convergence, target: 0, tolerance: '${context.text}'", "0.1", 0, "progress", "{}"},
      {"type: convergence, target: 0, tolerance: '${context.goal}'", "5", 0, "target", "{}"},
      {"type: convergence, target: '${context.goal}'", "5", 0, "target", R"({"target": 5})"},
      {"type: convergence, target: '${context.text}'", "5", 0, "error", R"({"current": 5})"},
      {"type: convergence, target: 0", "many", 0, "error", "{}"},
      {"type: convergence, target: 0", "nan", 0, "error", "{}"},
      {"type: convergence, target: 0", "0", 2, "error", R"({"exit_code": 2})"},
  });
}

TEST_CASE("a measurement can be remembered in a capture of its own") {
  Asked asked;
  asked.state =
      "action: x, evaluate: {type: convergence, target: 0, remember: last_count,"
      " previous: '${captured.last_count.output?}'}";
  asked.action = ended("7\n");
  Verdict verdict = verdict_of(asked);
  CHECK(verdict.name == "progress");
  REQUIRE(verdict.captured.dump() == R"({"last_count":{"output":"7"}})");
  asked.captured = verdict.captured.dump();
  CHECK(verdict_of(asked).name == "stall");
  asked.action = ended("no number");
  CHECK(verdict_of(asked).captured.is_null());
}

TEST_CASE("classify: the line is the verdict") {
  check_rows({
      {"type: classify", "one\ntwo\n\n", 0, "two", R"({"token": "two"})"},
      {"type: classify, line: last", "one\r\n two \r\n", 0, "two", "{}"},
      {"type: classify, line: first", "\n one\ntwo", 0, "one", "{}"},
      {"type: classify", "one\n\vtwo\f\n\f", 0, "two", R"({"token": "two"})"},
      {"type: classify, line: 1", "one\n\ntwo\nthree", 0, "two", R"({"line": 1})"},
      {"type: classify, line: -2", "one\ntwo\nthree", 0, "two", "{}"},
      {"type: classify, line: 3", "one\ntwo\nthree", 0, "", R"({"token": ""})"},
      {"type: classify, line: -4", "one\ntwo\nthree", 0, "", "{}"},
      {"type: classify", " \n\n", 0, "", R"({"token": ""})"},
      {"type: classify", "success", 0, "success", "{}"},  // a token is taken as it is
      {"type: classify", "yes", 1, "error", R"({"exit_code": 1})"},
  });
}

TEST_CASE("mcp_result: what a tool's envelope says") {
  struct Tool {
    const char* output;
    int exit_code;
    const char* verdict;
  };
  for (const Tool& row :
       {Tool{R"({"isError": false, "content": []})", 0, "success"},
        Tool{R"({"content": []})", 0, "success"}, Tool{R"({"isError": true})", 0, "tool_error"},
        Tool{R"({"content": []})", 1, "tool_error"}, Tool{"", 0, "success"},
        Tool{"\f\r\n", 0, "success"}, Tool{"no json", 0, "tool_error"},
        Tool{"[1]", 1, "tool_error"}, Tool{"", 127, "not_found"}, Tool{"", 124, "timeout"}}) {
    CAPTURE(row.output);
    CAPTURE(row.exit_code);
    Asked asked;
    asked.state = "action: x, evaluate: {type: mcp_result}";
    asked.action = ended(row.output, row.exit_code);
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == row.verdict);
    check_details(verdict.details, "{\"exit_code\": " + std::to_string(row.exit_code) + "}");
  }
}

TEST_CASE("harbor_scorer: a score, or none") {
  check_rows({
      {"type: harbor_scorer", "0.75\n", 0, "yes", R"({"score": 0.75})"},
      {"type: harbor_scorer", "0.75\n", 1, "no", R"({"exit_code": 1})"},
      {"type: harbor_scorer", "good", 0, "error", R"({"exit_code": 0})"},
      {"type: harbor_scorer", "nan", 0, "error", "{}"},
      {"type: harbor_scorer", "0.75", 124, "error", R"({"exit_code": 124})"},
  });
}

TEST_CASE("diff_stall: git is asked, and the same answer too often is a no") {
  Asked asked;
  asked.state = "action: x, evaluate: {type: diff_stall, max_stall: 2, scope: [src, 'a b']}";
  const Loop loop = loop_with(asked.state);
  const Values values;
  const Judging before{loop, *loop.state("a"), &*asked.action, "", nullptr, values, nullptr};
  const auto side = side_command_for(before);
  REQUIRE(side);
  CHECK(side->kind == SideCommand::Kind::diff);
  REQUIRE(side->argv.size() == 7);
  CHECK(side->argv[0] == "/bin/sh");
  CHECK(side->argv[2].find("diff --stat") != std::string::npos);
  CHECK(std::vector(side->argv.begin() + 4, side->argv.end()) ==
        std::vector<std::string>{"--", "src", "a b"});

  struct Round {
    const char* diff;
    const char* verdict;
    int count;
    bool changed;
  };
  for (const Round& round : {Round{"1 file", "yes", 0, true}, Round{"1 file", "yes", 1, false},
                             Round{"1 file", "no", 2, false}, Round{"2 files", "yes", 0, true},
                             Round{"2 files", "yes", 1, false}}) {
    asked.side = ended(round.diff);
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == round.verdict);
    CHECK(json::integer(*verdict.details, "stall_count") == round.count);
    CHECK(json::boolean(*verdict.details, "diff_changed") == round.changed);
    asked.memory = verdict.memory;
  }
}

TEST_CASE("diff_stall: without an answer of git there is no verdict but an error") {
  Asked asked;
  asked.state = "action: x, evaluate: {type: diff_stall}";
  CHECK(says(verdict_of(asked), "git was not asked"));
  asked.side = ended("", 128);
  asked.side->error_output = "fatal: not a git repository";
  CHECK(says(verdict_of(asked), "not a git repository"));
  asked.side = ActionResult{};
  asked.side->not_run = "no such program";
  CHECK(says(verdict_of(asked), "no such program"));
  CHECK(verdict_of(asked).name == "error");
}

TEST_CASE("action_stall: the same again too often is a no") {
  Asked asked;
  asked.state =
      "action: x, evaluate: {type: action_stall, track: [output, context.file], max_repeat: 2}";
  struct Round {
    const char* output;
    const char* context;
    const char* verdict;
    int count;
  };
  for (const Round& round :
       {Round{"a", R"({"file": 1})", "yes", 0}, Round{"a", R"({"file": 1})", "yes", 1},
        Round{"a", R"({"file": 1})", "no", 2}, Round{"a", R"({"file": 2})", "yes", 0},
        Round{"b", R"({"file": 2})", "yes", 0}, Round{"b", R"({"file": 2})", "yes", 1}}) {
    asked.action = ended(round.output);
    asked.context = round.context;
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == round.verdict);
    CHECK(json::integer(*verdict.details, "stall_count") == round.count);
    check_details(verdict.details, R"({"tracked_keys": ["output", "context.file"]})");
    asked.memory = verdict.memory;
  }
}

TEST_CASE("action_stall looks at the action as it was run, if it is told nothing else") {
  const Loop loop = loop_with("action: x, evaluate: {type: action_stall, max_repeat: 1}");
  const Values values;
  const ActionResult action;
  const Verdict first =
      evaluate({loop, *loop.state("a"), &action, "make one", nullptr, values, nullptr});
  const Verdict same =
      evaluate({loop, *loop.state("a"), &action, "make one", nullptr, values, &*first.memory});
  const Verdict other =
      evaluate({loop, *loop.state("a"), &action, "make two", nullptr, values, &*first.memory});
  CHECK(first.name == "yes");
  CHECK(same.name == "no");
  CHECK(other.name == "yes");
}

namespace {

constexpr const char* kJudged = "action: do, action_type: prompt";

Verdict answered(const std::string& answer, const std::string& state = kJudged,
                 const std::string& top = "max_steps: 50") {
  Asked asked;
  asked.state = state;
  asked.top = top;
  asked.action = ended("it is done");
  asked.side = ended(answer);
  return verdict_of(asked);
}

}  // namespace

TEST_CASE("llm_structured: the judge is asked with the question, the text and the schema") {
  const Loop loop = loop_with(
      "action: do, action_type: prompt, evaluate: {type: llm_structured, prompt: 'Is "
      "${context.what}"
      " fixed?'}",
      "max_steps: 50\nllm: {model: small, timeout: 12}");
  const Json context = json_from(R"({"what": "the bug"})");
  Values values;
  values.context = &*context;
  const ActionResult action = ended(std::string(5000, 'x') + "</action_output> é");
  const auto side =
      side_command_for({loop, *loop.state("a"), &action, "do", nullptr, values, nullptr});
  REQUIRE(side);
  CHECK(side->kind == SideCommand::Kind::judge);
  CHECK(side->argv.empty());
  CHECK(side->timeout == Millis{12'000});
  CHECK(side->model == "small");
  CHECK(side->input.starts_with("Is the bug fixed?\n"));
  CHECK(side->input.find("\"enum\":[\"yes\",\"no\",") != std::string::npos);
  CHECK(side->input.find("<\\/action_output> é\n</action_output>\n") != std::string::npos);
  // The last 4000 characters, not bytes.
  CHECK(side->input.find(std::string(4000 - 18, 'x') + "<\\/") != std::string::npos);
  CHECK(side->input.find(std::string(4000 - 17, 'x')) == std::string::npos);
}

TEST_CASE("llm_structured: the verdicts of the default schema") {
  for (const char* const word : {"yes", "no", "blocked", "partial", "cannot_judge", "error"}) {
    CAPTURE(word);
    const Verdict verdict =
        answered("\n{\"verdict\": \"" + std::string(word) +
                 R"(", "confidence": 0.9, "reason": "r", "evidence": "done"})" + "\n");
    CHECK(verdict.name == word);
    CHECK(verdict.type == "llm_structured");
    CHECK(verdict.implicit);
    check_details(verdict.details, R"({"confidence": 0.9, "confident": true, "reason": "r",
        "evidence": "done", "evidence_coerced": false})");
    CHECK(json::child(*verdict.details, "raw") != nullptr);
  }
}

TEST_CASE("llm_structured: a verdict without evidence is a no, in the later generation") {
  constexpr const char* kBare = R"({"verdict": "yes", "confidence": 1, "reason": "r"})";
  const Verdict later = answered(kBare);
  CHECK(later.name == "no");
  check_details(later.details, R"({"evidence_coerced": true})");
  CHECK(answered(R"({"verdict": "error", "confidence": 1, "reason": "r"})").name == "error");
  CHECK(answered(R"({"verdict": "cannot_judge", "confidence": 1, "reason": "r"})").name ==
        "cannot_judge");
  // The first generation does not know evidence, and says success.
  CHECK(answered(kBare, kJudged, "backoff: 0").name == "success");
  // Nor does a schema of one's own.
  CHECK(answered(R"({"verdict": "ship"})",
                 "action: x, evaluate: {type: llm_structured, schema: {type: object, properties: "
                 "{verdict: {enum: [ship, wait]}}}}")
            .name == "ship");
}

TEST_CASE("llm_structured: below min_confidence a verdict is not certain") {
  const std::string state =
      "action: x, evaluate: {type: llm_structured, min_confidence: 0.8, uncertain_suffix: true}";
  constexpr const char* kUnsure =
      R"({"verdict": "yes", "confidence": 0.79, "reason": "r", "evidence": "e"})";
  CHECK(answered(kUnsure, state).name == "yes_uncertain");
  check_details(answered(kUnsure, state).details, R"({"confident": false})");
  CHECK(answered(R"({"verdict": "yes", "confidence": 0.8, "reason": "r", "evidence": "e"})", state)
            .name == "yes");
  CHECK(answered(kUnsure).name == "yes");
  CHECK(answered(R"({"verdict": "yes", "confidence": 0.1, "reason": "r"})", state, "backoff: 0")
            .name == "success_uncertain");
  // What does not say how sure it is, is sure.
  CHECK(answered(R"({"verdict": "a"})",
                 "action: x, evaluate: {type: llm_structured, uncertain_suffix: true, schema: "
                 "{properties: {verdict: {type: string}}}}")
            .name == "a");
}

TEST_CASE("llm_structured: a judge that answers nonsense, nothing, or not at all") {
  struct Bad {
    std::string output;
    int exit_code;
    const char* timeout_kind;
    const char* not_run;
    const char* flag;
  };
  for (const Bad& row : {
           Bad{"maybe", 0, "", "", "api_error"},
           Bad{"[]", 0, "", "", "api_error"},
           Bad{"{}", 0, "", "", "api_error"},
           Bad{R"({"verdict": "banana", "confidence": 1, "reason": ""})", 0, "", "", "api_error"},
           Bad{R"({"verdict": "yes", "confidence": 7, "reason": ""})", 0, "", "", "api_error"},
           Bad{R"({"verdict": "yes", "confidence": "high", "reason": ""})", 0, "", "", "api_error"},
           Bad{R"({"verdict": "yes"})", 0, "", "", "api_error"},
           Bad{R"({"verdict": "yes", "verdict": "no", "confidence": 1, "reason": ""})", 0, "", "",
               "api_error"},
           Bad{R"({"verdict": "yes", "confidence": NaN, "reason": ""})", 0, "", "", "api_error"},
           Bad{"", 0, "", "", "empty_output"},
           Bad{" \n", 0, "", "", "empty_output"},
           Bad{"", 1, "", "", "api_error"},
           Bad{"", -9, "", "", "api_error"},
           Bad{"", 127, "", "", "missing_dependency"},
           Bad{"", 124, "", "", "timeout"},
           Bad{R"({"verdict": "yes", "confidence": 1, "reason": "", "evidence": "e"})", -15, "idle",
               "", "timeout"},
           Bad{"", 0, "", "no role judge", "missing_dependency"},
       }) {
    CAPTURE(row.output);
    CAPTURE(row.exit_code);
    Asked asked;
    asked.state = kJudged;
    asked.side = ended(row.output, row.exit_code);
    asked.side->timeout_kind = row.timeout_kind;
    asked.side->not_run = row.not_run;
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == "error");
    CHECK(json::child(*verdict.details, "error") != nullptr);
    CHECK(json::boolean(*verdict.details, row.flag) == true);
  }
}

TEST_CASE("llm_structured: a question that cannot be asked is an error, and nobody is asked") {
  const std::string state =
      "action: x, evaluate: {type: llm_structured, prompt: 'Is ${context.missing} done?'}";
  const Loop loop = loop_with(state);
  const Values values;
  const ActionResult action;
  CHECK_FALSE(side_command_for({loop, *loop.state("a"), &action, "", nullptr, values, nullptr}));
  Asked asked;
  asked.state = state;
  const Verdict verdict = verdict_of(asked);
  CHECK(verdict.name == "error");
  CHECK(says(verdict, "context.missing"));
}

TEST_CASE("D-LL-26: without a judge an agent's exit code decides, and the event says so") {
  struct Exit {
    int code;
    const char* later;
    const char* first;
  };
  for (const Exit& row :
       {Exit{0, "yes", "success"}, Exit{1, "no", "failure"}, Exit{2, "error", "error"}}) {
    Asked asked;
    asked.state = kJudged;
    asked.action = ended("x", row.code);
    asked.top = "max_steps: 50\nllm: {enabled: false}";
    const Verdict later = verdict_of(asked);
    CHECK(later.name == row.later);
    CHECK(later.type == "exit_code");
    CHECK(json::text(*later.details, "note").has_value());
    asked.top = "llm: {enabled: false}";
    CHECK(verdict_of(asked).name == row.first);
  }
  // A judge that is asked for by name cannot be replaced.
  Asked asked;
  asked.state = "action: x, evaluate: {type: llm_structured}";
  asked.top = "max_steps: 50\nllm: {enabled: false}";
  const Verdict verdict = verdict_of(asked);
  CHECK(verdict.name == "error");
  check_details(verdict.details, R"({"llm_disabled": true})");
}

TEST_CASE("D-LL-10: an implicit evaluator is named, and said to be implicit") {
  Asked asked;
  const Verdict shell = verdict_of(asked);
  CHECK(shell.name == "yes");
  CHECK(shell.type == "exit_code");
  CHECK(shell.implicit);
  CHECK(json::child(*shell.details, "note") == nullptr);
  asked.state = "action: x, evaluate: {type: exit_code}";
  CHECK_FALSE(verdict_of(asked).implicit);
  // A state without action and evaluator has nothing to judge.
  asked.state = "capture: x";
  asked.action.reset();
  const Verdict none = verdict_of(asked);
  CHECK(none.name == "yes");
  CHECK(none.type.empty());
}

TEST_CASE("D-LL-23: a state without action judges the text of `source`") {
  Asked asked;
  asked.action.reset();
  asked.state =
      "evaluate: {type: output_contains, source: '${captured.log.output}', pattern: green}";
  asked.captured = R"({"log": {"output": "all green"}})";
  CHECK(verdict_of(asked).name == "yes");
  asked.captured = R"({"log": {"output": "red"}})";
  CHECK(verdict_of(asked).name == "no");
}

TEST_CASE("a source that cannot be filled in leaves the output to be judged, and is told") {
  Asked asked;
  asked.state =
      "action: x, evaluate: {type: output_contains, source: '${captured.log.output}', "
      "pattern: green}";
  asked.action = ended("green");
  const Verdict verdict = verdict_of(asked);
  CHECK(verdict.name == "yes");
  CHECK(json::text(*verdict.details, "source_error")->find("captured") != std::string_view::npos);
}

TEST_CASE("exit_code_aware: false judges the text whatever the exit code is") {
  Asked asked;
  asked.top = "max_steps: 50\nexit_code_aware: false";
  asked.state = "action: x, evaluate: {type: output_numeric, operator: eq, target: 0}";
  asked.action = ended("0", 1);
  CHECK(verdict_of(asked).name == "yes");
  asked.action = ended("0", 124);
  CHECK(verdict_of(asked).name == "yes");
}

TEST_CASE("an action that could not be run is an error with its reason") {
  Asked asked;
  asked.action->not_run = "no such program";
  CHECK(verdict_of(asked).name == "error");
  CHECK(says(verdict_of(asked), "no such program"));
}

TEST_CASE("an agent that ran out of time is not judged by a judge") {
  const Loop loop = loop_with(kJudged);
  const Values values;
  const ActionResult action = ended("half", 124);
  CHECK_FALSE(side_command_for({loop, *loop.state("a"), &action, "", nullptr, values, nullptr}));
  CHECK(evaluate({loop, *loop.state("a"), &action, "", nullptr, values, nullptr}).name == "error");
}

TEST_CASE("cannot_judge is counted as long as it is said in a row") {
  Asked asked;
  asked.state = kJudged;
  asked.side = ended(R"({"verdict": "cannot_judge", "confidence": 1, "reason": "r"})");
  for (const int expected : {1, 2, 3}) {
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.undecided == expected);
    asked.memory = verdict.memory;
  }
  asked.side = ended(R"({"verdict": "no", "confidence": 1, "reason": "r"})");
  const Verdict verdict = verdict_of(asked);
  CHECK(verdict.undecided == 0);
  CHECK(json::child(*verdict.memory, "undecided") == nullptr);
}

TEST_CASE("success is yes and failure is no; a definition hears its own words") {
  CHECK(same_verdict("yes", "success"));
  CHECK(same_verdict("failure", "no"));
  CHECK(same_verdict("success_uncertain", "yes_uncertain"));
  CHECK_FALSE(same_verdict("yes", "no"));
  CHECK_FALSE(same_verdict("yes", "yes_uncertain"));
  CHECK(native_verdict(Generation::v1, "no_uncertain") == "failure_uncertain");
  CHECK(native_verdict(Generation::modern, "success") == "yes");
  CHECK(native_verdict(Generation::v1, "blocked") == "blocked");
  Asked asked;
  asked.top = "backoff: 0";
  asked.action = ended("", 1);
  CHECK(verdict_of(asked).name == "failure");
}

TEST_CASE("a capture keeps what programs wrote, without the line ends at the end of stdout") {
  ActionResult action = ended("a\n b \r\n\n", 3);
  action.error_output = "oops\n";
  action.duration_ms = 12;
  CHECK(capture_of(action) ==
        json_from(R"({"output": "a\n b ", "stderr": "oops\n", "exit_code": 3, "duration_ms": 12,
                      "failure_type": "real", "timeout_kind": null})"));
  action.timeout_kind = "idle";
  CHECK(json::text(*capture_of(action), "timeout_kind") == "idle");
  CHECK(json::text(*capture_of(action), "failure_type") == "transient");
  action.output = std::string("a\xff\0b", 4);
  CHECK(json::text(*capture_of(action), "output") ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b");
}

TEST_CASE("D-LL-24: no detail of a verdict is a number that JSON does not have") {
  for (const char* const output : {"nan", "inf", "-inf", "1e999", "NaN"}) {
    Asked asked;
    asked.state = "action: x, evaluate: {type: convergence, target: 0, previous: 1}";
    asked.action = ended(output);
    const Verdict verdict = verdict_of(asked);
    CHECK(verdict.name == "error");
    CHECK(parse_json(verdict.details.dump()));
  }
  // Two honest numbers may be further apart than a double reaches.
  Asked asked;
  asked.state = "action: x, evaluate: {type: convergence, target: 0, previous: -1.7e308}";
  asked.action = ended("1.7e308");
  const Verdict verdict = verdict_of(asked);
  CHECK(parse_json(verdict.details.dump()));
  CHECK(verdict.name == "stall");
}

}  // namespace baton::fsm_loop
