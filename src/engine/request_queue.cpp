// SPDX-License-Identifier: Apache-2.0
#include "engine/request_queue.h"

#include <algorithm>
#include <iterator>

#include "engine/decide/asker.h"
#include "engine/decide/control.h"

namespace baton {
namespace {

/// Whether baton still waits for a file of a flow that the request wants to forget. The file may be
/// back, or baton cannot read it right now. The request waits a short time only: baton rejects a
/// file that stays unreadable.
bool may_be_back(const Request& request, const ConfiguredParts& parts, const FlowRecords& records,
                 const Draft& next) {
  return std::any_of(records.begin(), records.end(), [&](const auto& row) {
    const FlowRecord* const record = next.find(row.first);
    return record != nullptr && (request.flow == FlowId{} || request.flow == row.first) &&
           is_gone(*record) && parts.intake.unsettled(row.first);
  });
}

bool is_own_verb(const Request& request, const ConfiguredParts& parts) {
  const Catalog::Entry* const entry = parts.catalog.entry(request.flow.dialect);
  return entry != nullptr && std::any_of(entry->dialect->verbs.begin(), entry->dialect->verbs.end(),
                                         [&](auto verb) { return verb == request.verb; });
}

/// Whether baton obeys the request before it has looked at all files of the root.
bool goes_before_all(const Request& request, const ConfiguredParts& parts, const Draft& next) {
  if (request.verb == "drain" || request.verb == "reload")
    return true;
  return needs_no_dialect(request.verb) &&
         (request.flow == FlowId{} ||
          (next.find(request.flow) != nullptr && !is_own_verb(request, parts)));
}

Result<bool> entered(const Request& request, Result<Reply> reply, Draft& next) {
  if (!reply)
    return pass_on(reply);
  enter_answer(request, *reply, next);
  return true;
}

}  // namespace

void RequestQueue::answered_before(const std::vector<std::pair<std::string, Reply>>& replies,
                                   bool tell) {
  for (const auto& [id, reply] : replies) {
    answered_.insert(id);
    if (tell)
      unpublished_.emplace(id, reply);
  }
}

/// Publishes answers that the last daemon committed and did not publish. The journal has the
/// answers of weeks; almost all of them were published.
void RequestQueue::tell_again() {
  // Keep the other answers, because one look may not see every request file.
  for (const Request& request : waiting_)
    if (const auto reply = unpublished_.find(request.id); reply != unpublished_.end()) {
      port_.answer(reply->second);
      unpublished_.erase(reply);
    }
}

void RequestQueue::keep_first_sight() {
  std::map<std::string, Request> now;
  for (Request& request : waiting_) {
    if (const auto known = first_.find(request.id); known != first_.end())
      request = known->second;
    now.emplace(request.id, request);
  }
  first_ = std::move(now);
}

/// Names the agents that ask, and refuses what they may not.
void RequestQueue::judge(const ConfiguredParts& parts, const FlowRecords& records, Draft& next) {
  const auto refused = [&](Request& request) {
    const auto why = judge_asker(request, records, parts.setup.agents);
    first_.insert_or_assign(request.id, request);
    if (!why)
      return false;
    next.commit.requests.push_back(request);
    enter_answer(request, Reply{request.id, false, *why}, next);
    return true;
  };
  std::erase_if(waiting_, refused);
}

void RequestQueue::load(const ConfiguredParts& parts, const FlowRecords& records, Draft& next) {
  if (look_) {
    std::vector<std::string> damaged;
    waiting_ = port_.pending(damaged);
    keep_first_sight();
    tell_again();
    for (const std::string& what : damaged)
      next.event("refused", {}, what);
  }
  std::erase_if(waiting_, [&](const Request& r) { return answered_.contains(r.id); });
  judge(parts, records, next);
  const auto stop = std::find_if(waiting_.begin(), waiting_.end(),
                                 [](const Request& each) { return each.verb == "stop"; });
  behind_ = stop != waiting_.end() && std::next(stop) != waiting_.end();
  if (behind_)
    waiting_.erase(std::next(stop), waiting_.end());
}

/// True: the request was left to the flow's dialect, was answered, or has to wait.
Result<bool> RequestQueue::for_flow(ConfiguredParts& parts, const Request& request,
                                    const FlowRecords& records, Draft& next) {
  // A cap of many flows is not lifted for one of them.
  if (const FlowRecord* const known = next.find(request.flow);
      request.verb == "resume" && request.flow != FlowId{} && known != nullptr &&
      known->control.control == Control::run)
    if (const Hold* const cap = cap_of(*known))
      return entered(
          request,
          Reply{request.id, false,
                "it waits at a cap: " + cap->why + "; `" + cap->action + "` lets it go on" +
                    (cap->until ? ", else it does at " + iso_time(*cap->until) : "")},
          next);
  const Catalog::Entry* const entry = parts.catalog.entry(request.flow.dialect);
  if (is_own_verb(request, parts) && next.find(request.flow) != nullptr) {
    left_.insert(request.id);
    // Lift the hold first, so that the dialect can write what follows from the `resume`.
    if (FlowRecord& record = next.touch(request.flow);
        request.verb == "resume" && record.control.reason == kMoved)
      lift(record, next);
    next.decide.insert(request.flow);
    return true;
  }
  const bool begins = (request.verb == "start" || request.verb == "create") && entry != nullptr &&
                      entry->dialect->create != nullptr;
  const bool recovers = request.verb == "recover" && request.flow != FlowId{};
  // The request waits for a file that is being written, because the file may change the answer.
  const bool tries = request.verb == "retry" && request.flow != FlowId{};
  const bool unknown = request.flow != FlowId{} && next.find(request.flow) == nullptr;
  if ((begins || recovers || tries || unknown) && parts.intake.unsettled(request.flow))
    return true;
  if (request.verb == "forget" && may_be_back(request, parts, records, next))
    return true;
  if (const FlowRecord* const known = next.find(request.flow);
      begins && known != nullptr && is_gone(*known))
    return entered(
        request,
        Reply{request.id, false,
              "the files of " + text(request.flow) +
                  " are gone, and what they said last is still in force; `baton forget " +
                  text(request.flow) + "`, then start it anew"},
        next);
  if (begins)
    return entered(request, parts.flow_decider.begin(request, next, waiting_), next);
  if (recovers)
    return entered(request, parts.recovery.perform(request, next), next);
  return false;
}

Result<RequestQueue::Orders> RequestQueue::handle(ConfiguredParts& parts,
                                                  const FlowRecords& records, Draft& next,
                                                  bool reading) {
  Orders orders;
  left_.clear();
  for (const Request& request : waiting_) {
    if (reading && !goes_before_all(request, parts, next))
      continue;
    next.commit.requests.push_back(request);
    const auto dealt_with = for_flow(parts, request, records, next);
    if (!dealt_with)
      return tl::unexpected(dealt_with.error());
    if (*dealt_with)
      continue;
    const Handled handled = baton::handle(request, records, parts.catalog, next);
    if (handled.reload) {
      orders.reloads.push_back(request.id);
      answered_.insert(request.id);
      continue;
    }
    orders.drain = orders.drain || handled.drain;
    next.reply(handled.reply);
  }
  return orders;
}

bool RequestQueue::settle(const ConfiguredParts& parts, const FlowRecords& records, Draft& next,
                          bool away) {
  bool again = false;
  for (const Request& request : waiting_) {
    if (!left_.contains(request.id))
      continue;
    const auto reply = std::find_if(next.commit.replies.begin(), next.commit.replies.end(),
                                    [&](const Reply& each) { return each.request == request.id; });
    if (reply == next.commit.replies.end() && away && !needs_no_dialect(request.verb)) {
      enter_answer(request,
                   Reply{request.id, false, "the root is not there; say it again when it is"},
                   next);
    } else if (reply == next.commit.replies.end()) {
      next.reply(baton::handle(request, records, parts.catalog, next).reply);
      again = true;
    } else if (reply->accepted && (request.verb == "resume" || request.verb == "start")) {
      lift(next.touch(request.flow), next);
    } else if (reply->accepted && request.verb == "retry") {
      again = forgive_left(next.touch(request.flow), request.subject, next) || again;
    }
  }
  return again;
}

void RequestQueue::tell_of_root(Draft& next) {
  const FlowRecord* const root = next.find(FlowId{});
  if (root == nullptr || root->control.control == Control::run)
    return;
  const char* const word = root->control.control == Control::stop ? "stopped" : "paused";
  for (Reply& reply : next.commit.replies) {
    const bool goes_on = std::any_of(
        next.commit.requests.begin(), next.commit.requests.end(), [&](const Request& request) {
          return request.id == reply.request && request.flow != FlowId{} &&
                 (request.verb == "resume" || request.verb == "retry" || request.verb == "start");
        });
    if (reply.accepted && goes_on)
      reply.message += std::string("; the whole root is still ") + word + ": `baton resume --all`";
  }
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
  look_ = behind_;
}

}  // namespace baton
