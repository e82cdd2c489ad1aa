// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dialect.h"

namespace baton::testing {

/// A dialect with everything `rules` has not: own writes, admissions, rules across documents,
/// requests of its own. For tests only.
///
/// A flow is `toy/{flow}.json`: {"stage": WORD, "items": [TEXT...], "owner": TEXT, "count": N,
/// "partial": BOOL}, and beside it `toy/{flow}.log`, one line per finished handover.
///
/// | stage   | does                                                                            |
/// |---------|---------------------------------------------------------------------------------|
/// | work    | starts a worker                                                                 |
/// | next    | writes stage `work` and count + 1                                               |
/// | both    | starts a worker for `main` and, in the same step, writes count 1 if it is not 1 |
/// | log     | appends a line to the log, then writes stage `done`                             |
/// | spin    | writes count + 1 for ever                                                       |
/// | stale   | a write that assumes something else than what is accepted                       |
/// | stop, pause | the flow's own control                                                      |
///
/// Items only grow: a version that lacks some is a stale overwrite and merged. `owner` belongs to
/// baton: a version that changes it is put back. `partial`: not complete yet. A flow whose document
/// says `"conflict": true` breaks a rule across documents.
const Dialect& toy_dialect();

}  // namespace baton::testing
