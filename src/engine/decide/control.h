// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the verbs that all dialects share do to one flow or to the whole root: pause, resume, stop,
// retry, forget, drain, reload. Each request gets one answer and one line in the history.
// All changes go into the draft. Which requests wait, and which of them a dialect handles itself,
// is in request_queue.h.

#include <string_view>

#include "core/catalog.h"
#include "core/event.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The hold of a flow that waits at a cap of more than one flow; nullptr: it does not.
const Hold* cap_of(const FlowRecord& record);

/// Whether baton obeys the verb even if it cannot ask the dialect, because the verb only holds back
/// starts and ends agents.
bool needs_no_dialect(std::string_view verb);

/// The result of a request. `drain` and `reload` are left to the engine.
struct Handled {
  Reply reply;
  bool drain = false;
  bool reload = false;
};

/// Handles a request. The caller has asked the flow's dialect before.
Handled handle(const Request& request, const FlowRecords& records, const Catalog& catalog,
               Draft& draft);

/// Enters an answer, and its line in the history if it is the first answer.
void enter_answer(const Request& request, const Reply& reply, Draft& draft);

/// All accepted files of the flow are gone, no rejected file is there, and no agent runs. This is
/// what baton knows so far: look at the files once more before you forget the flow.
bool is_gone(const FlowRecord& record);

/// A person has looked after processes that baton could not end. Lifts the holds for them, of one
/// subject or (if `subject` is empty) of all. False: there were none.
bool forgive_left(FlowRecord& record, const Subject& subject, Draft& draft);

/// What `resume` does besides the answer: lifts the pause or stop, and counts entries into stages
/// from one again.
void lift(FlowRecord& record, Draft& draft);

}  // namespace baton
