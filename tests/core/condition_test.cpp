// SPDX-License-Identifier: Apache-2.0
#include "core/condition.h"

#include <set>

#include <doctest/doctest.h>

namespace baton {
namespace {

TEST_CASE("every word is found again by its name, and no word is there twice") {
  std::set<std::string> seen;
  for (const ConditionRow& row : kConditions) {
    CHECK(parse_condition(row.word) == row.condition);
    CHECK(seen.insert(std::string(row.word)).second);
  }
  seen.clear();
  for (const ReasonRow& row : reasons()) {
    CHECK(parse_reason(row.word) == row.reason);
    CHECK(seen.insert(std::string(row.word)).second);
    CHECK(fits(Cause(row.reason)));
  }
  CHECK_FALSE(parse_condition("held"));
}

TEST_CASE("a cause is written into JSON and read back, and unknown words are none") {
  for (const ReasonRow& row : reasons())
    for (const ConditionRow& condition : kConditions) {
      Json json = Json::object();
      add_cause({condition.condition, row.reason}, json);
      const bool allowed = fits({condition.condition, row.reason});
      CHECK(cause_in(*json).has_value() == allowed);
      if (allowed)
        CHECK((*cause_in(*json) == Cause{condition.condition, row.reason}));
    }
}

TEST_CASE("where several fit, the order is that of the page") {
  const Condition order[] = {Condition::running, Condition::done,    Condition::gone,
                             Condition::failed,  Condition::blocked, Condition::stopped,
                             Condition::waiting, Condition::idle};
  for (std::size_t i = 0; i + 1 < std::size(order); ++i)
    CHECK(before({order[i], Reason::none}, {order[i + 1], Reason::none}));
}

}  // namespace
}  // namespace baton
