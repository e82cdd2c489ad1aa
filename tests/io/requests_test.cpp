// SPDX-License-Identifier: Apache-2.0
#include "io/system/requests.h"

#include <filesystem>
#include <thread>

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <pwd.h>

#include "base/text.h"
#include "io/print.h"
#include "io/system/clock.h"
#include "io/temp_folder.h"

namespace baton {

using test::count_files;
using test::TempFolder;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Requests> requests_of(const std::string& state) {
  auto requests = real_requests(state);
  REQUIRE(requests.has_value());
  return std::move(*requests);
}

Request pause_request() {
  return {.id = {},
          .verb = "pause",
          .flow = {.dialect = "fsm_loop", .name = "fix"},
          .subject = "main",
          .arguments = Json::object({{"why", "lunch \"now\"\n"}, {"n", 3}}),
          .by = "alice the boss",
          .agent = "worker (run ab12cd34)",
          .made = {}};
}

std::string file_owner() {
  const passwd* const user = getpwuid(geteuid());
  return user != nullptr ? user->pw_name : "user " + std::to_string(geteuid());
}

}  // namespace

TEST_CASE("who only looks sees what is recorded, and changes nothing") {
  const TempFolder state;
  CHECK(recorded_requests(state.path() + "/none").empty());
  CHECK(recorded_requests(state.path()).empty());
  CHECK_FALSE(fs::exists(state.path() + "/requests"));
  const auto id = post_request(state.path(), pause_request());
  REQUIRE(id);
  test::write(state.path() + "/requests/0-damaged.json", "{");
  const auto recorded = recorded_requests(state.path());
  REQUIRE(recorded.size() == 1);
  CHECK(recorded[0].id == id->id);
  CHECK(recorded[0].flow == pause_request().flow);
  CHECK(count_files(state.path() + "/requests") == 2);
}

TEST_CASE("a request arrives whole, and its answer comes back") {
  const TempFolder state;
  const auto requests = requests_of(state.path());
  const auto id = post_request(state.path(), pause_request());
  REQUIRE(id);
  CHECK(safe_name(id->id));
  std::vector<std::string> damaged;
  const auto pending = requests->pending(damaged);
  REQUIRE(pending.size() == 1);
  CHECK(damaged.empty());
  const Request sent = pause_request();
  CHECK(pending[0].id == id->id);
  CHECK(pending[0].verb == sent.verb);
  CHECK(pending[0].flow == sent.flow);
  CHECK(pending[0].subject == sent.subject);
  CHECK(pending[0].arguments == sent.arguments);
  // Who asks is what the kernel says, not what the file says.
  CHECK(pending[0].by == file_owner());
  CHECK(pending[0].agent.empty());
  CHECK(pending[0].asker.kind != Asker::Kind::nobody);
  CHECK(pending[0].made > Time{});
  CHECK(requests->pending(damaged).size() == 1);
  CHECK_FALSE(await_reply(state.path(), id->id, Millis(0)));
  std::thread daemon(
      [&] { requests->answer({.request = id->id, .accepted = true, .message = "paused"}); });
  const auto reply = await_reply(state.path(), id->id, Millis(60'000));
  daemon.join();
  REQUIRE(reply);
  CHECK(*reply == Reply{.request = id->id, .accepted = true, .message = "paused"});
  CHECK(requests->pending(damaged).empty());
  // Only the reserve for a full disk stays.
  CHECK(count_files(state / "requests") == 1);
  CHECK(std::filesystem::exists(state / "requests/.reserve"));
}

TEST_CASE("requests come in the order they were made") {
  const TempFolder state;
  const auto requests = requests_of(state.path());
  std::vector<std::string> ids;
  for (const int second : {30, 10, 20}) {
    Request request = pause_request();
    request.made = Time(std::chrono::seconds(second));
    ids.push_back(post_request(state.path(), request).value().id);
  }
  std::vector<std::string> damaged;
  const auto pending = requests->pending(damaged);
  REQUIRE(pending.size() == 3);
  CHECK(pending[0].id == ids[1]);
  CHECK(pending[1].id == ids[2]);
  CHECK(pending[2].id == ids[0]);
}

TEST_CASE("A49 damaged and foreign requests are removed with a finding") {
  const TempFolder state;
  const auto requests = requests_of(state.path());
  const std::string folder = state / "requests/";
  test::write(folder + "a.json", "{\"id\": \"a\", \"verb\": \"pau");
  test::write(folder + "b.json", "[]");
  test::write(folder + "c.json", R"({"id": "other", "verb": "pause"})");
  test::write(folder + "d.json", R"({"id": "d"})");
  test::write(folder + "e.json", R"({"id": "e", "verb": "pause", "arguments": 3})");
  test::write(folder + "f.json", std::string(2'000'000, ' '));
  test::write(folder + "g h.json", R"({"id": "g h", "verb": "pause"})");
  fs::create_symlink("/etc/passwd", folder + "i.json");
  REQUIRE(mkfifo((folder + "j.json").c_str(), 0600) == 0);
  std::size_t bad = 9;
  test::write(folder + "k.json", R"({"id": "k", "verb": "pause"})");
  if (geteuid() == 0 && chown((folder + "k.json").c_str(), 12345, 12345) == 0)
    ++bad;
  test::write(folder + ".l.json.0123456789abcdef.tmp", "half");
  test::write(folder + "z.json", R"({"id": "z", "verb": "pause"})");
  std::vector<std::string> damaged;
  const auto pending = requests->pending(damaged);
  CHECK(damaged.size() == bad);
  REQUIRE_FALSE(pending.empty());
  CHECK(pending.back().id == "z");
  CHECK(pending.size() == 11 - bad);
  damaged.clear();
  CHECK(requests->pending(damaged).size() == 11 - bad);
  CHECK(damaged.empty());
  CHECK(fs::exists(folder + ".l.json.0123456789abcdef.tmp"));
}

TEST_CASE("answers are removed after an hour, and names do not lead outside") {
  const TempFolder state;
  const auto requests = requests_of(state.path());
  requests->answer({.request = "old", .accepted = true, .message = ""});
  const timeval past[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(utimes((state / "replies/old.json").c_str(), &past[0]) == 0);
  // Looked for once a minute, and by each daemon's first answer.
  requests->answer({.request = "soon", .accepted = true, .message = ""});
  CHECK(fs::exists(state / "replies/old.json"));
  requests_of(state.path())->answer({.request = "new", .accepted = false, .message = "no"});
  requests->answer({.request = "../evil", .accepted = false, .message = "no"});
  CHECK_FALSE(fs::exists(state / "replies/old.json"));
  CHECK(await_reply(state.path(), "new", Millis(0)));
  CHECK_FALSE(await_reply(state.path(), "../new", Millis(0)));
  CHECK_FALSE(fs::exists(state / "evil.json"));
  CHECK_FALSE(post_request(state / "none", pause_request()));
}

TEST_CASE("the clock starts at the wall and does not go back") {
  const auto clock = real_clock();
  const Time now = clock->now();
  CHECK(now <= clock->now());
  CHECK(now > Time(std::chrono::hours(24 * 365 * 50)));
  CHECK(clock->wall() > Time(std::chrono::hours(24 * 365 * 50)));
}

}  // namespace baton
