// SPDX-License-Identifier: Apache-2.0
#include "io/watch/watch.h"

#include <thread>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/print.h"
#include "io/temp_folder.h"
#include "io/watch/inotify_tree.h"
#include "io/watch/poller.h"
#include "io/watch/watch_scope.h"

namespace baton {

using test::TempFolder;
namespace fs = std::filesystem;
using Paths = std::set<std::string>;

namespace {

// Collects what a watch reports. `until` waits as long as it takes, but not for ever.
class Watched {
 public:
  Watched(const std::string& root, std::vector<WatchedFolder> folders,
          const WatchOptions& options = {})
      : watch_(watch(
            io_, root, std::move(folders), [this](const Changes& changes) { add(changes); },
            options)) {}

  bool until(const std::function<bool()>& done) {
    constexpr int kRounds = 2000;
    for (int i = 0; i < kRounds && !done(); ++i) {
      io_.restart();
      io_.run_for(std::chrono::milliseconds(10));
    }
    return done();
  }
  bool saw(const std::string& path) {
    return until([&] { return paths.contains(path); });
  }
  bool rescanned(const std::string& why) {
    return until([&] { return rescans.contains(why); });
  }
  /// ConfiguredParts off everything that has happened so far: a file made now is reported last.
  void sync(const std::string& root) {
    const std::string name = "sync" + std::to_string(++syncs_);
    test::write(root + "/" + name, "");
    REQUIRE(saw(name));
    paths.erase(name);
  }
  void forget() {
    paths.clear();
    rescans.clear();
  }
  void end() { watch_.reset(); }
  std::string describe() const { return watch_->describe(); }
  bool polls() const { return watch_->polls(); }

  Paths paths;
  Paths rescans;
  std::vector<std::pair<std::string, std::string>> renames;
  std::function<void()> on_change;

