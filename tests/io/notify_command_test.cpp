// SPDX-License-Identifier: Apache-2.0
#include "io/system/notify_command.h"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "base/text.h"
#include "io/temp_folder.h"

using baton::Millis;
using baton::NotifyCall;
using baton::NotifyCommand;
using baton::test::TempFolder;

namespace {

constexpr Millis kLong{3'600'000};

/// A program that adds its input to the file `told`, and then does what `more` says.
NotifyCall call_in(const TempFolder& folder, const std::string& more, Millis gather) {
  return {.shim = BATON_SHIM,
          .timeout = Millis(60'000),
          .argv = {"/bin/sh", "-c", "cat >>\"$0/told\"; " + more, folder.path()},
          .env = {"PATH=/usr/bin:/bin"},
          .gather = gather};
}

void send(NotifyCommand& command, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    command.send("{\"n\":" + std::to_string(i) + "}");
}

void finish(NotifyCommand& command) {
  while (command.busy()) {
    command.poll();
    std::this_thread::yield();
  }
}

/// How many objects each call got.
std::vector<std::size_t> sizes(const TempFolder& folder) {
  std::vector<std::size_t> all;
  for (const std::string& line : baton::split(baton::test::slurp(folder / "told"), '\n')) {
    if (line.empty())
      continue;
    const auto array = baton::parse_json(line);
    REQUIRE(array);
    REQUIRE((*array)->IsArray());
    all.push_back((*array)->Size());
  }
  return all;
}

}  // namespace

TEST_CASE("notifications that come together are one call") {
  const TempFolder folder;
  NotifyCommand command(call_in(folder, "true", kLong));
  send(command, 3);
  command.poll();
  CHECK(command.unsent() == 3);
  CHECK(sizes(folder).empty());
  command.hurry();
  finish(command);
  CHECK(sizes(folder) == std::vector<std::size_t>{3});
  CHECK(command.unsent() == 0);
  CHECK(command.fault().empty());
}

TEST_CASE("a call gets at most a hundred notifications, and a hundred do not wait for more") {
  const TempFolder folder;
  NotifyCommand command(call_in(folder, "true", kLong));
  send(command, 250);
  while (command.unsent() > 50) {
    command.poll();
    std::this_thread::yield();
  }
  CHECK(sizes(folder) == std::vector<std::size_t>{100, 100});
  command.hurry();
  finish(command);
  CHECK(sizes(folder) == std::vector<std::size_t>{100, 100, 50});
}

TEST_CASE("what comes while the program runs goes out together with the next call") {
  const TempFolder folder;
  NotifyCommand command(
      call_in(folder, "while [ ! -e \"$0/go\" ]; do sleep 0.01; done", Millis(0)));
  send(command, 1);
  send(command, 7);
  CHECK(command.unsent() == 8);
  baton::test::write(folder / "go", "");
  finish(command);
  CHECK(sizes(folder) == std::vector<std::size_t>{1, 7});
}

TEST_CASE("when too many wait, the oldest are dropped and counted") {
  const TempFolder folder;
  NotifyCommand command(call_in(folder, "while [ ! -e \"$0/go\" ]; do sleep 0.01; done", kLong));
  send(command, 1300);
  CHECK(command.unsent() == 1300);
  command.hurry();
  baton::test::write(folder / "go", "");
  finish(command);
  CHECK(command.unsent() == 200);
  CHECK(sizes(folder) == std::vector<std::size_t>(11, 100));
}

TEST_CASE("a call that fails says why, and the next one is made") {
  const TempFolder folder;
  NotifyCommand command(call_in(folder, "[ -e \"$0/well\" ]", Millis(0)));
  send(command, 1);
  finish(command);
  CHECK(command.fault() == "did not exit with 0");
  baton::test::write(folder / "well", "");
  send(command, 1);
  finish(command);
  CHECK(command.fault().empty());
  CHECK(sizes(folder) == std::vector<std::size_t>{1, 1});
}

TEST_CASE("without a program nothing waits") {
  NotifyCommand command(NotifyCall{.shim = BATON_SHIM, .timeout = kLong});
  send(command, 3);
  CHECK_FALSE(command.busy());
  CHECK(command.unsent() == 0);
}
