// SPDX-License-Identifier: Apache-2.0
#include "io/files/disk.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/digest.h"
#include "io/files/safe_open.h"
#include "io/print.h"
#include "io/temp_folder.h"

namespace baton {

using test::count_files;
using test::slurp;
using test::TempFolder;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMax = 1U << 20U;

std::unique_ptr<Disk> disk_of(const std::string& root) {
  auto disk = real_disk(root);
  REQUIRE(disk.has_value());
  return std::move(*disk);
}

template <class T>
Errc code_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

Errc read_code(Disk& disk, const std::string& path) {
  return code_of(disk.read(path, kMax));
}

}  // namespace

TEST_CASE("a folder without links is the folder of that name and no other") {
  const TempFolder root;
  test::write(root / "a/b/c.json", "1");
  fs::create_symlink(root / "a", root / "link");
  fs::create_symlink(root / "a/b", root / "last");
  const auto folder = open_folder_without_links(root / "a/b");
  REQUIRE(folder.has_value());
  CHECK(leads_to(root / "a/b", folder->get()));
  CHECK(open_folder_without_links("/").has_value());
  CHECK(code_of(open_folder_without_links(root / "link/b")) == Errc::not_regular);
  CHECK(code_of(open_folder_without_links(root / "last")) == Errc::not_regular);
  CHECK(code_of(open_folder_without_links(root / "none")) == Errc::not_found);
  CHECK(code_of(RootFolder::open_without_links(root / "link/b")) == Errc::not_regular);
  // The file stays in the held folder when a link takes the name of the folder.
  auto held = RootFolder::open_without_links(root / "a/b");
  REQUIRE(held.has_value());
  const auto disk = real_disk(*std::move(held));
  test::write(root / "outside/c.json", "1");
  fs::rename(root / "a/b", root / "moved");
  fs::create_symlink(root / "outside", root / "a/b");
  CHECK_FALSE(disk->replace("c.json", digest_of("1"), "2").has_value());
  CHECK(test::slurp(root / "outside/c.json") == "1");
}

TEST_CASE("a file is read as a whole with its digest") {
  const TempFolder root;
  test::write(root / "a/b.json", "{\"x\": 1}");
  const auto disk = disk_of(root.path());
  const auto file = disk->read("a/b.json", kMax);
  REQUIRE(file.has_value());
  CHECK(file->bytes == "{\"x\": 1}");
  CHECK(file->digest == digest_of("{\"x\": 1}"));
  CHECK(read_code(*disk, "a/c.json") == Errc::not_found);
  CHECK(read_code(*disk, "a/b.json/c") == Errc::not_found);
}

TEST_CASE("a file keeps its identity under each name, and another one has another") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  const auto identity = [&](const std::string& path) { return disk->read(path, 100)->identity; };
  test::write(root / "a", "1");
  const FileIdentity first = identity("a");
  if (first == 0) {
    MESSAGE("skipped: this file system does not know when a file was born");
    return;
  }
  fs::create_hard_link(root / "a", root / "b");
  std::ofstream(root / "b", std::ios::app) << "2";
  fs::rename(root / "a", root / "c");
  CHECK(identity("b") == first);
  CHECK(identity("c") == first);
  fs::remove(root / "b");
  fs::remove(root / "c");
  // The inode may be the same again.
  test::write(root / "a", "1");
  CHECK(identity("a") != first);
}

TEST_CASE("a log grows at its end, wherever that is, and moves away as it stands") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  REQUIRE(disk->append("a/log", kAtEnd, "1\n", 0).has_value());
  test::write(root / "a/log", "1\nby another\n");
  REQUIRE(disk->append("a/log", kAtEnd, "2\n", 0).has_value());
  CHECK(slurp(root / "a/log") == "1\nby another\n2\n");
  REQUIRE(disk->move("a/log", Digest{}, "b/log").has_value());
  CHECK(slurp(root / "b/log") == "1\nby another\n2\n");
  CHECK(disk->move("a/log", Digest{}, "c/log").has_value());
  CHECK_FALSE(fs::exists(root / "c/log"));
  REQUIRE(disk->append("a/log", kAtEnd, "3\n", 0).has_value());
  CHECK(code_of(disk->move("a/log", Digest{}, "b/log")) == Errc::denied);
}

