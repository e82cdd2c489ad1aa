// SPDX-License-Identifier: Apache-2.0
#include "engine/state/history_limit.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace baton {
namespace {

constexpr Time kBegin = Time(Millis(1'000'000'000));
constexpr std::uint32_t kMost = 3;

struct History {
  HistoryLimit limit;
  FlowRecords records;
  Time now = kBegin;

  /// The events that a step with these events leaves, as `word flow`.
  std::vector<std::string> step(const std::vector<std::pair<std::string, std::string>>& events,
                                bool commits = true) {
    Draft draft(records, 0, 0, now, now);
    for (const auto& [word, flow] : events)
      draft.event(word, flow.empty() ? FlowId{} : FlowId{"rules", flow}, "");
    limit.thin(draft, kMost);
    if (commits)
      limit.committed();
    std::vector<std::string> left;
    for (const Event& event : draft.commit.events)
      left.push_back(event.event + (event.flow.name.empty() ? "" : " " + event.flow.name));
    return left;
  }
  std::vector<std::string> changes(const std::string& flow, int times) {
    std::vector<std::string> left;
    for (int i = 0; i < times; ++i)
      for (std::string& each : step({{"accepted", flow}}))
        left.push_back(std::move(each));
    return left;
  }
};

using Words = std::vector<std::string>;

TEST_CASE("a flow that changes all the time is told of so often within an hour") {
  History history;
  CHECK(history.changes("a", 2) == Words{"accepted a", "accepted a"});
  CHECK_FALSE(history.limit.wake());
  CHECK(history.changes("a", 50) == Words{"accepted a", "history_limited a"});
  // Another flow has its own hour, and what is no change is always told.
  CHECK(history.step({{"started", "a"}, {"accepted", "b"}, {"blocked", "a"}, {"stage", "a"}}) ==
        Words{"started a", "accepted b", "blocked a"});
  REQUIRE(history.limit.wake());
  CHECK(*history.limit.wake() == kBegin + std::chrono::hours(1));
  history.now = *history.limit.wake();
  CHECK(history.step({}) == Words{"history_limited a"});
  CHECK_FALSE(history.limit.wake());
  CHECK(history.changes("a", 9) ==
        Words{"accepted a", "accepted a", "accepted a", "history_limited a"});
}

TEST_CASE("flows without end are told of as often as some flows at their limit") {
  History history;
  int told = 0;
  int limited = 0;
  for (int i = 0; i < 1000; ++i)
    for (const std::string& each : history.step({{"accepted", std::to_string(i)}}))
      ++(each == "history_limited" ? limited : told);
  CHECK(told == kMost * kFlowsAtTheLimit);
  CHECK(limited == 1);
  CHECK(history.step({{"ended", "a"}}) == Words{"ended a"});
}

TEST_CASE("a step that was not committed counts for nothing") {
  History history;
  for (int i = 0; i < 9; ++i)
    CHECK(history.step({{"accepted", "a"}}, false) == Words{"accepted a"});
  (void)history.changes("a", 3);
  CHECK(history.step({{"accepted", "a"}}, false) == Words{"history_limited a"});
  CHECK(history.step({{"accepted", "a"}}) == Words{"history_limited a"});
  CHECK(history.step({{"accepted", "a"}}).empty());
}

TEST_CASE("without a limit all is told") {
  HistoryLimit limit;
  const FlowRecords records;
  Draft draft(records, 0, 0, kBegin, kBegin);
  for (int i = 0; i < 100; ++i)
    draft.event("accepted", FlowId{"rules", "a"}, "");
  limit.thin(draft, 0);
  CHECK(draft.commit.events.size() == 100);
}

}  // namespace
}  // namespace baton
