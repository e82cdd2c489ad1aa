// SPDX-License-Identifier: Apache-2.0
#include "io/files/exchange.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <grp.h>

#include "io/child.h"
#include "io/files/disk.h"
#include "io/files/displaced_files.h"
#include "io/files/safe_open.h"
#include "io/print.h"
#include "io/temp_folder.h"

namespace baton {

using test::count_files;
using test::slurp;
using test::TempFolder;

namespace {

constexpr std::size_t kMax = 1U << 20U;
constexpr std::uint32_t kNobody = 65534;

std::unique_ptr<Disk> disk_of(const std::string& root) {
  auto disk = real_disk(root);
  REQUIRE(disk.has_value());
  return std::move(*disk);
}

// Adds one to the number in the file, again and again until it has been done `times` times.
int count_up(const std::string& root, int times) {
  const auto disk = real_disk(root);
  for (int i = 0; i < times;) {
    const auto file = (*disk)->read("n", kMax);
    if (!file)
      return 1;
    if ((*disk)->replace("n", file->digest, std::to_string(std::stoi(file->bytes) + 1)))
      ++i;
  }
  return 0;
}

}  // namespace

TEST_CASE("replace keeps the access list, and takes none from the folder") {
  struct Right {
    std::uint16_t whose;
    std::uint16_t may;
    std::uint32_t id;
  };
  // As the kernel has them: the owner rw, the user 65534 rw, the group nothing, all but the owner
  // at most rw, others nothing.
  struct List {
    std::uint32_t version = 2;
    std::array<Right, 5> rights = {
        {{1, 6, ~0U}, {2, 6, kNobody}, {4, 0, ~0U}, {0x10, 6, ~0U}, {0x20, 0, ~0U}}};
  };
  const List list;
  const TempFolder root;
  test::write(root / "state", "old");
  test::write(root / "plain", "old");
  REQUIRE(chmod((root / "plain").c_str(), 0640) == 0);
  if (setxattr((root / "state").c_str(), "system.posix_acl_access", &list, sizeof list, 0) != 0) {
    MESSAGE("skipped: the file system has no access lists");
    return;
  }
  const auto disk = disk_of(root.path());
  REQUIRE(disk->replace("state", digest_of("old"), "new"));
  REQUIRE(setxattr(root.path().c_str(), "system.posix_acl_default", &list, sizeof list, 0) == 0);
  REQUIRE(disk->replace("plain", digest_of("old"), "new"));
  std::string now(1024, ' ');
  const auto size =
      getxattr((root / "state").c_str(), "system.posix_acl_access", now.data(), now.size());
  REQUIRE(size == sizeof list);
  CHECK(std::memcmp(now.data(), &list, sizeof list) == 0);
  CHECK(getxattr((root / "plain").c_str(), "system.posix_acl_access", now.data(), now.size()) < 0);
  struct stat info {};
  REQUIRE(stat((root / "state").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0660);
  REQUIRE(stat((root / "plain").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0640);
}

TEST_CASE("replace keeps mode and owner and leaves nothing behind") {
  const TempFolder root;
  test::write(root / "a/state", "old");
  REQUIRE(chmod((root / "a/state").c_str(), 0604) == 0);
  const bool given = geteuid() == 0 && chown((root / "a/state").c_str(), 1234, 5678) == 0;
  {
    const auto disk = disk_of(root.path());
    REQUIRE(disk->replace("a/state", digest_of("old"), "new"));
    CHECK(slurp(root / "a/state") == "new");
    CHECK(count_files(root / "a") == 2);
  }
  CHECK(count_files(root / "a") == 1);
  struct stat info {};
  REQUIRE(stat((root / "a/state").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0604U);
  if (given) {
    CHECK(info.st_uid == 1234);
    CHECK(info.st_gid == 5678);
  }
}

TEST_CASE("replace refuses what is no longer as assumed, and leaves it") {
  const TempFolder root;
  test::write(root / "state", "theirs");
  const auto disk = disk_of(root.path());
  for (const std::string path : {"state", "gone", "no/folder"}) {
    CAPTURE(path);
    const auto replaced = disk->replace(path, digest_of("old"), "ours");
    REQUIRE_FALSE(replaced);
    CHECK(replaced.error().code == Errc::changed);
  }
  CHECK(slurp(root / "state") == "theirs");
  CHECK(count_files(root.path()) == 1);
}

TEST_CASE("a file that somebody keeps locked is busy, and we do not hang") {
  const TempFolder root;
  test::write(root / "state", "old");
  const Fd holder(open((root / "state").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(flock(holder.get(), LOCK_EX) == 0);
  const auto disk = disk_of(root.path());
  const auto replaced = disk->replace("state", digest_of("old"), "new");
  REQUIRE_FALSE(replaced);
  CHECK(replaced.error().code == Errc::busy);
  CHECK(slurp(root / "state") == "old");
}

TEST_CASE("what is held is replaced under that lock, if it is still what is there") {
  const TempFolder root;
  test::write(root / "state", "old");
  const auto disk = disk_of(root.path());
  const auto other = disk_of(root.path());
  CHECK(disk->hold({"state", "missing"}));
  CHECK_FALSE(other->hold({"state"}));
  CHECK(disk->replace("state", digest_of("old"), "new").has_value());
  CHECK(slurp(root / "state") == "new");
  disk->hold({});
  // The new one is nobody's when it is there; what was held is not any more.
  CHECK(other->hold({"state"}));
  const auto replaced = disk->replace("state", digest_of("new"), "newer");
  REQUIRE_FALSE(replaced);
  CHECK(replaced.error().code == Errc::busy);
  test::write(root / "next", "new");
  std::filesystem::rename(root / "next", root / "state");
  CHECK(other->replace("state", digest_of("new"), "newer").has_value());
  CHECK(slurp(root / "state") == "newer");
}

TEST_CASE("processes that replace one file lose nothing of each other") {
  const TempFolder root;
  constexpr int kProcesses = 3;
  constexpr int kTimes = 30;
  test::write(root / "n", "0");
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0)
      _exit(count_up(root.path(), kTimes));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(slurp(root / "n") == std::to_string(kProcesses * kTimes));
  CHECK(count_files(root.path()) == 1);
}

TEST_CASE("a writer that renames without a lock is never overwritten unseen") {
  constexpr int kRounds = 20;
  constexpr int kVersions = 20;
  int ours = 0;
  for (int round = 0; round < kRounds; ++round) {
    const TempFolder root;
    const std::string state = root / "state";
    test::replace(state, "0");
    std::atomic<bool> done = false;
    std::thread writer([&] {
      for (int i = 1; i <= kVersions; ++i)
        test::replace(state, std::to_string(i));
      done = true;
    });
    {
      const auto disk = disk_of(root.path());
      // Once more behind the last version, for on a busy machine the writer may win every time.
      for (bool last = false; !last;) {
        last = done;
        const auto file = disk->read("state", kMax);
        REQUIRE(file.has_value());
        // Says which version it was made from.
        if (disk->replace("state", file->digest, file->bytes + "+"))
          ++ours;
      }
    }
    writer.join();
    // Whatever stands there at the end has seen the writer's last version.
    const std::string last = slurp(state);
    CAPTURE(last);
    REQUIRE(last.starts_with(std::to_string(kVersions)));
    CHECK(count_files(root.path()) == 1);
  }
  CHECK(ours > 0);
}

TEST_CASE("without exchange the file is replaced too, and the old one kept") {
  const TempFolder root;
  test::write(root / "state", "old");
  auto folder = open_folder(root.path());
  REQUIRE(folder);
  LockBudget patience;
  auto kept = exchange(
      folder->get(), "state",
      {.where = "state", .assumes = digest_of("old"), .bytes = "new", .can_exchange = false},
      patience);
  REQUIRE(kept);
  CHECK(slurp(root / "state") == "new");
  CHECK(slurp(root / *kept) == "old");
  CHECK(count_files(root.path()) == 2);
  CHECK_FALSE(
      exchange(folder->get(), "state",
               {.where = "state", .assumes = digest_of("old"), .bytes = "x", .can_exchange = false},
               patience));
  CHECK(count_files(root.path()) == 2);
}

TEST_CASE("what is written late into an exchanged file is reported once") {
  const TempFolder root;
  test::write(root / "state", "old");
  const auto disk = disk_of(root.path());
  const Time start{};
  const Millis second{1000};
  Fd writer(open((root / "state").c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(disk->replace("state", digest_of("old"), "ours"));
  REQUIRE(write(writer.get(), "late!", 5) == 5);
  CHECK(disk->late_writes(start).empty());
  // The writer may not have finished.
  CHECK(disk->late_writes(start + second).empty());
  CHECK(count_files(root.path()) == 2);
  std::vector<LateWrite> late;
  SUBCASE("when the writer has closed") {
    writer.reset();
    late = disk->late_writes(start + 2 * second);
  }
  SUBCASE("after a minute at the latest") {
    late = disk->late_writes(start + 60 * second);
  }
  REQUIRE(late.size() == 1);
  CHECK(late[0].path == "state");
  CHECK(late[0].bytes == "late!");
  CHECK(late[0].into == digest_of("old"));
  CHECK(disk->late_writes(start + 70 * second).empty());
  disk->late_noted(late[0]);
  CHECK(slurp(root / "state") == "ours");
  CHECK(count_files(root.path()) == 1);
}

TEST_CASE("a late write is there until it is noted, also for the next daemon") {
  const TempFolder root;
  test::write(root / "state", "old");
  const Time start{};
  const Millis second{1000};
  {
    const auto disk = disk_of(root.path());
    const Fd writer(open((root / "state").c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(disk->replace("state", digest_of("old"), "ours"));
    CHECK(disk->keeps_old(start));
    REQUIRE(write(writer.get(), "late!", 5) == 5);
    CHECK(disk->late_writes(start + second).empty());
  }
  // The end of that daemon: what was written is nobody's yet.
  CHECK(count_files(root.path()) == 2);
  {
    const auto disk = disk_of(root.path());
    CHECK_FALSE(disk->keeps_old(start));
    const auto entries = disk->list("", 0);
    REQUIRE(entries);
    CHECK(entries->size() == 1);
    CHECK(disk->keeps_old(start));
    const auto late = disk->late_writes(start + second);
    REQUIRE(late.size() == 1);
    CHECK(late[0].path == "state");
    CHECK(late[0].bytes == "late!");
    CHECK(disk->late_writes(start + 2 * second).empty());
  }
  CHECK(count_files(root.path()) == 2);
  const auto disk = disk_of(root.path());
  REQUIRE(disk->list("", 0));
  CHECK(disk->late_writes(start).empty());
  const auto late = disk->late_writes(start + second);
  REQUIRE(late.size() == 1);
  disk->late_noted(late[0]);
  CHECK(count_files(root.path()) == 1);
  CHECK_FALSE(disk->keeps_old(start + second));
}

TEST_CASE("where nobody can say who holds it, an exchanged file is kept for ten seconds") {
  if (geteuid() != 0) {
    MESSAGE("skipped: becoming another user needs root");
    return;
  }
  const TempFolder root;
  test::write(root / "state", "old");
  REQUIRE(chmod(root.path().c_str(), 0777) == 0);
  const int status = test::in_child([&] {
    const auto kept = [&] { return count_files(root.path()) == 2; };
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)
      return 9;
    const auto disk = real_disk(root.path());
    if (!disk || !(*disk)->replace("state", digest_of("old"), "ours"))
      return 8;
    (void)(*disk)->keeps_old(Time{});
    if (!(*disk)->late_writes(Time{} + Millis(9'999)).empty() || !kept())
      return 7;
    return (*disk)->late_writes(Time{} + Millis(10'000)).empty() && !kept() ? 0 : 6;
  });
  CHECK(status == 0);
}

TEST_CASE("what only looks like a kept file is left alone") {
  const TempFolder root;
  test::write(root / "state", "now");
  test::write(root / "secret", "not ours");
  const std::string name = displaced_name("state", digest_of("old"));
  const std::string plain = displaced_name("plain", digest_of("old"));
  REQUIRE(link((root / "secret").c_str(), (root / name).c_str()) == 0);
  REQUIRE(symlink("secret", (root / plain).c_str()) == 0);
  test::write(root / ".state.0123.was", "short");
  test::write(root / (".state." + std::string(32, 'x') + "-01234567.was"), "no digest");
  const auto disk = disk_of(root.path());
  REQUIRE(disk->list("", 0));
  CHECK(disk->late_writes(Time{}).empty());
  CHECK(disk->late_writes(Time{} + Millis(70'000)).empty());
  CHECK(count_files(root.path()) == 6);
  CHECK(displaced_name(std::string(255, 'x'), digest_of("old")).empty());
}

TEST_CASE("an exchanged file nobody writes to is removed after a second") {
  const TempFolder root;
  test::write(root / "state", "old");
  const auto disk = disk_of(root.path());
  REQUIRE(disk->replace("state", digest_of("old"), "ours"));
  const Time start{};
  CHECK(disk->late_writes(start).empty());
  CHECK(count_files(root.path()) == 2);
  CHECK(disk->late_writes(start + Millis(1000)).empty());
  CHECK(count_files(root.path()) == 1);
}

}  // namespace baton
