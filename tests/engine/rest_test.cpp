// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/rest.h"

#include <optional>

#include <doctest/doctest.h>

namespace baton {
namespace {

using std::chrono::milliseconds;

TEST_CASE("how long a version has to stand") {
  constexpr milliseconds kYoung{10};
  constexpr milliseconds kOld{600'000};
  constexpr Rest kMoment{milliseconds(50), milliseconds(250)};
  constexpr Rest kTorn{milliseconds(2000), milliseconds(10'000)};
  constexpr Rest kSecond{milliseconds(1000), milliseconds(10'000)};
  constexpr Rest kLong{milliseconds(5000), milliseconds(60'000)};
  const struct {
    const char* what;
    FoundVersion version;
    std::optional<Rest> rest;
  } rows[] = {
      {"a new version of a known file", {.age = kYoung}, {}},
      {"a new name", {.fresh = true, .age = kYoung}, kMoment},
      {"a new name by another clock", {.fresh = true, .age = milliseconds(-900)}, kMoment},
      {"a new name by a wrong clock", {.fresh = true, .age = milliseconds(-2000)}, {}},
      {"a name that has stood", {.fresh = true, .age = milliseconds(50)}, {}},
      {"renamed into place", {.fresh = true, .complete = true, .age = kYoung}, {}},
      {"its agent has ended", {.fresh = true, .left = true, .age = kYoung}, {}},
      {"a copy of what is not there", {.fresh = true, .complete = true, .copy = true}, kTorn},
      {"a known file with such a name", {.copy = true, .age = kYoung}, {}},
      {"torn", {.parsed = false, .age = kYoung}, kTorn},
      {"torn for long", {.parsed = false, .age = kOld}, kTorn},
      {"torn, its agent has ended", {.parsed = false, .left = true, .age = kYoung}, kTorn},
      {"polled", {.polled = true, .age = kYoung}, kSecond},
      {"polled and new", {.fresh = true, .polled = true, .age = kYoung}, kSecond},
      {"polled and old", {.polled = true, .age = kOld}, {}},
      {"polled, its agent has ended", {.polled = true, .left = true, .age = kYoung}, {}},
      {"polled and torn", {.parsed = false, .polled = true, .age = kYoung}, kLong},
      {"polled and torn for long", {.parsed = false, .polled = true, .age = kOld}, kTorn},
      {"polled YAML", {.format = Format::yaml, .polled = true, .age = kYoung}, kLong},
      {"YAML", {.format = Format::yaml, .age = kYoung}, {}},
      {"a polled log", {.format = Format::jsonl, .polled = true, .age = kYoung}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(rest_of(row.version) == row.rest);
  }
}

}  // namespace
}  // namespace baton
