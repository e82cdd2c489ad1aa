#pragma once

#include "core/dialect.h"

namespace baton::ccw_loop {

/// One subject, `main`, whose stage is the status.
Stages stages(const View& view);
Decision decide(const View& view);

/// The values for the prompt of a start (schemas/ccw_loop/prompts), and for commands.
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::ccw_loop
