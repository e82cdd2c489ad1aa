// SPDX-License-Identifier: Apache-2.0
#pragma once

// Faults of an adapter file that its schema cannot see: a value that nobody puts in, arguments that
// have no place in the command, an `include` that names no adapter.

#include "base/json/document.h"

namespace baton {

/// `file` fits schemas/adapter.schema.json. The findings have no spans yet; see `locate`.
Findings adapter_findings(const Value& file);

}  // namespace baton
