#pragma once

#include <string_view>

#include "core/catalog.h"
#include "core/event.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Whether a word that a dialect could not be asked about is obeyed all the same: it holds back
/// starts and ends agents.
bool needs_no_dialect(std::string_view verb);

/// What a request came to. `drain` and `reload` are for the engine itself.
struct Handled {
  Reply reply;
  bool drain = false;
  bool reload = false;
};

/// Deals with the verbs every dialect shares: pause, resume, stop, retry, forget, drain, reload.
/// The flow's own dialect has been asked before. Changes go into the draft.
Handled handle(const Request& request, const FlowRecords& records, const Catalog& catalog,
               Draft& draft);

/// Enters an answer and the line of the history that goes with it.
void enter_answer(const Request& request, const Reply& reply, Draft& draft);

/// All files of it that were ever accepted are gone, and none is there that was rejected; as far as
/// is known: to be looked at once more before it is forgotten.
bool is_gone(const FlowRecord& record);

/// Somebody has looked after what could not be ended: nothing of the subject (all: none named) is
/// held for it any more. True: something was.
bool forgive_left(FlowRecord& record, const Subject& subject, Draft& draft);

/// What `resume` does besides answering: the flow is held by nothing of the engine's own any more.
void lift(FlowRecord& record, Draft& draft);

}  // namespace baton
