// SPDX-License-Identifier: Apache-2.0
#include "base/json/document.h"

#include <doctest/doctest.h>

#include "print.h"

namespace baton {
namespace {

using namespace std::string_literals;

constexpr std::string_view kSample =
    "{\n  \"name\": \"caf\xC3\xA9 \\ud83d\\ude00 \\\"x\\\"\",\n"
    "  \"list\": [1, -2.5e3, true, null, {\"a\": []}],\n  \"z\": false\n}\n";

LoadFailure failure_of(std::string text, Format format = Format::json, LoadLimits limits = {}) {
  auto document = load_document(std::move(text), format, limits);
  REQUIRE_FALSE(document.has_value());
  REQUIRE(document.error().findings.size() == 1);
  return document.error();
}

std::shared_ptr<const Document> loaded(std::string text, Format format = Format::json) {
  auto document = load_document(std::move(text), format);
  if (!document)
    FAIL(document.error().findings.front().message);
  return *document;
}

std::string dump(const std::shared_ptr<const Document>& document) {
  return json::dump(document->root());
}

}  // namespace

TEST_CASE("a document is loaded whole") {
  const auto document = loaded(std::string(kSample));
  CHECK(json::text(document->root(), "name") == "caf\xC3\xA9 \xF0\x9F\x98\x80 \"x\"");
  CHECK(json::number(*json::at(document->root(), "/list/1")) == -2500);
  CHECK(document->digest() == digest_of(kSample));
  CHECK(document->warnings().empty());
}

TEST_CASE("numbers keep their kind and their last digit") {
  CHECK(dump(loaded("[9223372036854775807,18446744073709551615,-9223372036854775808]")) ==
        "[9223372036854775807,18446744073709551615,-9223372036854775808]");
  CHECK(loaded("0.1")->root().GetDouble() == 0.1);
  CHECK(loaded("1e-999")->root().GetDouble() == 0.0);
  CHECK(loaded("18446744073709551616")->root().GetDouble() == 18446744073709551616.0);
  CHECK(loaded("1E2")->root().GetDouble() == 100);
  // These two end a RapidJSON that converts numbers itself (CVE-2024-38517 and its issue 1251).
  CHECK(loaded("[0.00000000001e-2147483639]")->root()[0].GetDouble() == 0);
  CHECK(loaded("[128.74836467836484838364836483643636483648e-336]")->root()[0].GetDouble() == 0);
}

TEST_CASE("what stands there and what is expected is said where both are known") {
  struct Row {
    std::string text;
    std::string found;
    std::string expected;
  };
  for (const Row& row : {
           Row{"{\"a\": 1 \"b\": 2}", "\"", "',' or '}'"},
           Row{"[1 \xC3\xA9]", "\xC3\xA9", "',' or ']'"},
           Row{"{\"a\" 1}", "1", "':'"},
           Row{"{a: 1}", "a", "a member name in double quotes"},
           Row{"[:]", ":", "a value"},
           Row{"[1. 5]", " ", "a digit"},
           Row{"[- 5]", " ", "a digit"},
           Row{"[--5]", "-", "a digit"},
           Row{"[tru 1]", "tru", "a value"},
           Row{"{\"a\": nul , \"b\": 1}", "nul", "a value"},
           Row{"{\"a\": 1,\n}", "", ""},
           Row{"[1,]", "", ""},
           Row{"[01]", "", ""},
           Row{"[1 // one\n]", "", ""},
           Row{"[True]", "True", "a value"},
           Row{"[1.]", "]", "a digit"},
           Row{"{} {}", "{", "the end of the document"},
           Row{"[\"\\x\"]", "", ""},
           Row{"[1", "", ""},
       }) {
    CAPTURE(row.text);
    const Finding finding = failure_of(row.text).findings.front();
    CHECK(finding.found == row.found);
    CHECK(finding.expected == row.expected);
  }
}

TEST_CASE("what is wrong is said in words, at its place") {
  struct Row {
    std::string text;
    std::string_view message;
    std::size_t line;
    std::size_t column;
  };
  for (
      const Row& row : {
          Row{"{\"a\": 1,\n}", "trailing comma before '}'", 2, 1},
          Row{"[1,\n 2, ]", "trailing comma before ']'", 2, 5},
          Row{"{'a': 1}", "a member name in double quotes is expected, not '''", 1, 2},
          Row{"{\"a\": 'x'}", "strings take double quotes, not '", 1, 7},
          Row{"{\"a\" 1}", "':' is expected after the member name, not '1'", 1, 6},
          Row{"{\"a\": 1 \"b\": 2}", "',' or '}' is expected, not '\"'", 1, 9},
          Row{"[1 2]", "',' or ']' is expected, not '2'", 1, 4},
          Row{"[01]", "a number has no leading zero", 1, 3},
          Row{"[0x10]", "JSON has no hexadecimal numbers", 1, 3},
          Row{"[+1]", "a number has no '+' in front", 1, 2},
          Row{"[.5]", "a number needs a digit before '.'", 1, 2},
          Row{"[1.]", "a digit is expected in the number, not ']'", 1, 4},
          Row{"{\"a\": NaN}", "'NaN' is not a JSON value; JSON has no such number", 1, 7},
          Row{"{\"a\": True}", "'True' is not a JSON value; use true", 1, 7},
          Row{"{\"a\": trux}", "'trux' is not a JSON value", 1, 7},
          Row{"// hi\n{}", "JSON has no comments", 1, 1},
          Row{"{} // hi", "JSON has no comments", 1, 4},
          Row{"{} {}", "the text goes on after the end of the document: end expected, not '{'", 1,
              4},
          Row{"[\"a\nb\"]",
              "a line break in a string; the closing quote is missing, or it has to be written \\n",
              1, 4},
          Row{"[\"a\tb\"]", "a control character in a string has to be escaped", 1, 4},
          Row{"[\"\\x\"]", "a wrong escape in a string: \\x\"]", 1, 3},
          Row{"[\"\\ud83d\"]", "half a surrogate pair: \\ud83d", 1, 3},
          Row{"[\"x\\ud83d\\u0041\"]", "half a surrogate pair: \\ud83d", 1, 4},
          Row{"{\"\\udbff\": 1}", "half a surrogate pair: \\udbff", 1, 3},
          Row{"[\"\\udc00\"]", "half a surrogate pair: \\udc00", 1, 3},
          Row{"[\"\\ud83d\\ude00 \\udfff\"]", "half a surrogate pair: \\udfff", 1, 16},
          Row{"{\"a\":1}\0{\"b\":2}"s, "a NUL byte", 1, 8},
          Row{"{\"a\": \"\xC3\x28\"}", "not UTF-8: \\xc3", 1, 8},
          Row{"\x1F\x8B\x08\0"s, "not UTF-8: this is compressed; it must be plain text", 1, 2},
          Row{"Salted__\xF3"s, "not UTF-8: this is encrypted; it must be plain text", 1, 9},
          Row{"\xFF\xFE{\0"s, "not UTF-8; is it UTF-16?", 1, 1},
          Row{"{\0\"\0"s, "not UTF-8; is it UTF-16?", 1, 2},
          Row{"\0{\0}"s, "not UTF-8; is it UTF-16?", 1, 1},
          Row{"\0\0\0"s, "a NUL byte", 1, 1},
          Row{std::string(128, '[') + "[1", "nested deeper than 128 levels", 1, 129},
          Row{"[\n " + std::string(127, '[') + " {", "nested deeper than 128 levels", 2, 130},
          Row{"[1e400]", "the number 1e400 is too large", 1, 2},
          Row{"{\"\xC3\xA9\": 1, \"\xC3\xA9\": 2}", "the member \"\xC3\xA9\" appears twice", 1, 10},
          Row{"{\"x\": [1, {\"a\": 1, \"\\u0061\": 2}]}", "the member \"a\" appears twice", 1, 20},
      }) {
    CAPTURE(row.text);
    const LoadFailure failure = failure_of(row.text);
    CHECK(failure.findings.front().message == row.message);
    CHECK(failure.findings.front().span.begin.line == row.line);
    CHECK(failure.findings.front().span.begin.column == row.column);
    CHECK(failure.findings.front().rule == "json");
    CHECK_FALSE(failure.incomplete);
  }
}

TEST_CASE("of lines that cannot be read only some are told, and too many are refused") {
  const auto lines = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text += "x\n";
    return text + "{\"a\": 1}\n";
  };
  const auto some = load_document(lines(1000), Format::jsonl);
  REQUIRE(some.has_value());
  CHECK((*some)->root().Size() == 1);
  REQUIRE((*some)->warnings().size() == 100);
  CHECK((*some)->warnings()[98].message == "the line is skipped: 'x' is not a JSON value");
  CHECK((*some)->warnings()[99].message ==
        "the line is skipped: 'x' is not a JSON value; further ones are not reported");
  CHECK(load_document(lines(100'000), Format::jsonl).has_value());
  const Finding finding = failure_of(lines(100'001), Format::jsonl).findings.front();
  CHECK(finding.message == "more than 100000 lines cannot be read; is this JSON Lines?");
  CHECK(finding.span.begin.line == 100'001);
}

TEST_CASE("a member that is there twice is named by its pointer") {
  struct Row {
    std::string text;
    std::string_view pointer;
    std::size_t column;
  };
  std::string many = "{";
  for (char c = 'z'; c >= 'a'; --c)
    many += "\"" + std::string(1, c) + "\":1,";
  for (const Row& row : {Row{R"({"a": 1, "a": 2})", "/a", 10},
                         Row{R"({"x": [1, {"a/b": 1, "a/b": 2}]})", "/x/1/a~1b", 22},
                         Row{R"({"x": {"": 1, "": 2}})", "/x/", 15},
                         // The first that comes again, in the order of the text.
                         Row{many + R"("q":1,"c":1,"c":1})", "/q", 158}}) {
    CAPTURE(row.text);
    const Finding finding = failure_of(row.text).findings.front();
    CHECK(finding.pointer == row.pointer);
    CHECK(finding.span.begin.column == row.column);
  }
  // A line that is passed over is no record that a pointer could lead into.
  const auto lines = load_document("{\"a\": 1, \"a\": 2}\n", Format::jsonl);
  REQUIRE(lines.has_value());
  CHECK((*lines)->warnings().front().pointer.empty());
  // A name as long as the text is not said three times over.
  const std::string name(100'000, 'n');
  const std::string text = "{\"x\":{\"" + name + "\":1,\"" + name + "\":2}}";
  CHECK(failure_of(text).findings.front().pointer == "/x");
}

TEST_CASE("a text that only stops too early is incomplete") {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"", "the text is empty"},
           Row{" \n", "the text is empty"},
           Row{"{\n\"a\": 1", "the text ends in the middle of an object that begins in line 1"},
           Row{"{\n\"a\": [1,", "the text ends in the middle of an array that begins in line 2"},
           Row{"{\n\"a\": \"x", "the text ends in the middle of a string that begins in line 2"},
           Row{"tru", "the text ends in the middle of a value"},
           Row{"-", "the text ends in the middle of a value"},
           Row{"\"\xE2\x82", "the text ends in the middle of a character"},
       }) {
    CAPTURE(row.text);
    const LoadFailure failure = failure_of(std::string(row.text));
    CHECK(failure.incomplete);
    CHECK(failure.findings.front().message == row.message);
  }
}

TEST_CASE("only what no going on can mend, and no writer explains, is definite") {
  struct Row {
    std::string text;
    bool definite;
  };
  for (const Row& row : {
           // However these go on, they stay wrong.
           Row{"{\"a\": 1, \"a\": 2}", true},
           Row{"{\"a\": \"\xC3\x28\"}", true},
           Row{"\xFF\xFE{", true},
           Row{"{\"a\": 1,}", true},
           Row{"{\"a\": True", true},
           Row{"{'a'", true},
           Row{"[1 2", true},
           Row{"[01", true},
           Row{"[\"a\nb", true},
           Row{"[\"\\udc00\"", true},
           Row{"[1e400, ", true},
           Row{std::string(200, '['), true},
           // These may be mended by going on.
           Row{"", false},
           Row{"{\"a\": 1", false},
           Row{"{\"a\": tru", false},
           Row{"[1, -", false},
           Row{"[\"\\ud83d", false},
           Row{"\"\xE2\x82", false},
           // These by going on with something else that somebody has begun.
           Row{"{\"a\": 1}ld\": 2}", false},
           Row{"{\"a\": 1}}", false},
           Row{"{\"a\": 1}\0\0"s, false},
           Row{"\0\0\0\0"s, false},
       }) {
    CAPTURE(row.text);
    const LoadFailure failure = failure_of(row.text);
    CHECK(failure.definite == row.definite);
    CHECK_FALSE((failure.definite && failure.incomplete));
    if (!row.definite)
      continue;
    for (const std::string_view more : {"", "}", "]", "\"]", "\"}", "0", "]]", ": 1}", "e\"}"})
      CHECK_FALSE(load_document(row.text + std::string(more), Format::json).has_value());
  }
}

TEST_CASE("no beginning of a document is definitely wrong, nor is one over a longer text") {
  const std::string_view whole = kSample;
  for (std::size_t length = 0; length < whole.size() - 1; ++length) {
    CAPTURE(length);
    CHECK_FALSE(failure_of(std::string(whole.substr(0, length))).definite);
  }
  CHECK_FALSE(failure_of(std::string(whole) + "rest of what stood there\": 1}\n").definite);
}

TEST_CASE("every beginning of a document is refused as incomplete") {
  const std::string_view whole = kSample.substr(0, kSample.size() - 1);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(failure_of(std::string(whole.substr(0, length))).incomplete);
  }
}

TEST_CASE("a flipped byte is refused or read, and never more than that") {
  for (std::size_t at = 0; at < kSample.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string text(kSample);
      text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
      const auto document = load_document(text, Format::json);
      CHECK((document.has_value() || !document.error().findings.empty()));
    }
  }
}

TEST_CASE("limits are kept") {
  CHECK(failure_of("[[1]]", Format::json, {.max_depth = 1}).findings.front().message ==
        "nested deeper than 1 levels");
  CHECK(failure_of("[123]", Format::json, {.max_number_chars = 2}).findings.front().message ==
        "a number of more than 2 characters");
  CHECK(failure_of("{\"a\":1,\"b\":2}", Format::json, {.max_object_members = 1})
            .findings.front()
            .message == "an object with more than 1 members");
  CHECK(failure_of("[123]", Format::json, {.max_bytes = 4}).findings.front().message ==
        "5 bytes; at most 4 are read");
  CHECK(load_document("[[1]]", Format::json, {.max_depth = 2}).has_value());
}

TEST_CASE("memory is limited, by what values and long strings take, not by their number alone") {
  constexpr std::size_t kRoom = 100'000;
  const auto fits = [](const std::string& text, Format format = Format::json) {
    return load_document(text, format, {.max_memory_bytes = kRoom}).has_value();
  };
  const auto repeated = [](const std::string& piece, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
      out += piece;
    return out;
  };
  // A value takes 16 bytes, and as many again while its array is being closed.
  CHECK(fits("[" + repeated("1,", 2'800) + "1]"));
  CHECK_FALSE(fits("[" + repeated("1,", 3'100) + "1]"));
  CHECK(fits("[" + repeated("[1,1,1,1,1,1,1],", 550) + "1]"));
  CHECK_FALSE(fits("[" + repeated("[1,1,1,1,1,1,1],", 750) + "1]"));
  CHECK(fits("\"" + std::string(33'000, 'x') + "\""));
  CHECK_FALSE(fits("\"" + std::string(34'000, 'x') + "\""));
  CHECK(fits(repeated("[1,1]\n", 700), Format::jsonl));
  CHECK_FALSE(fits(repeated("[1,1]\n", 1'100), Format::jsonl));
  CHECK(failure_of("[" + repeated("1,", 5'000) + "1]", Format::json, {.max_memory_bytes = kRoom})
            .findings.front()
            .message.find("values and more take too much memory") != std::string::npos);
}

TEST_CASE("records of 15 MiB are read by default, as an array and as lines") {
  std::string array = "[";
  std::string lines;
  for (std::size_t i = 0; lines.size() < (15U << 20U); ++i) {
    const std::string record =
        R"({"id":"ticket-)" + std::to_string(i) +
        R"(","name":"a name of thirty characters...","status":"ready","count":1,"tags":["a","b"],)" +
        R"("created_at":"2026-01-01T00:00:00Z"})";
    array += (i == 0 ? "" : ",") + record;
    lines += record + "\n";
  }
  CHECK(load_document(array + "]", Format::json).has_value());
  CHECK(load_document(lines, Format::jsonl).has_value());
}

TEST_CASE("an integer beyond 64 bits is doubted, where that is asked for") {
  struct Row {
    std::string text;
    Format format;
    Position at;
  };
  for (const Row& row : {Row{"[1,\n 18446744073709551616]", Format::json, {2, 2, 5}},
                         Row{"{\"a\": -9223372036854775809}", Format::json, {1, 7, 6}},
                         Row{"12345678901234567890123", Format::json, {1, 1, 0}},
                         Row{"1\n 18446744073709551616\n", Format::jsonl, {2, 2, 3}},
                         Row{"a: 18446744073709551616\n", Format::yaml, {1, 4, 3}}}) {
    CAPTURE(row.text);
    const auto document = load_document(row.text, row.format, {.doubt_numbers = true});
    REQUIRE(document.has_value());
    REQUIRE((*document)->warnings().size() == 1);
    const Finding& doubt = (*document)->warnings().front();
    CHECK(doubt.severity == Severity::warning);
    CHECK(doubt.span.begin == row.at);
    CHECK(doubt.message.find("does not fit into 64 bits") != std::string::npos);
    CHECK(loaded(row.text, row.format)->warnings().empty());
  }
  for (const char* const fine :
       {"18446744073709551615", "-9223372036854775808", "1e30", "1.5", "\"18446744073709551616\""})
    CHECK((*load_document(fine, Format::json, {.doubt_numbers = true}))->warnings().empty());
  CHECK((*load_document("a: 1e30\nb: '18446744073709551616'\n", Format::yaml,
                        {.doubt_numbers = true}))
            ->warnings()
            .empty());
}

TEST_CASE("a million brackets do not end the process") {
  for (const char* piece : {"[", "{\"a\":", "[{\"a\":"}) {
    std::string text;
    while (text.size() < 1'000'000)
      text += piece;
    CHECK_FALSE(load_document(text, Format::json).has_value());
  }
}

TEST_CASE("a long number is read without pain") {
  CHECK_FALSE(load_document(std::string(100'000, '1'), Format::json).has_value());
  CHECK(loaded("0." + std::string(900, '0') + "1")->root().GetDouble() == 0);
}

TEST_CASE("a byte order mark is skipped with a warning") {
  const auto document = loaded("\xEF\xBB\xBF{\"a\": 1}");
  REQUIRE(document->warnings().size() == 1);
  CHECK(document->warnings().front().severity == Severity::warning);
  CHECK(document->locate("/a").begin == Position{1, 7, 9});
}

TEST_CASE("values and names are found in the text") {
  const auto document =
      loaded("{\n  \"\xC3\xA9\": {\"a\": 1, \"b\": [10, \"x\"]},\n  \"t\\\"q\": 2\n}");
  CHECK(document->locate("").begin == Position{1, 1, 0});
  CHECK(document->locate("/\xC3\xA9/b/1").begin == Position{2, 27, 29});
  CHECK(document->locate("/\xC3\xA9/b/1").end == Position{2, 30, 32});
  CHECK(document->locate("/\xC3\xA9/b", true).begin == Position{2, 17, 19});
  CHECK(document->locate("/\xC3\xA9/b", true).end == Position{2, 20, 22});
  CHECK(document->locate("/t\"q").begin.line == 3);
  CHECK(document->locate("/nowhere") == Span{});
  CHECK(document->locate("nonsense") == Span{});
}

TEST_CASE("JSON Lines are read line by line") {
  const auto document = loaded("{\"a\":1}\n\n  \n{\"a\":2} {\"a\":3}\r\n[4]\n", Format::jsonl);
  CHECK(dump(document) == R"([{"a":1},{"a":2},{"a":3},[4]])");
  CHECK(document->warnings().empty());
  CHECK(document->locate("/2/a").begin == Position{4, 14, 25});
  CHECK(document->locate("/3/0").begin == Position{5, 2, 30});
}

TEST_CASE("a bad line of JSON Lines is skipped with a warning") {
  const auto document = loaded("{\"a\":1}\nnonsense\n{\"a\":2}\n{\"a\":", Format::jsonl);
  CHECK(dump(document) == R"([{"a":1},{"a":2}])");
  REQUIRE(document->warnings().size() == 2);
  CHECK(document->warnings()[0].rule == "json");
  CHECK(document->warnings()[0].span.begin.line == 2);
  CHECK(document->warnings()[1].message == "the last line is cut off; baton skips it");
  CHECK(document->warnings()[1].span.begin.line == 4);
  CHECK(document->locate("/1/a").begin.line == 3);
  CHECK(dump(loaded("", Format::jsonl)) == "[]");
}

TEST_CASE("values in front of what cannot be read count, and the warning says so") {
  const auto document = loaded("{\"a\":1} // one\n{\"a\":2}{\"a\"", Format::jsonl);
  CHECK(dump(document) == R"([{"a":1},{"a":2}])");
  REQUIRE(document->warnings().size() == 2);
  CHECK(document->warnings()[0].message == "the rest of the line is skipped: JSON has no comments");
  CHECK(document->warnings()[1].message == "the rest of the last line is cut off; baton skips it");
}

TEST_CASE("JSON Lines cut or damaged anywhere are still read") {
  const std::string whole = "{\"a\":1}\n{\"b\":\"\xC3\xA9\"}\n{\"c\":[1,2]}\n";
  for (std::size_t length = 0; length <= whole.size(); ++length)
    CHECK(load_document(whole.substr(0, length), Format::jsonl).has_value());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = '\xFF';
    CHECK(load_document(text, Format::jsonl).has_value());
  }
}

TEST_CASE("text is not looked into") {
  const auto document = loaded("any\0thing\xFF"s, Format::text);
  CHECK(document->root().IsNull());
  CHECK(document->text() == "any\0thing\xFF"s);
  CHECK(document->locate("/a") == Span{});
}

}  // namespace baton
