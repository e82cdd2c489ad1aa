#include "app/request_queue.h"

#include <algorithm>

#include "app/control.h"

namespace baton {

void RequestQueue::load(Draft& next) {
  if (look_) {
    std::vector<std::string> damaged;
    waiting_ = port_.pending(damaged);
    for (const std::string& what : damaged)
      next.event("refused", {}, what);
  }
  std::erase_if(waiting_, [&](const Request& r) { return answered_.contains(r.id); });
}

Result<RequestQueue::Orders> RequestQueue::handle(Works& works, const Books& books, Draft& next) {
  Orders orders;
  left_.clear();
  for (const Request& request : waiting_) {
    const Catalog::Entry* const entry = works.catalog.entry(request.flow.dialect);
    const bool own =
        entry != nullptr && std::any_of(entry->dialect->verbs.begin(), entry->dialect->verbs.end(),
                                        [&](auto verb) { return verb == request.verb; });
    next.commit.requests.push_back(request);
    if (own && next.find(request.flow) != nullptr) {
      left_.insert(request.id);
      next.touch(request.flow);
      next.decide.insert(request.flow);
      continue;
    }
    if (entry != nullptr && entry->dialect->create != nullptr &&
        (request.verb == "start" || request.verb == "create")) {
      // A file that is being written may make all the difference; the request waits for it.
      if (works.intake.unsettled(request.flow))
        continue;
      auto begun = works.deliberation.begin(request, next, waiting_);
      if (!begun)
        return pass_on(begun);
      enter_answer(request, *begun, next);
      continue;
    }
    if (request.verb == "recover" && request.flow != FlowId{}) {
      auto recovered = works.recovery.perform(request, next);
      if (!recovered)
        return pass_on(recovered);
      enter_answer(request, *recovered, next);
      continue;
    }
    const Handled handled = baton::handle(request, books, next);
    if (handled.reload) {
      orders.reload = request.id;
      answered_.insert(request.id);
      continue;
    }
    orders.drain = orders.drain || handled.drain;
    next.reply(handled.reply);
  }
  return orders;
}

bool RequestQueue::settle(const Books& books, Draft& next) {
  bool again = false;
  for (const Request& request : waiting_) {
    if (!left_.contains(request.id))
      continue;
    const auto reply = std::find_if(next.commit.replies.begin(), next.commit.replies.end(),
                                    [&](const Reply& each) { return each.request == request.id; });
    if (reply == next.commit.replies.end()) {
      next.reply(baton::handle(request, books, next).reply);
      again = true;
    } else if (reply->accepted && (request.verb == "resume" || request.verb == "start")) {
      lift(next.touch(request.flow), next);
    }
  }
  return again;
}

void RequestQueue::keep_answered(Draft& next) {
  std::erase_if(next.commit.requests, [&](const Request& request) {
    return std::none_of(next.commit.replies.begin(), next.commit.replies.end(),
                        [&](const Reply& reply) { return reply.request == request.id; });
  });
}

void RequestQueue::committed(const Draft& next) {
  for (const Request& request : next.commit.requests)
    answered_.insert(request.id);
  for (const Reply& reply : next.commit.replies)
    answered_.insert(reply.request);
  look_ = false;
}

}  // namespace baton
