// SPDX-License-Identifier: Apache-2.0
#include "io/agents/systemd_units.h"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace baton {
namespace {

Key key(const std::string& flow, const std::string& role, const std::string& subject = "main") {
  Key made;
  made.flow = {"rules", flow};
  made.role = role;
  made.subject = subject;
  made.generation = 1;
  return made;
}

TEST_CASE("the name of a unit can be read, and has only letters that systemd takes") {
  CHECK(unit_name("/srv/a", key("t/1", "worker"), 1).starts_with("baton-rules-t-1-worker-"));
  for (const std::string& flow :
       {std::string("t/ü x;$(id)\n\"%n"), std::string(5000, 'x'), std::string("t/--../@")}) {
    const std::string name = unit_name("/srv/a", key(flow, "worker"), 1);
    CHECK(name.ends_with(".scope"));
    CHECK(name.size() < 200);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "._-") == std::string::npos);
  }
}

TEST_CASE("each attempt of each key of each root has a name of its own, and always the same") {
  Key second = key("t/1", "worker");
  second.generation = 2;
  Key further = key("t/1", "worker");
  further.turn = 1;
  const std::set<std::string> names = {unit_name("/srv/a", key("t/1", "worker"), 1),
                                       unit_name("/srv/a", key("t/1", "worker"), 2),
                                       unit_name("/srv/b", key("t/1", "worker"), 1),
                                       unit_name("/srv/a", key("t-1", "worker"), 1),
                                       unit_name("/srv/a", key("t/1", "worker", "other"), 1),
                                       unit_name("/srv/a", second, 1),
                                       unit_name("/srv/a", further, 1)};
  CHECK(names.size() == 7);
  CHECK(names.contains(unit_name("/srv/a", key("t/1", "worker"), 1)));
}

TEST_CASE("a unit has the limits of its run, and the time limit is one that the shim has before") {
  const SystemdUnits units{{"systemd-run", "--user"}, {}, "/sys/fs/cgroup/baton.slice"};
  Launch launch;
  launch.key = key("t/1", "worker");
  launch.limits.timeout = Millis(1500);
  launch.limits.kill_grace = Millis(10'000);
  const auto has = [&](const std::string& word) {
    const auto words = unit_command(units, "a.scope", launch);
    return std::find(words.begin(), words.end(), word) != words.end() && words.back() == "--";
  };
  CHECK(has("--unit=a.scope"));
  CHECK(has("--property=RuntimeMaxSec=312s"));
  CHECK(!has("--property=MemorySwapMax=0"));
  launch.memory_max_bytes = 5000;
  launch.tasks_max = 7;
  CHECK(has("--property=MemoryMax=5000"));
  CHECK(has("--property=MemorySwapMax=0"));
  CHECK(has("--property=TasksMax=7"));
  launch.before = {"/bin/prepare"};
  launch.before_timeout = Millis(1000);
  CHECK(has("--property=RuntimeMaxSec=313s"));
}

}  // namespace
}  // namespace baton
