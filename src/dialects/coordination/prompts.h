#pragma once

#include "core/dialect.h"

namespace baton::coordination {

/// All an agent needs to know (page section 2.7); agents remember nothing. Values for `${...}`:
/// group, branch, tier (`strong` for a review after three revisions, else `standard`).
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::coordination
