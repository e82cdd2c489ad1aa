// SPDX-License-Identifier: Apache-2.0
#include "io/system/state_folder.h"

#include <cstdlib>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/lock.h"
#include "io/files/root.h"
#include "io/print.h"
#include "io/temp_folder.h"

namespace baton {

using test::TempFolder;
namespace fs = std::filesystem;

namespace {

template <class T>
Errc code_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

std::vector<StateParent> asked(const std::string& path) {
  return {{path, true}};
}

/// What a child process does while the test looks on; it ends with the object.
class Child {
 public:
  template <class Act>
  explicit Child(Act act) {
    int ready[2] = {-1, -1};
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const auto kept = act();
      const bool notified = write(ready[1], "x", 1) == 1;
      while (notified && kept)
        pause();
      _exit(1);
    }
    close(ready[1]);
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("the name of a state folder tells the root and is a safe name") {
  CHECK(state_name("/home/a/proj").starts_with("proj-"));
  CHECK(state_name("/home/a/proj").size() == 5 + 16);
  CHECK(state_name("/home/a/proj") == state_name("/home/a/proj"));
  CHECK(state_name("/home/a/proj") != state_name("/home/b/proj"));
  for (const std::string path : {"/", "/x/.hidden", "/x/-rf", "/x/a b\n", "/x/\xc3\xa4"}) {
    CAPTURE(path);
    CHECK(safe_name(state_name(path)));
  }
  CHECK(safe_name(state_name("/" + std::string(255, 'x'))));
}

TEST_CASE("parents of state folders are listed in their order") {
  setenv("BATON_STATE_DIR", "/b", 1);
  setenv("STATE_DIRECTORY", "/c:/d", 1);
  setenv("XDG_STATE_HOME", "/e", 1);
  const char* const before = std::getenv("HOME");
  const std::string home = before == nullptr ? "" : before;
  setenv("HOME", "/f", 1);
  const std::vector<StateParent> expected{{"/o", true, true},  {"/b", true},
                                          {"/c", true},        {"/var/lib/baton", false},
                                          {"/e/baton", false}, {"/f/.local/state/baton", false}};
  CHECK(state_parents("/o", "") == expected);
  unsetenv("BATON_STATE_DIR");
  unsetenv("STATE_DIRECTORY");
  unsetenv("XDG_STATE_HOME");
  CHECK(state_parents("", "/conf").front() == StateParent{"/conf", true});
  CHECK(state_parents("", "").size() == 2);
  setenv("HOME", home.c_str(), 1);
}

TEST_CASE("a state folder is made once, for its owner and group only") {
  const TempFolder outer;
  fs::create_directories(outer / "root");
  fs::create_directory_symlink(outer / "root", outer / "link");
  const mode_t before = umask(0077);
  const auto made = make_state_folder(outer / "root", asked(outer / "state/deep"), {});
  umask(before);
  REQUIRE(made);
  CHECK(*made == outer / "state/deep/" + state_name(outer / "root"));
  struct stat info {};
  REQUIRE(stat(made->c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0750U);
  CHECK(make_state_folder(outer / "link", asked(outer / "state/deep"), {}).value() == *made);
  CHECK(find_state_folder(outer / "link/.", asked(outer / "state/deep")).value() == *made);
  CHECK(code_of(find_state_folder(outer / "other", asked(outer / "state/deep"))) ==
        Errc::not_found);
}

TEST_CASE("state inside a watched tree is refused when asked for, else passed over") {
  const TempFolder outer;
  fs::create_directories(outer / "root");
  fs::create_directories(outer / "root2");
  fs::create_directory_symlink(outer / "root2", outer / "link");
  const std::vector<std::string> roots{outer / "root2"};
  for (const std::string parent : {"root", "root/x/y", "root2", "link/z", "root/../root/x"}) {
    CAPTURE(parent);
    CHECK(code_of(make_state_folder(outer / "root", asked(outer / parent), roots)) == Errc::config);
  }
  CHECK(make_state_folder(outer / "root", {{outer / "root/x", false}, {outer / "ok", false}}, roots)
            .value()
            .starts_with(outer / "ok/"));
  CHECK(make_state_folder(outer / "root", asked(outer / "root3"), roots));
}

TEST_CASE("a parent that cannot be used is refused when asked for, else passed over") {
  const TempFolder outer;
  fs::create_directories(outer / "root");
  test::write(outer / "file", "");
  CHECK_FALSE(make_state_folder(outer / "root", asked(outer / "file/x"), {}));
  CHECK(make_state_folder(outer / "root", {{outer / "file/x", false}, {outer / "ok", false}}, {}));
  CHECK(code_of(make_state_folder(outer / "root", {}, {})) == Errc::config);
  const std::string open = outer / "open/" + state_name(outer / "root");
  fs::create_directories(open);
  REQUIRE(chmod(open.c_str(), 0777) == 0);
  CHECK(code_of(make_state_folder(outer / "root", asked(outer / "open"), {})) == Errc::denied);
}

TEST_CASE("parents that are made are closed, and open ones are refused") {
  const TempFolder outer;
  fs::create_directories(outer / "root");
  const mode_t before = umask(0);
  const auto made = make_state_folder(outer / "root", asked(outer / "state/deep"), {});
  umask(before);
  REQUIRE(made);
  struct stat info {};
  for (const std::string path : {"state", "state/deep"}) {
    REQUIRE(stat((outer / path).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0700U);
  }
  for (const std::string& open : {outer / "state", outer / "state/deep", *made}) {
    CAPTURE(open);
    REQUIRE(stat(open.c_str(), &info) == 0);
    REQUIRE(chmod(open.c_str(), 0777) == 0);
    const auto refused = make_state_folder(outer / "root", asked(outer / "state/deep"), {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::denied);
    CHECK(refused.error().where == open);
    CHECK(refused.error().message.find("`chmod go-w " + open + "`") != std::string::npos);
    REQUIRE(chmod(open.c_str(), info.st_mode & 07777U) == 0);
  }
}

TEST_CASE("A44 a root is locked by one process only, which is named") {
  const TempFolder outer;
  const std::string root = outer / "root";
  fs::create_directories(root);
  const auto first = make_state_folder(root, asked(outer / "first"), {});
  const auto second = make_state_folder(root, asked(outer / "second"), {});
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(daemon_lives(*first));
  {
    const Child holder([&] { return lock_root(root, *first); });
    CHECK(daemon_lives(*first));
    CHECK_FALSE(daemon_lives(*second));
    CHECK(lock_holder(*first).pid == holder.pid());
    CHECK(lock_holder(*first).root == root);
    // The one whose daemon lives, wherever it stands in the list.
    CHECK(find_state_folder(root, {{outer / "second", true}, {outer / "first", true}}).value() ==
          *first);
    // With another state folder the lock on the root itself decides.
    for (const std::string& state : {*first, *second}) {
      const auto refused = lock_root(root, state);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == Errc::served);
      CHECK(refused.error().message.find(std::to_string(holder.pid())) != std::string::npos);
    }
  }
  CHECK_FALSE(daemon_lives(*first));
  {
    const auto mine = lock_root(root, *first);
    REQUIRE(mine);
    CHECK(lock_holder(*first).pid == getpid());
  }
  CHECK(lock_root(root, *second));
}

TEST_CASE("a lock says whether a daemon or a command has it") {
  const TempFolder outer;
  const std::string root = outer / "root";
  fs::create_directories(root);
  const auto state = make_state_folder(root, asked(outer / "state"), {});
  REQUIRE(state);
  {
    const Child holder([&] { return lock_root(root, *state, LockRole::command); });
    CHECK_FALSE(daemon_lives(*state));
    CHECK(lock_holder(*state).role == LockRole::command);
    const auto refused = lock_root(root, *state);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::locked);
    CHECK(refused.error().message.find(std::to_string(holder.pid())) != std::string::npos);
  }
  // It was killed, and what it has signed is still there.
  CHECK_FALSE(daemon_lives(*state));
  const Child holder([&] { return lock_root(root, *state); });
  CHECK(daemon_lives(*state));
  CHECK(lock_holder(*state).role == LockRole::daemon);
  CHECK(code_of(lock_root(root, *state, LockRole::command)) == Errc::served);
}

TEST_CASE("a daemon that was killed lives no more while a child of it still enters its program") {
  const TempFolder outer;
  const std::string root = outer / "root";
  fs::create_directories(root);
  const auto state = make_state_folder(root, asked(outer / "state"), {});
  REQUIRE(state);
  {
    // All descriptors are shared until the program is entered.
    const Child holder([&] {
      auto lock = lock_root(root, *state);
      if (fork() == 0) {
        constexpr useconds_t kEntersAfter = 200'000;
        usleep(kEntersAfter);
        _exit(0);
      }
      return lock;
    });
    CHECK(daemon_lives(*state));
  }
  CHECK_FALSE(daemon_lives(*state));
}

TEST_CASE("a root that was replaced is locked anew, at once or not at all") {
  const TempFolder outer;
  const std::string root = outer / "root";
  fs::create_directories(root);
  const auto state = make_state_folder(root, asked(outer / "state"), {});
  const auto other = make_state_folder(root, asked(outer / "other"), {});
  REQUIRE(state);
  REQUIRE(other);
  auto lock = lock_root(root, *state);
  REQUIRE(lock);
  fs::rename(root, outer / "away");
  CHECK(code_of(lock->lock_root_folder(root)) == Errc::not_found);
  // What was moved away is free for others, the state folder is not.
  CHECK(lock_root(outer / "away", *other));
  CHECK(code_of(lock_root(outer / "away", *state)) == Errc::served);
  test::write(root, "a file");
  CHECK_FALSE(lock->lock_root_folder(root));
  fs::remove(root);
  fs::create_directories(root);
  {
    const Child holder([&] { return lock_root(root, *other); });
    const auto refused = lock->lock_root_folder(root);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::served);
    CHECK(refused.error().message.find(std::to_string(holder.pid())) != std::string::npos);
  }
  {
    const auto taken = lock->lock_root_folder(root);
    REQUIRE(taken);
    CHECK(leads_to(root, taken->get()));
  }
  // The lock does not depend on the descriptor that was handed out.
  CHECK(code_of(lock_root(root, *other)) == Errc::served);
  lock->release_root();
  CHECK(lock_root(root, *other));
  // Nor is a folder that comes back kept from its own daemon by the descriptor it still has.
  const auto once = lock->lock_root_folder(root);
  REQUIRE(once);
  lock->release_root();
  CHECK(lock_root(root, *other));
  const auto twice = lock->lock_root_folder(root);
  REQUIRE(twice);
  CHECK(lock->lock_root_folder(root));
}

TEST_CASE("a lock is not inherited by started programs") {
  const TempFolder outer;
  fs::create_directories(outer / "root");
  const auto state = make_state_folder(outer / "root", asked(outer / "state"), {});
  REQUIRE(state);
  {
    const auto lock = lock_root(outer / "root", *state);
    REQUIRE(lock);
    REQUIRE(std::system("sleep 5 >/dev/null 2>&1 &") == 0);
  }
  CHECK(lock_root(outer / "root", *state));
}

}  // namespace baton
