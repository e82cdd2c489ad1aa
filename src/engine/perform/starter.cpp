// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/starter.h"

#include "core/run_text.h"

namespace baton {

Starter prepare(Agents& agents, Draft& next, const Plan& plan,
                const std::vector<Launch>& launches) {
  Starter starting;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Start& start = plan.starts[i];
    const Launch& described = launches[i];
    auto shim = agents.prepare(described);
    if (!shim) {
      starting.trouble = "an agent cannot be started: " + describe(shim.error());
      starting.failed.push_back(start);
      continue;
    }
    FlowRecord& record = next.touch(start.key.flow);
    Run run;
    run.id = shim->id;
    run.key = start.key;
    run.attempt = start.attempt;
    run.purpose = start.desired.purpose;
    if (const auto stage = record.stages.find(start.key.subject); stage != record.stages.end())
      run.stage = stage->second.stage;
    run.why = start.desired.why;
    run.agent = start.agent;
    run.session = described.begins_session ? uuid_of(run.id) : described.session;
    run.started = next.now;
    run.pid = shim->pid;
    run.start_ticks = shim->start_ticks;
    run.boot_id = shim->boot_id;
    run.directory = shim->directory;
    run.limits = described.limits;
    run.claims = start.desired.claims;
    for (const auto& [path, row] : record.accepted)
      run.base.push_back(DocRef{path, row.digest});
    next.put(record, run);
    record.last_activity = next.now;
    const bool own = role_text(run.key.role, run.agent) == run.key.role;
    const std::string stand_in = own ? "" : " by the stand-in " + run.agent;
    next.event("started", start.key.flow,
               "attempt " + std::to_string(start.attempt) + stand_in + ": " + start.desired.why,
               start.key.subject, start.key.role, run.id);
    starting.prepared.emplace_back(start, run.id);
  }
  return starting;
}

std::vector<RunEnd> release(Agents& agents, FlowRecords& records, const Prepares& prepared,
                            const std::set<FlowId>& unfit) {
  std::vector<RunEnd> ends;
  for (const auto& [start, id] : prepared) {
    if (unfit.contains(start.key.flow)) {
      agents.revoke(id);
      RunEnd end;
      end.run = id;
      end.outcome = Outcome::voided;
      end.reason = "file_changed";
      ends.push_back(end);
      continue;
    }
    if (agents.release(id))
      continue;
    const Found found = agents.recover(*records[start.key.flow].run(id));
    if (!found.adopted)
      ends.push_back(found.end);
  }
  return ends;
}

}  // namespace baton
