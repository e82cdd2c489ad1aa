// SPDX-License-Identifier: Apache-2.0
#include "core/exit_code.h"

#include <array>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("every exit code has one row, a word and a meaning of its own") {
  std::set<std::string_view> words;
  std::set<std::string_view> meanings;
  for (const ExitRow& row : kExitCodes) {
    CAPTURE(row.word);
    CHECK(row_of(row.code).word == row.word);
    CHECK_FALSE(row.means.empty());
    CHECK(words.insert(row.word).second);
    CHECK(meanings.insert(row.means).second);
  }
}

TEST_CASE("the numbers of the exit codes stay what scripts know") {
  constexpr std::array<int, 7> kNumbers = {0, 1, 2, 3, 75, 124, 130};
  REQUIRE(kExitCodes.size() == kNumbers.size());
  for (std::size_t i = 0; i < kNumbers.size(); ++i)
    CHECK(static_cast<int>(kExitCodes.at(i).code) == kNumbers.at(i));
}

TEST_CASE("the graver code of two wins: 2 before 3 before 1 before 0") {
  constexpr std::array kFromGravest = {ExitCode::usage, ExitCode::unreachable, ExitCode::failed,
                                       ExitCode::fine};
  for (std::size_t i = 0; i < kFromGravest.size(); ++i)
    for (std::size_t j = i; j < kFromGravest.size(); ++j) {
      CHECK(graver(kFromGravest.at(i), kFromGravest.at(j)) == kFromGravest.at(i));
      CHECK(graver(kFromGravest.at(j), kFromGravest.at(i)) == kFromGravest.at(i));
    }
}

}  // namespace baton
