// SPDX-License-Identifier: Apache-2.0

// Host names and addresses with letters of any language, by the rules of RFC 5891 to 5893.

#include "base/schema/host_names.h"

#include <string>

#include <doctest/doctest.h>

#include "base/schema/formats.h"

namespace baton {

TEST_CASE("host names with and without letters beyond ASCII") {
  struct Row {
    std::string_view what;
    std::string text;
    bool plain;
    bool encoded;
    bool international;
  };
  std::string many = "ü";
  for (int i = 0; i < 50; ++i)
    many += ".ü";
  for (const Row& row : {
           Row{"a name", "build.example.org", true, true, true},
           Row{"one label", "localhost", true, true, true},
           Row{"capitals", "Build.Example", true, true, true},
           Row{"nothing", "", false, false, false},
           Row{"a dot at the end", "example.org.", false, false, false},
           Row{"an empty label", "a..b", false, false, false},
           Row{"a hyphen in front", "-a", false, false, false},
           Row{"a hyphen behind", "a-", false, false, false},
           Row{"an underscore", "a_b", false, false, false},
           Row{"63 letters", std::string(63, 'a'), true, true, true},
           Row{"64 letters", std::string(64, 'a'), false, false, false},
           Row{"a NUL", std::string("a\0b", 3), false, false, false},
           Row{"hyphens at the third and fourth place", "ab--cd", true, false, false},
           Row{"an encoded label", "xn--mnchen-3ya.example", true, true, true},
           Row{"an encoded label in capitals", "XN--MNCHEN-3YA.example", true, true, true},
           Row{"a label that only looks encoded", "xn--X", true, false, false},
           Row{"letters", "münchen.example", false, false, true},
           Row{"a wide dot", "例え\u3002テスト", false, false, true},
           Row{"a capital beyond ASCII", "MÜNCHEN", false, false, false},
           Row{"letters in their parts", "mu\u0308nchen", false, false, false},
           Row{"a mark in front", "\u0308a", false, false, false},
           Row{"a sign", "a☃b", false, false, false},
           Row{"a joiner without its virama", "a\u200db", false, false, false},
           Row{"a joiner behind a virama", "क्\u200dष", false, false, true},
           Row{"a middle dot between two l", "l\u00b7l", false, false, true},
           Row{"a middle dot elsewhere", "a\u00b7l", false, false, false},
           Row{"written leftwards", "עברית.example", false, false, true},
           Row{"leftwards, and a label that begins with a digit", "0a.א", false, false, false},
           Row{"leftwards, with two kinds of digits", "א0٠", false, false, false},
           Row{"rightwards with a leftwards letter", "aא", false, false, false},
           Row{"too long only as the DNS has it", many, false, false, false},
           Row{"no UTF-8", "a\xff", false, false, false},
       }) {
    CAPTURE(row.what);
    CHECK(is_plain_hostname(row.text) == row.plain);
    CHECK(is_encoded_hostname(row.text) == row.encoded);
    CHECK(is_international_hostname(row.text, true) == row.international);
  }
}

TEST_CASE("which host names a format means depends on the draft") {
  CHECK(format_holds("hostname", "ab--cd", SchemaDraft::draft6) == true);
  CHECK(format_holds("hostname", "ab--cd", SchemaDraft::draft7) == false);
  CHECK(format_holds("idn-hostname", "mu\u0308nchen", SchemaDraft::draft7) == false);
  CHECK(format_holds("idn-email", "jürgen@mu\u0308nchen.example", SchemaDraft::draft7) == true);
  CHECK(format_holds("idn-email", "jürgen@-", SchemaDraft::draft7) == false);
  CHECK(format_holds("email", "jürgen@example.org", SchemaDraft::draft7) == false);
  for (const std::string_view good :
       {R"("a\"b"@example.org)", R"("a\\"@example.org)", R"("a b"@[127.0.0.1])"}) {
    CAPTURE(good);
    CHECK(format_holds("email", good, SchemaDraft::draft7) == true);
  }
  for (const std::string_view bad : {R"("a\"@example.org)", R"("a"b"@example.org)",
                                     "\"\u00e9\"@example.org", "\"\n\"@example.org"}) {
    CAPTURE(bad);
    CHECK(format_holds("email", bad, SchemaDraft::draft7) == false);
  }
  CHECK(format_holds("idn-email", "\"\u00e9\"@example.org", SchemaDraft::draft7) == true);
  CHECK(format_holds("no-format", "a", SchemaDraft::draft7) == std::nullopt);
}

}  // namespace baton
