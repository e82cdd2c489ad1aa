// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/start_command.h"

#include <doctest/doctest.h>

namespace baton {
namespace {

AgentSpec spec() {
  AgentSpec spec;
  spec.argv = {"/bin/agent", "${group}"};
  spec.cwd = "/trees/${branch}";
  spec.before = {"/bin/worktree", "${branch}"};
  spec.before_timeout = Millis(5000);
  return spec;
}

Result<Launch> launch(const AgentSpec& spec, const std::string& group, const std::string& branch) {
  Brief brief;
  brief.values = {{"group", group}, {"branch", branch}};
  Environment environment;
  environment.root = "/root";
  return make_launch(Start{}, spec, brief, environment);
}

}  // namespace

TEST_CASE("a dialect's values go into argv, working directory and what runs before") {
  const auto done = launch(spec(), "A", "feature/a");
  REQUIRE(done);
  CHECK(done->argv == std::vector<std::string>{"/bin/agent", "A"});
  CHECK(done->cwd == "/trees/feature/a");
  CHECK(done->before == std::vector<std::string>{"/bin/worktree", "feature/a"});
  CHECK(done->before_cwd == "/root");
  CHECK(done->before_timeout == Millis(5000));
}

TEST_CASE("a placeholder inside a value is filled in neither here nor by the ports") {
  AgentSpec given = spec();
  given.argv = {"/bin/agent", "${run_dir}", "x${group}"};
  const auto done = launch(given, "${run_dir}", "a");
  REQUIRE(done);
  CHECK(done->argv == std::vector<std::string>{"/bin/agent", "${run_dir}", "x$${run_dir}"});
}

TEST_CASE("an agent's own commands read the configuration the daemon reads") {
  AgentSpec plain;
  plain.argv = {"/bin/agent"};
  Brief brief;
  Environment environment;
  environment.root = "/root";
  const auto named = [&](const std::string& name = "BATON_CONFIG") {
    const auto done = make_launch(Start{}, plain, brief, environment);
    REQUIRE(done);
    const auto row = std::find_if(done->env.begin(), done->env.end(),
                                  [&](const auto& each) { return each.first == name; });
    return row == done->env.end() ? std::string() : row->second;
  };
  CHECK(named().empty());  // they find it in the root
  environment.variables["BATON_CONFIG"] = "/etc/b.yaml";
  CHECK(named() == "/etc/b.yaml");
  environment.variables["BATON_ROOT_STATE"] = "/srv/state";
  CHECK(named("BATON_ROOT_STATE") == "/srv/state");
}

TEST_CASE("a value from a file neither leaves the working directory nor becomes an option") {
  for (const char* const branch : {"..", "../x", "a/../../x", "a/.."}) {
    CAPTURE(branch);
    const auto done = launch(spec(), "A", branch);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == Errc::denied);
  }
  CHECK(launch(spec(), "A", "a..b"));
  CHECK_FALSE(launch(spec(), "-rf", "a"));
  CHECK_FALSE(launch(spec(), "A", "--force"));
  AgentSpec above = spec();
  above.cwd = "/trees/../${branch}";
  CHECK(launch(above, "A", "a"));
}

TEST_CASE("a value that makes no folder of the working directory concerns this start alone") {
  AgentSpec by_value = spec();
  by_value.cwd = "${branch}";
  by_value.before.clear();
  CHECK(launch(by_value, "A", "/trees/a"));
  for (const std::string& branch :
       {std::string("a\0b", 3), std::string("trees/a"), std::string()}) {
    CAPTURE(branch);
    const auto done = launch(by_value, "A", branch);
    REQUIRE_FALSE(done);
    // Any other code is taken for trouble of the machine, for which all starts wait.
    CHECK(done.error().code == Errc::denied);
  }
}

TEST_CASE("a placeholder without its brace is a fault, not a text") {
  AgentSpec open = spec();
  open.argv = {"/bin/agent", "x ${group"};
  const auto done = launch(open, "A", "a");
  REQUIRE_FALSE(done);
  CHECK(done.error().message == "`${group` has no `}`; `$${` stands for a literal `${`");
  open.argv = {"/bin/agent", "x $${group"};
  REQUIRE(launch(open, "A", "a"));
  // As the other side reads it, see Launch::argv.
  CHECK(launch(open, "A", "a")->argv.back() == "x $${group");
}

TEST_CASE("a dialect's own folder serves where the role has none, and later variables win") {
  AgentSpec plain;
  plain.argv = {"/bin/agent"};
  plain.env = {{"A", "of the role"}, {"B", "b"}, {"BATON_FLOW", "forged"}};
  Brief brief;
  brief.cwd = "/root/sub/repo";
  brief.log = "/root/sub/repo/a.log";
  brief.env = {{"A", "set"}, {"A", "of the dialect"}};
  Environment environment;
  environment.root = "/root";
  Start start;
  start.key.flow = FlowId{"d", "f"};
  const auto done = make_launch(start, plain, brief, environment);
  REQUIRE(done);
  CHECK(done->cwd == "/root/sub/repo");
  CHECK(done->log == "/root/sub/repo/a.log");
  const auto values = [&](const std::string& name) {
    std::vector<std::string> all;
    for (const auto& [key, value] : done->env)
      if (key == name)
        all.push_back(value);
    return all;
  };
  CHECK(values("A") == std::vector<std::string>{"of the dialect"});
  CHECK(values("B") == std::vector<std::string>{"b"});
  CHECK(values("BATON_FLOW") == std::vector<std::string>{"d/f"});
}

