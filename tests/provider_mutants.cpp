// SPDX-License-Identifier: Apache-2.0
#include "provider_mutants.h"

#include <map>
#include <span>

#include "config/registry.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

const Dialect& real() {
  return *dialect("agent_run");
}

View with_runs(const View& view, std::span<const Run> runs) {
  View other{view.flow,     view.docs,    view.stages, runs,     view.memo,
             view.requests, view.options, view.env,    view.now, view.wall};
  other.rejected = view.rejected;
  other.rejected_digests = view.rejected_digests;
  other.control = view.control;
  other.refused = view.refused;
  return other;
}

/// Decides as if runs that met a limit had ended in another way.
Decision decide_as(const View& view, Outcome outcome) {
  std::vector<Run> runs(view.runs.begin(), view.runs.end());
  for (Run& run : runs)
    if (says_nothing(run.outcome))
      run.outcome = outcome;
  return real().decide(with_runs(view, runs));
}

Decision counting_limits(const View& view) {
  return decide_as(view, Outcome::failed);
}

Decision keeping_start(const View& view) {
  std::vector<Run> runs(view.runs.begin(), view.runs.end());
  for (Run& run : runs)
    if (says_nothing(run.outcome))
      run.state = RunState::started;
  return real().decide(with_runs(view, runs));
}

const Dialect& mutated(Decision (*decide)(const View&)) {
  static std::map<Decision (*)(const View&), Dialect> all;
  const auto [made, fresh] = all.try_emplace(decide, real());
  if (fresh)
    made->second.decide = decide;
  return made->second;
}

}  // namespace

const std::vector<std::string_view>& provider_mutants() {
  static const std::vector<std::string_view> all = [] {
    // Of the protocol's those that need neither a power cut nor a killed shim.
    std::vector<std::string_view> names = {"release_before_commit", "no_lock", "by_event",
                                           "write_before_journal"};
    for (const std::string_view name :
         {"sees_no_limit", "kept_in_memory", "starts_blindly", "forgets_who_met",
          "limit_is_failure", "limit_in_files", "keeps_start", "echo_counts"})
      names.push_back(name);
    return names;
  }();
  return all;
}

const Dialect& provider_dialect(std::string_view mutant) {
  return mutant == "limit_in_files" ? mutated(counting_limits)
         : mutant == "keeps_start"  ? mutated(keeping_start)
                                    : real();
}

std::shared_ptr<const Adapter> provider_adapter(std::string_view mutant, std::string_view name) {
  Adapter adapter = embedded_adapter(name);
  if (mutant == "limit_is_failure") {
    adapter.errors.clear();
    adapter.events.clear();
  }
  return std::make_shared<const Adapter>(std::move(adapter));
}

}  // namespace baton::testing