TEST_CASE("a log that would be too large is put aside first, in place of the one before") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  for (const char* const line : {"one\n", "two\n", "three\n", "four\n"})
    REQUIRE(disk->append("log", kAtEnd, line, 10));
  CHECK(slurp(root / "log") == "four\n");
  CHECK(slurp(root / "log.1") == "three\n");
  // A line that is larger than the limit has a file of its own, and a folder is in nobody's way.
  REQUIRE(disk->append("log", kAtEnd, std::string(20, 'x') + "\n", 10));
  CHECK(slurp(root / "log.1") == "four\n");
  fs::remove(root / "log.1");
  fs::create_directory(root / "log.1");
  REQUIRE(disk->append("log", kAtEnd, "five\n", 10));
  CHECK(slurp(root / "log") == std::string(20, 'x') + "\nfive\n");
  // Only what is appended wherever the end is moves a file.
  REQUIRE(disk->append("other", 0, "12345678\n", 10));
  REQUIRE(disk->append("other", 9, "9\n", 10));
  CHECK(slurp(root / "other") == "12345678\n9\n");
}

TEST_CASE("what is held is locked for everybody else until it is let go") {
  const TempFolder root;
  test::write(root / "a", "a");
  test::write(root / "b", "b");
  const auto disk = disk_of(root.path());
  const auto taken = [&](const char* name) {
    const int file = open((root / name).c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0;
    close(file);
    return locked;
  };
  disk->hold({"a", "b", "missing"});
  CHECK(taken("a"));
  CHECK(taken("b"));
  disk->hold({"a"});
  CHECK(taken("a"));
  CHECK_FALSE(taken("b"));
  // Another file of that name is locked when it is asked for again.
  fs::remove(root / "a");
  test::write(root / "a", "new");
  CHECK_FALSE(taken("a"));
  disk->hold({"a"});
  CHECK(taken("a"));
  // So is one that was made here, whatever else is asked for.
  fs::remove(root / "a");
  REQUIRE(disk->create("a", "newer").has_value());
  CHECK_FALSE(taken("a"));
  disk->hold({"a", "b"});
  CHECK(taken("a"));
  CHECK(taken("b"));
  disk->hold({});
  CHECK_FALSE(taken("a"));
}

TEST_CASE("A04 A05 A08 A09 a path that leads outside is refused") {
  const TempFolder outer;
  test::write(outer / "secret", "secret");
  fs::create_directory(outer / "root");
  test::write(outer / "root/a", "a");
  const auto disk = disk_of(outer / "root");
  for (const std::string& path :
       {std::string("../secret"), std::string("a/../../secret"), std::string("/etc/passwd"),
        std::string("/proc/self/fd/0"), std::string("."), std::string(".."), std::string(""),
        std::string("a//b"), std::string("a/"), std::string("./a"), std::string("a\0b", 3),
        std::string(300, 'x'), std::string(5000, 'x')}) {
    CAPTURE(path);
    CHECK(read_code(*disk, path) == Errc::not_regular);
    CHECK(code_of(disk->create(path, "x")) == Errc::not_regular);
    CHECK(code_of(disk->replace(path, {}, "x")) == Errc::not_regular);
    CHECK(code_of(disk->append(path, 0, "x", 0)) == Errc::not_regular);
    CHECK(code_of(disk->move("a", digest_of("a"), path)) == Errc::not_regular);
  }
  CHECK(count_files(outer.path()) == 1);
  CHECK(count_files(outer / "root") == 1);
}

TEST_CASE("A06 A10 links are not followed, on the way or at the end") {
  const TempFolder outer;
  test::write(outer / "out/secret", "secret");
  fs::create_directory(outer / "root");
  fs::create_directory_symlink(outer / "out", outer / "root/folder");
  fs::create_symlink(outer / "out/secret", outer / "root/file");
  fs::create_symlink("/proc/self/root", outer / "root/magic");
  const auto disk = disk_of(outer / "root");
  CHECK(read_code(*disk, "folder/secret") == Errc::not_regular);
  CHECK(read_code(*disk, "file") == Errc::not_regular);
  CHECK(read_code(*disk, "magic/etc/passwd") == Errc::not_regular);
  CHECK(code_of(disk->replace("file", digest_of("secret"), "x")) == Errc::not_regular);
  CHECK(code_of(disk->append("file", 6, "x", 0)) == Errc::not_regular);
  CHECK(code_of(disk->create("folder/new", "x")) == Errc::not_regular);
  CHECK(code_of(disk->create("folder/new/new", "x")) == Errc::not_regular);
  CHECK(slurp(outer / "out/secret") == "secret");
  CHECK(count_files(outer / "out") == 1);
  const auto below = disk->list("folder", 3);
  CHECK((!below || below->empty()));
}

TEST_CASE("walking the components refuses what openat2 refuses") {
  const TempFolder outer;
  test::write(outer / "out/secret", "secret");
  test::write(outer / "root/a/b", "b");
  fs::create_directory_symlink(outer / "out", outer / "root/folder");
  fs::create_symlink(outer / "out/secret", outer / "root/file");
  auto root = open_folder(outer / "root");
  REQUIRE(root);
  CHECK(safe_open_by_walking(root->get(), "a/b", O_RDONLY));
  CHECK(safe_open_by_walking(root->get(), ".", O_RDONLY | O_DIRECTORY));
  for (const std::string path : {"folder/secret", "file", "folder"}) {
    CAPTURE(path);
    CHECK(code_of(safe_open_by_walking(root->get(), path,
                                       O_RDONLY | (path == "folder" ? O_DIRECTORY : 0))) ==
          Errc::not_regular);
  }
  CHECK(code_of(safe_open_by_walking(root->get(), "a/c", O_RDONLY)) == Errc::not_found);
}

TEST_CASE("A07 a link swapped in between never leads outside") {
  const TempFolder outer;
  test::write(outer / "out/x", "secret");
  test::write(outer / "root/real/x", "fine");
  fs::create_directory_symlink(outer / "out", outer / "root/link");
  const auto disk = disk_of(outer / "root");
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    const std::string a = outer / "root/real";
    const std::string b = outer / "root/link";
    while (!done)
      renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  });
  int fine = 0;
  bool leaked = false;
  for (int i = 0; i < 2000 || (fine == 0 && i < 2'000'000); ++i) {
    const auto file = disk->read("real/x", kMax);
    fine += file ? 1 : 0;
    leaked = leaked || (file && file->bytes != "fine");
    const auto appended = disk->append("real/x", 6, "!", 0);
    leaked = leaked || appended.has_value();
  }
  done = true;
  swapper.join();
  CHECK_FALSE(leaked);
  CHECK(fine > 0);
  CHECK(slurp(outer / "out/x") == "secret");
}

