// SPDX-License-Identifier: Apache-2.0
#include "io/system/notify_command.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/system/command.h"
#include "io/system/spawn.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::size_t kMaxWaiting = 1000;
constexpr std::size_t kMostInCall = 100;

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

}  // namespace

NotifyCommand::NotifyCommand(NotifyCall call) : env_(std::move(call.env)), gather_(call.gather) {
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

NotifyCommand::~NotifyCommand() {
  ours_.reset();
  while (pid_ > 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void NotifyCommand::send(const std::string& json) {
  if (argv_.empty())
    return;
  if (waiting_.size() == kMaxWaiting) {
    waiting_.pop_front();
    ++dropped_;
  }
  if (waiting_.empty())
    first_ = std::chrono::steady_clock::now();
  waiting_.push_back(json);
  poll();
}

void NotifyCommand::hurry() {
  gather_ = Millis(0);
  poll();
}

void NotifyCommand::poll() {
  if (!collected() || !due())
    return;
  if (!start(take()))
    dropped_ += with_it_;
}

/// Whether no program runs any more.
bool NotifyCommand::collected() {
  if (pid_ == 0)
    return true;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0)
    return false;
  fault_ = ended == pid_ ? fault_in(status) : std::string();
  pid_ = 0;
  awaited_ = {};
  return true;
}

bool NotifyCommand::due() const {
  return waiting_.size() >= kMostInCall ||
         (!waiting_.empty() && std::chrono::steady_clock::now() - first_ >= gather_);
}

/// The next objects as one array.
std::string NotifyCommand::take() {
  with_it_ = std::min(waiting_.size(), kMostInCall);
  std::string array = "[";
  for (std::size_t i = 0; i < with_it_; ++i) {
    array += (i == 0 ? "" : ",") + waiting_.front();
    waiting_.pop_front();
  }
  return array + "]";
}

bool NotifyCommand::start(const std::string& json) {
  const auto input = file_in_memory(json + "\n", argv_[0]);
  if (!life_ || !input) {
    fault_ = "could not be started: no descriptor or memory is left";
    return false;
  }
  auto shim = spawn_shim({.argv = argv_,
                          .descriptors = {{input->get(), STDIN_FILENO},
                                          {STDERR_FILENO, STDERR_FILENO},
                                          {life_.get(), shim::kLifeFd}},
                          .env = env_});
  if (!shim) {
    fault_ = "could not be started: " + shim.error().message;
    return false;
  }
  pid_ = static_cast<pid_t>(shim->pid);
  awaited_ = std::move(shim->awaited);
  return true;
}

}  // namespace baton
