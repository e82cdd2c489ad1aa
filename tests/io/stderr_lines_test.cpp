// SPDX-License-Identifier: Apache-2.0
#include "io/system/stderr_lines.h"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <termios.h>

#include "base/text.h"
#include "io/temp_folder.h"

namespace baton {
namespace {

/// A stderr nobody reads at first, and its reading end.
struct Channel {
  Fd written;
  Fd read;

  /// What lies in it now.
  std::string taken() const {
    std::string all;
    REQUIRE(fcntl(read.get(), F_SETFL, O_NONBLOCK) == 0);
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(read.get(), bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    return all;
  }
};

Channel pipe_of_a_page() {
  int ends[2] = {-1, -1};
  REQUIRE(pipe2(&ends[0], O_CLOEXEC) == 0);
  REQUIRE(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
  return {Fd(ends[1]), Fd(ends[0])};
}

Channel socket_pair() {
  int ends[2] = {-1, -1};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends[0]) == 0);
  return {Fd(ends[1]), Fd(ends[0])};
}

Channel terminal() {
  Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(master);
  REQUIRE((grantpt(master.get()) == 0 && unlockpt(master.get()) == 0));
  Fd own(open(ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(own);
  termios mode{};
  REQUIRE(tcgetattr(own.get(), &mode) == 0);
  cfmakeraw(&mode);
  REQUIRE(tcsetattr(own.get(), TCSANOW, &mode) == 0);
  return {std::move(own), std::move(master)};
}

std::string line_of(int number) {
  return "line " + std::to_string(number) + " " + std::string(100, 'x') + "\n";
}

}  // namespace

TEST_CASE("a stderr that nobody reads stops nothing, and tells what was lost") {
  Channel channel;
  SUBCASE("a pipe") {
    channel = pipe_of_a_page();
  }
  SUBCASE("a socket") {
    channel = socket_pair();
  }
  SUBCASE("a terminal") {
    channel = terminal();
  }
  SUBCASE("a terminal that was stopped") {
    channel = terminal();
    REQUIRE(tcflow(channel.written.get(), TCOOFF) == 0);
  }
  const int before = fcntl(channel.written.get(), F_GETFL);
  StderrLines lines(channel.written.get());
  constexpr int kLines = 20'000;
  for (int i = 0; i < kLines; ++i)
    lines.write(line_of(i));
  // Others who have it are not to find it changed.
  CHECK(fcntl(channel.written.get(), F_GETFL) == before);
  (void)tcflow(channel.written.get(), TCOON);
  // A terminal brings its bytes over when it likes.
  std::string all = channel.taken();
  int more = 0;
  for (constexpr int kMost = 1000; more < kMost && !all.ends_with("\nthe last\n"); ++more) {
    lines.write("the last\n");
    pollfd there{.fd = channel.read.get(), .events = POLLIN, .revents = 0};
    (void)poll(&there, 1, 100);
    all += channel.taken();
  }
  CHECK(all.ends_with("\nthe last\n"));
  // Every line is whole, in order and known: there, or counted as lost where it would be.
  int next = 0;
  int lost = 0;
  all.pop_back();
  for (const std::string& line : split(all, '\n')) {
    CAPTURE(line);
    if (line.find(" lost here: no room to write") != std::string::npos)
      next += lost = std::stoi(line);
    else if (line == "the last")
      ++next;
    else
      CHECK(line + "\n" == line_of(next++));
  }
  CHECK(lost > 0);
  CHECK(next == kLines + more);
}

TEST_CASE("lines to a file are all there") {
  const test::TempFolder scratch;
  const Fd file(open((scratch / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  StderrLines lines(file.get());
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    lines.write(line_of(i));
    all += line_of(i);
  }
  CHECK(test::slurp(scratch / "log") == all);
}

TEST_CASE("a line for which the disk has no room is counted") {
  const test::TempFolder scratch;
  const Fd file(open((scratch / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  signal(SIGXFSZ, SIG_IGN);
  StderrLines lines(file.get());
  lines.write("one\n");
  rlimit size{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &size) == 0);
  const rlimit full{4, size.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  lines.write("two\n");
  REQUIRE(setrlimit(RLIMIT_FSIZE, &size) == 0);
  lines.write("three\n");
  CHECK(test::slurp(scratch / "log") == "one\n1 line was lost here: no room to write\nthree\n");
}

TEST_CASE("a stderr whose reader is gone, or that is closed, is written in vain") {
  Channel channel = pipe_of_a_page();
  signal(SIGPIPE, SIG_IGN);
  StderrLines lines(channel.written.get());
  channel.read.reset();
  lines.write("one\n");
  StderrLines nowhere(-1);
  nowhere.write("one\n");
}

}  // namespace baton
