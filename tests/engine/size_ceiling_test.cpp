// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/size_ceiling.h"

#include <string>

#include <doctest/doctest.h>

namespace baton {
namespace {

constexpr std::uint64_t kKib = 1U << 10U;

TEST_CASE("a version is left out where it makes its flow or the root too large") {
  const FlowId flow{"rules", "a"};
  FlowRecord record;
  record.id = flow;
  record.accepted["a/1"].size_bytes = 100 * kKib;
  record.accepted["a/2"].size_bytes = 200 * kKib;
  record.accepted_bytes = 300 * kKib;
  const FlowRecords records{{flow, record}};
  const SizeLimits limits{400 * kKib, 1000 * kKib};
  struct Row {
    const char* what;
    std::string path;
    std::uint64_t size_bytes;
    std::uint64_t root_bytes;
    const char* key;  ///< nullptr: there is room
  };
  const Row rows[] = {
      {"a new file that fits", "a/3", 100 * kKib, 300 * kKib, nullptr},
      {"one byte too much for the flow", "a/3", 100 * kKib + 1, 300 * kKib, "max_flow_size"},
      {"a version that grows and fits", "a/1", 200 * kKib, 300 * kKib, nullptr},
      {"a version that grows too much", "a/1", 200 * kKib + 1, 300 * kKib, "max_flow_size"},
      {"the root is full", "a/3", 100 * kKib, 950 * kKib, "max_root_size"},
      {"the root is full, the file is small", "a/3", kSmallFileBytes, 5000 * kKib, nullptr},
      {"the root is full, the version does not grow", "a/2", 200 * kKib, 5000 * kKib, nullptr},
      {"both are full", "a/3", 300 * kKib, 5000 * kKib, "max_flow_size"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    SizeCeiling ceiling(limits);
    Draft draft(records, 0, 0, Time{}, Time{});
    draft.accepted_bytes = row.root_bytes;
    const std::string why = ceiling.left_out(flow, row.path, row.size_bytes, draft);
    CHECK(why.empty() == (row.key == nullptr));
    CHECK(why.find(row.key == nullptr ? "" : row.key) != std::string::npos);
    // What is left out is wanted again when there is room, and not before.
    CHECK(ceiling.fitting(records, row.root_bytes).empty());
    CHECK(ceiling.fitting({}, 0).size() == (row.key == nullptr ? 0U : 1U));
    CHECK(SizeCeiling({}).left_out(flow, row.path, row.size_bytes, draft).empty());
  }
  SizeCeiling ceiling(limits);
  Draft draft(records, 0, 0, Time{}, Time{});
  CHECK(ceiling.left_out(flow, "a/3", 150 * kKib, draft) ==
        "this version has 150 KiB, and with it the files of its flow would have more than 400 KiB "
        "(limits: max_flow_size), so baton does not take it; make its files smaller, or raise "
        "max_flow_size and `baton reload`");
  ceiling.settled("a/3");
  CHECK(ceiling.fitting({}, 0).empty());
}

}  // namespace
}  // namespace baton
