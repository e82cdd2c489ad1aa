// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sentences about runs for people: in `baton status`, `baton explain` and notifications.
// The words themselves (states, outcomes, reasons) are in core/run.h.

#include <string>

#include "core/run.h"

namespace baton {

/// How a run ended: `failed (exit_1)`. If the program never started, also which program and the
/// error of the operating system, as the shim recorded them.
std::string outcome_text(const Run& run);

/// How a run ended whose work has to be done again. A run that ended well reads as failed:
/// `failed (no_change)`, `failed (empty_answer)`, `failed (permission_denied)`.
std::string repeated_as(const Run& run);

/// The role, with the agent that stands in for it: `developer (by developer_codex)`.
std::string role_text(const Role& role, const Role& agent);

/// The reason with its details; empty if there is none.
std::string reason_text(const Run& run);

/// What the program reported, else the last line of its error output, else of its output, in
/// quotes; empty if it wrote none.
std::string last_words(const Run& run);

/// How a run is named for people: `run 1a2b3c4d`.
std::string run_name(const Run& run);

}  // namespace baton
