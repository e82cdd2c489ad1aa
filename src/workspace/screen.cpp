// SPDX-License-Identifier: Apache-2.0
#include "workspace/screen.h"

#include <csignal>
#include <cstdio>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <termios.h>

#include "base/text.h"
#include "io/files/fd.h"
#include "workspace/output.h"

namespace baton {
namespace {

constexpr char kCtrlC = '\x03';

class RealScreen : public Screen {
 public:
  explicit RealScreen(Fd signals, const sigset_t& before)
      : signals_(std::move(signals)), before_(before) {
    has_keys_ = tcgetattr(STDIN_FILENO, &usual_) == 0;
    enter();
  }
  ~RealScreen() override {
    leave();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  RealScreen(const RealScreen&) = delete;
  RealScreen& operator=(const RealScreen&) = delete;

  void show(const std::string& text) override {
    std::vector<std::string> lines = split(text, '\n');
    const std::size_t most = terminal_lines();
    if (lines.size() > most)
      lines.resize(most);
    // Each line is cleared by itself, so that nothing flickers. Behind a line that fills the
    // terminal, some terminals would clear its last character.
    std::string all = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i)
      all += "\x1b[K" + lines[i] + (i + 1 < lines.size() ? "\r\n" : "");
    print(all + "\x1b[J");
    flush();
  }

  Event wait(std::chrono::milliseconds most) override {
    std::vector<pollfd> ready = {{signals_.get(), POLLIN, 0}};
    if (has_keys_)
      ready.push_back({STDIN_FILENO, POLLIN, 0});
    const int got =
        poll(ready.data(), static_cast<nfds_t>(ready.size()), static_cast<int>(most.count()));
    if (got <= 0)
      return Event::timeout;
    if (ready[0].revents != 0)
      return by_signal();
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) != 1) {
      // The terminal is gone.
      has_keys_ = false;
      return Event::timeout;
    }
    return key == kCtrlC ? Event::interrupted : key == 'q' ? Event::quit : Event::timeout;
  }

 private:
  Event by_signal() {
    signalfd_siginfo signal{};
    if (read(signals_.get(), &signal, sizeof signal) != sizeof signal)
      return Event::timeout;
    switch (signal.ssi_signo) {
      case SIGWINCH:
      case SIGTTOU:
      case SIGTTIN:
        return Event::resized;
      case SIGTSTP:
        leave();
        (void)raise(SIGSTOP);
        enter();
        return Event::resized;
      default:
        return Event::interrupted;
    }
  }

  void enter() {
    if (has_keys_) {
      termios raw = usual_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    print("\x1b[?1049h\x1b[?25l");
    flush();
  }
  void leave() {
    print("\x1b[?25h\x1b[?1049l");
    flush();
    if (has_keys_)
      (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &usual_);
  }

  Fd signals_;
  sigset_t before_;
  termios usual_{};
  bool has_keys_ = false;
};

}  // namespace

std::unique_ptr<Screen> Screen::open() {
  if (!on_terminal())
    return nullptr;
  sigset_t ours;
  sigemptyset(&ours);
  // In the background, SIGTTOU and SIGTTIN would stop it again and again.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGTTOU, SIGTTIN})
    sigaddset(&ours, each);
  sigset_t before;
  if (sigprocmask(SIG_BLOCK, &ours, &before) != 0)
    return nullptr;
  Fd signals(signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return nullptr;
  }
  return std::make_unique<RealScreen>(std::move(signals), before);
}

}  // namespace baton