 private:
  void add(const Changes& changes) {
    paths.insert(changes.paths.begin(), changes.paths.end());
    rescans.insert(changes.rescans.begin(), changes.rescans.end());
    renames.insert(renames.end(), changes.renames.begin(), changes.renames.end());
    if (on_change)
      on_change();
  }
  asio::io_context io_;
  std::unique_ptr<Watch> watch_;
  int syncs_ = 0;
};

}  // namespace

TEST_CASE("inotify masks mean what they are taken for") {
  struct Row {
    std::uint32_t mask;
    EventMeaning seen;
  };
  for (const Row& row : {Row{IN_CLOSE_WRITE, EventMeaning::file},
                         Row{IN_MOVED_TO, EventMeaning::file},
                         Row{IN_MOVED_FROM, EventMeaning::file},
                         Row{IN_DELETE, EventMeaning::file},
                         Row{IN_CREATE, EventMeaning::file_made},
                         Row{IN_MODIFY, EventMeaning::nothing},
                         Row{IN_ATTRIB, EventMeaning::nothing},
                         Row{IN_OPEN, EventMeaning::nothing},
                         Row{IN_CREATE | IN_ISDIR, EventMeaning::folder},
                         Row{IN_MOVED_TO | IN_ISDIR, EventMeaning::folder},
                         Row{IN_DELETE | IN_ISDIR, EventMeaning::folder},
                         Row{IN_MOVED_FROM | IN_ISDIR, EventMeaning::folder_away},
                         Row{IN_OPEN | IN_ISDIR, EventMeaning::nothing},
                         Row{IN_DELETE_SELF, EventMeaning::self},
                         Row{IN_MOVE_SELF, EventMeaning::self},
                         Row{IN_DELETE_SELF | IN_ISDIR, EventMeaning::self},
                         Row{IN_UNMOUNT, EventMeaning::self},
                         Row{IN_IGNORED, EventMeaning::watch_ended},
                         Row{IN_Q_OVERFLOW, EventMeaning::overflow},
                         Row{0, EventMeaning::nothing}}) {
    CAPTURE(row.mask);
    CHECK(meaning(row.mask) == row.seen);
  }
  CHECK((kFolderMask & IN_MODIFY) == 0U);
  CHECK((kFolderMask & (IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE)) == 0U);
}

TEST_CASE("reach says which folders matter") {
  const WatchScope scope({{"a/b", 1}, {"c", 0}, {"a/b/deep/er", 0}});
  CHECK(scope.level("") == WatchScope::kOnTheWay);
  CHECK(scope.level("a") == WatchScope::kOnTheWay);
  CHECK(scope.level("a/b") == 1);
  CHECK(scope.level("a/b/x") == 0);
  CHECK_FALSE(scope.level("a/b/x/y"));
  CHECK_FALSE(scope.level("a/bc"));
  CHECK(scope.level("a/b/deep") == 0);
  CHECK(scope.level("a/b/deep/er") == 0);
  CHECK(scope.level("c") == 0);
  CHECK_FALSE(scope.level("c/d"));
  CHECK(WatchScope({{"", 2}}).level("x/y") == 0);
}

TEST_CASE("network file systems are known by their magic number") {
  CHECK(network_file_system(0x6969) == "nfs");
  CHECK(network_file_system(0x65735546) == "fuse");
  CHECK(network_file_system(0xEF53).empty());      // ext4
  CHECK(network_file_system(0x794C7630).empty());  // overlay
}

TEST_CASE("differences of stamps are what came, went, changed or was too young") {
  const FileStates before{{"same", {1, 1, 1, 1, false}},   {"gone", {}},
                          {"young", {1, 1, 1, 1, true}},   {"size", {1, 1, 1, 1, false}},
                          {"inode", {1, 1, 1, 1, false}},  {"modified", {1, 1, 1, 1, false}},
                          {"changed", {1, 1, 1, 1, false}}};
  const FileStates after{{"same", {1, 1, 1, 1, false}},   {"new", {}},
                         {"young", {1, 1, 1, 1, false}},  {"size", {1, 1, 1, 2, false}},
                         {"inode", {1, 1, 2, 1, false}},  {"modified", {2, 1, 1, 1, false}},
                         {"changed", {1, 2, 1, 1, false}}};
  CHECK(differences(before, after) ==
        Paths{"gone", "new", "young", "size", "inode", "modified", "changed"});
}

TEST_CASE("a file that is renamed is reported with both names") {
  const TempFolder root;
  test::write(root / "f/a", "1");
  test::write(root / "elsewhere/x", "1");
  Watched watched(root.path(), {{"", 0}, {"f", 0}});
  fs::rename(root / "f/a", root / "f/b");
  fs::rename(root / "f/b", root / "f/c");
  fs::rename(root / "elsewhere/x", root / "f/x");
  fs::create_hard_link(root / "f/c", root / "f/d");
  fs::remove(root / "f/c");
  watched.sync(root.path());
  CHECK(watched.renames ==
        std::vector<std::pair<std::string, std::string>>{{"f/a", "f/b"}, {"f/b", "f/c"}});
}

TEST_CASE("every way to change a file is seen, and nothing else") {
  const TempFolder root;
  test::write(root / "f/written", "1");
  test::write(root / "f/appended", "1");
  test::write(root / "f/replaced", "1");
  test::write(root / "f/removed", "1");
  test::write(root / "f/away", "1");
  test::write(root / "f/read", "1");
  test::write(root / "elsewhere/x", "1");
  Watched watched(root.path(), {{"", 0}, {"f", 0}});
  test::write(root / "f/written", "2");
  std::ofstream(root / "f/appended", std::ios::app) << "2";
  fs::copy_file(root / "elsewhere/x", root / "elsewhere/y");
  fs::rename(root / "elsewhere/y", root / "f/replaced");
  fs::remove(root / "f/removed");
  fs::rename(root / "f/away", root / "elsewhere/away");
  fs::create_hard_link(root / "elsewhere/x", root / "f/link");
  fs::create_symlink("/etc/passwd", root / "f/symlink");
  REQUIRE(mkfifo((root / "f/pipe").c_str(), 0600) == 0);
  test::write(root / "f/with blank $(touch x).json", "1");
  test::slurp(root / "f/read");
  test::write(root / "elsewhere/x", "2");
  watched.sync(root.path());
  CHECK(watched.paths == Paths{"f/written", "f/appended", "f/replaced", "f/removed", "f/away",
                               "f/link", "f/symlink", "f/pipe", "f/with blank $(touch x).json"});
  CHECK(watched.rescans.empty());
}

TEST_CASE("A19 an open file is reported when it is closed, not before") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 0}});
  std::ofstream file(root / "state");
  file << "half" << std::flush;
  watched.sync(root.path());
  CHECK(watched.paths.empty());
  file.close();
  CHECK(watched.saw("state"));
}

