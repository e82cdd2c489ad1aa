// SPDX-License-Identifier: Apache-2.0
#include "io/system/git.h"

#include <doctest/doctest.h>

#include "io/system/command.h"

namespace baton {
namespace {

using namespace std::string_literals;

const std::string blob_id = "257cc5642cb1a054f08cc83f2d943e56fd3ebe99";

}  // namespace

TEST_CASE("the list of git is read whatever the names of files are") {
  const std::string head =
      ":000000 100644 0000000000000000000000000000000000000000 " + blob_id + " ";
  const auto files = parse_staged(head + "A\0a\nb \"c\".json\0"s + head + "M\0\xFF.json\0"s +
                                  ":000000 120000 0000 " + blob_id + " T\0link\0"s);
  REQUIRE(files.has_value());
  REQUIRE(files->size() == 3);
  CHECK((*files)[0] == StagedFile{"a\nb \"c\".json", blob_id, true});
  CHECK((*files)[1] == StagedFile{"\xFF.json", blob_id, true});
  CHECK((*files)[2] == StagedFile{"link", blob_id, false});
}

TEST_CASE("what is removed or another repository is not in the list") {
  const auto files = parse_staged(
      ":100644 000000 1 0 D\0gone\0"
      ":000000 160000 0 3 A\0module\0"s);
  REQUIRE(files.has_value());
  CHECK(files->empty());
}

TEST_CASE("what has a conflict is in the list, without a content") {
  const auto files = parse_staged(":100644 000000 1 0 U\0both\0"s);
  REQUIRE(files.has_value());
  REQUIRE(files->size() == 1);
  CHECK(files->front() == StagedFile{"both", "", true, false});
}

TEST_CASE("a list of git that is cut off is an error") {
  for (const std::string& raw : {"x"s, ":100644 100644 1 2 M\0"s, ":100644 100644 1 2 M\0name"s,
                                 ":100644 100644 1 M\0name\0"s, "\0\0"s}) {
    CAPTURE(raw);
    CHECK_FALSE(parse_staged(raw).has_value());
  }
}

TEST_CASE("a command is run to its end, with its input and both outputs") {
  const auto done = run_command({"sh", "-c", "cat; echo no >&2; exit 3"}, "yes", 100);
  REQUIRE(done.has_value());
  CHECK(done->exit == 3);
  CHECK(done->output == "yes");
  CHECK(done->errors == "no\n");
  const auto killed = run_command({"sh", "-c", "kill -9 $$"}, "", 100);
  REQUIRE(killed.has_value());
  CHECK(killed->exit == 137);
  const auto missing = run_command({"there-is-no-such-program"}, "", 100);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == Errc::not_found);
  const auto much = run_command({"sh", "-c", "echo 12345"}, "", 5);
  REQUIRE_FALSE(much.has_value());
  CHECK(much.error().code == Errc::too_large);
}

TEST_CASE("a command beside everything else has its time, and is ended with all it has started") {
  auto hangs = RunningCommand::start({"/bin/sh", "-c", "sleep 600 & echo begun; wait"}, "", 100,
                                     std::chrono::milliseconds(300));
  REQUIRE(hangs);
  const auto late = (*hangs)->ended(true);
  REQUIRE(late);
  REQUIRE_FALSE(late->has_value());
  CHECK(late->error().code == Errc::busy);
  auto command =
      RunningCommand::start({"/bin/sh", "-c", "cat; exit 3"}, "yes", 100, std::chrono::minutes(1));
  REQUIRE(command);
  const auto in_time = (*command)->ended(true);
  REQUIRE(in_time);
  REQUIRE(in_time->has_value());
  CHECK((*in_time)->exit == 3);
  CHECK((*in_time)->output == "yes");
  // Asked without waiting it is at work; dropped, it is ended: the test would not come to its end.
  auto dropped =
      RunningCommand::start({"/bin/sh", "-c", "sleep 600"}, "", 100, std::chrono::minutes(10));
  REQUIRE(dropped);
  CHECK_FALSE((*dropped)->ended(false));
  dropped->reset();
}

}  // namespace baton
