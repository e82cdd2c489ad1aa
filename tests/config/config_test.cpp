// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <chrono>

#include <doctest/doctest.h>

#include "config/config_fields.h"
#include "config/schema_stages.h"
#include "core/catalog.h"
#include "print.h"

namespace baton {
namespace {

using namespace std::chrono_literals;

std::string listed(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += describe(finding, "baton.yaml") + " [" + finding.rule + "]\n";
  return text;
}

ParsedConfig parsed(std::string text) {
  auto config = parse_config(std::move(text));
  REQUIRE_MESSAGE(config.has_value(), (config ? "" : listed(config.error())));
  return std::move(*config);
}

std::string faults(std::string text) {
  auto config = parse_config(std::move(text));
  return config ? "none" : listed(config.error());
}

/// The options of the dialect `rules`.
Json rules_of(const Config& config) {
  REQUIRE(!config.dialects.empty());
  REQUIRE(config.dialects.back().first == "rules");
  return config.dialects.back().second;
}

// Like the example of docs/configuration.md.
constexpr const char* kExample = R"(version: 1
agents:
  developer:
    command: [claude, -p, --output-format, json]
    prompt: prompts/developer.md
    cwd: .
    before: { command: [./worktree.sh, "${group}"], timeout: 2m }
    timeout: 45m
    idle_timeout: 10m
    memory_max: 4GiB
    tasks_max: 512
    user: builder
  qa_expert:
    command: [./agents/qa.sh, "${subject}"]
    env: { allow: [CI], set: { QA_LEVEL: full } }
limits: { max_running: 4, spawns_per_hour: 60, max_attempts: 3, backoff: 10s, max_backoff: 5m,
          timeout: 1h, idle_timeout: 15m, kill_grace: 10s, log_cap: 10MiB }
on_interrupted: hold
dialects:
  ccw_loop: { path: .workflow/.loop, granularity: run, pause_grace: 60s }
  fsm_loop: { path: .loops }
rules:
  - name: tickets
    files: "tickets/{flow}.json"
    schema: schemas/ticket.schema.json
    stage: /status
    react:
      - { to: ready, run: developer }
      - { from: ready, to: rejected, stop: developer }
notify: { command: [./notify.sh] }
)";

std::string rule(const std::string& lines) {
  return "version: 1\nagents: { default: { command: [a] } }\nrules:\n  - name: n\n" + lines;
}

}  // namespace

TEST_CASE("the example of the documents is read as it is meant") {
  const ParsedConfig read = parsed(kExample);
  const Config& config = read.config;
  CHECK(read.warnings.empty());
  const AgentConfig& developer = config.agents.at("developer");
  CHECK(developer.command == std::vector<std::string>{"claude", "-p", "--output-format", "json"});
  CHECK(developer.prompt == "prompts/developer.md");
  CHECK(developer.cwd == ".");
  CHECK(developer.before == std::vector<std::string>{"./worktree.sh", "${group}"});
  CHECK(developer.before_timeout == 2min);
  CHECK(developer.timeout == 45min);
  CHECK(developer.memory_max_bytes == std::uint64_t{4} << 30U);
  CHECK(developer.tasks_max == 512);
  CHECK(developer.user == "builder");
  const AgentConfig& qa = config.agents.at("qa_expert");
  CHECK(qa.command.at(1) == "${subject}");
  CHECK(qa.env_allow == std::vector<std::string>{"CI"});
  CHECK(qa.env_set.at("QA_LEVEL") == "full");
  CHECK(config.limits == LimitsConfig{});
  CHECK(config.on_interrupted == OnInterrupted::hold);
  REQUIRE(config.dialects.size() == 3);
  CHECK(config.dialects[0].first == "ccw_loop");
  CHECK(json::text(*config.dialects[0].second, "granularity") == "run");
  CHECK(config.dialects[1].first == "fsm_loop");
  CHECK(config.notify == std::vector<std::string>{"./notify.sh"});
  CHECK(config.roots.empty());
  CHECK(config.state_dir.empty());
  CHECK(config.retention == RetentionConfig{});
  CHECK(rules_of(config).dump() ==
        R"({"rules":[{"name":"tickets","files":["tickets/{flow}.json"],)"
        R"("schema":"schemas/ticket.schema.json","stage":"/status",)"
        R"("react":[{"to":["ready"],"run":"developer"},)"
        R"({"from":["ready"],"to":["rejected"],"stop":"developer"}],)"
        R"("max_entries":20,"breaker":{"changes":240,"per_ms":60000},"limits":{}}]})");
}

TEST_CASE("the shortest configuration is its version") {
  CHECK(parsed("version: 1\n").config == Config{});
}

TEST_CASE("metrics name a file that node_exporter reads") {
  const auto with = [](const std::string& metrics) {
    return "version: 1\nmetrics: " + metrics + "\n";
  };
  CHECK(parsed(with("{ textfile: out/baton.prom }")).config.metrics ==
        MetricsConfig{"out/baton.prom", 15s});
  CHECK(parsed(with("{ textfile: a.prom, interval: 1m }")).config.metrics.interval == 1min);
  CHECK(faults(with("{ textfile: a.prom, interval: 1s }")) == "none");
  CHECK(faults(with("{ textfile: a.prom, interval: 1h }")) == "none");
  struct Row {
    const char* metrics;
    const char* says;
  };
  for (const Row& row :
       {Row{"{ textfile: /var/lib/a.txt }",
            "node_exporter reads only files whose names end in `.prom`"},
        Row{"{ textfile: a.prom.tmp }", "such as \"baton.prom\""},
        Row{"{ textfile: out/.prom }", "node_exporter reads only"},
        Row{"{ textfile: '' }", "node_exporter reads only"},
        Row{"{ textfile: a.prom, interval: 999ms }", "must be at least 1s and at most 1h"},
        Row{"{ textfile: a.prom, interval: 61m }", "must be at least 1s and at most 1h"},
        Row{"{ interval: 15s }", "\"textfile\" is missing"},
        Row{"{ textfile: a.prom, port: 9100 }", "\"port\" is not allowed"}}) {
    CAPTURE(row.metrics);
    CHECK(faults(with(row.metrics)).find(row.says) != std::string::npos);
  }
}

