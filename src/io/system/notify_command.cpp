#include "io/system/notify_command.h"

#include <cerrno>
#include <csignal>
#include <deque>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "io/files/fd.h"
#include "io/system/command.h"
#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::size_t kMaxWaiting = 1000;

/// A descriptor to read `text` from; -1 when none is left.
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

/// Translates the exit status of the shim.
std::string fault_in(int status) {
  const auto is = [&](shim::ShimExit exit) {
    return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(exit);
  };
  if (is(shim::ShimExit::recorded))
    return {};
  if (is(shim::ShimExit::program_failed))
    return "did not exit with 0";
  if (is(shim::ShimExit::program_late))
    return "was ended because it took longer than its `timeout`";
  return "could not be run";
}

class CommandHook : public NotifyCommand {
 public:
  explicit CommandHook(NotifyCall call) : env_(std::move(call.env)) {
    if (call.argv.empty())
      return;
    argv_ = {std::move(call.shim), shim::kCallVersion, shim::kModeTell,
             std::to_string(call.timeout.count())};
    argv_.insert(argv_.end(), call.argv.begin(), call.argv.end());
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) == 0) {
      life_ = Fd(ends[0]);
      ours_ = Fd(ends[1]);
    }
  }
  ~CommandHook() override {
    ours_.reset();
    while (pid_ > 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  CommandHook(const CommandHook&) = delete;
  CommandHook& operator=(const CommandHook&) = delete;
  CommandHook(CommandHook&&) = delete;
  CommandHook& operator=(CommandHook&&) = delete;

  void send(const std::string& json) override {
    if (argv_.empty())
      return;
    if (waiting_.size() == kMaxWaiting) {
      waiting_.pop_front();
      ++dropped_;
    }
    waiting_.push_back(json);
    poll();
  }

  void poll() override {
    if (pid_ > 0) {
      int status = 0;
      const pid_t ended = waitpid(pid_, &status, WNOHANG);
      if (ended == 0)
        return;
      fault_ = ended == pid_ ? fault_in(status) : std::string();
      pid_ = 0;
      awaited_ = {};
    }
    if (waiting_.empty())
      return;
    if (!start(waiting_.front()))
      ++dropped_;
    waiting_.pop_front();
  }

  const std::string& fault() const override { return fault_; }
  bool busy() const override { return pid_ > 0 || !waiting_.empty(); }
  std::size_t unsent() const override { return dropped_ + waiting_.size() + (pid_ > 0 ? 1U : 0U); }

 private:
  bool start(const std::string& json) {
    const Fd input(life_ ? readable(json + "\n") : -1);
    if (!input) {
      fault_ = "could not be started: no descriptor or memory is left";
      return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input.get(), 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    // Must be the last one: its target number may be the number of another descriptor.
    posix_spawn_file_actions_adddup2(&actions, life_.get(), shim::kLifeFd);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const std::vector<char*> argv = pointers_to(argv_);
    const std::vector<char*> env = pointers_to(env_);
    if (const int fault =
            posix_spawn(&pid_, argv_[0].c_str(), &actions, &attributes, argv.data(), env.data());
        fault != 0) {
      pid_ = 0;
      fault_ = "could not be started: " + std::generic_category().message(fault);
    } else {
      awaited_ = AwaitedChild(pid_);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid_ > 0;
  }

  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  std::deque<std::string> waiting_;
  /// Objects that were dropped because too many waited, or because no program could be started.
  std::size_t dropped_ = 0;
  std::string fault_;
  pid_t pid_ = 0;  ///< of the shim
  AwaitedChild awaited_;
  Fd life_;
  Fd ours_;  ///< only this process has this end, so it closes whenever the daemon ends
};

}  // namespace

std::unique_ptr<NotifyCommand> make_notify_command(NotifyCall call) {
  return std::make_unique<CommandHook>(std::move(call));
}

}  // namespace baton
