// SPDX-License-Identifier: Apache-2.0
#include "io/files/published_file.h"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "io/print.h"
#include "io/temp_folder.h"

namespace baton {

using test::count_files;
using test::slurp;
using test::TempFolder;
using test::write;

namespace {

constexpr std::string_view kMark = "# ours\n";

/// By a process that ends then.
Result<void> publish_once(const std::string& path, std::string_view text) {
  return PublishedFile(path, std::string(kMark)).write(text);
}

Result<void> remove_once(const std::string& path) {
  return PublishedFile(path, std::string(kMark)).remove();
}

Errc not_published(const std::string& path) {
  const auto checked = check_published(path, kMark);
  const auto done = publish_once(path, "# ours\n2\n");
  REQUIRE_FALSE(done.has_value());
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == done.error().code);
  return done.error().code;
}

TEST_CASE("a published file can be read by others, whatever the umask is") {
  const TempFolder folder;
  const std::string path = folder / "a.prom";
  const mode_t mask = umask(0077);
  CHECK(check_published(path, kMark).has_value());
  REQUIRE(publish_once(path, "# ours\n1\n").has_value());
  umask(mask);
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0644U);
  CHECK(slurp(path) == "# ours\n1\n");
  CHECK(count_files(folder.path()) == 1);
}

TEST_CASE("a published file is replaced as a whole: a reader keeps the version that it has open") {
  const TempFolder folder;
  const std::string path = folder / "a.prom";
  REQUIRE(publish_once(path, "# ours\n1\n").has_value());
  std::filesystem::create_hard_link(path, folder / "held");
  REQUIRE(publish_once(path, "# ours\n2\n").has_value());
  CHECK(slurp(folder / "held") == "# ours\n1\n");
  CHECK(slurp(path) == "# ours\n2\n");
}

TEST_CASE("a temporary file that a killed daemon left is no obstacle") {
  const TempFolder folder;
  write(folder / ".a.prom.tmp", "torn");
  REQUIRE(publish_once(folder / "a.prom", "# ours\n1\n").has_value());
  CHECK(count_files(folder.path()) == 1);
  // A link in its place leads nowhere.
  write(folder / "other", "theirs");
  std::filesystem::create_symlink(folder / "other", folder / ".a.prom.tmp");
  REQUIRE(publish_once(folder / "a.prom", "# ours\n2\n").has_value());
  CHECK(slurp(folder / "other") == "theirs");
}

TEST_CASE("a temporary file of somebody else stays, and is named") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a file to somebody else");
    return;
  }
  const TempFolder folder;
  const std::string temporary = folder / ".a.prom.tmp";
  write(temporary, "precious");
  REQUIRE(chown(temporary.c_str(), 1, 1) == 0);
  const auto refused = publish_once(folder / "a.prom", "# ours\n");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().where == temporary);
  CHECK(slurp(temporary) == "precious");
}

TEST_CASE("what is not a file of our own is not replaced") {
  const TempFolder folder;
  const std::string path = folder / "a.prom";
  write(folder / "target", "# ours\n");
  std::filesystem::create_symlink(folder / "target", path);
  CHECK(not_published(path) == Errc::not_regular);
  CHECK(std::filesystem::is_symlink(path));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(not_published(path) == Errc::not_regular);
  std::filesystem::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(not_published(path) == Errc::not_regular);
  std::filesystem::remove(path);
  write(path, "# theirs\n");
  CHECK(not_published(path) == Errc::config);
  CHECK(slurp(path) == "# theirs\n");
  CHECK_FALSE(remove_once(path).has_value());
  CHECK(std::filesystem::exists(path));
  // A part of the mark is not enough.
  write(path, "# our");
  CHECK(not_published(path) == Errc::config);
  write(path, "");
  CHECK(publish_once(path, "# ours\n1\n").has_value());
}

TEST_CASE("a folder that is not there is named") {
  const TempFolder folder;
  const std::string path = folder / "gone/a.prom";
  CHECK(not_published(path) == Errc::not_found);
  CHECK(publish_once(path, "").error().where == folder / "gone");
  CHECK_FALSE(remove_once(path).has_value());
}

TEST_CASE(
    "two processes do not write one file, and the second takes over when the first has ended") {
  const TempFolder folder;
  const std::string path = folder / "a.prom";
  PublishedFile second(path, std::string(kMark));
  {
    PublishedFile first(path, std::string(kMark));
    REQUIRE(first.write("# ours\n1\n").has_value());
    const auto refused = second.write("# ours\n2\n");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Errc::served);
    CHECK_FALSE(second.remove().has_value());
    CHECK(slurp(path) == "# ours\n1\n");
    // Somebody who only looks is not in the way, and sees nothing wrong.
    CHECK(check_published(path, kMark).has_value());
    CHECK(first.write("# ours\n3\n").has_value());
    // A file that was removed is written anew.
    std::filesystem::remove(path);
    CHECK(first.write("# ours\n4\n").has_value());
    CHECK_FALSE(second.write("# ours\n5\n").has_value());
  }
  CHECK(second.write("# ours\n6\n").has_value());
  CHECK(slurp(path) == "# ours\n6\n");
  CHECK(second.remove().has_value());
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a published file can be removed, once or again") {
  const TempFolder folder;
  const std::string path = folder / "a.prom";
  REQUIRE(publish_once(path, "# ours\n1\n").has_value());
  CHECK(remove_once(path).has_value());
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(remove_once(path).has_value());
}

}  // namespace
}  // namespace baton
