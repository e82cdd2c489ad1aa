// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dialect.h"

namespace baton {

/// A build queue. The format page is schemas/builds/README.md. Options: `path`, `tries`.
const Dialect& builds_dialect();

}  // namespace baton
