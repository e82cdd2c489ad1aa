#pragma once

#include <string_view>

#include "app/book.h"
#include "core/catalog.h"
#include "core/event.h"

namespace baton {

/// What a request came to. `drain` and `reload` are for the engine itself.
struct Handled {
  Reply reply;
  bool drain = false;
  bool reload = false;
};

/// Deals with the verbs every dialect shares: pause, resume, stop, retry, forget, drain, reload.
/// The flow's own dialect has been asked before. Changes go into the draft.
Handled handle(const Request& request, const Books& books, const Catalog& catalog, Draft& draft);

/// Enters an answer and the line of the history that goes with it.
void enter_answer(const Request& request, const Reply& reply, Draft& draft);

/// What `resume` does besides answering: the flow is held by nothing of the engine's own any more.
void lift(FlowBook& book, Draft& draft);

}  // namespace baton