TEST_CASE("A12 A13 what is no regular file is refused at once") {
  const TempFolder root;
  REQUIRE(mkfifo((root / "fifo").c_str(), 0600) == 0);
  fs::create_directory(root / "folder");
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (root / "socket").copy(&address.sun_path[0], sizeof(address.sun_path) - 1);
  REQUIRE(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  std::vector<std::string> names{"fifo", "folder", "socket"};
  constexpr unsigned kZero = 0x105;  // major 1, minor 5
  constexpr unsigned kTty = 0x500;   // major 5, minor 0
  if (mknod((root / "zero").c_str(), S_IFCHR | 0600, kZero) == 0 &&
      mknod((root / "tty").c_str(), S_IFCHR | 0600, kTty) == 0) {
    names.insert(names.end(), {"zero", "tty"});
  } else {
    MESSAGE("skipped: devices cannot be made here");
  }
  const auto disk = disk_of(root.path());
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(read_code(*disk, name) == Errc::not_regular);
    CHECK(code_of(disk->append(name, 0, "x", 0)) == Errc::not_regular);
    CHECK(code_of(disk->replace(name, {}, "x")) == Errc::not_regular);
    CHECK(code_of(disk->create(name, "x")) == Errc::changed);
  }
  close(socket_fd);
}

TEST_CASE("A11 a hard link to a file of another user is refused") {
  const TempFolder root;
  test::write(root / "file", "theirs");
  constexpr uid_t kOther = 12345;
  if (geteuid() != 0 || chown((root / "file").c_str(), kOther, kOther) != 0) {
    MESSAGE("skipped: files cannot be given away here");
    return;
  }
  const auto disk = disk_of(root.path());
  CHECK(disk->read("file", kMax));
  fs::create_hard_link(root / "file", root / "link");
  CHECK(read_code(*disk, "link") == Errc::denied);
}

