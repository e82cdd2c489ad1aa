// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <array>

#include <doctest/doctest.h>

#include "base/utf8.h"

namespace baton {

TEST_CASE("splitting and joining are opposites") {
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(join(split("a,,b", ','), ",") == "a,,b");
}

TEST_CASE("edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("paralell", "parallel") == 2);
}

TEST_CASE("the nearest word is found only when it is near") {
  const std::array<std::string, 3> words = {"simple", "parallel", "paused"};
  CHECK(nearest("paralell", words) == "parallel");
  CHECK(nearest("pause", words) == "paused");
  const std::array<std::string, 2> begun = {"start", "status"};
  CHECK(nearest("stat", begun) == "status");
  CHECK(nearest("strat", begun) == "start");
  CHECK_FALSE(nearest("completely else", words));
  CHECK_FALSE(nearest("", words));
  const std::array<std::string, 1> tiny = {"b"};
  CHECK_FALSE(nearest("a", tiny));
}

TEST_CASE("printable text cannot steer a terminal") {
  CHECK(printable("plain ä €") == "plain ä €");
  CHECK(printable("a\x1b[31m\nb") == "a\\x1b[31m\\x0ab");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xC2\x9B") == "\\xc2\\x9b");
  CHECK(printable("\xE2\x80\xAE") == "\\xe2\\x80\\xae");
}

TEST_CASE("printable text has no character that nobody sees") {
  struct Row {
    char32_t first;
    char32_t last;
  };
  for (const Row& row :
       {Row{0x00, 0x1F}, Row{0x7F, 0x9F}, Row{0xAD, 0xAD}, Row{0x200B, 0x200F}, Row{0x2028, 0x202E},
        Row{0x2060, 0x206F}, Row{0xFEFF, 0xFEFF}, Row{0xE0000, 0xE007F}, Row{0xE0100, 0xE01EF}})
    for (char32_t c = row.first; c <= row.last; ++c) {
      std::string character;
      utf8_append(character, c);
      CAPTURE(static_cast<unsigned>(c));
      CHECK(printable("a" + character + "b").find("a\\x") == 0);
    }
  for (const char* seen : {" ", "~", "\u00a1", "\u00ac", "\u00ae", "\u200a", "\u2010", "\u202f",
                           "\u205f", "\u2070", "\ufffd", "\U0001f600", "\U000e1000"})
    CHECK(printable(seen) == seen);
}

TEST_CASE("printable text is cut at a character boundary") {
  CHECK(printable("abc", 3) == "abc");
  CHECK(printable("abcd", 3) == "abc...");
  CHECK(printable("ab€", 4) == "ab...");
}

TEST_CASE("safe names begin with a letter or digit and hold nothing special") {
  CHECK(safe_name("a"));
  CHECK(safe_name("WF-1.2_x"));
  for (const char* name : {"", ".hidden", "-x", "a/b", "a b", "a\n", "ä", "_a"}) {
    CAPTURE(name);
    CHECK_FALSE(safe_name(name));
  }
  CHECK(safe_name(std::string(200, 'a')));
  CHECK_FALSE(safe_name(std::string(201, 'a')));
}

TEST_CASE("bytes that are not UTF-8 are found where they are") {
  CHECK_FALSE(bad_utf8("").has_value());
  CHECK_FALSE(bad_utf8("plain ascii, a bit longer than eight").has_value());
  CHECK_FALSE(bad_utf8("\xF0\x9F\x98\x80 \xED\x9F\xBF \xF4\x8F\xBF\xBF").has_value());
  struct Row {
    std::string_view text;
    std::size_t at;
  };
  using namespace std::string_view_literals;
  for (const Row& row : {
           Row{"abcdefgh\xff", 8},
           Row{"\xC0\x80", 0},          // overlong
           Row{"a\xE0\x80\x80", 1},     // overlong
           Row{"\xED\xA0\x80", 0},      // surrogate
           Row{"\xF4\x90\x80\x80", 0},  // above U+10FFFF
           Row{"ab\xE2\x82", 2},        // cut
           Row{"12345678901\0"sv, 11},  // NUL
           Row{"\0"sv, 0},
           Row{"\x80", 0},
       }) {
    CAPTURE(row.at);
    CHECK(bad_utf8(row.text) == row.at);
  }
}

TEST_CASE("a word for the shell stands for itself") {
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's $HOME") == "'it'\\''s $HOME'");
  CHECK(shell_word("rules/t/a-1.json") == "rules/t/a-1.json");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("~x") == "'~x'");
  CHECK(shell_word("") == "''");
}

}  // namespace baton

TEST_CASE("bytes that are not UTF-8 are replaced one by one") {
  CHECK(baton::mended_utf8("") == "");
  CHECK(baton::mended_utf8("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
  CHECK(baton::mended_utf8("a\xFF\xFE"
                           "b") ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b");
  CHECK(baton::mended_utf8(std::string("\0x\xC3", 3)) == "\xEF\xBF\xBDx\xEF\xBF\xBD");
}
