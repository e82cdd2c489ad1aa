#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/service.h"
#include "core/ports.h"
#include "io/hook.h"

namespace baton {

/// Tells people what happened: one line per event on stderr, under systemd with the priority it
/// reads; and `notify:` what a person would want to know.
class Teller final : public Observer {
 public:
  explicit Teller(const ServiceConfig& config) { configure(config); }
  /// A command that stays the same goes on with what it has not told yet.
  void configure(const ServiceConfig& config);
  void happened(const Event& event) override;
  Hook& hook() { return *hook_; }

 private:
  std::vector<std::string> notify_ = {""};
  std::unique_ptr<Hook> hook_;
};

}  // namespace baton
