// SPDX-License-Identifier: Apache-2.0
#include "engine/state/history_limit.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace baton {
namespace {

constexpr Millis kWindow{3'600'000};

/// The events that only say what changed in files.
constexpr std::array<std::string_view, 11> kOfChanges = {
    "accepted",     "back",     "conflict", "gone",     "log",  "merged",
    "rate_breaker", "rejected", "renamed",  "resolved", "stage"};

bool is_of_a_change(const Event& event) {
  return std::find(kOfChanges.begin(), kOfChanges.end(), event.event) != kOfChanges.end();
}

bool is_over(Time since, Time now) {
  return since <= now - kWindow || since > now;
}

}  // namespace

HistoryLimit::Hour& HistoryLimit::hour(const FlowId& flow, Time now) {
  const auto [at, fresh] = changed_.try_emplace(flow);
  if (fresh)
    if (const auto known = hours_.find(flow); known != hours_.end())
      at->second = known->second;
  if (is_over(at->second.since, now))
    at->second = Hour{now, 0, 0};
  return at->second;
}

bool HistoryLimit::keep(const Event& event, std::uint32_t per_hour, Draft& draft) {
  if (!is_of_a_change(event))
    return true;
  const std::uint64_t most = kFlowsAtTheLimit * per_hour;
  // A flow that is above its own limit takes nothing from the others. Above the root's limit no
  // flow is counted, because a program can make new flows without end.
  const bool room = hour(FlowId{}, draft.now).kept < most;
  if (room && event.flow != FlowId{} && !count(event.flow, per_hour, draft))
    return false;
  return count(FlowId{}, most, draft);
}

/// Counts an event. False: it is above the limit; says so once.
bool HistoryLimit::count(const FlowId& flow, std::uint64_t most, Draft& draft) {
  Hour& its = hour(flow, draft.now);
  if (its.kept < most) {
    ++its.kept;
    return true;
  }
  if (++its.left_out == 1)
    draft.event("history_limited", flow,
                "more than " + std::to_string(most) + " events of changed files within an hour" +
                    (flow == FlowId{} ? ", of all flows together" : "") +
                    " (limits: events_per_hour): until " +
                    iso_time(its.since + kWindow + (draft.wall - draft.now)) +
                    " further ones are left out of history and log; all changes count as always");
  return false;
}

/// Says of each hour that is over how many events were left out.
void HistoryLimit::tell_what_was_left_out(Draft& draft) {
  for (const FlowId& flow : limited_) {
    const Hour& its = hours_.at(flow);
    if (!is_over(its.since, draft.now))
      continue;
    draft.event("history_limited", flow,
                std::to_string(its.left_out) + " events of changed files were left out since " +
                    iso_time(its.since + (draft.wall - draft.now)));
    (void)hour(flow, draft.now);
  }
}

void HistoryLimit::thin(Draft& draft, std::uint32_t per_hour) {
  changed_.clear();
  now_ = draft.now;
  tell_what_was_left_out(draft);
  if (per_hour == 0)
    return;
  auto events = std::exchange(draft.commit.events, {});
  for (Event& event : events)
    if (keep(event, per_hour, draft))
      draft.commit.events.push_back(std::move(event));
}

void HistoryLimit::committed() {
  for (const auto& [flow, its] : changed_) {
    hours_[flow] = its;
    if (its.left_out > 0)
      limited_.insert(flow);
    else
      limited_.erase(flow);
  }
  changed_.clear();
  forget(now_);
}

// Looks only when the number of hours has doubled, so that a step costs what changed.
void HistoryLimit::forget(Time now) {
  if (hours_.size() <= most_)
    return;
  std::erase_if(hours_, [&](const auto& each) {
    return is_over(each.second.since, now) && !limited_.contains(each.first);
  });
  most_ = std::max(kFew, 2 * hours_.size());
}

std::optional<Time> HistoryLimit::wake() const {
  std::optional<Time> first;
  for (const FlowId& flow : limited_)
    if (const Time over = hours_.at(flow).since + kWindow; !first || over < *first)
      first = over;
  return first;
}

}  // namespace baton
