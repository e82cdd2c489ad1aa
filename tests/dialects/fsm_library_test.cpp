// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <doctest/doctest.h>

#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_parts.h"

namespace baton::fsm_loop {

using baton::testing::json_from;
using baton::testing::library_with;
using baton::testing::loop_from;

namespace {

std::vector<std::string> names_of(const Loop& loop) {
  std::vector<std::string> names;
  for (const LoopState& state : loop.states)
    names.push_back(state.name);
  return names;
}

/// The states as they would be written, without what is usual.
Json states_of(const std::string& text) {
  const auto library = library_with({{".loops/x.yaml", text}});
  const Loaded loaded = load(".loops/x.yaml", library);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  return Json(*json::child(**loaded.definition, "states"));
}

using Files = std::map<std::string, std::string>;

Loaded loaded_from(const Files& files) {
  return load(".loops/x.yaml", library_with(files));
}

constexpr const char* kParent = R"(
name: base
initial: check
max_iterations: 20
context: {src: src, tests: {unit: 1, all: 2}}
scope: [src]
states:
  check: {action: "mypy ${context.src:shell}", on_success: done, on_failure: fix}
  fix: {action: /fix, next: check}
  done: {terminal: true}
)";

}  // namespace

TEST_CASE("short form goal") {
  CHECK(states_of("paradigm: goal\ngoal: Fix all  type-errors, now! \ntools: [mypy src, /fix]") ==
        json_from(R"({"evaluate": {"action": "mypy src", "on_success": "done", "on_failure": "fix",
            "on_error": "fix"}, "fix": {"action": "/fix", "next": "evaluate"},
            "done": {"terminal": true}})"));
  const Loop loop = loop_from(
      "paradigm: goal\ngoal: Fix all  type-errors, now! \ntools: [mypy src]\nmax_iterations: 7\n"
      "backoff: 2\ntimeout: 60\nscope: [src]\nllm: {enabled: false}\non_handoff: spawn\n"
      "context: {a: 1}\nevaluator: {type: output_contains, pattern: Success}");
  CHECK(loop.name == "goal-fix-all-type-errors-now");
  CHECK(loop.initial == "evaluate");
  CHECK(loop.max_steps == 7);
  CHECK(loop.backoff == Millis{2000});
  CHECK(loop.timeout == Millis{60'000});
  CHECK(loop.scope == std::vector<std::string>{"src"});
  CHECK_FALSE(loop.llm.enabled);
  CHECK(loop.on_handoff == Handoff::spawn);
  CHECK(loop.context == json_from(R"({"a": 1})"));
  CHECK(loop.state("fix")->action == "mypy src");
  CHECK(loop.state("evaluate")->evaluator == Evaluator::output_contains);
  CHECK(json::text(*loop.state("evaluate")->evaluate, "pattern") == "Success");
  CHECK(loop.generation == Generation::v1);
}

TEST_CASE("a goal's name is cut at 50 characters") {
  const Loop loop =
      loop_from("paradigm: goal\ngoal: " + std::string(49, 'x') + " \xC3\xA9\xC3\xA9\ntools: [a]");
  CHECK(loop.name == "goal-" + std::string(49, 'x'));
  CHECK(loop_from("paradigm: goal\nname: mine\ngoal: g\ntools: [a]").name == "mine");
}

TEST_CASE("short form convergence reads the measurement before from a capture of its own") {
  const std::string text =
      "paradigm: convergence\nname: c\ncheck: count\ntoward: 0\nusing: /fix\ntolerance: 1";
  CHECK(states_of(text) == json_from(R"({
      "measure": {"action": "${context.metric_cmd}", "action_type": "shell",
        "capture": "current_value",
        "evaluate": {"type": "convergence", "target": "${context.target}",
          "tolerance": "${context.tolerance}", "previous": "${captured.previous_value.output?}",
          "remember": "previous_value"},
        "route": {"target": "done", "progress": "apply", "stall": "done"}},
      "apply": {"action": "/fix", "next": "measure"}, "done": {"terminal": true}})"));
  CHECK(loop_from(text).context ==
        json_from(R"({"metric_cmd": "count", "target": 0, "tolerance": 1})"));
  // A value of the context is not looked into again.
  const Json states = states_of(
      "paradigm: convergence\nname: c\ncheck: 'count ${context.dir:shell}'\n"
      "toward: '${context.goal}'\nusing: fix\ncontext: {dir: src, goal: 3}");
  CHECK(json::text(*json::at(*states, "/measure/action")) == "count ${context.dir:shell}");
  CHECK(json::text(*json::at(*states, "/measure/evaluate/target")) == "${context.goal}");
}

TEST_CASE("short form invariants") {
  const std::string text =
      "paradigm: invariants\nname: i\nmaintain: true\nconstraints:\n"
      "  - {name: types, check: mypy, fix: /types}\n"
      "  - {name: lint, check: ruff, fix: /lint, evaluator: {type: output_numeric, operator: eq, "
      "target: 0}}\n";
  CHECK(states_of(text) == json_from(R"({
      "check_types": {"action": "mypy", "on_success": "check_lint", "on_failure": "fix_types"},
      "fix_types": {"action": "/types", "next": "check_types"},
      "check_lint": {"action": "ruff", "on_success": "all_valid", "on_failure": "fix_lint",
        "evaluate": {"type": "output_numeric", "operator": "eq", "target": 0}},
      "fix_lint": {"action": "/lint", "next": "check_lint"},
      "all_valid": {"terminal": true, "on_maintain": "check_types"}})"));
  CHECK(loop_from(text).initial == "check_types");
  CHECK(loop_from(text).maintain);
}

TEST_CASE("short form imperative") {
  const std::string text =
      "paradigm: imperative\nname: i\nsteps: [one, two]\nuntil: {check: test, passes: true}";
  CHECK(states_of(text) == json_from(R"({
      "step_0": {"action": "one", "next": "step_1"}, "step_1": {"action": "two", "next": "check_done"},
      "check_done": {"action": "test", "on_success": "done", "on_failure": "step_0"},
      "done": {"terminal": true}})"));
  CHECK(loop_from(text).initial == "step_0");
}

TEST_CASE("a compiled short form is judged like any other definition") {
  const Loaded loaded =
      loaded_from({{".loops/x.yaml", "paradigm: goal\ngoal: g\ntools: ['echo ${contxt.a}', b]\n"}});
  CHECK_FALSE(loaded.definition);
  REQUIRE(loaded.findings.at(".loops/x.yaml").size() == 1);
  const Finding& finding = loaded.findings.at(".loops/x.yaml").front();
  CHECK(finding.rule == "fsm_loop/S9");
  CHECK(finding.pointer == "/tools/0");
  CHECK(finding.span.begin.line == 3);
}

TEST_CASE("from: the child wins, maps are merged, lists are replaced") {
  const Files files = {{".loops/base.yaml", kParent},
                       {".loops/base.fsm.yaml", ""},
                       {".loops/x.yaml",
                        "from: base\nname: mine\ncontext: {tests: {all: 3}, more: 4}\n"
                        "scope: [lib, test]\nstates:\n  fix: {timeout: 9}\n"}};
  const Loaded loaded = loaded_from(files);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  const Loop loop = loop_of(**loaded.definition);
  CHECK(loop.name == "mine");
  CHECK(loop.max_steps == 20);
  CHECK(loop.context == json_from(R"({"src": "src", "tests": {"unit": 1, "all": 3}, "more": 4})"));
  CHECK(loop.scope == std::vector<std::string>{"lib", "test"});
  CHECK(loop.state("fix")->action == "/fix");
  CHECK(loop.state("fix")->timeout == Millis{9000});
  CHECK(names_of(loop) == std::vector<std::string>{"check", "fix", "done"});
  CHECK(loop.generation == Generation::modern);
  CHECK(json::child(**loaded.definition, "from") == nullptr);
}

TEST_CASE("a definition that builds on other files is of the later generation") {
  const std::string body =
      "initial: a\nstates:\n  a: {action: x, on_success: b, on_failure: b}\n"
      "  b: {terminal: true}\n";
  struct Case {
    std::string text;
    Generation expected;
  };
  for (const Case& row :
       {Case{"name: x\n" + body, Generation::v1}, Case{"from: base\nname: x\n", Generation::modern},
        Case{"import: [f.yaml]\nname: x\n" + body, Generation::modern}}) {
    CAPTURE(row.text);
    const auto library = library_with({{".loops/base.fsm.yaml", ""},
                                       {".loops/base.yaml", "name: base\n" + body},
                                       {".loops/f.yaml", "fragments: {f: {action: y}}\n"},
                                       {".loops/x.yaml", row.text}});
    const Loaded loaded = load(".loops/x.yaml", library);
    REQUIRE_MESSAGE(loaded.definition, loaded.error);
    CHECK(loop_of(**loaded.definition).generation == row.expected);
  }
}

TEST_CASE("from: parents of parents, in other folders") {
  const Files files = {{".loops/lib/base.fsm.yaml", ""},
                       {".loops/lib/base.yaml", kParent},
                       {".loops/lib/mid.yaml", "from: base\nname: mid\nmax_iterations: 30\n"},
                       {".loops/x.yaml", "from: lib/mid.yaml\nname: x\n"}};
  const Loaded loaded = loaded_from(files);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  CHECK(loop_of(**loaded.definition).max_steps == 30);
}

TEST_CASE("from: what is missing, a circle, and what leads out of the project") {
  struct Case {
    Files files;
    const char* error;
  };
  for (const Case& row :
       {Case{{{".loops/x.yaml", "name: x\nfrom: base\n"},
              {".loops/base.yaml", ""},
              {".loops/base.fsm.yaml", ""}},
             ".loops/x.yaml:2:7: no file found for \"base\": neither .loops/base.fsm.yaml nor "
             ".loops/base.yaml; baton follows no link"},
        Case{{{".loops/x.yaml", "from: y.yaml\nname: x\n"},
              {".loops/y.yaml", "from: x.yaml\nname: y\n"}},
             ".loops/y.yaml:1:7: the definitions build on each other in a circle: .loops/x.yaml -> "
             ".loops/y.yaml -> .loops/x.yaml"},
        Case{{{".loops/x.yaml", "from: ../../y.yaml\n"}},
             ".loops/x.yaml:1:7: no file found for \"../../y.yaml\": the path leads out of the "
             "project"},
        Case{{{".loops/x.yaml", "from: /etc/y.yaml\n"}},
             ".loops/x.yaml:1:7: no file found for \"/etc/y.yaml\": the path leads out of the "
             "project"},
        Case{{{".loops/x.yaml", ""}}, ".loops/x.yaml: there is no definition in .loops/x.yaml"},
        Case{{{".loops/x.yaml", "- 1\n"}},
             ".loops/x.yaml:1:1: there is no definition in .loops/x.yaml"}}) {
    CAPTURE(row.error);
    const Loaded loaded = loaded_from(row.files);
    CHECK_FALSE(loaded.definition);
    CHECK(loaded.error == row.error);
  }
}

TEST_CASE("an error of the whole is shown in the file it stands in") {
  const Loaded loaded = loaded_from(
      {{".loops/base.yaml",
        "name: base\ninitial: check\nstates:\n  check:\n    action: x\n    on_success: dune\n"
        "  done: {terminal: true}\n"},
       {".loops/x.yaml", "from: base.yaml\nname: x\n"}});
  CHECK_FALSE(loaded.definition);
  CHECK(loaded.error ==
        ".loops/base.yaml:6:17: on_success names the state \"dune\", which does not exist; did you "
        "mean done?");
  CHECK(loaded.findings.at(".loops/base.yaml").front().rule == "fsm_loop/S3");
}

TEST_CASE("a whole that no schema would accept is refused, whatever its parts are") {
  const Loaded loaded = loaded_from({{".loops/base.yaml", "name: base\nstates: [a]\n"},
                                     {".loops/x.yaml", "from: base.yaml\ninitial: a\n"}});
  CHECK_FALSE(loaded.definition);
  CHECK(loaded.error.starts_with(".loops/base.yaml:2:9: "));
}

TEST_CASE("flow and state_defs become states") {
  CHECK(states_of("name: f\ninitial: a\nflow: [a, 'b?c:a', c]\nstate_defs:\n"
                  "  a: {action: one}\n  b: {action: two, on_no: c}\n") ==
        json_from(R"({"a": {"next": "b", "action": "one"},
            "b": {"on_yes": "c", "on_no": "c", "action": "two"}, "c": {"terminal": true}})"));
  // With both, the flow wins.
  const Loop loop = loop_from(
      "name: f\ninitial: a\nflow: [a, b]\nstate_defs: {a: {action: x}}\nstates: {z: {terminal: "
      "true}}\n");
  CHECK(names_of(loop) == std::vector<std::string>{"a", "b"});
  CHECK(loop.generation == Generation::modern);
}

TEST_CASE("fragments: the state wins, own ones over imported ones, later imports over earlier") {
  const Files files = {
      {".loops/lib/one.yaml",
       "fragments:\n  f: {action: one, timeout: 1}\n  g: {action: one, on_yes: done, on_no: "
       "done}\n"},
      {".loops/lib/two.yaml", "fragments:\n  g: {action: two, on_yes: done, on_no: done}\n"},
      {".loops/x.yaml",
       "name: x\ninitial: a\nimport: [lib/one.yaml, lib/two.yaml]\nfragments:\n"
       "  f: {description: d, action: own, timeout: 5, next: b}\nstates:\n"
       "  a: {fragment: f, timeout: 7}\n  b: {fragment: g}\n  done: {terminal: true}\n"}};
  const Loaded loaded = loaded_from(files);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  const Loop loop = loop_of(**loaded.definition);
  CHECK(loop.state("a")->action == "own");
  CHECK(loop.state("a")->timeout == Millis{7000});
  CHECK(loop.state("b")->action == "two");
  CHECK(json::at(**loaded.definition, "/states/a/description") == nullptr);
  CHECK(json::child(**loaded.definition, "fragments") == nullptr);
}

TEST_CASE(
    "a file that has only fragments is a library: nothing is wrong with it, and it is no loop") {
  const std::string library = "fragments:\n  f: {action: one, on_yes: done, on_no: failed}\n";
  const auto document = load_document(library, Format::yaml);
  REQUIRE(document);
  CHECK(check_definition(**document).empty());
  CHECK(loaded_from({{".loops/x.yaml", library}}).error.find("is no loop itself") !=
        std::string::npos);
  // Where its fragments lead is not known to a file that imports them.
  const auto importing = load_document(
      "name: x\ninitial: a\nimport: [lib.yaml]\nstates:\n  a: {fragment: f}\n"
      "  done: {terminal: true}\n  failed: {terminal: true}\n",
      Format::yaml);
  REQUIRE(importing);
  CHECK(check_definition(**importing).empty());
}

TEST_CASE("a fragment's parameters are bound by `with`") {
  const std::string text =
      "name: x\ninitial: a\nfragments:\n  f:\n    parameters: {cmd: {required: true}, n: {default: "
      "3}}\n    action: '${param.cmd} -n ${param.n}'\nstates:\n"
      "  a: {fragment: f, with: {cmd: 'make ${context.t}'}, next: done}\n  done: {terminal: "
      "true}\n";
  const Loop loop = loop_from(text);
  CHECK(loop.state("a")->param == json_from(R"({"cmd": "make ${context.t}", "n": 3})"));
  CHECK(loop.state("a")->with.is_null());
  std::string without = text;
  without.replace(without.find("cmd: 'make"), 24, "");
  const Loaded loaded = loaded_from({{".loops/x.yaml", without}});
  CHECK(loaded.error.find("needs the parameter \"cmd\"") != std::string::npos);
}

TEST_CASE("an import that is missing or empty is an error where it is named (S13)") {
  CHECK(loaded_from({{".loops/x.yaml", "name: x\nimport:\n  - lib/one.yaml\n"},
                     {".loops/lib/one.yaml", ""}})
            .error.starts_with(".loops/x.yaml:3:5: no file found for \"lib/one.yaml\""));
  CHECK(loaded_from({{".loops/x.yaml", "name: x\nimport: [lib/one.yaml]\n"},
                     {".loops/lib/one.yaml", "a: 1\n"}})
            .error.starts_with(".loops/lib/one.yaml:1:1: the file is imported"));
  CHECK(loaded_from({{".loops/x.yaml",
                      "name: x\ninitial: a\nimport: [one.yaml]\nstates:\n  a: {fragment: gg}\n"},
                     {".loops/one.yaml", "fragments: {g1: {terminal: true}}\n"}})
            .error == ".loops/x.yaml:5:17: there is no fragment \"gg\"; did you mean g1?");
}

TEST_CASE("a sub-loop has to be there and to get what it needs") {
  const std::string child =
      "name: child\ninitial: a\nparameters: {file: {type: path, required: true}, n: {default: 1}}\n"
      "states: {a: {terminal: true}}\n";
  const auto parent = [](const std::string& more) {
    return "name: x\ninitial: a\nstates:\n  a: {loop: child, " + more +
           "on_yes: done, on_no: done}\n  done: {terminal: true}\n";
  };
  const Files there = {{".loops/child.fsm.yaml", ""}, {".loops/child.yaml", child}};
  const auto with = [&](const std::string& more) {
    Files files = there;
    files.emplace(".loops/x.yaml", parent(more));
    return loaded_from(files);
  };
  CHECK_FALSE(with("").definition);
  CHECK(with("").error.find("needs the parameter \"file\"") != std::string::npos);
  CHECK(with("").findings.at(".loops/x.yaml").front().rule == "fsm_loop/S14");
  CHECK(with("context_passthrough: true, ").definition);
  for (const auto& [bindings, why] : std::vector<std::pair<const char*, const char*>>{
           {"{file: f, fil: g}", "has no parameter \"fil\"; it has file, n"},
           {"{file: f, n: true}", "takes a value of the type string as \"n\", not true"},
           {"{file: f, n: '${context.n}'}", ""}}) {
    const Loaded loaded = with(std::string("with: ") + bindings + ", ");
    CHECK_MESSAGE(loaded.error.find(why) != std::string::npos, loaded.error);
  }
  CHECK(loaded_from({{".loops/child.yaml", "context: {file: own}\n" + std::string(child)},
                     {".loops/x.yaml", parent("")}})
            .definition);
  const Loaded bound = with("with: {file: '${context.f}'}, ");
  REQUIRE_MESSAGE(bound.definition, bound.error);
  CHECK(loop_of(**bound.definition).state("a")->loop == "child");
  CHECK(loop_of(**bound.definition).state("a")->with == json_from(R"({"file": "${context.f}"})"));
  CHECK(
      loaded_from(
          {{".loops/x.yaml", parent("")}, {".loops/child.yaml", ""}, {".loops/child.fsm.yaml", ""}})
          .error.starts_with(".loops/x.yaml:4:13: no file found for \"child\""));
}

TEST_CASE("wanted names what has to be read, round by round") {
  const std::string x = "from: base\nname: x\nimport: [lib/f.yaml]\nstates: {a: {loop: sub}}\n";
  using Paths = std::vector<std::string>;
  CHECK(wanted(".loops/x.yaml", {}) == Paths{".loops/x.yaml"});
  CHECK(wanted(".loops/x.yaml", library_with({{".loops/x.yaml", x}})) ==
        Paths{".loops/base.fsm.yaml", ".loops/base.yaml", ".loops/lib/f.yaml",
              ".loops/sub.fsm.yaml", ".loops/sub.yaml"});
  Files files = {{".loops/x.yaml", x},
                 {".loops/base.fsm.yaml", "from: far\n"},
                 {".loops/lib/f.yaml", "{}"},
                 {".loops/sub.fsm.yaml", ""},
                 {".loops/sub.yaml", "name: s"}};
  CHECK(wanted(".loops/x.yaml", library_with(files)) ==
        Paths{".loops/far.fsm.yaml", ".loops/far.yaml"});
  files[".loops/far.fsm.yaml"] = "";
  files[".loops/far.yaml"] = "from: x\n";
  CHECK(wanted(".loops/x.yaml", library_with(files)) == Paths{".loops/x.fsm.yaml"});
  files[".loops/x.fsm.yaml"] = "";
  CHECK(wanted(".loops/x.yaml", library_with(files)).empty());
}

TEST_CASE("the compiled definition goes before the plain one") {
  const Loaded loaded =
      loaded_from({{".loops/base.fsm.yaml", kParent},
                   {".loops/base.yaml", "name: other\ninitial: a\nstates: {a: {terminal: true}}\n"},
                   {".loops/x.yaml", "from: base\nname: x\n"}});
  REQUIRE(loaded.definition);
  CHECK(loop_of(**loaded.definition).initial == "check");
}

TEST_CASE("what baton does not carry out is named once, and is no error") {
  const auto with = [](const std::string& more) {
    return loaded_from(
        {{".loops/x.yaml",
          "name: x\ninitial: a\n" + more + "states:\n  a: {action: x, on_yes: d, on_no: d" +
              (more.empty() ? ", action_type: mcp_tool" : "") + "}\n  d: {terminal: true}\n"}});
  };
  CHECK(with("").unsupported.find("baton does not carry out actions of the type \"mcp_tool\"") !=
        std::string::npos);
  CHECK(with("").definition);
  for (const char* const guard : {"host_guard: {enabled: true}", "host_guard: {}",
                                  "tamper_guard: revert", "prepatch_check: fail"}) {
    CAPTURE(guard);
    const Loaded loaded = with(std::string(guard) + "\n");
    CHECK(loaded.definition);
    CHECK(loaded.error.empty());
    CHECK(loaded.unsupported.find("baton does not carry out the guard") != std::string::npos);
    CHECK(loaded.findings.at(".loops/x.yaml").front().rule == "fsm_loop/S8");
  }
  for (const char* const off : {"host_guard: {enabled: false}", "tamper_guard: allow",
                                "prepatch_check: allow", "circuit: null"}) {
    CAPTURE(off);
    CHECK(with(std::string(off) + "\n").definition);
  }
}

TEST_CASE("the generation is told by what only the later one knows") {
  const auto generation = [](const std::string& top, const std::string& state) {
    return loop_from("name: x\ninitial: a\n" + top + "states:\n  a: {action: x, " + state +
                     "}\n  d: {terminal: true}\n")
        .generation;
  };
  CHECK(generation("max_iterations: 9\nmaintain: true\non_handoff: pause\n",
                   "on_success: d, on_failure: d, on_error: d, on_maintain: a, timeout: 3") ==
        Generation::v1);
  CHECK(generation("", "route: {success: d, blocked: d, _: d}") == Generation::v1);
  CHECK(generation("exit_code_aware: false\n", "next: d, idempotent: true") == Generation::v1);
  CHECK(generation("max_steps: 9\n", "next: d") == Generation::modern);
  CHECK(generation("shared_state_ok: true\n", "next: d") == Generation::modern);
  CHECK(generation("", "on_yes: d") == Generation::modern);
  CHECK(generation("", "on_partial: d") == Generation::modern);
  CHECK(generation("", "route: {'yes': d}") == Generation::modern);
  CHECK(generation("", "next: d, idle_timeout: 3") == Generation::modern);
  CHECK(generation("", "evaluate: {type: classify}, route: {_: d}") == Generation::modern);
}

TEST_CASE("a loop has the defaults of its generation") {
  const std::string states =
      "states:\n  a: {action: x, next: p}\n  p: {action: /x, next: failed}\n"
      "  failed: {terminal: true}\n";
  const Loop first = loop_from("name: x\ninitial: a\n" + states);
  CHECK(first.max_steps == 50);
  CHECK_FALSE(first.max_passes);
  CHECK_FALSE(first.max_edge_revisits);
  CHECK(first.state("a")->timeout == Millis{120'000});
  CHECK_FALSE(first.state("a")->timeout_given);
  CHECK(first.llm.timeout == Millis{30'000});
  CHECK(first.input_key == "input");
  CHECK(first.exit_code_aware);
  CHECK(first.state("failed")->failure);
  CHECK(first.state("p")->by_agent());
  CHECK(first.state("p")->role == "agent");
  CHECK_FALSE(first.state("a")->by_agent());

  const Loop later = loop_from(
      "name: x\ninitial: a\nmax_steps: 9\nmax_iterations: 4\n"
      "default_idle_timeout: 30\n" +
      states);
  CHECK(later.max_steps == 9);
  CHECK(later.max_passes == 4);
  CHECK(later.max_edge_revisits == 100);
  CHECK(later.state("a")->timeout == Millis{3'600'000});
  CHECK(later.state("a")->idle_timeout == Millis{30'000});
  // An agent that is watched for silence has no other limit unless somebody sets one.
  CHECK(later.state("p")->timeout == Millis{0});
  CHECK(later.llm.timeout == Millis{1'800'000});
}

TEST_CASE("all members of a definition are read") {
  const Loop loop = loop_from(R"(
name: x
initial: a
max_steps: 9
on_max_steps: s
on_max_iterations: s
max_edge_revisits: 4
backoff: 0.5
timeout: 600
default_timeout: 60
maintain: true
on_handoff: terminate
llm: {enabled: true, model: m, max_tokens: 99, timeout: 5}
exit_code_aware: false
singleton: true
input_key: file
required_inputs: [file]
parameters: {n: {type: integer, default: 3}, e: {type: enum, required: true, values: [a, b]}}
states:
  a:
    action: x
    action_type: prompt
    agent: fixer
    capture: log
    evaluate: {type: output_contains, pattern: ok}
    on_yes: done
    on_no: s
    on_error: done
    timeout: 7
    idle_timeout: 3
    max_retries: 2
    on_retry_exhausted: s
    retryable_exit_codes: [75, 1]
    max_rate_limit_retries: 4
    on_rate_limit_exhausted: s
    rate_limit_backoff_base_seconds: 1
    rate_limit_max_wait_seconds: 9
    rate_limit_long_wait_ladder: [2, 3.5]
    throttle: {normal_max: 1, warn_max: 2, hard_max: 3}
    on_throttle_hard: s
    append_to_messages: 'said ${prev.output?}'
    idempotent: true
  s: {action: y, next: done}
  done: {terminal: true, failure: true, on_maintain: s}
)");
  CHECK(loop.on_max_steps == "s");
  CHECK(loop.on_max_passes == "s");
  CHECK(loop.max_edge_revisits == 4);
  CHECK(loop.backoff == Millis{500});
  CHECK(loop.timeout == Millis{600'000});
  CHECK(loop.maintain);
  CHECK(loop.on_handoff == Handoff::terminate);
  CHECK(loop.llm.model == "m");
  CHECK(loop.llm.max_tokens == 99);
  CHECK(loop.llm.timeout == Millis{5000});
  CHECK_FALSE(loop.exit_code_aware);
  CHECK(loop.singleton);
  CHECK(loop.input_key == "file");
  CHECK(loop.required_inputs == std::vector<std::string>{"file"});
  REQUIRE(loop.parameters.size() == 2);
  CHECK(loop.parameters[0].fallback == Json(3));
  CHECK(loop.parameters[1].required);
  CHECK(loop.parameters[1].values == json_from(R"(["a", "b"])"));
  const LoopState& a = *loop.state("a");
  CHECK(a.by_agent());
  CHECK(a.role == "fixer");
  CHECK(a.capture == "log");
  CHECK(a.evaluator == Evaluator::output_contains);
  CHECK(a.shorthand == std::vector<Row>{{"yes", "done"}, {"no", "s"}, {"error", "done"}});
  CHECK_FALSE(a.routes);
  CHECK(a.timeout == Millis{7000});
  CHECK(a.timeout_given);
  CHECK(a.idle_timeout == Millis{3000});
  CHECK(a.retry.max == 2);
  CHECK(a.retry.exhausted == "s");
  CHECK(a.retry.codes == std::vector<int>{75, 1});
  CHECK(a.rate_limit.max_retries == 4);
  CHECK(a.rate_limit.exhausted == "s");
  CHECK(a.rate_limit.base == Millis{1000});
  CHECK(a.rate_limit.max_wait == Millis{9000});
  CHECK(a.rate_limit.ladder == std::vector<Millis>{Millis{2000}, Millis{3500}});
  REQUIRE(a.throttle);
  CHECK(a.throttle->hard_max == 3);
  CHECK(a.throttle->hard == "s");
  CHECK(a.append_to_messages == "said ${prev.output?}");
  CHECK(a.idempotent);
  CHECK(loop.state("s")->timeout == Millis{60'000});
  CHECK(loop.state("done")->failure);
  CHECK(loop.state("done")->on_maintain == "s");
}

TEST_CASE("the long form reads back as the same loop") {
  const auto library = library_with({{".loops/x.yaml", kParent}});
  const Json once = *load(".loops/x.yaml", library).definition;
  const auto again = library_with({{".loops/x.yaml", once.dump()}});
  const Loaded twice = load(".loops/x.yaml", again);
  REQUIRE_MESSAGE(twice.definition, twice.error);
  CHECK(*twice.definition == once);
}

TEST_CASE("a library holds what can be a part of a definition") {
  const auto document = *load_document("name: x", Format::yaml);
  const FlowState docs = {
      {".loops/a.yaml", Accepted{document, "definition", {}, 0, {}, true, {}}},
      {".loops/b.yaml", Accepted{document, "read", {}, 0, {}, true, {}}},
      {".loops/c.yaml", Accepted{document, "definition", {}, 0, {}, false, {}}},
      {".loops/.running/a.state.json", Accepted{document, "state", {}, 0, {}, true, {}}}};
  const Library library = library_of(docs, json_from(R"({"library": ["/l", "/m"]})"));
  CHECK(library.files.size() == 2);
  CHECK(library.files.contains(".loops/a.yaml"));
  CHECK(library.files.contains(".loops/b.yaml"));
  CHECK(library.folders == std::vector<std::string>{"/l", "/m"});
}

TEST_CASE("a name is looked for beside the file that has it, and then in the library") {
  Library library;
  library.folders = {"/l", "/m"};
  using Paths = std::vector<std::string>;
  CHECK(candidate_paths(".loops", "lib/a.yaml", library) ==
        Paths{".loops/lib/a.yaml", "/l/lib/a.yaml", "/m/lib/a.yaml"});
  CHECK(candidate_paths("/l", "b", library) ==
        Paths{"/l/b.fsm.yaml", "/l/b.yaml", "/m/b.fsm.yaml", "/m/b.yaml"});
  // Within the library, but not out of it.
  CHECK(candidate_paths("/l/oracles", "../lib/a.yaml", library).front() == "/l/lib/a.yaml");
  CHECK(candidate_paths("/l", "../a.yaml", library).empty());
  CHECK(candidate_paths("/l", "/etc/a.yaml", library).empty());
  CHECK(candidate_paths(".loops", "../../a.yaml", library).empty());
}

TEST_CASE("a definition takes from the library what does not stand beside it") {
  auto library = library_with({{".loops/x.yaml",
                                "name: x\nfrom: base\nimport: [lib/a.yaml]\nstates:\n"
                                "  fix: {fragment: mend}\n"},
                               {".loops/base.fsm.yaml", ""},
                               {".loops/base.yaml", ""},
                               {".loops/lib/a.yaml", ""},
                               {"/l/base.fsm.yaml", ""},
                               {"/l/base.yaml", kParent},
                               {"/l/lib/a.yaml", "fragments:\n  mend: {timeout: 7}\n"}});
  library.folders = {"/l"};
  CHECK(wanted(".loops/x.yaml", library).empty());
  const Loaded loaded = load(".loops/x.yaml", library);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  CHECK(loop_of(**loaded.definition).state("fix")->timeout == Millis{7000});
  library.folders.clear();
  CHECK(load(".loops/x.yaml", library).error.find("no file found") != std::string::npos);
}

TEST_CASE("what shows only in several files is told once they were looked for") {
  const auto parsed = [](const std::string& text) { return *load_document(text, Format::yaml); };
  FlowState docs = {
      {".loops/x.yaml", Accepted{parsed("from: base\nname: x\nstates:\n  fix: {on_error: dome}\n"),
                                 "definition",
                                 {},
                                 0,
                                 {},
                                 true,
                                 {}}}};
  CHECK(related(docs, {}) == std::vector<std::string>{".loops/base.fsm.yaml", ".loops/base.yaml"});
  CHECK(check_flow(docs, Json()).empty());
  // A daemon reads for a start only; nothing is said about what it did not look for.
  docs[".loops/base.yaml"] = Accepted{parsed(kParent), "read", {}, 0, {}, true, {}};
  CHECK(check_flow(docs, Json()).empty());
  docs[".loops/base.yaml"].kind = "related";
  docs[".loops/base.fsm.yaml"] = Accepted{nullptr, "related", {}, 0, {}, false, {}};
  CHECK(related(docs, {}).empty());
  const auto all = check_flow(docs, Json());
  REQUIRE(all.size() == 1);
  REQUIRE(all.at(".loops/x.yaml").size() == 1);
  CHECK(all.at(".loops/x.yaml").front().rule == "fsm_loop/S3");
  CHECK(all.at(".loops/x.yaml").front().span.begin.line == 4);
  CHECK(all.at(".loops/x.yaml").front().suggestion == "done");
}

TEST_CASE("a measurement that is remembered counts as captured") {
  const auto warned = [](const std::string& more) {
    const Loaded loaded =
        loaded_from({{".loops/x.yaml",
                      "name: x\ninitial: a\nstates:\n  a:\n    action: count\n"
                      "    evaluate: {type: convergence, target: 0" +
                          more +
                          "}\n    route: {target: done, _: b}\n"
                          "  b: {action: 'say ${captured.count.output:shell}', next: a}\n"
                          "  done: {terminal: true}\n"}});
    REQUIRE(loaded.definition);
    const auto found = loaded.findings.find(".loops/x.yaml");
    return found != loaded.findings.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [](const Finding& each) { return each.rule == "fsm_loop/S26"; });
  };
  CHECK(warned(""));
  CHECK_FALSE(warned(", remember: count"));
}

TEST_CASE("what an inner loop captured counts as captured under its state's name") {
  const auto warned = [](const std::string& more) {
    const Loaded loaded = loaded_from(
        {{".loops/sub.yaml",
          "name: sub\ninitial: s\nstates:\n  s: {action: do, capture: r, next: done}\n"
          "  done: {terminal: true}\n"},
         {".loops/x.yaml", "name: x\ninitial: a\nstates:\n  a: {loop: sub" + more +
                               ", on_yes: b, on_no: b}\n"
                               "  b: {action: 'say ${captured.a.r.output:shell}', next: done}\n"
                               "  done: {terminal: true}\n"}});
    REQUIRE(loaded.definition);
    const auto found = loaded.findings.find(".loops/x.yaml");
    return found != loaded.findings.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [](const Finding& each) { return each.rule == "fsm_loop/S26"; });
  };
  CHECK(warned(""));
  CHECK_FALSE(warned(", with: {what: this}"));
  CHECK_FALSE(warned(", context_passthrough: true"));
}

}  // namespace baton::fsm_loop