TEST_CASE("many changes of one file are one") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 0}});
  int calls = 0;
  watched.on_change = [&calls] { ++calls; };
  for (int i = 0; i < 500; ++i)
    test::write(root / "state", std::to_string(i));
  CHECK(watched.saw("state"));
  watched.sync(root.path());
  CHECK(calls <= 2);
}

TEST_CASE("new folders are watched before anything in them is missed") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 3}});
  constexpr int kTimes = 200;
  std::thread writer([&] {
    for (int i = 0; i < kTimes; ++i)
      test::write(root / std::to_string(i) + "/b/c/state", "1");
  });
  for (int i = 0; i < kTimes; ++i) {
    CAPTURE(i);
    REQUIRE(watched.saw(std::to_string(i) + "/b/c/state"));
  }
  writer.join();
  watched.forget();
  for (int i = 0; i < kTimes; ++i)
    test::write(root / std::to_string(i) + "/b/c/state", "2");
  for (int i = 0; i < kTimes; ++i) {
    CAPTURE(i);
    REQUIRE(watched.saw(std::to_string(i) + "/b/c/state"));
  }
}

TEST_CASE("a folder that is missing at first is watched when it comes") {
  const TempFolder root;
  Watched watched(root.path(), {{"a/b", 0}});
  test::write(root / "a/other", "1");
  test::write(root / "a/b/state", "1");
  CHECK(watched.saw("a/b/state"));
  CHECK_FALSE(watched.paths.contains("a/other"));
  fs::remove_all(root / "a");
  test::write(root / "a/b/state2", "1");
  CHECK(watched.saw("a/b/state2"));
  watched.forget();
  test::write(root / "a/b/state2", "2");
  CHECK(watched.saw("a/b/state2"));
}

TEST_CASE("a folder that is moved in, renamed or moved out") {
  const TempFolder outer;
  const std::string root = outer / "root";
  test::write(root + "/keep", "");
  test::write(outer / "tree/sub/state", "1");
  Watched watched(root, {{"", 3}});
  fs::rename(outer / "tree", root + "/in");
  CHECK(watched.saw("in/sub/state"));
  watched.forget();
  fs::rename(root + "/in", root + "/renamed");
  CHECK(watched.saw("renamed/sub/state"));
  CHECK(watched.rescanned("folder_gone"));
  watched.sync(root);
  watched.forget();
  test::write(root + "/renamed/sub/state", "2");
  CHECK(watched.saw("renamed/sub/state"));
  watched.forget();
  fs::rename(root + "/renamed", outer / "out");
  CHECK(watched.rescanned("folder_gone"));
  test::write(outer / "out/sub/state", "3");
  watched.sync(root);
  watched.paths.erase("renamed");  // that it has gone
  CHECK(watched.paths.empty());
}

TEST_CASE("folders that change places are both still watched") {
  const TempFolder root;
  test::write(root / "a/sub/one", "1");
  test::write(root / "b/sub/two", "1");
  Watched watched(root.path(), {{"", 3}});
  REQUIRE(renameat2(AT_FDCWD, (root / "a").c_str(), AT_FDCWD, (root / "b").c_str(),
                    RENAME_EXCHANGE) == 0);
  watched.sync(root.path());
  watched.forget();
  test::write(root / "a/sub/two", "2");
  test::write(root / "b/sub/one", "2");
  watched.sync(root.path());
  CHECK(watched.paths == Paths{"a/sub/two", "b/sub/one"});
}

TEST_CASE("a storm of folder renames leaves nothing deaf and reports no stale path") {
  const TempFolder root;
  constexpr int kFolders = 10;
  for (int i = 0; i < kFolders; ++i)
    test::write(root / "x" + std::to_string(i) + "/sub/state", "1");
  Watched watched(root.path(), {{"", 2}});
  std::thread mover([&] {
    for (int round = 0; round < 300; ++round) {
      const std::string number = std::to_string(round % kFolders);
      fs::rename(root / "x" + number, root / "y" + number);
      fs::rename(root / "y" + number, root / "x" + number);
    }
  });
  watched.until([&] { return watched.paths.size() >= kFolders; });
  mover.join();
  watched.sync(root.path());
  watched.forget();
  Paths expected;
  for (int i = 0; i < kFolders; ++i) {
    test::write(root / "x" + std::to_string(i) + "/sub/state", "2");
    expected.insert("x" + std::to_string(i) + "/sub/state");
  }
  watched.sync(root.path());
  CHECK(watched.paths == expected);
}

