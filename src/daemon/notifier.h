#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/ports.h"
#include "daemon/service.h"
#include "io/system/notify_command.h"

namespace baton {

/// Tells people what happened: one line per event on stderr, under systemd with the priority it
/// reads; and `notify:` what a person would want to know, as schemas/output/notify.schema.json
/// says. That its command fails is said when it begins and when it is over. The lines name the root
/// where there are several.
class Notifier {
 public:
  explicit Notifier(const ServiceConfig& config) { configure(config); }
  /// A command that stays the same goes on with what it has not told yet.
  void configure(const ServiceConfig& config);
  /// Hears what happens on one root. The teller must outlive it.
  std::unique_ptr<Observer> on(std::string root);
  /// To be called about every second while `busy`.
  void tend();
  bool busy() const { return command_->busy() || !former_.empty(); }
  /// Waits until everything is told, no longer than that, and says how much is not.
  void finish(Millis patience);

 private:
  class OnRoot;
  void tell(const std::string& root, const Event& event);
  void drop_former();
  void note_fault();
  std::vector<std::string> notify_ = {""};
  Millis timeout_{0};
  std::unique_ptr<NotifyCommand> command_;
  std::vector<std::unique_ptr<NotifyCommand>> former_;  ///< of other configurations, still telling
  std::size_t untold_ = 0;                              ///< by those that are no more
  bool several_ = false;                                ///< roots
  std::string fault_;                                   ///< of the command, as it was said last
};

}  // namespace baton
