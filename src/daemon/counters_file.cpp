// SPDX-License-Identifier: Apache-2.0
#include "daemon/counters_file.h"

#include <algorithm>

#include "base/json/document.h"
#include "io/files/disk.h"
#include "io/journal/reader.h"

namespace baton {
namespace {

constexpr unsigned kCountersMode = 0640;
constexpr std::size_t kMostCountersBytes = 16U << 20U;

std::string counters_path(const std::string& state_folder) {
  return state_folder + "/counters.json";
}

std::optional<RootCounters> counters_in(const std::string& state_folder) {
  const auto text = read_file(counters_path(state_folder), kMostCountersBytes);
  const auto json = text ? parse_json(*text) : Result<Json>(fail(Errc::not_found, ""));
  return json ? root_counters_in(**json) : std::nullopt;
}

}  // namespace

Result<RootCounters> read_counters(const std::string& state_folder, Journal& journal,
                                   const std::map<Role, AgentSpec>& agents) {
  auto reader = read_journal(state_folder);
  if (!reader)
    return pass_on(reader);
  auto newest = (*reader)->events({.flow = {}, .since = {}, .limit = 1, .newest = true});
  if (!newest)
    return pass_on(newest);
  const Arrival last = newest->empty() ? 0 : newest->front().seq;
  auto counters = counters_in(state_folder);
  if (!counters) {
    counters = RootCounters{};
    counters->seq = last;
  }
  // An older journal was put back, so its next events have numbers that were used before.
  counters->seq = std::min(counters->seq, last);
  while (counters->seq < last) {
    auto events = (*reader)->events(
        {.flow = {}, .after = counters->seq, .since = {}, .words = {"started", "ended"}});
    if (!events)
      return pass_on(events);
    if (events->empty())
      counters->seq = last;
    for (const Event& event : *events) {
      auto run = is_counted(event) ? journal.run(event.run) : Result<std::optional<Run>>();
      if (!run)
        return pass_on(run);
      counters->count(event, *run, agents);
    }
  }
  return *std::move(counters);
}

Result<void> write_counters(const std::string& state_folder, const RootCounters& counters) {
  return write_file_durably(counters_path(state_folder), json_of(counters).dump(), kCountersMode);
}

}  // namespace baton
