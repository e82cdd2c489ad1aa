// SPDX-License-Identifier: Apache-2.0
#include "remembered.h"

#include <tuple>

#include "core/run_text.h"
#include "engine/state/flow_record.h"

namespace baton::testing {
namespace {

/// Of runs, what decides whether something is made again or stands in the way.
auto standing(const Run& run) {
  return std::tuple(run.state, run.outcome, run.reason, run.forgiven, run.attempt);
}

/// Old runs that say nothing any more either may have dropped.
std::optional<std::string> runs_differ(const FlowRecord& one, const FlowRecord& other,
                                       const char* whose) {
  for (const Run& run : one.runs) {
    const auto known = other.run(run.id);
    if (known == other.runs.end() ? run.live() || left_something(run)
                                  : standing(*known) != standing(run))
      return "run " + run.id + ", as " + whose + " has it";
  }
  return std::nullopt;
}

std::optional<std::string> differ(const FlowRecord& memory, const FlowRecord& journal) {
  if (memory.accepted != journal.accepted)
    return "accepted files";
  if (memory.rejected != journal.rejected)
    return "rejected files";
  if (memory.stages != journal.stages || memory.entries != journal.entries)
    return "stages";
  if (memory.memo != journal.memo)
    return "memo";
  if (memory.origin != journal.origin)
    return "origin";
  if (memory.logs != journal.logs)
    return "logs";
  if (memory.control != journal.control)
    return "control";
  if (auto run = runs_differ(memory, journal, "the daemon"))
    return run;
  return runs_differ(journal, memory, "the journal");
}

}  // namespace

std::optional<std::string> remembered_otherwise(World& world) {
  if (world.engine == nullptr)
    return std::nullopt;
  Ledger ledger = world.journal.ledger(world.clock.now());
  // As at its start, also where the disk was full then.
  (void)let_go(ledger, world.agents.boot());
  (void)set_back(ledger, world.clock.now());
  const FlowRecords journal = records_of(ledger);
  const FlowRecords& memory = world.engine->records();
  const auto book_in = [](const FlowRecords& records, const FlowId& flow) {
    const auto found = records.find(flow);
    if (found != records.end())
      return found->second;
    FlowRecord none;
    none.id = none.control.flow = flow;
    return none;
  };
  for (const FlowRecords* const records : {&memory, &journal})
    for (const auto& [flow, record] : *records)
      if (auto fault = differ(book_in(memory, flow), book_in(journal, flow)))
        return "the next daemon would know otherwise, of " + text(flow) + ": " + *fault;
  return std::nullopt;
}

}  // namespace baton::testing
