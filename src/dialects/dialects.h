// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dialect.h"

namespace baton {

// All dialects, one for each layout of state files. A dialect is a table of pure functions.
// schemas/NAME/README.md specifies its files and rules. `config/registry.h` lists all dialects.

/// Workflow runs below `.agents/runs`: steps with reports, gates, loop-backs and human input.
const Dialect& agent_run_dialect();

/// Loops of an executor: one file for each loop, below `.workflow/.loop`.
const Dialect& ccw_loop_dialect();

/// Coordination folders: a project manager, developers, a QA expert and a tech lead work on groups
/// of tasks. baton is their orchestrator.
const Dialect& coordination_dialect();

/// Loops as state machines below `.loops`: definitions, and the state and event files of their
/// runs.
const Dialect& fsm_loop_dialect();

/// The seven-step workflow: one folder for each flow, below `workflow_states`.
const Dialect& ml_workflow_dialect();

/// Layouts that users describe in their configuration: file patterns, a schema, the place of the
/// stage, and what baton starts, stops or announces when a subject enters a stage. Options:
/// `{"rules": [...]}` as in schemas/config.schema.json, with durations as `..._ms` integers.
const Dialect& rules_dialect();

}  // namespace baton
