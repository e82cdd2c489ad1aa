// SPDX-License-Identifier: Apache-2.0
#include "base/shell_line.h"

#include <doctest/doctest.h>

namespace baton {
namespace {

constexpr std::string_view kBreaks = " \t\n\"'@><=;|&(:";

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a line is split into words, and the last one is being typed") {
  CHECK(read_shell_line("", kBreaks).words == Words{""});
  CHECK(read_shell_line("baton", kBreaks).words == Words{"baton"});
  CHECK(read_shell_line("  baton  pause ", kBreaks).words == Words{"baton", "pause", ""});
  CHECK(read_shell_line("baton retry a\\ b 'c d' \"e f\"g '' h", kBreaks).words ==
        Words{"baton", "retry", "a b", "c d", "e fg", "", "h"});
}

TEST_CASE("nothing in a line is expanded") {
  CHECK(read_shell_line("baton $(rm) `rm` $HOME ~ *", kBreaks).words ==
        Words{"baton", "$(rm)", "`rm`", "$HOME", "~", "*"});
  CHECK(read_shell_line(R"(x "a\$b\n" 'a\b')", kBreaks).words == Words{"x", "a$b\\n", "a\\b"});
}

TEST_CASE("a line that ends within a quote or an escape is read as far as it goes") {
  const ShellLine open = read_shell_line("baton retry 'a b", kBreaks);
  CHECK(open.words.back() == "a b");
  CHECK(open.quote == '\'');
  CHECK(open.kept == 0);
  CHECK(read_shell_line("baton retry a\\", kBreaks).words.back() == "a");
}

TEST_CASE("bash keeps what comes before the last character at which it breaks words") {
  CHECK(read_shell_line("baton events --role=de", kBreaks).kept == 7);
  CHECK(read_shell_line("baton wait --until stage:re", kBreaks).kept == 6);
  CHECK(read_shell_line("baton wait --until stage:'re", kBreaks).kept == 6);
  CHECK(read_shell_line("baton retry a\\:b", kBreaks).kept == 0);
  CHECK(read_shell_line("baton retry a:b c", kBreaks).kept == 0);
  CHECK(read_shell_line("baton events --role=de", " ").kept == 0);
}

TEST_CASE("a name is quoted for the place where it is typed, or not offered there") {
  CHECK(quoted_behind('\0', "rules/t/one-2") == "rules/t/one-2");
  CHECK(quoted_behind('\0', "ä") == "ä");
  CHECK(quoted_behind('\0', "$(rm) '\"!~") == R"(\$\(rm\)\ \'\"\!\~)");
  CHECK(quoted_behind('"', "$(rm) '`\\") == R"(\$(rm) '\`\\)");
  CHECK(quoted_behind('"', "a!") == std::nullopt);
  CHECK(quoted_behind('"', "a\"") == std::nullopt);
  CHECK(quoted_behind('\'', "$(rm) \"!\\") == "$(rm) \"!\\");
  CHECK(quoted_behind('\'', "a'b") == std::nullopt);
}

}  // namespace baton
