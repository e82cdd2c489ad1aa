#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace baton {

/// Runs the `notify:` command, one JSON object on its stdin each time. It never blocks and its
/// result alters nothing: one runs at a time, others wait (the oldest are dropped when too many
/// do). A shim stands beside each: it ends what does not end in time, with everything the program
/// has started, and does so at once when the daemon is gone.
class NotifyCommand {
 public:
  virtual ~NotifyCommand() = default;
  NotifyCommand() = default;
  NotifyCommand(const NotifyCommand&) = delete;
  NotifyCommand& operator=(const NotifyCommand&) = delete;
  NotifyCommand(NotifyCommand&&) = delete;
  NotifyCommand& operator=(NotifyCommand&&) = delete;

  virtual void tell(const std::string& json) = 0;
  /// Takes in the one that has ended and starts the next one. To be called about every second while
  /// `busy`.
  virtual void tend() = 0;
  virtual bool busy() const = 0;
  /// Why the last program that came to its end has not done its work, as a clause; "" when it has,
  /// or none has come to its end yet.
  virtual const std::string& fault() const = 0;
  /// How many objects have not been told, the one that is being told included.
  virtual std::size_t untold() const = 0;
};

struct NotifyCall {
  std::string shim;  ///< absolute
  Millis timeout;
  std::vector<std::string> argv;  ///< argv[0] is absolute; empty: nothing is started
  std::vector<std::string> env;
};
/// When it is destroyed it ends the program that runs and waits for that, which takes about a
/// second.
std::unique_ptr<NotifyCommand> make_notify_command(NotifyCall call);

}  // namespace baton
