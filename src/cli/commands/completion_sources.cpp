// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/completion_sources.h"

#include <iterator>
#include <set>
#include <string_view>

#include "config/registry.h"
#include "core/catalog.h"
#include "io/files/disk.h"
#include "io/journal/reader.h"
#include "io/system/clock.h"
#include "workspace/environment.h"

namespace baton {
namespace {

/// How many runs and events of a history are looked through: the last ones.
constexpr std::size_t kRecent = 1000;

/// The shell hands over what is typed, not what it would make of it.
std::string with_home(const std::string& path) {
  for (const std::string_view home : {"~", "$HOME", "${HOME}"})
    if (path == home || path.starts_with(std::string(home) + "/"))
      return variable("HOME") + path.substr(home.size());
  return path;
}

std::set<FlowId> flows_with_files(const Catalog& catalog, const std::string& root) {
  std::set<FlowId> flows;
  const auto disk = real_disk(root);
  if (!disk)
    return flows;
  std::set<std::string> paths;
  for (const PatternFolder& each : catalog.folders())
    if (const auto listed = (*disk)->list(each.folder, each.depth))
      for (const FileEntry& entry : *listed)
        paths.insert(entry.path);
  for (const std::string& path : paths) {
    const auto match = catalog.match(path);
    const bool copy = match && match->copy && paths.contains(match->copy->beside);
    if (match && !copy && catalog.ignored(path).empty())
      flows.insert(match->flow);
  }
  return flows;
}

FlowRecords journalled_flows(const Context& one) {
  const auto folder = one.state_folder();
  if (!folder)
    return {};
  const auto journal = read_journal(*folder);
  if (!journal)
    return {};
  const auto ledger = (*journal)->ledger(real_clock()->now());
  return ledger ? records_of(*ledger) : FlowRecords{};
}

}  // namespace

const Context* CompletionSources::context() {
  if (!context_)
    context_ = Context::open_anyway({with_home(place_.places.root), with_home(place_.places.config),
                                     with_home(place_.places.state_dir)});
  return *context_ ? &**context_ : nullptr;
}

std::vector<std::pair<const Dialect*, Json>> CompletionSources::configured() {
  std::vector<std::pair<const Dialect*, Json>> all;
  if (context() != nullptr)
    for (const auto& [name, options] : context()->config().dialects)
      if (const Dialect* const known = dialect(name))
        all.emplace_back(known, options);
  return all;
}

std::vector<KnownFlows> CompletionSources::flows(bool gone) {
  std::vector<KnownFlows> all;
  if (context() == nullptr)
    return all;
  const Catalog catalog = Catalog::of(configured());
  for (const Context& one : context()->each()) {
    std::set<FlowId> known = flows_with_files(catalog, one.root());
    if (gone)
      for (const auto& [flow, record] : journalled_flows(one))
        known.insert(flow);
    known.erase(FlowId{});
    all.push_back({one.root(), {known.begin(), known.end()}});
  }
  return all;
}

std::optional<std::pair<FlowId, FlowRecord>> CompletionSources::named_flow() {
  if (context() == nullptr || place_.before.empty())
    return std::nullopt;
  const std::vector<KnownFlows> known = flows(true);
  const auto chosen = choose_flow(place_.before.front(), known);
  if (!chosen)
    return std::nullopt;
  const FlowRecords all = journalled_flows(context()->at(known[chosen->root].root));
  const auto record = all.find(chosen->flow);
  return std::pair(chosen->flow, record == all.end() ? FlowRecord{} : record->second);
}

std::vector<Run> CompletionSources::runs(const std::string& id_prefix) {
  std::vector<Run> all;
  for (const History& each : histories())
    if (auto found = each.journal->runs({.id_prefix = id_prefix, .limit = kRecent}))
      std::move(found->begin(), found->end(), std::back_inserter(all));
  return all;
}

std::vector<Event> CompletionSources::events() {
  std::vector<Event> all;
  for (const History& each : histories())
    if (auto found = each.journal->events({.limit = kRecent, .newest = true}))
      std::move(found->begin(), found->end(), std::back_inserter(all));
  return all;
}

std::vector<History> CompletionSources::histories() {
  if (context() == nullptr)
    return {};
  auto all = histories_of(*context());
  return all ? *std::move(all) : std::vector<History>();
}

}  // namespace baton
