#pragma once

#include "core/dialect.h"

namespace baton::rules {

/// The dialect's decision. A reaction does its work once per entry into a stage, as soon as its
/// conditions hold and, where it needs one, a person has approved it.
Decision decide(const View& view);

/// A version whose writer cannot have seen what baton set gets that set again.
Admission admit(const View& view, const Change& change);

}  // namespace baton::rules
