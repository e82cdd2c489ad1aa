#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace baton {

/// systemd's notification socket (sd_notify(3)), spoken directly: it is one datagram, and
/// libsystemd would cost every command its loading. Without $NOTIFY_SOCKET every call does nothing.
/// The variables are taken out of the environment, so that no child can speak for us.
class ServiceManager {
 public:
  static ServiceManager from_environment();

  /// Waits a few seconds for a manager that is behind, for it would wait for this in vain. The
  /// others are lost then: nobody who does not read may hold up a daemon.
  void ready() const { send("READY=1", kPatience); }
  void stopping() const { send("STOPPING=1"); }
  void status(std::string_view text) const { send("STATUS=" + std::string(text)); }
  void alive() const { send("WATCHDOG=1"); }
  /// How often `alive` is expected; half of it is a good interval. Nothing: no watchdog.
  std::optional<Millis> watchdog() const { return watchdog_; }

 private:
  static constexpr Millis kPatience{5000};
  void send(const std::string& message, Millis patience = Millis{0}) const;
  std::string socket_;
  std::optional<Millis> watchdog_;
};

}  // namespace baton
