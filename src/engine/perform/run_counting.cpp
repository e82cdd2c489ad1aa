// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/run_counting.h"

#include <set>
#include <utility>
#include <vector>

namespace baton {
namespace {

/// The longest window of a cap.
constexpr Millis kLongestWindow = std::chrono::hours(24);

}  // namespace

std::optional<CountedRun> counted_run(const Run& run, const Setup& setup) {
  if (run.outcome == Outcome::voided)
    return std::nullopt;
  CountedRun row;
  row.id = run.id;
  row.flow = text(run.key.flow);
  row.configuration = setup.configuration;
  row.role = run.key.role;
  row.agent = run.agent;
  row.rule = rule_of(run.key.flow);
  row.dialect = run.key.flow.dialect;
  if (const auto agent = setup.agents.find(run.agent); agent != setup.agents.end())
    row.provider = agent->second.provider;
  row.shell = run.key.role == kActionRole;
  row.started = run.started;
  if (!run.live())
    row.ended = run.ended;
  row.cost_usd = run.cost_usd;
  row.tokens = run.tokens;
  // Its provider kept it from its work.
  if (!run.live() && says_nothing(run.outcome) && !row.cost_usd)
    row.cost_usd = 0;
  return row;
}

/// A row without end whose run the journal does not know was written before a crash. A run without
/// a row was in a file that is gone.
Result<void> RunCounting::settle(Draft& draft, const Setup& setup) {
  const std::uint64_t file = spending_.file();
  auto open = spending_.open_runs();
  if (!open)
    return pass_on(open);
  for (const CountedRun& row : *open) {
    auto known = journal_.run(row.id);
    if (!known)
      return pass_on(known);
    const auto now = *known ? counted_run(**known, setup) : std::nullopt;
    if (!now)
      spending_.drop(row.id);
    else if (now->ended)
      spending_.end(*now);
  }
  spending_.flush();
  auto recent = journal_.runs_since(draft.now - kLongestWindow);
  if (!recent)
    return pass_on(recent);
  auto counted = spending_.counted(draft.now);
  if (!counted)
    return pass_on(counted);
  std::set<RunId> known;
  for (const CountedRun& row : (*counted)->runs)
    known.insert(row.id);
  std::vector<CountedRun> missing;
  for (const Run& run : *recent)
    if (!known.contains(run.id))
      if (auto row = counted_run(run, setup))
        missing.push_back(*std::move(row));
  if (!missing.empty()) {
    if (auto entered = spending_.begin(missing); !entered)
      return entered;
    draft.event("runs_counted_again", {},
                "daemon.db lacked " + std::to_string(missing.size()) +
                    (missing.size() == 1 ? " run" : " runs") +
                    " of the last 24 hours, as a new one does; what this root's journal knows of "
                    "them counts again. Limits of providers and raised caps of an old daemon.db "
                    "are lost");
  }
  settled_ = file;
  return {};
}

Result<const Counted*> RunCounting::take(Draft& draft, const Setup& setup) {
  // A rehearsal changes nothing, and nothing that it shows depends on it.
  if (!setup.rehearsal && settled_ != spending_.file())
    if (auto settled = settle(draft, setup); !settled)
      return pass_on(settled);
  end(draft, setup);
  return spending_.counted(draft.now);
}

Result<void> RunCounting::begin(const Draft& draft, const Prepares& prepared, const Setup& setup) {
  std::vector<CountedRun> rows;
  for (const auto& [start, id] : prepared)
    if (const FlowRecord* const record = draft.find(start.key.flow))
      if (const auto run = record->run(id); run != record->runs.end())
        if (auto row = counted_run(*run, setup))
          rows.push_back(*std::move(row));
  return rows.empty() ? Result<void>() : spending_.begin(rows);
}

void RunCounting::end(const Draft& draft, const Setup& setup) {
  for (const Run& run : draft.commit.runs) {
    if (run.live())
      continue;
    if (const auto row = counted_run(run, setup))
      spending_.end(*row);
    else
      spending_.drop(run.id);
  }
  spending_.flush();
}

void RunCounting::drop(const Prepares& prepared) {
  for (const auto& [start, id] : prepared)
    spending_.drop(id);
  spending_.flush();
}

}  // namespace baton
