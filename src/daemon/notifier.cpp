#include "daemon/notifier.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/text.h"
#include "engine/decide/status.h"
#include "engine/state/flow_record.h"

namespace baton {
namespace {

/// Whether the end of a run is no news for a person: the agent succeeded, or it never ran and baton
/// starts it again.
bool well(const Event& event) {
  return event.why.starts_with("succeeded") || event.why.starts_with(kDidNotRun);
}

/// Whether baton passes the event to the `notify:` command, because a person wants to know it.
bool worth_telling(const Event& event) {
  static constexpr std::array kWords = {
      std::string_view("notice"),
      std::string_view("held"),
      std::string_view("paused"),
      std::string_view("finished"),
      std::string_view("rejected"),
      std::string_view("conflict"),
      std::string_view("disk_full"),
      std::string_view("restored"),
      std::string_view("not_written"),
      std::string_view("late_write"),
      std::string_view("gone"),
      std::string_view("could_not_stop"),
      // Each of these comes from one dialect.
      std::string_view("approval_wanted"),
      std::string_view("escalated"),
      std::string_view("stalled"),
      std::string_view("doubted"),
      std::string_view("premature_completion"),
      std::string_view("owner_dead"),
      std::string_view("cost_limit"),
      std::string_view("gates_unusable"),
      std::string_view("workflow_changed"),
      std::string_view("put_aside"),
      std::string_view("warning"),
  };
  if (event.event == "ended")
    return !well(event);
  return std::find(kWords.begin(), kWords.end(), event.event) != kWords.end();
}

/// Whether the shim failed. The next start will fail in the same way.
bool shim_is_at_fault(const Event& event) {
  const std::string begin = std::string(kDidNotRun) + " (shim_";
  return event.event == "ended" && event.why.starts_with(begin);
}

spdlog::level::level_enum level_of(const Event& event) {
  const bool well = event.event == "finished" && event.why == kCompleted;
  return !well && (worth_telling(event) || shim_is_at_fault(event)) ? spdlog::level::warn
                                                                    : spdlog::level::info;
}

}  // namespace

class Notifier::OnRoot final : public Observer {
 public:
  OnRoot(Notifier& notifier, std::string root) : notifier_(notifier), root_(std::move(root)) {}
  void happened(const Event& event) override { notifier_.tell(root_, event); }

 private:
  Notifier& notifier_;
  std::string root_;
};

std::unique_ptr<Observer> Notifier::on(std::string root) {
  return std::make_unique<OnRoot>(*this, std::move(root));
}

void Notifier::configure(const ServiceConfig& config) {
  // Stays true: a root that the configuration no longer names may still have agents.
  several_ = several_ || config.roots.size() + config.awaited.size() > 1;
  if (config.notify == notify_ && config.notify_timeout == timeout_)
    return;
  notify_ = config.notify;
  timeout_ = config.notify_timeout;
  if (command_)
    former_.push_back(std::move(command_));
  drop_former();
  fault_.clear();
  command_ = std::make_unique<NotifyCommand>(
      NotifyCall{config.shim, timeout_, config.notify, config.notify_env});
}

void Notifier::tend() {
  for (const auto& hook : former_)
    hook->poll();
  drop_former();
  command_->poll();
  note_fault();
}

void Notifier::drop_former() {
  std::erase_if(former_, [this](const auto& hook) {
    if (hook->busy())
      return false;
    unsent_ += hook->unsent();
    return true;
  });
}

void Notifier::note_fault() {
  if (command_->fault() == fault_)
    return;
  fault_ = command_->fault();
  if (fault_.empty())
    spdlog::warn("notify: " + printable(notify_.front()) + " works again");
  else
    spdlog::warn("notify: " + printable(notify_.front()) + " " + printable(fault_) +
                 ", so an event may have been told to nobody; not said again until it works");
}

void Notifier::finish(Millis patience) {
  constexpr Millis kPause{20};
  for (Millis passed{0}; busy() && passed < patience; passed += kPause) {
    std::this_thread::sleep_for(kPause);
    tend();
  }
  std::size_t untold = unsent_ + command_->unsent();
  for (const auto& hook : former_)
    untold += hook->unsent();
  if (untold > 0)
    spdlog::warn("not told through notify: " + std::to_string(untold) +
                 (untold == 1 ? " event" : " events"));
}

void Notifier::tell(const std::string& root, const Event& event) {
  std::string line = event.event;
  if (event.flow != FlowId{})
    line += " " + text(event.flow);
  if (!event.subject.empty())
    line += " [" + event.subject + "]";
  if (!event.role.empty())
    line += " " + event.role;
  if (!event.run.empty())
    line += " run " + event.run.substr(0, 8);
  if (!event.why.empty())
    line += ": " + event.why;
  if (several_)
    line.insert(0, root + ": ");
  spdlog::log(level_of(event), printable(line));
  if (!worth_telling(event))
    return;
  Json notified = event_json(event);
  // A full disk keeps the event out of the journal.
  if (event.seq == 0)
    notified.set("seq", Json());
  notified.set("root", Json(root));
  command_->send(notified.dump());
  note_fault();
}

}  // namespace baton
