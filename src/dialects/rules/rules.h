#pragma once

#include "core/dialect.h"

namespace baton {

/// A layout of the user's own: file patterns, a schema, where the stage stands, and what to start,
/// stop or announce when a subject enters one. Options: `{"rules": [...]}` as in
/// schemas/config.schema.json, durations as `..._ms` integers. The format page is
/// schemas/rules/README.md.
const Dialect& rules_dialect();

}  // namespace baton
