#pragma once

#include "core/dialect.h"

namespace baton::ccw_loop {

/// One subject, `main`, whose stage is the status.
Stages stages(const View& view);
Decision decide(const View& view);

}  // namespace baton::ccw_loop
