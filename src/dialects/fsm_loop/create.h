#pragma once

#include <vector>

#include "core/dialect.h"

namespace baton::fsm_loop {

/// `baton start NAME`: a new run of the loop, with the state file it lives by. What the run before
/// left is put into the history. Arguments: `set` (an object, laid over the context), `input`,
/// `max_steps`.
Result<std::vector<Update>> create(const Request& request, const View& view);

}  // namespace baton::fsm_loop