TEST_CASE("a role's limits are its own, else the common ones; default stands in") {
  const Config config = parsed(R"(version: 1
agents:
  default: { command: [a] }
  dev: { command: [b], timeout: 2h, kill_grace: 0s, log_cap: 1KiB, max_attempts: 7, backoff: 1s }
limits: { idle_timeout: 3m, max_backoff: 1m }
on_interrupted: retry
roots: [one, two/three]
state_dir: /var/lib/x
retention: { events: 1d, runs: 0s, max_runs: 5 }
)")
                            .config;
  const AgentConfig* dev = agent_for(config, "dev");
  REQUIRE(dev != nullptr);
  CHECK(run_limits(config, *dev) == RunLimits{2h, 3min, 0s, 1024});
  CHECK(retry_limits(config, *dev) == RetryLimits{7, 1s, 1min});
  const AgentConfig* other = agent_for(config, "other");
  REQUIRE(other != nullptr);
  CHECK(other->command.front() == "a");
  CHECK(run_limits(config, *other) == RunLimits{1h, 3min, 10s, 10U << 20U});
  CHECK(agent_for(Config{}, "other") == nullptr);
  CHECK(config.on_interrupted == OnInterrupted::retry);
  CHECK(config.roots == std::vector<std::string>{"one", "two/three"});
  CHECK(config.state_dir == "/var/lib/x");
  CHECK(config.retention == RetentionConfig{24h, 0s, 30 * 24h, 5});
}

TEST_CASE("a number where a unit is needed is told how to be written") {
  CHECK(faults("version: 1\nlimits: { timeout: 30, log_cap: 10 }\n") ==
        "baton.yaml:2:20: expected string, found the integer 30; a duration is a text with a unit, "
        "such as \"30s\" or \"5m\" [schema/type]\n"
        "baton.yaml:2:33: expected string, found the integer 10; a size is a text with a unit, "
        "such as \"512KiB\" or \"10MiB\" [schema/type]\n");
}

TEST_CASE("a dialect with nothing behind it has its defaults") {
  for (const char* const name :
       {"coordination", "fsm_loop", "ccw_loop", "agent_run", "ml_workflow"}) {
    CAPTURE(name);
    const Config config = parsed("version: 1\ndialects: { " + std::string(name) + ": }\n").config;
    REQUIRE(config.dialects.size() == 1);
    CHECK(config.dialects.front().second == Json::object());
  }
}

TEST_CASE(
    "the folder of a dialect lies below the root, and the key that leads elsewhere is named") {
  for (const char* const dialect :
       {"agent_run", "ccw_loop", "coordination", "fsm_loop", "ml_workflow"})
    for (const char* const path : {"../x", "..", ".", "a/../../x", "a/..", "/x", "./a"}) {
      CAPTURE(dialect);
      CAPTURE(path);
      const std::string head = "version: 1\ndialects: { " + std::string(dialect) + ": { path: ";
      const std::string found = faults(head + path + " } }\n");
      CHECK(found.starts_with("baton.yaml:2:" + std::to_string(head.size() - 10) + ": \"" + path +
                              "\" is not a folder below the root"));
      CHECK(parse_config(head + "a/.b..c } }\n"));
    }
}