TEST_CASE("a silent agent shows that it works where the flow has its files") {
  const auto paths = [](const FlowId& flow, const std::vector<std::string>& files,
                        const std::string& cwd) {
    std::string all;
    for (const std::string& path : flow_paths(flow, files, "/root", cwd))
      all += path + " ";
    return all;
  };
  const FlowId ticket{"rules", "tickets/a"};
  CHECK(paths(ticket, {"tickets/a.json"}, "/root").empty());
  CHECK(paths(ticket, {"tickets/a.json"}, "/").empty());
  CHECK(paths(ticket, {"tickets/a.json"}, "/roo") == "/root/tickets/a.json ");
  CHECK(paths(ticket, {"tickets/a.json"}, "/elsewhere") == "/root/tickets/a.json ");
  CHECK(paths(ticket, {"tickets/a/x.json", "tickets/a/y/z.json", "b.json"}, "/elsewhere") ==
        "/root/tickets/a /root/b.json ");
  CHECK(paths({"coordination", "login"}, {".coordination/login/state.json"}, "/work") ==
        "/root/.coordination/login ");
  CHECK(paths(ticket, {"tickets/a/x.json"}, "/root/tickets/a").empty());
}

TEST_CASE("a start that repeats a run that ended well says what is missing") {
  Start start;
  start.key.flow = {"rules", "t/a"};
  start.key.role = "of_no_template";
  Brief brief;
  brief.prompt = "do it";
  brief.state_file = "t/a.json";
  Environment environment;
  environment.root = "/root";
  AgentSpec agent;
  agent.argv = {"/bin/dev"};
  Run before;
  before.id = "0123456789abcdef";
  before.state = RunState::ended;
  before.outcome = Outcome::succeeded;
  const auto outcome = [](const Launch& launch) {
    for (const auto& [name, value] : launch.env)
      if (name == "BATON_PREVIOUS_OUTCOME")
        return value;
    return std::string();
  };
  SUBCASE("the stage is as it was") {
    const auto launch = make_launch(start, agent, brief, environment, &before);
    REQUIRE(launch);
    CHECK(launch->prompt.find("ended as failed (no_change)") != std::string::npos);
    CHECK(launch->prompt.find("in /root/t/a.json, is as it was") != std::string::npos);
    CHECK(outcome(*launch) == "failed");
  }
  SUBCASE("its dialect found that a report is missing") {
    before.reason = "no_report";
    const auto launch = make_launch(start, agent, brief, environment, &before);
    REQUIRE(launch);
    CHECK(launch->prompt.find("step failed: no report") != std::string::npos);
    CHECK(launch->prompt.find("is as it was") == std::string::npos);
    CHECK(outcome(*launch) == "failed");
  }
  SUBCASE("it failed") {
    before.outcome = Outcome::timed_out;
    const auto launch = make_launch(start, agent, brief, environment, &before);
    REQUIRE(launch);
    CHECK(launch->prompt.find("ended well") == std::string::npos);
    CHECK(outcome(*launch) == "timed_out");
  }
}

TEST_CASE(
    "a dialect's template is filled in; a file in its place and the agent's own prompt go first") {
  Start start;
  start.key.flow = {"ccw_loop", "l1"};
  start.key.role = "executor";
  start.desired.purpose = "develop";
  start.desired.why = "a task is pending";
  Brief brief;
  brief.prompt = "what the dialect wrote";
  Environment environment;
  environment.root = "/root";
  AgentSpec agent;
  const auto prompt = [&] {
    const auto launch = make_launch(start, agent, brief, environment);
    return launch ? launch->prompt : launch.error().message;
  };
  start.key.role = "of_no_template";
  CHECK(prompt() == "what the dialect wrote");
  start.key.role = "executor";
  brief.values = {{"task", "Add ${root}"}, {"progress_dir", "/p"}, {"mode", "auto"}};
  const std::string built_in = prompt();
  CHECK(built_in.starts_with("You are the executor of the loop l1 in the project /root."));
  CHECK(built_in.find(
            "## The task\n\n```\nAdd ${root}\n```\n\n## Your action: develop\n\nDEVELOP: ") !=
        std::string::npos);
  CHECK(built_in.find("## Why you were started\n\n```\na task is pending\n```\n") !=
        std::string::npos);
  CHECK(built_in.find("## A person says") == std::string::npos);
  agent.prompts["ccw_loop/executor.develop"] = "Develop for ${flow_name}.";
  CHECK(prompt().find("## Your action: develop\n\nDevelop for l1.\n") != std::string::npos);
  agent.prompts["ccw_loop/executor"] = "${answer}\n\nDo this: ${job}";
  CHECK(prompt() == "Do this: Develop for l1.\n");
  agent.prompt = "In short: ${brief}";
  CHECK(prompt() == "In short: Do this: Develop for l1.\n");
  start.desired.purpose = "unheard_of";
  agent.prompts["ccw_loop/executor"] = "a\n\n${job}";
  CHECK(prompt() == "In short: a\n");
}

}  // namespace baton
