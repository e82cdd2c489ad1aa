// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "dialects/fsm_loop/values.h"

namespace baton::fsm_loop {

TEST_CASE("a placeholder is a name space and a path") {
  const auto all = placeholders("mypy ${context.src.dir} > ${captured.log.output}");
  REQUIRE(all.size() == 2);
  CHECK(all[0].space == "context");
  CHECK(all[0].path == "src.dir");
  CHECK(all[0].begin == 5);
  CHECK(all[0].end == 23);
  CHECK(all[0].fault.empty());
  CHECK(all[1].space == "captured");
}

TEST_CASE("what is escaped, empty or open is no placeholder") {
  for (const char* const text : {"$${HOME}", "${}", "${context.x", "$HOME", "$ {context.x}"}) {
    CAPTURE(text);
    CHECK_FALSE(computed(text));
  }
  CHECK(computed("$${a} ${context.b}"));
}

TEST_CASE("suffixes come one at a time") {
  struct Row {
    const char* text;
    bool optional;
    bool shell;
    const char* otherwise;
    bool fine;
  };
  for (const Row& row : {Row{"${context.a?}", true, false, "", true},
                         Row{"${context.a:shell}", false, true, "", true},
                         Row{"${context.a:default=none?}", false, false, "none?", true},
                         Row{"${context.a?:default=x}", true, false, "x", false},
                         Row{"${context.a:shell?}", true, true, "", false}}) {
    CAPTURE(row.text);
    const auto all = placeholders(row.text);
    REQUIRE(all.size() == 1);
    CHECK(all[0].path == "a");
    CHECK(all[0].optional == row.optional);
    CHECK(all[0].shell == row.shell);
    CHECK(all[0].default_text == row.otherwise);
    CHECK(all[0].fault.empty() == row.fine);
  }
}

TEST_CASE("a placeholder that can never be filled in says why") {
  for (const char* const text : {"${HOME}", "${contxt.a}", "${context.}", "${prev}"}) {
    CAPTURE(text);
    const auto all = placeholders(text);
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all[0].fault.empty());
  }
  CHECK(placeholders("${messages}")[0].fault.empty());
  CHECK(placeholders("a ${contxt.a.b:shell}")[0].meant == "${context.a.b:shell}");
  CHECK(placeholders("${HOME}")[0].meant.empty());
  CHECK(placeholders("${xyzzy.a}")[0].meant.empty());
}

TEST_CASE("the nearest member is named where a name space has only a few") {
  for (const auto& row : std::map<std::string, std::string>{
           {"${state.nmae}", "${state.name}"},
           {"${loop.elapsd_ms:shell}", "${loop.elapsed_ms:shell}"},
           {"${result.detials.reason?}", "${result.details.reason?}"},
           {"${prev.zzz}", ""}}) {
    const auto& text = row.first;
    const auto& meant = row.second;
    CAPTURE(text);
    const auto all = placeholders(text);
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all.front().fault.empty());
    CHECK(all.front().meant == meant);
  }
}

TEST_CASE("quotes of a shell are counted as a shell does") {
  CHECK(ShellQuotes("echo '$x").quoted_at(6));
  CHECK(ShellQuotes("echo \"it's $x").quoted_at(11));
  CHECK_FALSE(ShellQuotes("echo 'a' $x").quoted_at(9));
  CHECK_FALSE(ShellQuotes("echo \\'$x").quoted_at(7));
}

}  // namespace baton::fsm_loop
