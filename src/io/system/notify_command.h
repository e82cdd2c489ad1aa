#pragma once

// Runs the `notify:` command of the configuration, so that people hear about flows. Notifications
// never delay the daemon: one program runs at a time, the others wait, and the oldest are dropped
// when too many wait. A shim ends a program that is too slow, with all its processes, also after
// the daemon has ended.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/pinned.h"
#include "base/time.h"

namespace baton {

class NotifyCommand : private Pinned {
 public:
  virtual ~NotifyCommand() = default;

  virtual void send(const std::string& json) = 0;
  /// Collects a program that has ended and starts the next one. Call it about every second while
  /// `busy`.
  virtual void poll() = 0;
  virtual bool busy() const = 0;
  /// Why the last program that ended did not succeed, as a clause. "" when it succeeded or none has
  /// ended yet.
  virtual const std::string& fault() const = 0;
  /// The number of objects that were not delivered yet, including the one being delivered.
  virtual std::size_t unsent() const = 0;
};

struct NotifyCall {
  std::string shim;  ///< absolute path
  Millis timeout;
  std::vector<std::string> argv;  ///< argv[0] is absolute; empty: nothing is started
  std::vector<std::string> env;
};
/// When it is destroyed, it ends the running program and waits for that, about one second.
std::unique_ptr<NotifyCommand> make_notify_command(NotifyCall call);

}  // namespace baton
