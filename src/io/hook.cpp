#include "io/hook.h"

#include <chrono>
#include <csignal>
#include <deque>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

namespace baton {
namespace {

constexpr std::size_t kMaxWaiting = 1000;
constexpr std::chrono::seconds kTooLong{30};

/// A descriptor from which `text` can be read; -1 when there is none to be had.
int readable(std::string_view text) {
  const int fd = memfd_create("baton-notify", MFD_CLOEXEC);
  if (fd < 0)
    return -1;
  if (write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  close(fd);
  return -1;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

class CommandHook : public Hook {
 public:
  CommandHook(std::vector<std::string> argv, std::vector<std::string> env)
      : argv_(std::move(argv)), env_(std::move(env)) {}

  void tell(const std::string& json) override {
    if (argv_.empty())
      return;
    if (waiting_.size() == kMaxWaiting)
      waiting_.pop_front();
    waiting_.push_back(json);
    tend();
  }

  void tend() override {
    if (pid_ > 0) {
      const pid_t ended = waitpid(pid_, nullptr, WNOHANG);
      if (ended == 0) {
        if (std::chrono::steady_clock::now() - since_ > kTooLong)
          (void)kill(-pid_, SIGKILL);
        return;
      }
      pid_ = 0;
    }
    if (waiting_.empty())
      return;
    start(waiting_.front());
    waiting_.pop_front();
  }

  bool busy() const override { return pid_ > 0 || !waiting_.empty(); }

 private:
  void start(const std::string& json) {
    const int input = readable(json + "\n");
    if (input < 0)
      return;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const std::vector<char*> argv = pointers(argv_);
    const std::vector<char*> env = pointers(env_);
    if (posix_spawn(&pid_, argv_[0].c_str(), &actions, &attributes, argv.data(), env.data()) != 0)
      pid_ = 0;
    since_ = std::chrono::steady_clock::now();
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(input);
  }

  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  std::deque<std::string> waiting_;
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace

std::unique_ptr<Hook> command_hook(std::vector<std::string> argv, std::vector<std::string> env) {
  return std::make_unique<CommandHook>(std::move(argv), std::move(env));
}

}  // namespace baton
