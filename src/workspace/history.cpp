// SPDX-License-Identifier: Apache-2.0
#include "workspace/history.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "engine/decide/run_completion.h"
#include "engine/state/flow_record.h"
#include "io/agents/run_directory.h"
#include "io/agents/run_outcome.h"
#include "io/files/lock.h"
#include "io/system/clock.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {

namespace {

Run as_it_is(Run run, bool served) {
  auto end = served || !run.live() ? std::nullopt : unrecorded_end(run);
  if (!end)
    return run;
  const Time ended = end->ended;
  return ended_run(std::move(run), *end, ended);
}

}  // namespace

Result<std::vector<Run>> History::runs(const RunQuery& query) const {
  auto found = journal->runs(query);
  if (found)
    for (Run& run : *found)
      run = as_it_is(std::move(run), served);
  return found;
}

Result<Run> History::run(const std::string& id_prefix) const {
  auto found = journal->run(id_prefix);
  return found ? as_it_is(*std::move(found), served) : std::move(found);
}

Result<std::vector<History>> histories_of(const Context& context) {
  std::vector<History> found;
  std::optional<Error> last;
  for (const Context& one : context.each()) {
    auto folder = one.state_folder();
    if (!folder && folder.error().code == Errc::not_found)
      continue;
    if (!folder && context.roots().size() > 1) {
      warn_once(printable(describe(folder.error())));
      last = folder.error();
      continue;
    }
    if (!folder)
      return tl::unexpected(folder.error());
    auto journal = read_journal(*folder);
    if (journal)
      found.push_back({one.root(), *std::move(journal), daemon_lives(*folder)});
    else if (journal.error().code != Errc::not_found)
      return pass_on(journal);
  }
  if (found.empty() && last)
    return tl::unexpected(*last);
  return found;
}

std::optional<Time> silent_since(const Run& run, Time now) {
  constexpr Millis kNotable = std::chrono::minutes(1);
  if (!run.live())
    return std::nullopt;
  const Time last = std::max(run.started, last_output_in(run.directory).value_or(run.started));
  return now - last >= kNotable ? std::optional(last) : std::nullopt;
}

Result<FlowId> choose_history(std::vector<History>& histories, const std::string& name) {
  std::vector<KnownFlows> known;
  for (const History& each : histories) {
    auto ledger = each.journal->ledger(real_clock()->now());
    if (!ledger)
      return pass_on(ledger);
    KnownFlows& one = known.emplace_back(KnownFlows{each.root, {}});
    for (const auto& [flow, record] : records_of(*ledger))
      if (flow != FlowId{})
        one.flows.push_back(flow);
  }
  auto place = choose_flow(name, known);
  if (!place)
    return pass_on(place);
  History chosen = std::move(histories[place->root]);
  histories.clear();
  histories.push_back(std::move(chosen));
  return place->flow;
}

}  // namespace baton
