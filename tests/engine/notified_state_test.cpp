// SPDX-License-Identifier: Apache-2.0
#include "engine/state/notified_state.h"

#include <doctest/doctest.h>

#include "base/json/document.h"

namespace baton {

TEST_CASE("what was told comes back as it was, names that are not UTF-8 too") {
  NotifiedState notified;
  notified.notices.push_back(Notice{"approved", "a", "by somebody"});
  notified.conflict = "two PMs";
  notified.ignored = {"t/plain name.json", "t/\xff.json", "t/\xff\xfe/x.json", "t/[116].json",
                      "t/\xEF\xBF\xBD.json"};
  notified.first_start = true;
  const auto text = json_of(notified).dump();
  const auto read = parse_json(text);
  REQUIRE(read.has_value());
  CHECK(notified_state_of(*read) == notified);
}

}  // namespace baton