TEST_CASE("a rule may have limits of its own") {
  const Config config = parsed(rule(R"(    files: ["a/{flow}/{part}.json", b.json]
    stage: /groups/{subject}/status
    react:
      - { from: [x, y], to: [z], run: any, purpose: test, max_entries: 3 }
      - { to: w, notify: true }
    limits: { max_running: 2, max_attempts: 1, backoff: 5s, timeout: 1m, log_cap: 1MiB }
    breaker: { changes: 9, per: 10s }
    max_entries: 4
)"))
                            .config;
  CHECK(rules_of(config).dump() ==
        R"({"rules":[{"name":"n","files":["a/{flow}/{part}.json","b.json"],)"
        R"("stage":"/groups/{subject}/status",)"
        R"("react":[{"from":["x","y"],"to":["z"],"run":"any","purpose":"test","max_entries":3},)"
        R"({"to":["w"],"notify":true}],"max_entries":4,"breaker":{"changes":9,"per_ms":10000},)"
        R"("limits":{"max_running":2,)"
        R"("retry":{"max_attempts":1,"backoff_ms":5000,"max_backoff_ms":300000},)"
        R"("run":{"timeout_ms":60000,"idle_timeout_ms":900000,"kill_grace_ms":10000,)"
        R"("log_cap_bytes":1048576}}}]})");
}

TEST_CASE("stages may be written as they stand in the file") {
  const Config config = parsed(rule(R"(    files: a.json
    stage: /s
    react:
      - { from: false, to: [1, 2.0, "2.0", 2.50, In Progress], run: any, next: [3, done] }
      - { to: true, notify: true }
)"))
                            .config;
  CHECK(rules_of(config).dump().find(
            R"("react":[{"from":["false"],"to":["1","2","2.0","2.5","In Progress"],"run":"any",)"
            R"("next":["3","done"]},{"to":["true"],"notify":true}])") != std::string::npos);
  CHECK(faults(rule("    files: a.json\n    stage: /s\n    react: [{ to: ~, run: any }]\n"))
            .find("found null") != std::string::npos);
}

TEST_CASE("a rule may declare its stages and its ends") {
  const Json rules = rules_of(parsed(rule("    files: a.json\n    stage: /s\n"
                                          "    stages: [open, 3]\n    done: true\n"
                                          "    react: [{ to: open, run: a }]\n"))
                                  .config);
  CHECK(json::at(*rules, "/rules/0/stages")->Size() == 2);
  CHECK(json::text(*json::at(*rules, "/rules/0/stages/1")) == "3");
  CHECK(json::dump(*json::at(*rules, "/rules/0/done")) == R"(["true"])");
  CHECK(faults(rule("    files: a.json\n    stage: /s\n    stages: []\n"
                    "    react: [{ to: open, run: a }]\n"))
            .find("schema/minItems") != std::string::npos);
  CHECK(faults(rule("    files: a.json\n    stage: /s\n    don: [x]\n"
                    "    react: [{ to: open, run: a }]\n"))
            .find("did you mean 'done'?") != std::string::npos);
}

TEST_CASE("a rule without stages has those of its schema, if that lists them") {
  const auto fetch = [](std::string_view uri) -> Result<std::string> {
    if (uri == "t.json")
      return std::string(R"({"properties": {"s": {"enum": ["open", "done"]}}})");
    if (uri == "u.json")
      return std::string(R"({"properties": {"s": {"enum": ["done", "shut"]}}})");
    if (uri == "any.json")
      return std::string(R"({"properties": {"s": {"type": "string"}}})");
    return fail(Errc::not_found, "no such schema");
  };
  const auto stages = [&](const std::string& lines, const std::string& stage = "/s") {
    const std::string text =
        rule(lines + "    stage: \"" + stage + "\"\n    react: [{ to: open, run: a }]\n");
    const Json options = with_schema_stages(rules_of(parsed(text).config), fetch);
    const Value* const found = json::at(*options, "/rules/0/stages");
    return found == nullptr ? std::string("none") : json::dump(*found);
  };
  CHECK(stages("    files: a.json\n    schema: t.json\n") == R"(["open","done"])");
  CHECK(stages("    files: a.json\n    schema: t.json\n    stages: [own]\n") == R"(["own"])");
  CHECK(stages("    files: { a: { path: a.json, schema: t.json }, b: b.json }\n", "a:/s") ==
        R"(["open","done"])");
  CHECK(stages("    files: a.json\n    schema: any.json\n") == "none");
  CHECK(stages("    files: a.json\n    schema: gone.json\n") == "none");
  CHECK(stages("    files: a.json\n") == "none");
  // With the stage in several documents all of them count.
  const std::string two = "    files: { a: { path: a.json, schema: t.json }, b: { path: b.json";
  CHECK(stages(two + ", schema: u.json } }\n") == R"(["open","done","shut"])");
  CHECK(stages(two + " } }\n") == "none");
}

TEST_CASE("values that make no sense are named with their place") {
  struct Row {
    const char* text;
    const char* fault;
  };
  for (const Row& row : {
           Row{"version: 1\nlimits:\n  timeout: 45x\n",
               "baton.yaml:3:12: '45x' is not a duration; write it as 500ms, 90s, 5m, 1h30m or 2d "
               "[config/duration]\n"},
           Row{"version: 1\nlimits:\n  log_cap: 10mb\n",
               "baton.yaml:3:12: '10mb' is not a size; write it as 512KiB, 10MiB or 1GiB "
               "[config/size]\n"},
           Row{"version: 1\nagents:\n  a: { command: [\"\"] }\n",
               "baton.yaml:3:17: a command must begin with a program [config/command]\n"},
           Row{"version: 1\nagents:\n  a: { command: [b, \"${subject|jsn}\"] }\n",
               "baton.yaml:3:17: unknown filter `|jsn` in `${subject|jsn}`; did you mean `|json`? "
               "[config/placeholder]\n"},
           Row{"version: 1\nagents:\n  a: { command: [b], env: { set: { BATON_X: y } } }\n",
               "baton.yaml:3:45: 'BATON_X' is set by baton itself [config/env]\n"},
           Row{"version: 1\nagents:\n  a: { command: [b], may_decide: true }\n",
               "baton.yaml:3:34: `may_decide` is no longer used; name the verbs that its runs may "
               "use, for example `may: [approve, reject]` [config/may]\n"},
           Row{"version: 1\nagents:\n  a: { command: [b], may: [aprove] }\n",
               "baton.yaml:3:28: \"aprove\" is not one of \"resume\", \"retry\", \"start\", "
               "\"create\", \"forget\", \"reload\", \"drain\", \"recover\", \"pause\", \"stop\" "
               "and 9 "
               "more; did you mean 'approve'? [schema/enum]\n"},
           Row{"version: 2\n",
               "baton.yaml:1:10: 2 is not 1; this baton reads version 1 of its configuration "
               "[schema/const]\n"},
           Row{"version: 1\ndialects:\n  fsm_loop: { pth: x }\n",
               "baton.yaml:3:20: the member \"pth\" is not allowed here at /pth; did you mean "
               "'path'? "
               "[config/options]\n"},
           Row{"version: 1\ndialects:\n  rules: {}\n",
               "baton.yaml:3:10: put your own rules under 'rules' at the top level "
               "[config/dialect]\n"},
       }) {
    CAPTURE(row.text);
    CHECK(faults(row.text) == row.fault);
  }
}

TEST_CASE("rules are checked for what no schema can state") {
  const auto with = [](const std::string& files, const std::string& stage,
                       const std::string& react) {
    return faults(
        rule("    files: " + files + "\n    stage: " + stage + "\n    react: [" + react + "]\n"));
  };
  const std::string fine = "{ to: a, run: b }";
  CHECK(with("a.json", "/s", fine) == "none");
  CHECK(with("/a.json", "/s", fine).find(":5:12: '/a.json': a pattern must be relative") !=
        std::string::npos);
  CHECK(with("a.json", "s", fine).find("JSON pointer") != std::string::npos);
  CHECK(with("a.json", "/s", "{ to: a }").find("exactly one of") != std::string::npos);
  CHECK(with("a.json", "/s", "{ to: a, run: b, stop: c }").find("exactly one of") !=
        std::string::npos);
  const std::string twice = rule(
      "    files: a\n    stage: /s\n    react: [{ to: a, run: b }]\n"
      "  - { name: n, files: b, stage: /s, react: [{ to: a, run: b }] }\n");
  CHECK(faults(twice).find(
            "there is another rule 'n'; rules need different names [config/rule_name]") !=
        std::string::npos);
}

TEST_CASE("a map of documents and what stands in a reaction reach the dialect as they are meant") {
  const Config config = parsed(rule(R"(    files:
      ticket: { path: "t/{flow}/t.json", schema: s.json }
      review: { path: "t/{flow}/r.json", optional: true }
      notes: "t/{flow}/n.yaml"
    stage: "ticket:/status"
    values: { title: /title }
    react:
      - to: a
        when: [{ pointer: "review:/v", in: [1, x] }]
        approval: { decision: "review:/ok", rejected: { /status: b } }
        set: { /status: c, "review:/v": null }
      - { to: b, approval: true, run: d, prompt: p.md, next: [a] }
)"))
                            .config;
  CHECK(rules_of(config).dump() ==
        R"({"rules":[{"name":"n","documents":[)"
        R"({"name":"ticket","path":"t/{flow}/t.json","schema":"s.json"},)"
        R"({"name":"review","path":"t/{flow}/r.json","optional":true},)"
        R"({"name":"notes","path":"t/{flow}/n.yaml"}],"stage":"ticket:/status",)"
        R"("values":{"title":"/title"},"react":[)"
        R"({"to":["a"],"when":[{"pointer":"review:/v","in":[1,"x"]}],)"
        R"("approval":{"decision":"review:/ok","rejected":{"/status":"b"}},)"
        R"("set":{"/status":"c","review:/v":null}},)"
        R"({"to":["b"],"approval":true,"run":"d","prompt":"p.md","next":["a"]}],)"
        R"("max_entries":20,"breaker":{"changes":240,"per_ms":60000},"limits":{}}]})");
}

TEST_CASE("what a rule names and nobody knows is an error with its place") {
  struct Row {
    const char* files;
    const char* stage;
    const char* react;
    const char* fault;
  };
  const char* const two = R"({ t: "t/{flow}.json", r: { path: "r/{flow}.json", optional: true } })";
  for (const Row& row : {
           Row{two, "t:/s", "{ to: a, set: { \"x:/s\": 1 } }",
               "baton.yaml:7:37: the rule has no document 'x'; there are t, r"},
           Row{"a.json", "/s", "{ to: a, set: { \"x:/s\": 1 } }",
               "a map in `files` gives documents their names"},
           Row{"a.json", "/{subjects}/s", "{ to: a, run: b }",
               "'{subjects}' is not a placeholder; {subject} is the only one"},
           Row{"a.json", "/{subject}/s", "{ to: a, set: { \"/{flow}/n\": 1 } }",
               "'{flow}' is not a placeholder"},
           Row{"a.json", "/s", "{ to: a, set: { /x: \"${naow}\" } }",
               "unknown placeholder '${naow}'; did you mean '${now}'? [config/placeholder]"},
           Row{"a.json", "/s", "{ to: a, set: { /x: \"${now\" } }",
               "unknown placeholder '${now (no closing brace)}'"},
           Row{"a.json", "/s", "{ to: a, set: { /s: [] } }", "the stage must be set to a word"},
           Row{"a.json", "/s", "{ to: a, notify: true, purpose: x }",
               "needs a reaction with `run`"},
           Row{"a.json", "/s", "{ to: a, stop: b, max_entries: 3 }",
               "`max_entries` needs a reaction with `run` or `set`"},
           Row{"a.json", "/s", "{ to: a, run: b, when: [{ pointer: /x, below: [1] }] }",
               "expected string or number, found an array"},
           Row{two, "t:/s", "{ to: a, run: b, when: [{ pointer: /x, below: \"q:/x\" }] }",
               "the rule has no document 'q'"},
           Row{two, "t:/s", "{ to: a, run: b, approval: { decision: /ok } }",
               "needs its own document"},
           Row{two, "/s", "{ to: a, run: b, approval: { decision: \"r:/ok\" } }",
               "needs its own document"},
           Row{two, "t:/{subject}/s", "{ to: a, run: b, approval: { decision: \"r:/ok\" } }",
               "put {part} into the path of 'r'"},
           Row{R"({ t: "t/{flow}.json", r: "r/{flow}.json" })", "t:/s",
               "{ to: a, run: b, approval: { decision: \"r:/ok\" } }", "set `optional: true`"},
           Row{R"({ t: "t/{flow}.json", r: "t/{flow}.json" })", "t:/s", "{ to: a, run: b }",
               "but a file can be only one document"},
           Row{two, "t:/s", "{ to: a, set: { /s: b } }, { to: b, set: { /s: a } }",
               "a -> (react 1) b -> (react 2) a; put an agent or a person"},
       }) {
    CAPTURE(row.react);
    const std::string found =
        faults(rule(std::string("    files: ") + row.files + "\n    stage: \"" + row.stage +
                    "\"\n    react: [" + row.react + "]\n"));
    CAPTURE(found);
    CHECK(found.find(row.fault) != std::string::npos);
  }
}

TEST_CASE("a reaction over all subjects or parts belongs to the flow, and says what does not fit") {
  const char* const parts = "part:/s";
  const char* const plan = "plan:/s";
  const char* const all = R"(when: [{ pointer: "part:/s", all: [done] }])";
  const auto with = [&](const std::string& more) {
    return "{ " + std::string(all) + ", " + more + " }";
  };
  const std::vector<std::pair<const char*, std::string>> fine = {
      {parts, with("run: b")},
      {parts, with("to: done, run: b, prompt: p.md, purpose: join")},
      {plan, with("to: x, run: b, next: [y]")},
      {plan, "{ to: x, run: b }, " + with("set: { \"plan:/s\": \"y\", /n: \"${title} ${now}\" }")},
      {parts,
       with(R"(run: b, approval: { decision: "ok:/d", rejected: { "plan:/n": "${comment}" } })")},
      {"/s", with("to: x, run: b")},
  };
  const std::string head =
      R"(    files: { plan: "j/{flow}/plan.json", part: "j/{flow}/p/{part}.json",
             ok: { path: "ok/{flow}.json", optional: true }, verdict: "j/{flow}/v/{part}.json" }
)";
  const auto found_in = [&](const std::string& files, const std::string& stage,
                            const std::string& more, const std::string& react) {
    return faults(rule(files + "    stage: \"" + stage +
                       "\"\n    values: { title: \"plan:/title\"" +
                       (stage == plan ? "" : ", own: \"part:/n\"") + " }\n" + more +
                       "    react: [" + react + "]\n"));
  };
  for (const auto& row : fine) {
    const char* const stage = row.first;
    const std::string& react = row.second;
    CAPTURE(react);
    // With one stage for the flow, each document with {part} needs a test.
    const std::string verdicts =
        stage == plan ? R"(, { when: [{ pointer: "verdict:/v", any: [no] }], notify: true })" : "";
    CHECK(found_in(head, stage, "", react + verdicts) == "none");
  }
  struct Fault {
    const char* stage;
    std::string react;
    const char* says;
    const char* more = "";
  };
  for (const Fault& row : std::vector<Fault>{
           {parts, "{ when: [{ pointer: part:/s, all: [done], any: [x] }], run: b }",
            "exactly one of"},
           {parts, "{ when: [{ pointer: part:/s, all: [] }], run: b }", "at least"},
           {parts, "{ when: [{ pointer: part:/s, all: done }], run: b }", "expected array"},
           {parts, "{ when: [{ pointer: part:/s, all: 3 }], run: b }", "expected array"},
           {parts, "{ run: b }", "a reaction needs `to`"},
           {parts, "{ when: [{ pointer: plan:/s, equals: x }], run: b }", "a reaction needs `to`"},
           {parts, "{ when: [{ pointer: plan:/s, all: [x] }], run: b }",
            "but plan:/s is one member; put {subject} into the pointer"},
           {parts, with("from: x, run: b"), "but `from` is about one subject"},
           {parts, with("stop: b"), "but `stop` is about one subject"},
           {parts, with("run: b, next: [x]"), "leave `next` out"},
           {parts,
            "{ when: [{ pointer: part:/s, all: [x] }, { pointer: part:/n, equals: 1 }], run: b }",
            "but part:/n is about one subject"},
           {parts,
            "{ when: [{ pointer: part:/s, all: [x] }, { pointer: plan:/n, below: part:/n }], run: "
            "b }",
            "but part:/n is about one subject"},
           {parts, with("set: { /n: 1 }"), "but /n is about one subject"},
           {parts, with("set: { \"plan:/{subject}/n\": 1 }"),
            "but plan:/{subject}/n is about one subject"},
           {parts, with("set: { \"plan:/n\": \"${subject}\" }"), "so ${subject} has no value here"},
           {parts, with("set: { \"plan:/n\": \"${stage}\" }"), "so ${stage} has no value here"},
           {parts, with("set: { \"plan:/n\": \"${own}\" }"), "so ${own} has no value here"},
           {parts, with(R"(run: b, approval: { decision: "verdict:/d" })"),
            "but verdict:/d is about one subject"},
           {parts, with("run: b, max_entries: -1"), "0"},
           {parts, "{ when: [{ pointer: part:/s, all: [dne] }], run: b }",
            "`dne` is no stage of the rule n; did you mean `done`?", "    stages: [todo, done]\n"},
           {plan, "{ to: x, run: b }", "a reaction can test all these files with `all`"},
           {plan,
            with("to: x, run: b") + ", { to: y, when: [{ pointer: part:/s, equals: x }], run: b }",
            "part:/s is about one part, but the rule has only the subject main"},
           {plan, with("to: x, run: b") + ", { to: y, set: { part:/s: x } }",
            "part:/s is about one part, but the rule has only the subject main"},
           {plan, with("to: x, run: b") + ", " + with("to: x, run: b"),
            "react 2 of the rule 'n' never starts"},
       }) {
    CAPTURE(row.react);
    const std::string found = found_in(head, row.stage, row.more, row.react);
    CAPTURE(found);
    CHECK(found.find(row.says) != std::string::npos);
  }
  const std::string unnamed =
      found_in("    files: [\"a/{flow}.json\", \"b/{flow}.json\"]\n", "/{subject}/s", "",
               "{ when: [{ pointer: \"/{subject}/s\", all: [x] }], set: { /n: 1 } }");
  CAPTURE(unnamed);
  CHECK(unnamed.find("so `set` needs the name of a document") != std::string::npos);
}

TEST_CASE("a missing role is a warning, for the flow waits and says so") {
  const ParsedConfig read = parsed(
      "version: 1\nagents: { b: { command: [x] } }\nrules:\n"
      "  - { name: n, files: a, stage: /s, react: [{ to: a, run: b }, { to: c, run: d }] }\n");
  CHECK(listed(read.warnings) ==
        "baton.yaml:4:78: there is no agent 'd' and no 'default', so the flow will wait "
        "[config/role]\n");
  const ParsedConfig near = parsed(
      "version: 1\nagents: { builder: { command: [x] } }\nrules:\n"
      "  - { name: n, files: a, stage: /s, react: [{ to: a, run: bulder }] }\n");
  CHECK(listed(near.warnings).find("will wait; did you mean 'builder'?") != std::string::npos);
}

TEST_CASE("a first wait above the longest is a warning, where one of them is said") {
  struct Row {
    const char* limits;
    const char* agent;
    const char* rule;
    const char* warnings;
  };
  for (const Row& row : {
           Row{"backoff: 5m", "backoff: 1s", "max_backoff: 5m", ""},
           Row{"backoff: 10m, max_backoff: 1h", "timeout: 1h", "max_attempts: 2", ""},
           Row{"backoff: 10m", "timeout: 1h", "timeout: 1h",
               "baton.yaml:2:20: 'backoff' is 10m and 'max_backoff' is 5m: every wait will be 5m "
               "[config/limits]\n"},
           Row{"timeout: 1h", "max_backoff: 2s", "timeout: 1h",
               "baton.yaml:3:43: 'backoff' is 10s and 'max_backoff' is 2s: every wait will be 2s "
               "[config/limits]\n"},
           Row{"timeout: 1h", "timeout: 1h", "backoff: 6m, max_backoff: 1m",
               "baton.yaml:5:84: 'backoff' is 6m and 'max_backoff' is 1m: every wait will be 1m "
               "[config/limits]\n"},
       }) {
    const ParsedConfig read = parsed("version: 1\nlimits: { " + std::string(row.limits) +
                                     " }\nagents: { b: { command: [x], " + row.agent +
                                     " } }\nrules:\n  - { name: n, files: a, stage: /s, "
                                     "react: [{ to: a, run: b }], limits: { " +
                                     row.rule + " } }\n");
    CHECK(listed(read.warnings) == row.warnings);
  }
}

TEST_CASE("a fallback names another agent, and fallbacks do not go round") {
  struct Row {
    std::string agents;
    std::string says;  ///< "none": it is fine
  };
  for (const Row& row : {
           Row{"a: { adapter: claude, fallback: [b, c] }, b: { adapter: codex, fallback: [c] }, "
               "c: { adapter: gemini }",
               "none"},
           Row{"a: { adapter: claude, fallback: [a] }", "cannot stand in for itself"},
           Row{"a: { adapter: claude, fallback: [bb] }, b: { adapter: codex }", "no agent 'bb'"},
           Row{"a: { adapter: claude, fallback: [b] }, b: { adapter: codex, fallback: [a] }",
               "the fallbacks go round: a -> b -> a"},
           Row{"b: { adapter: claude, fallback: [c] }, c: { adapter: codex, fallback: [d] }, "
               "d: { adapter: gemini, fallback: [b] }, a: { adapter: qwen, fallback: [d] }",
               "the fallbacks go round: b -> c -> d -> b"},
           Row{"a: { adapter: cluade }", "did you mean 'claude'"},
       }) {
    CAPTURE(row.agents);
    const std::string said = faults("version: 1\nagents: { " + row.agents + " }\n");
    CAPTURE(said);
    CHECK(said.find(row.says) != std::string::npos);
    // A circle is one mistake.
    CHECK(said.find("go round") == said.rfind("go round"));
  }
}

TEST_CASE("what does not go together in an agent is an error that says what to write") {
  struct Row {
    std::string agent;
    std::string says;  ///< "none": it is fine
  };
  for (const Row& row : {
           Row{"command: [x], result: { success: /ok, cost: /a~0b/c~1d }", "none"},
           Row{"adapter: claude, command: [x]", "either `adapter:`"},
           Row{"timeout: 3s", "either `adapter:`"},
           Row{"adapter: claude, result: { success: /ok }", "take `result:` out"},
           Row{"command: [x], model: m", "holds all arguments itself"},
           Row{"command: [x], result: { success: ok }", "begins with `/`"},
           Row{"command: [x], result: { success: /ok, cost: /a~b }", "`~0`"},
           Row{"command: [x], result: { success: /ok, error: /m~~ }", "`~0`"},
       }) {
    CAPTURE(row.agent);
    const std::string said = faults("version: 1\nagents: { a: { " + row.agent + " } }\n");
    CAPTURE(said);
    CHECK(said.find(row.says) != std::string::npos);
  }
}

TEST_CASE("an unknown key is an error that says which one was meant") {
  CHECK(faults("version: 1\nagnets: {}\n").find("did you mean 'agents'?") != std::string::npos);
  CHECK(faults("version: 1\nagnets: {}\n").find("baton.yaml:2:1: ") == 0);
  CHECK(faults("version: 1\nlimits:\n  max_runing: 3\n").find("baton.yaml:3:3: ") == 0);
  CHECK(faults("version: 1\nlimits:\n  max_runing: 3\n").find("did you mean 'max_running'?") !=
        std::string::npos);
  CHECK(faults(rule("    files: a\n    stage: /s\n    react: [{ to: a, runn: b }]\n"))
            .find("did you mean 'run'?") != std::string::npos);
}

TEST_CASE("caps are read at every place, with 0 for none") {
  const Config config =
      parsed(
          "version: 1\n"
          "agents:\n"
          "  dev: { command: [run], limits: { max_running: 2, cost_per_day: 20.5, "
          "spawns_per_hour: 0 } }\n"
          "providers:\n"
          "  anthropic: { max_running: 3, cost_per_hour: 6, tokens_per_day: 20000000000 }\n"
          "dialects:\n"
          "  fsm_loop: { limits: { shell_per_day: 5000, max_flows: 7 } }\n"
          "  coordination:\n"
          "limits: { max_running: 9, spawns_per_hour: 0, tokens_per_hour: 1000, "
          "shell_per_hour: 60, cost_per_day: 100, max_flows: 50 }\n"
          "rules:\n"
          "  - name: t\n"
          "    files: t.json\n"
          "    stage: /s\n"
          "    limits: { cost_per_hour: 3, shell_per_hour: 0, spawns_per_day: 4 }\n"
          "    react: [{ to: a, run: dev }]\n")
          .config;
  const CapTable expected = {
      {{CapScope::everything, ""},
       {{CapKey::spawns_per_day, {2000, true}},
        {CapKey::cost_per_day, 100},
        {CapKey::shell_per_day, {100000, true}},
        {CapKey::max_flows, 50}}},
      {{CapScope::agent, "dev"}, {{CapKey::max_running, 2}, {CapKey::cost_per_day, 20.5}}},
      {{CapScope::provider, "anthropic"},
       {{CapKey::max_running, 3}, {CapKey::cost_per_hour, 6}, {CapKey::tokens_per_day, 2e10}}},
      {{CapScope::dialect, "fsm_loop"}, {{CapKey::shell_per_day, 5000}, {CapKey::max_flows, 7}}},
      {{CapScope::rule, "t"}, {{CapKey::spawns_per_day, 4}}}};
  CHECK((config.caps == expected));
  CHECK(config.limits.max_running == 9);
  CHECK(config.limits.spawns_per_hour == 0);
  CHECK(config.limits.tokens_per_hour == 1000);
  CHECK(config.limits.shell_per_hour == 60);
  CHECK(config.rule_caps.at("t").cost_per_hour == 3);
  CHECK(config.rule_caps.at("t").shell_per_hour == 0);
  CHECK_FALSE(config.rule_caps.at("t").tokens_per_hour);
  // The options of a dialect do not have them.
  CHECK(json::child(*config.dialects.at(0).second, "limits") == nullptr);
}

TEST_CASE("the caps of the whole daemon are on by default, and 0 switches one off") {
  const auto caps_of = [](const std::string& limits) {
    return parsed("version: 1\nlimits: { " + limits + " }\n").config;
  };
  const Config plain = caps_of("max_running: 2");
  CHECK((plain.caps == Config{}.caps));
  CHECK((plain.caps.at({}) == Caps{{CapKey::spawns_per_day, {2000, true}},
                                   {CapKey::cost_per_day, {200, true}},
                                   {CapKey::shell_per_day, {100000, true}},
                                   {CapKey::max_flows, {200000, true}}}));
  CHECK(plain.limits.shell_per_hour == 3600);
  CHECK(
      (caps_of("spawns_per_hour: 500").caps.at({}).at(CapKey::spawns_per_day) == Cap(10000, true)));
  CHECK(
      (caps_of("spawns_per_hour: 500, spawns_per_day: 3").caps.at({}).at(CapKey::spawns_per_day) ==
       Cap(3)));
  CHECK(caps_of("spawns_per_day: 0, cost_per_day: 0, shell_per_day: 0, max_flows: 0").caps.empty());
  CHECK(caps_of("shell_per_hour: 0").limits.shell_per_hour == 0);
}

TEST_CASE("the ceilings of history and sizes are on by default, and 0 switches one off") {
  const auto limits_of = [](const std::string& limits) {
    return parsed("version: 1\nlimits: { " + limits + " }\n").config.limits;
  };
  CHECK(limits_of("max_running: 2").events_per_hour == 1000);
  CHECK(limits_of("max_running: 2").max_flow_size_bytes == 32U << 20U);
  CHECK(limits_of("max_running: 2").max_root_size_bytes == 512U << 20U);
  CHECK(limits_of("events_per_hour: 0").events_per_hour == 0);
  CHECK(limits_of("max_flow_size: 10MiB").max_flow_size_bytes == 10U << 20U);
  CHECK(limits_of("max_root_size: 0B").max_root_size_bytes == 0);
}

TEST_CASE("a cap that is no number of its kind is refused at every place") {
  const auto places = [](const std::string& cap) {
    return std::vector<std::string>{
        "limits: { " + cap + " }\n", "agents: { a: { command: [run], limits: { " + cap + " } } }\n",
        "providers: { p: { " + cap + " } }\n",
        "dialects: { fsm_loop: { limits: { " + cap + " } } }\n",
        "rules: [{ name: t, files: a, stage: /s, react: [{ to: a, run: b }], limits: { " + cap +
            " } }]\n"};
  };
  for (const char* const cap :
       {"cost_per_day: -1", "cost_per_day: .nan", "cost_per_day: .inf", "cost_per_day: 1e300",
        "cost_per_day: '5'", "spawns_per_day: 1.5", "spawns_per_day: -1", "tokens_per_day: lots",
        "shell_per_day: 99999999999", "cost_per_week: 5"})
    for (const std::string& place : places(cap)) {
      CAPTURE(place);
      CHECK_FALSE(parse_config("version: 1\n" + place));
    }
  for (const std::string& place : places("cost_per_day: 0, spawns_per_day: 3"))
    CHECK(parse_config("version: 1\n" + place));
}

TEST_CASE("what is no configuration at all is an error with a place") {
  for (const char* text :
       {"", "version: 2\n", "[]\n", "version: 1\nversion: 1\n", "agents: {}\n",
        "version: 1\nagents: { a: {} }\n", "version: 1\nlimits: { timeout: 5 }\n",
        "version: 1\non_interrupted: maybe\n", "version: 1\n\tx: y\n",
        "version: 1\nrules: [{ name: ../x, files: a, stage: /s, react: [] }]\n",
        "version: 1\nlimits: { max_running: 0 }\n"}) {
    CAPTURE(text);
    auto config = parse_config(text);
    REQUIRE(!config.has_value());
    CHECK(has_error(config.error()));
    CHECK(!listed(config.error()).empty());
  }
}

TEST_CASE("patterns are relative paths with {flow} and {part}") {
  for (const char* pattern :
       {"a", "a/b.json", "{flow}", "a/{flow}/{part}.json", "{flow}-{part}.json", ".x/..y"}) {
    CAPTURE(pattern);
    CHECK(pattern_fault(pattern).empty());
  }
  for (const char* pattern : {"", "/a", "a//b", "a/", "../a", "a/./b", "*.json", "{name}.json",
                              "{flow", "flow}", "{flow}{part}", "a{{flow}}"}) {
    CAPTURE(pattern);
    CHECK(!pattern_fault(pattern).empty());
  }
}

TEST_CASE("a stage is a pointer in which one name may be {subject}") {
  for (const char* stage : {"/a", "/a~1b/0", "/{subject}/status", "/{subject}", "/a/{subject}"}) {
    CAPTURE(stage);
    CHECK(stage_fault(stage).empty());
  }
  for (const char* stage : {"", "a", "/a~2", "/{subject}/{subject}", "/x{subject}"}) {
    CAPTURE(stage);
    CHECK(!stage_fault(stage).empty());
  }
}

TEST_CASE("sizes have units") {
  CHECK(parse_size("0B") == 0);
  CHECK(parse_size("10MiB") == 10U << 20U);
  CHECK(parse_size("2kB") == 2000);
  CHECK(parse_size("1048576GiB") == 1ULL << 50U);
  for (const char* text : {"", "10", "MiB", "10 MiB", "10mib", "-1B", "1.5MiB", "1048577GiB",
                           "99999999999999999999B"}) {
    CAPTURE(text);
    CHECK(!parse_size(text).has_value());
  }
}

TEST_CASE("two rules that fit the same files are refused") {
  struct Row {
    const char* left;
    const char* right;
    bool overlap;
  };
  for (const Row& row :
       {Row{"t/{flow}.json", "t/a.json", true}, Row{"t/{flow}.json", "t/{part}.json", true},
        Row{"t/{flow}.json", "u/{flow}.json", false}, Row{"t/{flow}.json", "t/{flow}.yaml", false},
        Row{"t/{flow}.json", "t/{flow}/{part}.json", false},
        Row{"t/a-{flow}.json", "t/{flow}-b.json", true},
        Row{"t/a{flow}.json", "t/b{flow}.json", false}}) {
    CAPTURE(row.left);
    CAPTURE(row.right);
    CHECK(patterns_overlap(row.left, row.right) == row.overlap);
    CHECK(patterns_overlap(row.right, row.left) == row.overlap);
  }
  const auto parsed = parse_config(
      "version: 1\nrules:\n"
      "  - { name: a, files: \"t/{flow}.json\", stage: /s, react: [{ to: go, notify: true }] }\n"
      "  - { name: b, files: t/a.json, stage: /s, react: [{ to: go, notify: true }] }\n");
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().front().message.find("match the same files") != std::string::npos);
}

