#include "base/pattern.h"

#include <doctest/doctest.h>

using namespace baton;

TEST_CASE("the flags of a pattern are off unless they are asked for") {
  struct Row {
    const char* pattern;
    const char* text;
    Pattern::Flags flags;
  };
  for (const Row& row :
       {Row{"ok", "OK", {.any_case = true}}, Row{"^b$", "a\nb\nc", {.many_lines = true}},
        Row{"a.b", "a\nb", {.dot_all = true}}}) {
    CAPTURE(row.pattern);
    CHECK(Pattern::compile(row.pattern)->search(row.text).match == Pattern::Match::no);
    CHECK(Pattern::compile(row.pattern, row.flags)->search(row.text).match == Pattern::Match::yes);
  }
}