TEST_CASE("A14 a huge file is refused before it is read") {
  const TempFolder root;
  test::write(root / "sparse", "");
  REQUIRE(truncate((root / "sparse").c_str(), off_t{1} << 40) == 0);
  const auto disk = disk_of(root.path());
  CHECK(read_code(*disk, "sparse") == Errc::too_large);
  CHECK(code_of(disk->replace("sparse", digest_of(""), "x")) == Errc::changed);
  CHECK(code_of(disk->move("sparse", digest_of(""), "b")) == Errc::changed);
  test::write(root / "exact", std::string(100, 'x'));
  CHECK(disk->read("exact", 100));
  CHECK(code_of(disk->read("exact", 99)) == Errc::too_large);
}

TEST_CASE("of a long file the last lines can be read") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  test::write(root / "log", "one\ntwo\nthree\nfour");
  struct Row {
    std::size_t max_bytes;
    std::string expected;
  };
  for (const Row& row : {Row{100, "one\ntwo\nthree\nfour"}, Row{18, "one\ntwo\nthree\nfour"},
                         Row{17, "two\nthree\nfour"}, Row{11, "three\nfour"}, Row{10, "four"},
                         Row{5, "four"}, Row{4, ""}}) {
    CAPTURE(row.max_bytes);
    const auto end = disk->read_end("log", row.max_bytes);
    REQUIRE(end);
    CHECK(end->bytes == row.expected);
    CHECK(end->digest == digest_of(row.expected));
  }
  test::write(root / "empty", "");
  CHECK(disk->read_end("empty", 1)->bytes.empty());
  CHECK(code_of(disk->read_end("none", 1)) == Errc::not_found);
}

TEST_CASE("a part of a file can be read, however long the file is") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  test::write(root / "log", "one\ntwo\nthree\n");
  struct Row {
    std::uint64_t first;
    std::size_t max_bytes;
    std::string expected;
  };
  for (const Row& row : {Row{0, 4, "one\n"}, Row{4, 4, "two\n"}, Row{8, 100, "three\n"},
                         Row{14, 1, ""}, Row{99, 1, ""}, Row{3, 0, ""}}) {
    CAPTURE(row.first);
    const auto part = disk->read_from("log", row.first, row.max_bytes);
    REQUIRE(part);
    CHECK(part->bytes == row.expected);
    CHECK(part->digest == digest_of(row.expected));
    CHECK(part->size_bytes == 14);
    CHECK(part->identity == disk->read("log", 100)->identity);
  }
  CHECK(code_of(disk->read_from("none", 0, 1)) == Errc::not_found);
}

TEST_CASE("A15 a file that grows while it is read is read to the limit at most") {
  const TempFolder root;
  test::write(root / "log", "");
  const auto disk = disk_of(root.path());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    std::ofstream log(root / "log", std::ios::app);
    while (!done)
      log << std::string(4096, 'x') << std::flush;
  });
  bool refused = false;
  while (!refused) {
    const auto file = disk->read("log", 3'000'000);
    refused = !file && file.error().code == Errc::too_large;
    if (file)
      REQUIRE(file->bytes.size() <= 3'000'000);
  }
  done = true;
  writer.join();
}

