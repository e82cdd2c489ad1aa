#pragma once

#include <string>

#include "core/run.h"

namespace baton {

/// How a run ended, for people: `failed (exit_1)`. Where its program was never entered, with what
/// its shim says of that: which program, and what the system said.
std::string outcome_text(const Run& run);

/// The reason alone, with what stands behind it; empty when there is none.
std::string reason_text(const Run& run);

/// The command that shows what a run has said about its failure.
std::string logs_command(const Run& run);

}  // namespace baton
