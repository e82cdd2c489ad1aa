// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells systemd about the state of the daemon through its notification socket (sd_notify(3)). The
// message is one datagram, so baton sends it directly: loading libsystemd would slow down every
// command. Without $NOTIFY_SOCKET every call does nothing.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton {

/// Removes the variables from the environment, so that no child can speak for the daemon.
class ServiceManager {
 public:
  static ServiceManager from_environment();

  /// Waits up to five seconds for a busy manager, which needs this message. The other messages are
  /// dropped if the manager does not read. Errc::io, not_found ...: $NOTIFY_SOCKET names no socket
  /// that takes it.
  Result<void> ready() const { return send("READY=1", kPatience); }
  /// The configuration is read again. Every call has to be followed by `ready`, also if nothing
  /// could be used. The message has the time that `Type=notify-reload` asks for.
  void reloading() const;
  void stopping() const { (void)send("STOPPING=1"); }
  void status(std::string_view text) const { (void)send("STATUS=" + std::string(text)); }
  void alive() const { (void)send("WATCHDOG=1"); }
  /// The interval in which systemd expects `alive`; send it twice as often. Nothing: no watchdog.
  std::optional<Millis> watchdog() const { return watchdog_; }

 private:
  static constexpr Millis kPatience{5000};
  Result<void> send(const std::string& message, Millis patience = Millis{0}) const;
  std::string socket_;
  std::optional<Millis> watchdog_;
};

}  // namespace baton
