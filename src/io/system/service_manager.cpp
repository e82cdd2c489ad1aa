// SPDX-License-Identifier: Apache-2.0
#include "io/system/service_manager.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/files/fd.h"

namespace baton {
namespace {

std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  unsetenv(name);
  return text;
}

std::optional<long> number(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.socket_ = take_variable("NOTIFY_SOCKET");
  const auto interval = number(take_variable("WATCHDOG_USEC"));
  const auto pid = number(take_variable("WATCHDOG_PID"));
  if (interval && *interval > 0 && (!pid || *pid == getpid()))
    manager.watchdog_ = Millis(*interval / 1000);
  return manager;
}

void ServiceManager::reloading() const {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr long long kMicros = 1'000'000;
  (void)send(
      "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.tv_sec * kMicros + now.tv_nsec / 1000),
      kPatience);
}

Result<void> ServiceManager::send(const std::string& message, Millis patience) const {
  if (socket_.empty())
    return {};
  const std::string where = "NOTIFY_SOCKET=" + socket_;
  sockaddr_un address = {};
  if (socket_.size() < 2 || socket_.size() >= sizeof(address.sun_path) ||
      (socket_[0] != '/' && socket_[0] != '@'))
    return fail(Errc::usage, "is no address of a socket", where);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@')
    address.sun_path[0] = '\0';  // abstract socket
  const Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd)
    return system_error(errno, "cannot be reached", where);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const bool waits = patience > Millis{0};
  const timeval limit{std::chrono::duration_cast<std::chrono::seconds>(patience).count(), 0};
  if (waits)
    (void)setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT),
             reinterpret_cast<const sockaddr*>(&address), length) < 0)
    return system_error(errno, "cannot be reached", where);
  return {};
}

}  // namespace baton
