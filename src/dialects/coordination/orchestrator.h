#pragma once

#include "dialects/coordination/session.h"
#include "dialects/coordination/writes.h"

namespace baton::coordination {

/// Brings orchestrator_state.json to what runs and decision say: phase, live agents, counters, log,
/// status. Writes only what differs; creates the file when it is missing.
void write_orchestrator(Scene& scene, Standing standing, Writes& writes, Decision& decision);

/// The text of a fresh orchestrator_state.json.
std::string fresh_orchestrator(const std::string& session_id, Time wall);

}  // namespace baton::coordination
