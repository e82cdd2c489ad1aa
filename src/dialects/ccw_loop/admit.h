#pragma once

#include "core/dialect.h"

namespace baton::ccw_loop {

/// The rules between two versions of a master state (T rules of the format page). Both sides write
/// the whole file from copies of their own; what is old in a version is put right, what is new
/// kept.
Admission admit(const View& view, const Change& change);

}  // namespace baton::ccw_loop
