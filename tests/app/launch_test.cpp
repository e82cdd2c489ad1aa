#include "app/launch.h"

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
  return launch_of(Start{}, spec, brief, environment);
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

}  // namespace baton