TEST_CASE("A41 another mount inside the root is not crossed") {
  const TempFolder root;
  fs::create_directory(root / "mount");
  if (mount("none", (root / "mount").c_str(), "tmpfs", 0, "size=64k") != 0) {
    MESSAGE("skipped: nothing can be mounted here");
    return;
  }
  test::write(root / "mount/x", "x");
  const auto disk = disk_of(root.path());
  CHECK(read_code(*disk, "mount/x") == Errc::not_regular);
  const auto listed = disk->list("", 5).value();
  REQUIRE(listed.size() == 1);
  CHECK((listed[0].path == "mount" && listed[0].folder && !listed[0].closed.empty()));
  auto fd = open_folder(root.path());
  CHECK(code_of(safe_open_by_walking(fd->get(), "mount/x", O_RDONLY)) == Errc::not_regular);
  umount((root / "mount").c_str());
}

TEST_CASE("A42 a deep tree is listed without recursion") {
  const TempFolder root;
  std::string path;
  for (int i = 0; i < 300; ++i)
    path += path.empty() ? "d" : "/d";
  fs::create_directories(root / path);
  test::write(root / path + "/leaf", "x");
  test::write(root / "top", "x");
  const auto disk = disk_of(root.path());
  const auto files = [&](unsigned depth) {
    auto entries = disk->list("", depth).value();
    std::erase_if(entries, [](const FileEntry& entry) { return entry.folder; });
    return entries;
  };
  CHECK(files(0).at(0).path == "top");
  CHECK(files(299).size() == 1);
  CHECK(files(100'000).size() == 2);
  CHECK(disk->list("", 299).value().size() == 301);
  CHECK(disk->list("gone", 3).value().empty());
}

TEST_CASE("what stands in a folder's place is told apart from a folder that is missing") {
  const TempFolder root;
  test::write(root / "file", "x");
  fs::create_directory(root / "there");
  REQUIRE(mkfifo((root / "fifo").c_str(), 0600) == 0);
  fs::create_directory_symlink("there", root / "link");
  const auto disk = disk_of(root.path());
  CHECK(disk->list("gone/below", 3).value().empty());
  CHECK(disk->list("there/below", 3).value().empty());
  for (const char* const path : {"file", "file/below", "fifo", "link", "link/below"}) {
    CAPTURE(path);
    CHECK(code_of(disk->list(path, 3)) == Errc::not_regular);
  }
}

TEST_CASE("A45 a full disk is told apart and leaves the old file") {
  const TempFolder root;
  if (mount("none", root.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    MESSAGE("skipped: nothing can be mounted here");
    return;
  }
  {
    test::write(root / "state", "old");
    test::write(root / "log", "line\n");
    test::write(root / "filler", std::string(40'000, 'x'));
    const auto disk = disk_of(root.path());
    const std::string large(60'000, 'y');
    CHECK(code_of(disk->replace("state", digest_of("old"), large)) == Errc::no_space);
    CHECK(code_of(disk->create("new", large)) == Errc::no_space);
    CHECK(code_of(disk->append("log", 5, large, 0)) == Errc::no_space);
    CHECK(code_of(write_file_durably(root / "state", large, 0640)) == Errc::no_space);
    CHECK(slurp(root / "state") == "old");
    CHECK(slurp(root / "log") == "line\n");
    CHECK(count_files(root.path()) == 3);
    fs::remove(root / "filler");
    CHECK(disk->replace("state", digest_of("old"), "new"));
  }
  umount(root.path().c_str());
}

TEST_CASE("A46 no descriptors left is busy, and none leak") {
  const TempFolder root;
  test::write(root / "a", "a");
  const auto disk = disk_of(root.path());
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit none{static_cast<rlim_t>(next), old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto read = disk->read("a", kMax);
  const auto replaced = disk->replace("a", digest_of("a"), "b");
  const auto listed = disk->list("", 1);
  setrlimit(RLIMIT_NOFILE, &old);
  CHECK(code_of(read) == Errc::busy);
  CHECK(code_of(replaced) == Errc::busy);
  CHECK(code_of(listed) == Errc::busy);
  for (int i = 0; i < 1000; ++i) {
    CHECK(disk->read("a", kMax));
    CHECK_FALSE(disk->replace("a", {}, "b"));
    CHECK_FALSE(disk->create("a", "b"));
  }
  const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(after);
  CHECK(after == next);
}

TEST_CASE("create makes folders, and never overwrites") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  REQUIRE(disk->create("a/b/c.json", "1"));
  CHECK(slurp(root / "a/b/c.json") == "1");
  CHECK(code_of(disk->create("a/b/c.json", "2")) == Errc::changed);
  CHECK(slurp(root / "a/b/c.json") == "1");
  CHECK(count_files(root / "a/b") == 1);
}

TEST_CASE("append checks the size, and creates what is expected not to be there") {
  const TempFolder root;
  const auto disk = disk_of(root.path());
  REQUIRE(disk->append("log/x.jsonl", 0, "one\n", 0));
  REQUIRE(disk->append("log/x.jsonl", 4, "two\n", 0));
  CHECK(code_of(disk->append("log/x.jsonl", 4, "three\n", 0)) == Errc::changed);
  CHECK(code_of(disk->append("log/y.jsonl", 4, "three\n", 0)) == Errc::changed);
  CHECK(slurp(root / "log/x.jsonl") == "one\ntwo\n");
}

TEST_CASE("move checks the bytes and overwrites nothing") {
  const TempFolder root;
  test::write(root / "a", "1");
  test::write(root / "b", "2");
  const auto disk = disk_of(root.path());
  CHECK(code_of(disk->move("a", digest_of("x"), "c")) == Errc::changed);
  CHECK(code_of(disk->move("a", digest_of("1"), "b")) == Errc::denied);
  // A file in the place of the folder: what is to be moved is as it was, too.
  CHECK(code_of(disk->move("a", digest_of("1"), "b/a")) != Errc::changed);
  CHECK(code_of(disk->move("gone", digest_of("1"), "c")) == Errc::changed);
  REQUIRE(disk->move("a", digest_of("1"), "old/run/a"));
  CHECK(slurp(root / "old/run/a") == "1");
  CHECK(slurp(root / "b") == "2");
  CHECK_FALSE(fs::exists(root / "a"));
}

TEST_CASE("while the root is away nothing is written, and nothing taken to be gone") {
  const TempFolder above;
  const fs::path root = above / "root";
  test::write(root / "a", "1");
  const auto disk = disk_of(root);
  fs::rename(root, above / "aside");
  for (const bool another : {false, true}) {
    CAPTURE(another);
    if (another)
      fs::create_directory(root);
    CHECK(code_of(disk->replace("a", digest_of("1"), "2")) == Errc::away);
    CHECK(code_of(disk->append("a", 1, "2", 0)) == Errc::away);
    CHECK(code_of(disk->append("a", kAtEnd, "2", 0)) == Errc::away);
    CHECK(code_of(disk->create("b", "2")) == Errc::away);
    CHECK(code_of(disk->move("a", digest_of("1"), "c")) == Errc::away);
    CHECK(code_of(disk->move("b", Digest{}, "c")) == Errc::away);
  }
  CHECK(slurp(above / "aside/a") == "1");
  CHECK(fs::is_empty(root));
}

TEST_CASE("litter of a crash is swept, young or locked files are not") {
  const TempFolder root;
  const std::string litter = ".state.json.0123456789abcdef.tmp";
  test::write(root / litter, "x");
  test::write(root / ".state.json.tmp", "somebody else's");
  auto folder = RootFolder::open(root.path());
  REQUIRE(folder);
  CHECK(remove_leftovers(**folder, {{"", 0}, {"gone", 1}}) == 0);
  CHECK(fs::exists(root / litter));
  test::write(root / ("flows/a/" + litter), "x");
  test::write(root / ("flows/a/deep/" + litter), "not where such files are made");
  test::write(root / "flows/a/state.json", "{}");
  const Fd locked(open((root / litter).c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(flock(locked.get(), LOCK_EX) == 0);
  CHECK(remove_leftovers(**folder, {{"", 0}, {"flows", 1}}, std::chrono::seconds(0)) == 1);
  CHECK_FALSE(fs::exists(root / ("flows/a/" + litter)));
  CHECK(fs::exists(root / litter));
  CHECK(fs::exists(root / ("flows/a/deep/" + litter)));
  CHECK(fs::exists(root / ".state.json.tmp"));
  CHECK(is_temporary_name(litter));
  CHECK(is_temporary_name(temporary_name("x.json")));
  CHECK(temporary_name(std::string(255, 'x')).size() == 255);
  for (const std::string name :
       {".x.0123456789abcdef.json", ".x.0123456789abcdeF.tmp", "x.0123456789abcdef.tmp",
        ".0123456789abcdef.tmp", ".x.123456789abcdef.tmp"}) {
    CAPTURE(name);
    CHECK_FALSE(is_temporary_name(name));
  }
}

TEST_CASE("A39 a root that was replaced is noticed, and the new one held instead") {
  const TempFolder outer;
  test::write(outer / "root/a", "old");
  auto root = RootFolder::open(outer / "root");
  REQUIRE(root);
  const auto disk = real_disk(*root);
  CHECK((*root)->is_current());
  fs::rename(outer / "root", outer / "root.old");
  CHECK_FALSE((*root)->is_current());
  test::write(outer / "root/a", "new");
  // What was moved away is not read on, and what stands there now not before it is held.
  CHECK(code_of(disk->read("a", kMax)) == Errc::away);
  CHECK(code_of(disk->list("", 0)) == Errc::away);
  for (const auto& done :
       {disk->create("b", "x"), disk->replace("a", digest_of("old"), "x"),
        disk->append("c", kAtEnd, "x", 0), disk->move("a", digest_of("old"), "d")})
    CHECK(code_of(done) == Errc::away);
  CHECK_FALSE((*root)->is_current());
  auto found = open_folder(outer / "root");
  REQUIRE(found);
  (*root)->hold(*std::move(found));
  CHECK((*root)->is_current());
  CHECK(disk->read("a", kMax).value().bytes == "new");
  // Let go, it is not read even where the path leads to it.
  (*root)->release();
  CHECK_FALSE((*root)->is_current());
  CHECK(code_of(disk->read("a", kMax)) == Errc::away);
}

TEST_CASE("of an empty folder in the root's place nothing is known") {
  const TempFolder outer;
  test::write(outer / "root/a", "1");
  auto root = RootFolder::open(outer / "root");
  REQUIRE(root);
  const auto disk = real_disk(*root);
  fs::rename(outer / "root", outer / "root.old");
  fs::create_directory(outer / "root");
  (*root)->hold(open_folder(outer / "root").value());
  CHECK(code_of(disk->read("a", kMax)) == Errc::away);
  CHECK(code_of(disk->list("", 0)) == Errc::away);
  test::write(outer / "root/b", "1");
  CHECK(code_of(disk->read("a", kMax)) == Errc::not_found);
  CHECK(disk->list("", 0)->size() == 1);
}

TEST_CASE("files outside a root are written durably with their mode") {
  const TempFolder folder;
  REQUIRE(write_file_durably(folder / "x", "1", 0640));
  REQUIRE(write_file_durably(folder / "x", "22", 0600));
  CHECK(read_file(folder / "x", 2).value() == "22");
  CHECK(code_of(read_file(folder / "x", 1)) == Errc::too_large);
  CHECK(code_of(read_file(folder / "y", 1)) == Errc::not_found);
  CHECK(code_of(read_file(folder.path(), 1)) == Errc::not_regular);
  struct stat info {};
  REQUIRE(stat((folder / "x").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
  CHECK(count_files(folder.path()) == 1);
}

}  // namespace baton
