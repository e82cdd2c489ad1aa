// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells people what happened: in the log, and by the command of `notify:`.
// The command runs beside the daemon (io/system/notify_command.h), so only `finish` waits for it.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/ports.h"
#include "daemon/notify_facts.h"
#include "daemon/service.h"
#include "io/system/notify_command.h"

namespace baton {

/// What is known of the event's flow or root at this moment.
using FactsOf = std::function<std::optional<NotifyFacts>(const Event&)>;

/// Logs every event as one line on stderr, with the root if there are several. Passes events that a
/// person wants to know to the `notify:` command, as JSON by schemas/output/notify.schema.json.
/// Logs when that command begins to fail and when it works again.
class Notifier {
 public:
  /// Takes the events of one root. Until `ask` is called, notifications have only what the event
  /// says.
  class RootObserver final : public Observer {
   public:
    RootObserver(Notifier& notifier, std::string root)
        : notifier_(notifier), root_(std::move(root)) {}
    void ask(FactsOf facts_of) { facts_of_ = std::move(facts_of); }
    void happened(const Event& event) override { notifier_.tell(root_, event, facts_of_); }

   private:
    Notifier& notifier_;
    std::string root_;
    FactsOf facts_of_;
  };

  explicit Notifier(const ServiceConfig& config) { configure(config); }
  /// Takes a new configuration. If `notify:` is the same, its command keeps the events it has not
  /// sent. If not, the old command sends its remaining events as well.
  void configure(const ServiceConfig& config);
  /// An observer for the events of one root. The notifier must outlive it.
  std::unique_ptr<RootObserver> on(std::string root);
  /// Call it about every second while `busy`.
  void tend();
  bool busy() const { return command_->busy() || !former_.empty(); }
  /// Waits until all events are sent, but at most `patience`. Logs how many events are not sent.
  void finish(Millis patience);

 private:
  void tell(const std::string& root, const Event& event, const FactsOf& facts_of);
  bool is_news(const std::string& root, const Event& event,
               const std::optional<NotifyFacts>& facts);
  void drop_former();
  void note_fault();
  std::vector<std::string> notify_ = {""};
  Millis timeout_{0};
  std::unique_ptr<NotifyCommand> command_;
  std::vector<std::unique_ptr<NotifyCommand>> former_;  ///< earlier commands that still send
  std::size_t unsent_ = 0;                              ///< events that such commands did not send
  bool several_ = false;                                ///< there are several roots, or were
  std::string fault_;                                   ///< the fault that was logged last
  /// Root and flow whose files are known to be gone. Each further file has an event of its own.
  std::set<std::pair<std::string, FlowId>> gone_;
};

}  // namespace baton