TEST_CASE("a reaction whose agent another one always starts instead is refused with its line") {
  struct Row {
    const char* react;
    const char* says;  ///< empty: it is accepted
  };
  for (const Row& row : {
           Row{"[{to: go, run: b}, {to: go, run: b}]", "react 2 of the rule 'n' never starts 'b'"},
           Row{"[{to: go, run: b}, {to: [rest, go], run: b, purpose: x}]", "for 'go': react 1"},
           Row{"[{to: go, run: b}, {from: a, to: go, run: b}]", "react 2"},
           Row{"[{from: [a, c], to: go, run: b}, {from: a, to: go, run: b}]", "react 2"},
           Row{"[{to: go, run: b}, {to: go, run: b, when: [{pointer: /x, equals: 1}]}]", "react 2"},
           Row{"[{to: go, run: b, approval: true}, {to: go, run: b}]",
               "react 1 of the rule 'n' never starts 'b' for 'go': react 2"},
           Row{"[{to: go, run: b}, {to: go, run: c}]", ""},
           Row{"[{to: go, run: b}, {to: rest, run: b}]", ""},
           Row{"[{to: go, run: b}, {to: go, stop: b}, {to: go, notify: true}]", ""},
           Row{"[{from: a, to: go, run: b}, {to: go, run: b}]", ""},
           Row{"[{to: go, run: b, when: [{pointer: /x, equals: 1}]}, {to: go, run: b}]", ""},
           Row{"[{to: go, run: b, when: [{pointer: /x, equals: 1}]},"
               " {to: go, run: b, when: [{pointer: /x, equals: 2}]}]",
               ""},
       }) {
    CAPTURE(row.react);
    const auto parsed = parse_config(
        "version: 1\nagents: { b: { command: [x] }, c: { command: [x] } }\nrules:\n"
        "  - name: n\n    files: a\n    stage: /s\n    react: " +
        std::string(row.react) + "\n");
    CHECK(parsed.has_value() == std::string(row.says).empty());
    if (parsed.has_value())
      continue;
    const std::string said = listed(parsed.error());
    CAPTURE(said);
    CHECK(said.starts_with("baton.yaml:7:"));
    CHECK(said.find(row.says) != std::string::npos);
  }
}

