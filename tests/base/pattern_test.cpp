// SPDX-License-Identifier: Apache-2.0
#include "base/schema/pattern.h"

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("what a pattern begins with is looked at first, and changes no answer") {
  struct Row {
    const char* pattern = nullptr;
    const char* text = nullptr;
    bool matches = false;
  };
  for (const Row& row : {
           Row{"^abc", "abcd", true},
           Row{"^abc", "ab", false},
           Row{"^abc$", "xabc", false},
           Row{"^abc*$", "ab", true},
           Row{"^abc?d", "abd", true},
           Row{"^abc{0}d", "abd", true},
           Row{"^abc+$", "abccc", true},
           Row{"^a|b", "b", true},
           Row{"^ab(c|d)", "abd", true},
           Row{"^abc", "x\nabc", false},
           Row{"^a.c", "abc", true},
           Row{"^\\u0061b", "ab", true},
           Row{"^\u00e9*a", "a", true},
           Row{"^a\u00e9*b", "ab", true},
           Row{"^", "", true},
           Row{"^a-b c#", "a-b c#d", true},
       }) {
    CAPTURE(row.pattern);
    CAPTURE(row.text);
    const auto pattern = Pattern::compile(row.pattern);
    REQUIRE(pattern.has_value());
    CHECK((pattern->search(row.text).match == Pattern::Match::yes) == row.matches);
  }
  // What does not begin so costs nothing.
  CHECK(Pattern::compile("^name_[a-z]+$")->search("other").steps == 0);
  CHECK(Pattern::compile("^name_[a-z]+$")->search("name_1").steps > 0);
}

}  // namespace baton