TEST_CASE("A39 a root that is deleted, made again, renamed or replaced") {
  const TempFolder outer;
  const std::string root = outer / "deep/root";
  test::write(root + "/f/state", "1");
  Watched watched(root, {{"f", 0}});
  SUBCASE("deleted and made again") {
    fs::remove_all(root);
    CHECK(watched.rescanned("root_replaced"));
    CHECK(watched.describe().find("missing") != std::string::npos);
  }
  SUBCASE("deleted with its parent") {
    fs::remove_all(outer / "deep");
    CHECK(watched.rescanned("root_replaced"));
  }
  SUBCASE("renamed away") {
    fs::rename(root, root + ".old");
    CHECK(watched.rescanned("root_replaced"));
  }
  SUBCASE("its parent renamed away") {
    fs::rename(outer / "deep", outer / "old");
    CHECK(watched.rescanned("root_replaced"));
  }
  SUBCASE("replaced unseen") {
    fs::rename(root, root + ".old");
  }
  watched.forget();
  fs::create_directories(root);
  CHECK(watched.rescanned("root_replaced"));
  test::write(root + "/f/state", "2");
  CHECK(watched.saw("f/state"));
  watched.forget();
  test::write(root + "/f/state", "3");
  CHECK(watched.saw("f/state"));
  CHECK(watched.describe().starts_with("inotify"));
}

TEST_CASE("a root that is missing at first is waited for") {
  const TempFolder outer;
  Watched watched(outer / "a/b/root", {{"", 1}});
  CHECK(watched.describe() == "the root is missing; baton waits for it in " + outer.path());
  test::write(outer / "a/b/root/f/state", "1");
  CHECK(watched.rescanned("root_replaced"));
  test::write(outer / "a/b/root/f/state", "2");
  CHECK(watched.saw("f/state"));
}

TEST_CASE("A21 an overflow of the queue ends in a rescan, and new folders are watched") {
  const TempFolder root;
  std::ifstream limit_file("/proc/sys/fs/inotify/max_queued_events");
  int limit = 0;
  limit_file >> limit;
  if (limit == 0 || limit > 200'000) {
    MESSAGE("skipped: the queue is too long to be filled");
    return;
  }
  fs::create_directory(root / "f");
  Watched watched(root.path(), {{"", 2}});
  for (int i = 0; i < limit + 100; ++i) {
    const int fd = open((root / "f/" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600);
    close(fd);
  }
  test::write(root / "late/sub/state", "1");
  fs::rename(root / "f", root / "g");
  CHECK(watched.rescanned("overflow"));
  watched.sync(root.path());
  watched.forget();
  test::write(root / "late/sub/state", "2");
  test::write(root / "g/0", "2");
  watched.sync(root.path());
  CHECK(watched.paths == Paths{"late/sub/state", "g/0"});
}

TEST_CASE("what cannot be watched is polled, and said") {
  const TempFolder root;
  test::write(root / "a/sub/state", "1");
  test::write(root / "b/sub/state", "1");
  Watched watched(root.path(), {{"", 2}}, {.poll_every = Millis(20), .max_watches = 3});
  CHECK(watched.polls());
  CHECK(watched.describe().find("max_user_watches") != std::string::npos);
  test::write(root / "a/sub/state", "22");
  test::write(root / "b/sub/state", "22");
  CHECK(watched.saw("a/sub/state"));
  CHECK(watched.saw("b/sub/state"));
  test::write(root / "b/sub/new/x", "1");
  test::write(root / "b/new", "1");
  CHECK(watched.saw("b/new"));
  fs::remove(root / "b/sub/state");
  watched.forget();
  CHECK(watched.saw("b/sub/state"));
}

TEST_CASE("folders that come when the watches have run out are polled after a rescan") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 2}}, {.poll_every = Millis(20), .max_watches = 1});
  CHECK_FALSE(watched.polls());
  test::write(root / "a/state", "1");
  CHECK(watched.rescanned("watch_limit"));
  CHECK(watched.polls());
  watched.forget();
  test::write(root / "a/state", "22");
  CHECK(watched.saw("a/state"));
  fs::remove_all(root / "a");
  CHECK(watched.until([&] { return !watched.polls(); }));
}

