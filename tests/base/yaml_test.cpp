// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/json/document.h"
#include "print.h"

namespace baton {
namespace {

std::string value_of(std::string_view text) {
  auto document = load_document(std::string(text), Format::yaml);
  if (!document)
    return "error: " + document.error().findings.front().message;
  return json::dump((*document)->root());
}

}  // namespace

TEST_CASE("plain scalars follow the core schema of YAML 1.2") {
  struct Row {
    std::string_view text;
    std::string_view value;
  };
  for (const Row& row : {
           Row{"a: yes", R"({"a":"yes"})"},
           Row{"a: no", R"({"a":"no"})"},
           Row{"a: on", R"({"a":"on"})"},
           Row{"a: true", R"({"a":true})"},
           Row{"a: FALSE", R"({"a":false})"},
           Row{"a: null", R"({"a":null})"},
           Row{"a: ~", R"({"a":null})"},
           Row{"a:", R"({"a":null})"},
           Row{"a: ''", R"({"a":""})"},
           Row{"a: '1'", R"({"a":"1"})"},
           Row{"a: \"true\"", R"({"a":"true"})"},
           Row{"a: !!str 1", R"({"a":"1"})"},
           Row{"a: !!str", R"({"a":""})"},
           Row{"a: !!str null", R"({"a":"null"})"},
           Row{"a: ! 12", R"({"a":"12"})"},
           Row{"a: !!int 12", R"({"a":12})"},
           Row{"a: !!int '12'", R"({"a":12})"},
           Row{"a: !!int 0xC", R"({"a":12})"},
           Row{"a: !!int 18446744073709551616", R"({"a":18446744073709553000.0})"},
           Row{"a: !!float 12", R"({"a":12.0})"},
           Row{"a: !!float \"1e3\"", R"({"a":1000.0})"},
           Row{"a: !!bool True", R"({"a":true})"},
           Row{"a: !!bool 'false'", R"({"a":false})"},
           Row{"a: !!null", R"({"a":null})"},
           Row{"a: !!null null", R"({"a":null})"},
           Row{"a: !<tag:yaml.org,2002:int> 12", R"({"a":12})"},
           Row{"%TAG !y! tag:yaml.org,2002:\n---\na: !y!int 12", R"({"a":12})"},
           Row{"!!map {a: !!seq [1, !!str 2]}", R"({"a":[1,"2"]})"},
           Row{"a: &x !!int 12\nb: *x", R"({"a":12,"b":12})"},
           Row{"!!str 1: a\n!!int 2: b", R"({"1":"a","2":"b"})"},
           Row{"a: 1e-999", R"({"a":0.0})"},
           Row{"a: 12", R"({"a":12})"},
           Row{"a: -12", R"({"a":-12})"},
           Row{"a: +12", R"({"a":12})"},
           Row{"a: 012", R"({"a":12})"},
           Row{"a: 0o14", R"({"a":12})"},
           Row{"a: 0xC", R"({"a":12})"},
           Row{"a: 12:30:00", R"({"a":"12:30:00"})"},
           Row{"a: 1_000", R"({"a":"1_000"})"},
           Row{"a: 1.5", R"({"a":1.5})"},
           Row{"a: .5", R"({"a":0.5})"},
           Row{"a: 1.", R"({"a":1.0})"},
           Row{"a: 1e3", R"({"a":1000.0})"},
           Row{"a: 2026-01-22", R"({"a":"2026-01-22"})"},
           Row{"a: 18446744073709551615", R"({"a":18446744073709551615})"},
           Row{"a: infinity", R"({"a":"infinity"})"},
           Row{"a: nan", R"({"a":"nan"})"},
           Row{"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
           Row{"1: a\ntrue: b\n1.50: c", R"({"1":"a","true":"b","1.50":"c"})"},
           Row{"null: a\n~: b", R"({"null":"a","~":"b"})"},
           Row{"[a, {b: c}]", R"(["a",{"b":"c"}])"},
           Row{"", "null"},
           Row{"# nothing", "null"},
           Row{"---\na: 1\n...\n", R"({"a":1})"},
           Row{"a: &x {k: 1}\nb: *x", R"({"a":{"k":1},"b":{"k":1}})"},
       }) {
    CAPTURE(row.text);
    CHECK(value_of(row.text) == row.value);
  }
}

TEST_CASE("YAML that JSON has no place for is refused") {
  for (const char* text :
       {"a: .inf", "a: -.INF", "a: !!float .inf", "a: 1e999", "a: 0xfffffffffffffffff", "a: .nan",
        "a: 1\na: 2", "'a': 1\na: 2", "[1]: a", "{a: 1}: b", "a: !custom 1", "a: 1\n---\nb: 2",
        "a: [", "a: *unknown", "<<: {a: 1}", "a: \"\\xZZ\"", "a:\tb:\n\t- c", "? \n: a",
        "a: b: c"}) {
    CAPTURE(text);
    CHECK(value_of(text).starts_with("error: "));
  }
  CHECK(value_of("a: \xFF") == "error: not UTF-8: \\xff");
  CHECK(value_of("a:\n\tb: {}") ==
        "error: this line begins with a tab; YAML must be indented with spaces");
}

TEST_CASE("tags that are not YAML's own or do not fit are refused in words, at their place") {
  const std::string own = "YAML's own are !!str, !!int, !!float, !!bool, !!null, !!seq, !!map";
  struct Row {
    std::string text;
    std::string error;
    std::size_t column;
  };
  for (const Row& row : {
           Row{"a: !custom 1", "the tag !custom is not known; " + own, 4},
           Row{"a: !custom {b: 1}", "the tag !custom is not known; " + own, 4},
           Row{"a: !custom [1]", "the tag !custom is not known; " + own, 4},
           Row{"!custom a: 1", "the tag !custom is not known; " + own, 1},
           Row{"a: !!binary aGk=", "the tag !!binary is not known; " + own, 4},
           Row{"a: !!set {b}", "the tag !!set is not known; " + own, 4},
           Row{"a: !<http://x.example/t> 1", "the tag http://x.example/t is not known; " + own, 4},
           Row{"a: !!int many", "\"many\" is not of type integer (!!int)", 4},
           Row{"a: !!int 1.5", "\"1.5\" is not of type integer (!!int)", 4},
           Row{"a: !!int", "\"\" is not of type integer (!!int)", 4},
           Row{"a: !!float 0x1", "\"0x1\" is not of type number (!!float)", 4},
           Row{"a: !!bool yes", "\"yes\" is not of type boolean (!!bool)", 4},
           Row{"a: !!null none", "\"none\" is not of type null (!!null)", 4},
           Row{"a: !!map x", "a scalar is not of type object (!!map)", 4},
           Row{"a: !!seq {b: 1}", "an object is not of type array (!!seq)", 4},
           Row{"a: !!str [1]", "an array is not of type string (!!str)", 4},
           Row{"!!int x: 1", "\"x\" is not of type integer (!!int)", 1},
       }) {
    CAPTURE(row.text);
    const auto document = load_document(row.text, Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    CHECK(finding.message == row.error);
    CHECK(finding.span.begin.column == row.column);
  }
}

TEST_CASE(
    "half a surrogate pair is told as in JSON, and so is a whole one, which YAML does not have") {
  for (const std::string escape : {"\\ud83d", "\\udc00", "\\ud83d\\ude00"}) {
    CAPTURE(escape);
    const auto document = load_document("a: \"x" + escape + "\"\n", Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    CHECK(finding.message == "half a surrogate pair: " + escape.substr(0, 6) +
                                 "; YAML has the character itself, or \\U and its eight digits");
    CHECK(finding.span.begin == Position{1, 6, 5});
  }
  CHECK(value_of("a: \"\\U0001F600\"") == "{\"a\":\"\xF0\x9F\x98\x80\"}");
  CHECK(value_of("a: \"\\U00110000\"") == "error: this escape is not a character");
}

TEST_CASE("YAML that ends in the middle is not read as if it were whole") {
  struct Row {
    std::string_view text;
    std::string_view error;
    std::size_t line;
    std::size_t column;
  };
  constexpr std::string_view kColon = "a ':' is missing after this key";
  constexpr std::string_view kQuote = "the quotation that begins here has no end; \" is missing";
  for (const Row& row :
       {Row{"a: 1\nstate", kColon, 2, 1}, Row{"a: 1\nstate\n", kColon, 2, 1},
        Row{"a: 1\nstate # no", kColon, 2, 1}, Row{"a:\n  b: 1\n  c", kColon, 3, 3},
        Row{"- a: 1\n  b", kColon, 2, 3}, Row{"a: 1\n&x b", kColon, 2, 1},
        Row{"a: 1\n\"b\"", kColon, 2, 1}, Row{"a: 1\nb:c", kColon, 2, 1},
        Row{"a: 1\n?b", kColon, 2, 1}, Row{"a: \"text\n", kQuote, 1, 4},
        Row{"a: b\nc: !!str  \"text\n\n", kQuote, 2, 11},
        Row{"a:\n  # why\n  &x\n  \"text\\\"\n", kQuote, 4, 3},
        Row{"- 'it''s\n", "the quotation that begins here has no end; ' is missing", 1, 3}}) {
    CAPTURE(row.text);
    const auto document = load_document(std::string(row.text), Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    CHECK(finding.message == row.error);
    CHECK(finding.span.begin.line == row.line);
    CHECK(finding.span.begin.column == row.column);
  }
  // What looks like that and is whole.
  CHECK(value_of("a: 1\nb:") == R"({"a":1,"b":null})");
  CHECK(value_of("a: 1\nb: # none\n") == R"({"a":1,"b":null})");
  CHECK(value_of("? a\n? b\n") == R"({"a":null,"b":null})");
  CHECK(value_of("{a, b: 1}") == R"({"a":null,"b":1})");
  CHECK(value_of("[a: , b]") == R"([{"a":null},"b"])");
  CHECK(value_of("- &x a\n- *x") == R"(["a","a"])");
  CHECK(value_of("'it''s': \"\\\"\\\\\"") == R"({"it's":"\"\\"})");
  CHECK(value_of("a: |\n  \"x\nb: >\n  it's\n") == R"({"a":"\"x\n","b":"it's\n"})");
}

TEST_CASE("what YAML 1.2 calls an error and yaml-cpp does not") {
  struct Row {
    std::string_view text;
    std::string_view error;
    std::size_t column;
  };
  constexpr std::string_view kComma = "a value is missing before this ','";
  for (const Row& row :
       {Row{"[a, , b]", kComma, 5}, Row{"[, a]", kComma, 2}, Row{"[a, ,]", kComma, 5},
        Row{"{a: [1,,2]}", kComma, 8},
        Row{"[-]", "a '-' alone is not a value; put it in quotes", 2},
        Row{R"(a: "it\'s")", "\\' is not an escape of YAML", 7},
        Row{"%a: goal", "a line that begins with % is a directive, so --- must follow it", 1},
        Row{"# c\n\n%YAML 1.2\n", "a line that begins with % is a directive, so --- must follow it",
            1},
        Row{"a: \"b\"# c", "a comment needs a space before it", 7},
        Row{"[a?b]", "within brackets, a text with a '?' must be in quotes", 3}}) {
    CAPTURE(row.text);
    const auto document = load_document(std::string(row.text), Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    CHECK(finding.message == row.error);
    CHECK(finding.span.begin.column == row.column);
  }
  CHECK(value_of("# c\n%YAML 1.2\n---\na: '%'") == R"({"a":"%"})");
  CHECK(value_of("[a, b,]") == R"(["a","b"])");
  CHECK(value_of("[!!null , ~, null]") == "[null,null,null]");
  CHECK(value_of("[-1, '-', a-b]") == R"([-1,"-","a-b"])");
}

TEST_CASE("a scalar is found behind its tag and anchor") {
  const auto document = load_document("a: !!int  12 # twelve\nb: &x !!str\n  two\n", Format::yaml);
  REQUIRE(document.has_value());
  CHECK((*document)->locate("/a").begin == Position{1, 11, 10});
  CHECK((*document)->locate("/a").end == Position{1, 13, 12});
  CHECK((*document)->locate("/b").begin.line == 2);
}

TEST_CASE("where no document can begin, YAML is refused and not read for ever") {
  struct Row {
    std::string text;
    std::string_view error;
    Position at;
  };
  for (const Row& row :
       {Row{",", "an unexpected ','", {1, 1, 0}}, Row{"\"a\"\n,", "an unexpected ','", {2, 1, 4}},
        Row{"...\n,", "an unexpected ','", {2, 1, 4}}, Row{"- a\n,", "", {2, 1, 4}},
        Row{"\xEF\xBB\xBF, null, 1", "an unexpected ','", {1, 1, 3}},
        Row{"a: 1\n---\nb: 2", "more than one YAML document in a file", {2, 1, 5}}}) {
    CAPTURE(row.text);
    const auto document = load_document(row.text, Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    if (!row.error.empty())
      CHECK(finding.message == row.error);
    CHECK(finding.span.begin.line == row.at.line);
  }
  CHECK(value_of("") == "null");
  CHECK(value_of("---\n") == "null");
  CHECK(value_of("--- a\n...\n") == "\"a\"");
  CHECK(value_of("--- a\n,") == "\"a ,\"");
}

TEST_CASE("a byte order mark moves no place") {
  const auto document = load_document(
      "\xEF\xBB\xBF"
      "ab: cd\nef: gh\n",
      Format::yaml);
  REQUIRE(document.has_value());
  CHECK((*document)->locate("/ab").begin == Position{1, 5, 7});
  CHECK((*document)->locate("/ab").end == Position{1, 7, 9});
  CHECK((*document)->locate("/ab", true).begin == Position{1, 1, 3});
  CHECK((*document)->locate("/ef").begin == Position{2, 5, 14});
}

TEST_CASE("a duplicate key is found at its second place") {
  const auto document = load_document("a: 1\nb:\n  c: 1\n  c: 2\n", Format::yaml);
  REQUIRE_FALSE(document.has_value());
  CHECK(document.error().findings.front().message == "the key \"c\" appears twice");
  CHECK(document.error().findings.front().pointer == "/b/c");
  CHECK(document.error().findings.front().span.begin.line == 4);
  CHECK(document.error().findings.front().span.begin.column == 3);
}

TEST_CASE("a billion laughs are cut short") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j)
      text += last + ", ";
    text += last + "]\n";
  }
  CHECK(value_of(text).starts_with("error: aliases expand to more than"));
}

TEST_CASE("deep YAML is refused as deep JSON is, whatever its style") {
  const auto block = [](std::size_t levels) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i)
      text += std::string(i, ' ') + "a:\n";
    return text;
  };
  const auto repeated = [](std::string_view piece, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i)
      text += piece;
    return text;
  };
  struct Row {
    std::string text;
    std::size_t line;
    std::size_t column;
  };
  for (const Row& row : {
           Row{std::string(129, '[') + std::string(129, ']'), 1, 129},
           Row{std::string(600, '[') + std::string(600, ']'), 1, 129},
           // What is not closed may be a key yet, so each of these is two levels.
           Row{std::string(100'000, '['), 1, 65},
           Row{"x: '[[[\n '\ny: " + std::string(9000, '['), 3, 68},
           Row{repeated("{a: ", 129) + repeated("}", 129), 1, 513},
           Row{block(129), 129, 129},
           Row{block(1000), 129, 129},
           Row{repeated("- ", 129) + "a", 1, 257},
           Row{repeated("- ", 100'000), 1, 257},
           Row{"a: &a " + std::string(127, '[') + std::string(127, ']') + "\nb: [[*a]]", 1, 132},
       }) {
    CAPTURE(row.text.substr(0, 300));
    const auto document = load_document(row.text, Format::yaml);
    REQUIRE_FALSE(document.has_value());
    const Finding& finding = document.error().findings.front();
    CHECK(finding.message == "nested deeper than 128 levels");
    CHECK(finding.span.begin.line == row.line);
    CHECK(finding.span.begin.column == row.column);
  }
  for (const std::string& text :
       {std::string(128, '[') + std::string(128, ']'), block(128), repeated("- ", 128) + "a",
        repeated("{a: ", 128) + repeated("}", 128)})
    CHECK_FALSE(value_of(text).starts_with("error: "));
  // What is no nesting is told as what it is, and where.
  const auto document = load_document("a: b\nc: [" + repeated("x, ", 11'000) + "x]", Format::yaml);
  REQUIRE_FALSE(document.has_value());
  CHECK(document.error().findings.front().message == "a line with too much punctuation");
  CHECK(document.error().findings.front().span.begin.line == 2);
}

TEST_CASE("values and keys of YAML are found in the text") {
  const auto document = load_document("a: 1\nb:\n  - x\n  - k\xC3\xA9: 'quoted'\n", Format::yaml);
  REQUIRE(document.has_value());
  CHECK((*document)->locate("/a").begin == Position{1, 4, 3});
  CHECK((*document)->locate("/a").end == Position{1, 5, 4});
  CHECK((*document)->locate("/b", true).begin == Position{2, 1, 5});
  CHECK((*document)->locate("/b/1/k\xC3\xA9").begin.line == 4);
  CHECK((*document)->locate("/nowhere") == Span{});
}

TEST_CASE("YAML cut or damaged anywhere is read or refused") {
  const std::string whole = "a: &x [1, 'two', \"th\\u0072ee\"]\nb: {c: *x}\nd: |\n  text\n  more\n";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    value_of(whole.substr(0, at));
    for (const char byte : {'\xFF', '\0', '\t', '{', ':', '\n', '"', '&', '*', '%', '?'}) {
      std::string text = whole;
      text[at] = byte;
      CHECK_FALSE(value_of(text).empty());
    }
  }
}

}  // namespace baton
