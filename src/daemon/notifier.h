#pragma once

// Tells people what happened: in the log, and by the command of `notify:`.
// The command runs beside the daemon (io/system/notify_command.h), so only `finish` waits for it.

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/ports.h"
#include "daemon/service.h"
#include "io/system/notify_command.h"

namespace baton {

/// Logs every event as one line on stderr, with the root if there are several. Passes events that a
/// person wants to know to the `notify:` command, as JSON by schemas/output/notify.schema.json.
/// Logs when that command begins to fail and when it works again.
class Notifier {
 public:
  explicit Notifier(const ServiceConfig& config) { configure(config); }
  /// Takes a new configuration. If `notify:` is the same, its command keeps the events it has not
  /// sent. If not, the old command sends its remaining events as well.
  void configure(const ServiceConfig& config);
  /// An observer for the events of one root. The notifier must outlive it.
  std::unique_ptr<Observer> on(std::string root);
  /// Call it about every second while `busy`.
  void tend();
  bool busy() const { return command_->busy() || !former_.empty(); }
  /// Waits until all events are sent, but at most `patience`. Logs how many events are not sent.
  void finish(Millis patience);

 private:
  class OnRoot;
  void tell(const std::string& root, const Event& event);
  void drop_former();
  void note_fault();
  std::vector<std::string> notify_ = {""};
  Millis timeout_{0};
  std::unique_ptr<NotifyCommand> command_;
  std::vector<std::unique_ptr<NotifyCommand>> former_;  ///< earlier commands that still send
  std::size_t unsent_ = 0;                              ///< events that such commands did not send
  bool several_ = false;                                ///< there are several roots, or were
  std::string fault_;                                   ///< the fault that was logged last
};

}  // namespace baton
