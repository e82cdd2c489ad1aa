#pragma once

#include "core/dialect.h"

namespace baton {

// The dialects, one for each layout of state files. A dialect is a table of pure functions. The
// formats and rules are specified in schemas/NAME/README.md. `config/registry.h` lists all of them.

/// Workflow runs below `.agents/runs`: steps with reports, gates, loop-backs and human input.
const Dialect& agent_run_dialect();

/// Loops of an executor, one file each below `.workflow/.loop`.
const Dialect& ccw_loop_dialect();

/// A coordination folder: project manager, developers, QA expert and tech lead work on groups of
/// tasks, and baton is their orchestrator.
const Dialect& coordination_dialect();

/// Loops as state machines below `.loops`: definitions, and the state and event files of their
/// runs.
const Dialect& fsm_loop_dialect();

/// The seven-step workflow, one folder each below `workflow_states`.
const Dialect& ml_workflow_dialect();

/// A layout of the user's own: file patterns, a schema, where the stage stands, and what to start,
/// stop or announce when a subject enters one. Options: `{"rules": [...]}` as in
/// schemas/config.schema.json, durations as `..._ms` integers.
const Dialect& rules_dialect();

}  // namespace baton