TEST_CASE("polling alone sees files come, change and go, and the root too") {
  const TempFolder outer;
  const std::string root = outer / "root";
  test::write(root + "/f/state", "1");
  Watched watched(root, {{"f", 0}}, {.poll_every = Millis(20), .poll_only = true});
  CHECK(watched.describe() == "polled every 20ms");
  test::replace(root + "/f/state", "2");
  CHECK(watched.saw("f/state"));
  test::write(root + "/f/new", "2");
  CHECK(watched.saw("f/new"));
  watched.forget();
  fs::remove(root + "/f/new");
  CHECK(watched.saw("f/new"));
  watched.forget();
  fs::rename(root, root + ".old");
  CHECK(watched.rescanned("root_replaced"));
  watched.forget();
  test::write(root + "/f/state", "3");
  CHECK(watched.rescanned("root_replaced"));
  watched.forget();
  test::write(root + "/f/state", "44");
  CHECK(watched.saw("f/state"));
}

TEST_CASE("the rescan by the timer comes again and again") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 0}}, {.rescan_every = Millis(20)});
  CHECK(watched.rescanned("timer"));
  watched.forget();
  CHECK(watched.rescanned("timer"));
}

TEST_CASE("a file that is linked into place is seen at once, also when that is its only name") {
  const TempFolder root;
  fs::create_directories(root / "f");
  fs::create_directories(root / "elsewhere");
  Watched watched(root.path(), {{"f", 0}});
  test::write(root / "elsewhere/x", "1");
  fs::create_hard_link(root / "elsewhere/x", root / "f/linked");
  fs::remove(root / "elsewhere/x");
  CHECK(watched.saw("f/linked"));
  const std::string folder = root / "f";
  const auto way = [](const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); };
  Fd unnamed(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644));
  REQUIRE(unnamed);
  REQUIRE(::write(unnamed.get(), "2", 1) == 1);
  const Fd closed(open(way(unnamed).c_str(), O_RDONLY | O_CLOEXEC));
  unnamed = Fd();
  REQUIRE(linkat(AT_FDCWD, way(closed).c_str(), AT_FDCWD, (folder + "/named").c_str(),
                 AT_SYMLINK_FOLLOW) == 0);
  CHECK(watched.saw("f/named"));
}

TEST_CASE("a link to a folder is not followed") {
  const TempFolder outer;
  test::write(outer / "out/state", "1");
  fs::create_directories(outer / "root");
  fs::create_directory_symlink(outer / "out", outer / "root/link");
  Watched watched(outer / "root", {{"", 2}, {"link", 0}});
  fs::create_directory_symlink(outer / "out", outer / "root/link2");
  CHECK(watched.saw("link2"));
  test::write(outer / "out/state", "2");
  watched.sync(outer / "root");
  CHECK(watched.paths == Paths{"link2"});
}

TEST_CASE("the callback may end the watch") {
  const TempFolder root;
  Watched watched(root.path(), {{"", 0}});
  int calls = 0;
  watched.on_change = [&] {
    ++calls;
    watched.end();
  };
  test::write(root / "a", "1");
  CHECK(watched.until([&] { return calls == 1; }));
  test::write(root / "b", "1");
  watched.until([] { return false; });
  CHECK(calls == 1);
}

TEST_CASE("A46 without descriptors the watch polls until there are some") {
  const TempFolder root;
  test::write(root / "f/state", "1");
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
  Watched watched(root.path(), {{"", 2}}, {.poll_every = Millis(20), .rescan_every = Millis(50)});
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit none{static_cast<rlim_t>(next), old.rlim_max};
  fs::create_directory(root / "g");
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  watched.until([&] { return watched.polls(); });
  setrlimit(RLIMIT_NOFILE, &old);
  CHECK(watched.polls());
  test::write(root / "g/state", "1");
  CHECK(watched.saw("g/state"));
  CHECK(watched.until([&] { return !watched.polls(); }));
}

}  // namespace baton
