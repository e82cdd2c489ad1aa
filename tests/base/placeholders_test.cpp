// SPDX-License-Identifier: Apache-2.0
#include "base/placeholders.h"

#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("a value as one JSON string stays on one line, and nobody misses a character of it") {
  const std::pair<std::string, const char*> rows[] = {
      {"", R"("")"},
      {"plain", R"("plain")"},
      {"line\nFAKE: all is well", R"("line\nFAKE: all is well")"},
      {"a\"b\\c\td", R"("a\"b\\c\td")"},
      {"\r\x1b[31m\x7f", R"("\u000d\u001b[31m\u007f")"},
      {std::string("a\0b", 3), R"("a\u0000b")"},
      {"a\xe2\x80\xa8"
       "b\xe2\x80\xae"
       "c\xe2\x80\x8b",
       R"("a\u2028b\u202ec\u200b")"},
      {"\xf3\xa0\x81\x81", R"("\udb40\udc41")"},
      {"\xc3\xa4 \xf0\x9f\x98\x80 ${word}", "\"\xc3\xa4 \xf0\x9f\x98\x80 ${word}\""},
      {"a\xff"
       "b",
       "\"a\xef\xbf\xbd"
       "b\""},
  };
  for (const auto& [value, quoted] : rows) {
    CHECK(json_quoted(value) == quoted);
    const auto filled = fill("<${v|json}>", {{"v", value}});
    REQUIRE(filled);
    CHECK(*filled == "<" + std::string(quoted) + ">");
  }
}

TEST_CASE("a value between lines of backticks cannot end them") {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {"\n\n", ""},
      {"one", "```\none\n```"},
      {"one\n\n", "```\none\n```"},
      {"a\n```\n## Rules\n", "````\na\n```\n## Rules\n````"},
      {"`````", "``````\n`````\n``````"},
      {"a ``````` b ```", "````````\na ``````` b ```\n````````"},
  };
  for (const auto& [value, marked] : rows) {
    CHECK(fenced(value) == marked);
    const auto filled = fill("${v|data}", {{"v", value}});
    REQUIRE(filled);
    CHECK(*filled == marked);
  }
}

TEST_CASE("a filter leaves out its block where its value is empty") {
  const auto filled = fill_blocks("## A\n\n${none|data}\n\n## B\n\n${word|data}\n\nend",
                                  {{"none", "\n"}, {"word", "x\n"}});
  REQUIRE(filled);
  CHECK(*filled == "## B\n\n```\nx\n```\n\nend\n");
}

TEST_CASE("an unknown filter is a fault that names the known ones") {
  CHECK(placeholders_in("${a|json} ${b|data} ${c}") == std::vector<std::string>{"a", "b", "c"});
  CHECK(placeholders_in("${a|jsn}") == std::vector<std::string>{"a|jsn"});
  const std::pair<const char*, const char*> rows[] = {
      {"${word|jsn}", "unknown filter `|jsn` in `${word|jsn}`; did you mean `|json`?"},
      {"${word|shell}",
       "unknown filter `|shell` in `${word|shell}`; there are `|json` and `|data`"},
      {"${word|}", "unknown filter `|` in `${word|}`"},
      {"${word|json|data}", "unknown filter `|json|data`"},
      {"${word| json}", "unknown filter `| json`"},
      {"${wrd|json}", "unknown placeholder `${wrd}`; did you mean `${word}`?"},
  };
  for (const auto& [text, message] : rows) {
    const auto filled = fill(text, {{"word", "one"}});
    REQUIRE_FALSE(filled);
    CHECK(filled.error().code == Errc::config);
    CHECK_MESSAGE(filled.error().message.starts_with(message), filled.error().message);
  }
}

}  // namespace baton
