#include "base/placeholders.h"

#include <doctest/doctest.h>

namespace baton {
namespace {

struct Row {
  const char* name;
  const char* text;
  const char* filled;
};
const Row kRows[] = {
    {"values are put in; line feeds at their end do not count", "a ${word}.\n${lines}\nb\n",
     "a one.\nx\n\ny\nb\n"},
    {"a block with nothing but empty placeholders is left out", "a\n\nNot: ${none}\n\nb\n",
     "a\n\nb\n"},
    {"a block with one that is not empty stays", "${none}${word}\n", "one\n"},
    {"a block without placeholders stays", "a\n\n\n\nb", "a\n\nb\n"},
    {"a heading with nothing under it is left out", "## A\n\n${none}\n\n## B\n\nb\n\n## C\n",
     "## B\n\nb\n"},
    {"a heading counts as empty by what is under it", "## A ${word}\n\n${none}\n\n${none}\n", ""},
    {"one block left keeps the heading", "## ${none}A\n\n${none}\n\n${word}\n", "## A\n\none\n"},
    {"a heading with text in the next line is a block", "## A\n${none}\n\n## B\nb\n", "## B\nb\n"},
    {"a value is not looked into", "${odd}\n", "${word}\n\n## H\n"},
    {"a literal placeholder is none", "$${word} ${none}\n\n$${word}\n", "${word}\n"},
    {"nothing", "", ""},
};

}  // namespace

TEST_CASE("a template is filled in block by block") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const auto filled = fill_blocks(
        row.text,
        {{"word", "one"}, {"none", "\n"}, {"lines", "x\n\ny\n\n"}, {"odd", "${word}\n\n## H\n"}});
    REQUIRE(filled);
    CHECK(*filled == row.filled);
  }
  const auto unknown = fill_blocks("a\n\n${wrd}\n", {{"word", "one"}});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == Errc::config);
  CHECK(unknown.error().message.find("did you mean `${word}`?") != std::string::npos);
  CHECK_FALSE(fill_blocks("${word\n\n}", {{"word", "one"}}));
}

}  // namespace baton
