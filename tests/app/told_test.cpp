#include "app/told.h"

#include <doctest/doctest.h>

#include "base/document.h"

namespace baton {

TEST_CASE("what was told comes back as it was, names that are not UTF-8 too") {
  Told told;
  told.notices.push_back(Notice{"approved", "a", "by somebody"});
  told.conflict = "two PMs";
  told.ignored = {"t/plain name.json", "t/\xff.json", "t/\xff\xfe/x.json", "t/[116].json",
                  "t/\xEF\xBF\xBD.json"};
  const auto text = json_of(told).dump();
  const auto read = parse_json(text);
  REQUIRE(read.has_value());
  CHECK(told_of(*read) == told);
}

}  // namespace baton
