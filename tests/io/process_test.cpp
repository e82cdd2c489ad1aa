// SPDX-License-Identifier: Apache-2.0
#include "io/system/process.h"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "print.h"

using baton::parse_stat;

TEST_CASE("the stat line is read behind the last bracket of the name") {
  const std::string rest = " S 7 8 9 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 1 0 4711 1000 20";
  struct Row {
    std::string text;
    bool good;
  };
  for (const Row& row :
       {Row{"12 (sh)" + rest, true}, Row{"12 (a) S 1 (b c)" + rest, true},
        Row{"12 ()" + rest, true}, Row{"", false}, Row{"12", false}, Row{"12 (sh) S 7", false},
        Row{"x (sh)" + rest, false}, Row{"12 sh" + rest, false}, Row{") (" + rest, false}}) {
    CAPTURE(row.text);
    const auto stat = parse_stat(row.text);
    REQUIRE(stat.has_value() == row.good);
    if (row.good) {
      CHECK(stat->pid == 12);
      CHECK(stat->parent == 7);
      CHECK(stat->state == 'S');
      CHECK(stat->start_ticks == 4711);
    }
  }
}

TEST_CASE("zombies are dead") {
  for (const char state : {'R', 'S', 'D', 'T', 't', 'I'})
    CHECK(baton::ProcessStat{.state = state}.alive());
  for (const char state : {'Z', 'X'})
    CHECK_FALSE(baton::ProcessStat{.state = state}.alive());
}

TEST_CASE("a word of a command line is a whole word") {
  const std::string words("shim\0run\0abc", 12);
  CHECK(baton::has_word(words, "abc"));
  CHECK(baton::has_word(words, "shim"));
  CHECK_FALSE(baton::has_word(words, "ab"));
  CHECK_FALSE(baton::has_word(words, "run\nabc"));
}

TEST_CASE("a process is opened only if number, start time and command line fit") {
  const auto self = baton::process_stat(getpid());
  REQUIRE(self);
  CHECK(self->parent == getppid());
  CHECK_FALSE(baton::open_process({getpid(), self->start_ticks + 1, "x"}));
  CHECK_FALSE(baton::open_process({getpid(), self->start_ticks, "no such word"}));
  CHECK_FALSE(baton::open_process({0, 0, ""}));
  CHECK_FALSE(baton::open_process({-1, 0, ""}));
  CHECK_FALSE(baton::boot_id().empty());
}

TEST_CASE("the user of a process is known, also where /proc shows root in its place") {
  CHECK(baton::user_of_process(getpid()) == geteuid());
  CHECK_FALSE(baton::user_of_process(0));
  const pid_t child = fork();
  if (child == 0) {
    baton::hide_memory();
    while (true)
      pause();
  }
  CHECK(baton::user_of_process(child) == geteuid());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(baton::user_of_process(child));
}

TEST_CASE("PID 1 takes in other children, but not those somebody waits for") {
  const pid_t child = fork();
  if (child == 0)
    _exit(7);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  // Shims of other tests may have ended meanwhile, so only this one is looked at.
  {
    const baton::AwaitedChild awaited(child);
    const baton::AwaitedChild twice(child);
    (void)baton::reap_others();
  }
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(baton::reap_others() >= 1);
  CHECK(waitpid(child, nullptr, WNOHANG) == -1);
}