TEST_CASE("a configuration without secrets is the same but for the values of env: set:") {
  for (const char* const value :
       {"secret", "'secret'", "\"sec\\x72et\"", "|\n          secret", ">-\n          secret",
        "&token secret", "!!str secret", "secret  # and secret"}) {
    CAPTURE(value);
    const std::string text =
        "version: 1\n"
        "agents:\n"
        "  a:\n"
        "    command: [run, \"secre\", '1e3']\n"
        "    env:\n"
        "      allow: [HOME]\n"
        "      set:\n"
        "        TOKEN: " +
        std::string(value) +
        "\n"
        "  # secret\n"
        "  b: { command: [run], timeout: 5m, env: { set: { A: secret, \"B C\": 'secret', D: '' } } "
        "}\n"
        "limits: { cost_per_hour: 2.5 }\n"
        "dialects: { coordination: }\n";
    Config wanted = parsed(text).config;
    for (auto& [role, agent] : wanted.agents)
      for (auto& [name, secret] : agent.env_set)
        secret.clear();
    const auto blanked = without_secrets(text);
    REQUIRE(blanked);
    const std::string shown = blanked->pretty();
    CAPTURE(shown);
    CHECK(shown.find("secret") == std::string::npos);
    const auto again = parse_config(shown, Format::json);
    REQUIRE(again);
    CHECK((again->config == wanted));
  }
}

TEST_CASE("a secret that an alias brings elsewhere cannot be taken out") {
  const std::string head = "version: 1\nagents:\n  a:\n    env: { set: { TOKEN: &t secret } }\n";
  CHECK_FALSE(without_secrets(head + "    command: [run, *t]\n"));
  CHECK_FALSE(
      without_secrets("version: 1\nagents:\n  a: { command: &c [run, secret], env: { set: "
                      "{ TOKEN: secret } } }\n  b: { command: *c }\n"));
  CHECK(without_secrets(head +
                        "    command: [run]\n  b: { command: [x], env: { set: { T: *t } } }\n"));
  // What is only equal, or only looks like an anchor, says nothing.
  CHECK(without_secrets(
      "version: 1\nagents:\n  a: { command: [sh, -c, 'a && b'], env: { set: { MODE: "
      "sh } } }\n"));
  CHECK_FALSE(without_secrets("agents: ["));
}

}  // namespace baton
