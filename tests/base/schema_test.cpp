// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "print.h"

namespace baton {
namespace {

using namespace std::string_literals;

Result<std::string> nothing(std::string_view uri) {
  return fail(Errc::not_found, "no such schema: " + std::string(uri));
}

std::shared_ptr<const Schema> compiled(std::string_view text, const SchemaFetch& fetch = nothing) {
  auto schema = compile_schema(text, "test.json", fetch);
  if (!schema)
    FAIL(describe(schema.error()));
  return *schema;
}

Error error_of(std::string_view text, const SchemaFetch& fetch = nothing) {
  auto schema = compile_schema(text, "test.json", fetch);
  REQUIRE_FALSE(schema.has_value());
  return schema.error();
}

Findings check(std::string_view schema, std::string_view text, const SchemaLimits& limits = {}) {
  const auto document = load_document(std::string(text), Format::json);
  REQUIRE(document.has_value());
  return compiled(schema)->check(**document, limits);
}

/// The findings as `rule pointer line:column message`.
std::string told(std::string_view schema, std::string_view text) {
  std::string out;
  for (const Finding& finding : check(schema, text)) {
    out += finding.rule + " " + finding.pointer + " " + std::to_string(finding.span.begin.line) +
           ":" + std::to_string(finding.span.begin.column) + " " + finding.message;
    if (!finding.suggestion.empty())
      out += " (" + finding.suggestion + "?)";
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("what is valid and what is not") {
  struct Row {
    std::string_view schema;
    std::string text;
    bool valid;
  };
  for (
      const Row& row : {
          Row{"true", "1", true},
          Row{"false", "1", false},
          Row{"{}", "[]", true},
          Row{R"({"type":"integer"})", "1.0", true},
          Row{R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"})", "1.0",
              false},
          Row{R"({"maxLength":2.0})", R"("abc")", false},
          // What valijson 1.0 gets wrong by itself, in the order of our notes.
          Row{R"({"properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"propertyNames":{"maxLength":1}}}})",
              R"({"a":{"xx":1}})", false},
          Row{R"({"propertyNames":{"pattern":"^a"}})", R"({"b":1})", false},
          Row{R"({"multipleOf":2})", "4.5", false},
          Row{R"({"maximum":10})", "18446744073709551615", false},
          Row{R"({"minimum":0})", "18446744073709551615", true},
          Row{R"({"const":9007199254740993})", "9007199254740992", false},
          Row{R"({"enum":[9007199254740993]})", "9007199254740992", false},
          Row{R"({"enum":[9007199254740993]})", "9007199254740993", true},
          Row{R"({"maxLength":3})", R"("ab\u0000cdefgh")", false},
          Row{R"({"minLength":3})", R"("ab\u0000")", true},
          Row{R"({"multipleOf":1})", "-9223372036854775808", true},
          Row{R"({"multipleOf":2})", R"("7")", true},
          Row{R"({"multipleOf":0.01})", "66.7", true},
          Row{R"({"multipleOf":0.01})", "66.705", false},
          Row{R"({"multipleOf":0.0001})", "0.0075", true},
          Row{R"({"multipleOf":1e-8})", "12391239123", true},
          Row{R"({"type":"integer","multipleOf":0.123456789})", "1e308", false},
          Row{R"({"multipleOf":1e-6})", "1732257600.1234567", false},
          Row{R"({"multipleOf":0.000001})", "1732257600.123456", true},
          Row{R"({"multipleOf":0.001})", "1732257600123.4567", false},
          Row{R"({"multipleOf":0.001})", "1732257600123.456", true},
          Row{R"({"multipleOf":0.01})", "10000000000000.004", false},
          Row{R"({"multipleOf":0.01})", "12345678901234.567", false},
          // Of doubles this far up only every 64th part is there: .543 would read as this one.
          Row{R"({"multipleOf":0.01})", "98765432109876.55", true},
          Row{R"({"multipleOf":0.001})", "98765432109876.55", true},
          Row{R"({"multipleOf":0.1})", "98765432109876.55", false},
          Row{R"({"multipleOf":0.01})", "1732257600000000000", true},
          Row{R"({"multipleOf":0.1})", "1732257600000000000", true},
          Row{R"({"multipleOf":1e-9})", "17322576000", true},
          Row{R"({"multipleOf":0.0001})", "9007199254740993", true},
          Row{R"({"multipleOf":0.01})", "1e300", true},
          Row{R"({"multipleOf":0.01})", "19.99", true},
          Row{R"({"multipleOf":0.01})", "-19.99", true},
          Row{R"({"multipleOf":0.01})", "-19.995", false},
          Row{R"({"multipleOf":0.1})", "0.3", true},
          Row{R"({"multipleOf":0.1})", "-0.3", true},
          Row{R"({"multipleOf":1e-308})", "1e308", true},
          Row{R"({"multipleOf":3e-308})", "1e308", false},
          Row{R"({"multipleOf":5e-324})", "5", true},
          Row{R"({"multipleOf":5e-324})", "1.7976931348623157e308", true},
          Row{R"({"multipleOf":7e-300})", "-1e300", false},
          Row{R"({"multipleOf":1e308})", "5e-324", false},
          Row{R"({"multipleOf":5e-324})", "1e-323", true},
          Row{R"({"multipleOf":0.5})", "18446744073709551615", true},
          Row{R"({"multipleOf":2.5})", "18446744073709551615", true},
          Row{R"({"multipleOf":3})", "18446744073709551615", true},
          Row{R"({"multipleOf":2})", "18446744073709551615", false},
          Row{R"({"multipleOf":0.3})", "9223372036854775807", false},
          Row{R"({"multipleOf":0.7})", "9223372036854775807", true},
          Row{R"({"multipleOf":0.5})", "-9223372036854775808", true},
          Row{R"({"multipleOf":3})", "-9223372036854775808", false},
          Row{R"({"multipleOf":9223372036854775808})", "-9223372036854775808", true},
          Row{R"({"multipleOf":18446744073709551615})", "18446744073709551615", true},
          Row{R"({"multipleOf":18446744073709551615})", "18446744073709551614", false},
          Row{R"({"multipleOf":1e3})", "5000", true},
          Row{R"({"multipleOf":1e3})", "5001", false},
          Row{R"({"multipleOf":10})", "1e23", true},
          Row{R"({"multipleOf":7})", "1e23", false},
          Row{R"({"multipleOf":4096})", "36893488147419103232", true},
          Row{R"({"multipleOf":36893488147419103232})", "36893488147419103232", true},
          Row{R"({"multipleOf":36893488147419103232})", "1e300", true},
          Row{R"({"multipleOf":36893488147419103232})", "36893488147419111424", false},
          Row{R"({"multipleOf":0.01})", "0", true},
          Row{R"({"multipleOf":0.01})", "0.0", true},
          Row{R"({"multipleOf":0.01})", "-0.0", true},
          Row{R"({"multipleOf":7})", "0", true},
          Row{R"({"multipleOf":1e308})", "0", true},
          Row{R"({"format":"date-time"})", "12", true},
          Row{R"({"format":"date-time"})", "{}", true},
          Row{R"({"format":"date-time"})", R"("2026-02-29T00:00:00Z")", false},
          Row{R"({"format":"date-time"})", R"("2026-01-22T10:00:00|01:00")", false},
          Row{R"({"format":"date-time"})", R"("1998-12-31T23:59:60Z")", true},
          Row{R"({"format":"date-time"})", R"("2015-06-30t23:59:60.25z")", true},
          Row{R"({"format":"date-time"})", R"("2015-07-01T09:29:60+09:30")", true},
          Row{R"({"format":"date-time"})", R"("1998-12-31T15:59:60-08:00")", true},
          // At the end of no other month was there a leap second, nor of any other day.
          Row{R"({"format":"date-time"})", R"("2020-02-29T23:59:60Z")", false},
          Row{R"({"format":"date-time"})", R"("2020-12-30T23:59:60Z")", false},
          Row{R"({"format":"date-time"})", R"("2015-06-30T23:59:60+09:30")", false},
          Row{R"({"format":"date-time"})", R"("1998-12-31T23:58:60Z")", false},
          Row{R"({"format":"time"})", R"("23:59:60Z")", true},
          Row{R"({"format":"time"})", R"("00:29:60+00:30")", true},
          Row{R"({"format":"time"})", R"("22:59:60Z")", false},
          Row{R"({"format":"uri-template"})", R"("http://a/{b}'s/%41{+c,d:3,e*}{/f.g_1%20}{|x}")",
              true},
          Row{R"({"format":"uri-template"})", R"("")", true},
          Row{R"({"format":"uri-template"})", R"("{a:9999}é")", true},
          Row{R"({"format":"uri-template"})", R"("{}")", false},
          Row{R"({"format":"uri-template"})", R"("{a")", false},
          Row{R"({"format":"uri-template"})", R"("a}")", false},
          Row{R"({"format":"uri-template"})", R"("{+}")", false},
          Row{R"({"format":"uri-template"})", R"("{a,}")", false},
          Row{R"({"format":"uri-template"})", R"("{a:0}")", false},
          Row{R"({"format":"uri-template"})", R"("{a:10000}")", false},
          Row{R"({"format":"uri-template"})", R"("{a*1}")", false},
          Row{R"({"format":"uri-template"})", R"("{a..b}")", false},
          Row{R"({"format":"uri-template"})", R"("{a.}")", false},
          Row{R"({"format":"uri-template"})", R"("{a-b}")", false},
          Row{R"({"format":"uri-template"})", R"("{{a}}")", false},
          Row{R"({"format":"uri-template"})", R"("%zz")", false},
          Row{R"({"uniqueItems":true})", "[1, 1.0]", false},
          Row{R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1}])", false},
          Row{R"({"uniqueItems":true})", "[0, -0.0]", false},
          Row{R"({"uniqueItems":true})", "[-1.0, -1]", false},
          Row{R"({"uniqueItems":true})", "[9223372036854775808, 9223372036854775808.0]", false},
          Row{R"({"uniqueItems":true})", "[-9223372036854775808, -9223372036854775808.0]", false},
          Row{R"({"uniqueItems":true})", "[18446744073709549568, 18446744073709549568.0]", false},
          Row{R"({"uniqueItems":true})", "[9007199254740993, 9007199254740992.0]", true},
          Row{R"({"uniqueItems":true})", "[-1, 18446744073709551615]", true},
          Row{R"({"uniqueItems":true})", "[18446744073709551615, 18446744073709551616]", true},
          Row{R"({"uniqueItems":true})", "[1e300, 1e300]", false},
          Row{R"({"uniqueItems":true})", "[0.5, 0.5]", false},
          Row{R"({"uniqueItems":true})", "[0.5, -0.5, 0, 1]", true},
          Row{R"({"uniqueItems":true})", "[1, true, \"1\", [1], null, 0, false]", true},
          Row{R"({"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false})",
              R"({"x1":"a"})", true},
          Row{R"({"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false})",
              R"({"y":"a"})", false},
          Row{R"({"properties":{"x1":{"maxLength":1}},"patternProperties":{"^x":{"type":"string"}}})",
              R"({"x1":"ab"})", false},
          Row{R"({"properties":{"a\u0000b":{"type":"string"}},"additionalProperties":false})",
              R"({"a\u0000b":"x"})", true},
          Row{R"({"properties":{"a\u0000b":{"type":"string"}},"additionalProperties":false})",
              R"({"a":"x"})", false},
          Row{R"({"dependencies":{"a":["b"]}})", R"({"a":1})", false},
          Row{R"({"dependencies":{"a":{"required":["b"]}}})", R"({"a":1})", false},
          Row{R"({"if":{"const":1},"then":false,"else":{"type":"string"}})", "1", false},
          Row{R"({"if":{"const":1},"then":false,"else":{"type":"string"}})", "2", false},
          Row{R"({"if":{"const":1},"then":false,"else":{"type":"string"}})", "\"x\"", true},
          Row{R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a",1])", false},
          Row{R"({"items":[{"type":"string"}]})", R"(["a",1])", true},
          Row{R"({"contains":{"const":1}})", "[2]", false},
          Row{R"({"not":{"type":"string"}})", "\"x\"", false},
          Row{R"({"oneOf":[{"minimum":1},{"maximum":5}]})", "3", false},
          Row{R"({"pattern":"^\\d{2,}$"})", R"("12")", true},
          Row{R"({"pattern":"^\\d+$"})", "\"\xD9\xA1\"", false},
          Row{R"({"pattern":"^.$"})", "\"\xF0\x9F\x98\x80\"", true},
          Row{R"({"pattern":"a$"})", R"("a\n")", false},
          Row{R"({"$ref":"#/definitions/a%25b","definitions":{"a%b":{"type":"null"}}})", "1",
              false},
          Row{R"({"$ref":"#/definitions/a~1b","definitions":{"a/b":{"type":"null"}}})", "1", false},
          Row{R"({"type":"object","properties":{"next":{"$ref":"#"}},"required":["v"]})",
              R"({"v":1,"next":{"v":2,"next":{}}})", false},
      }) {
    CAPTURE(row.schema);
    CAPTURE(row.text);
    const Findings findings = check(row.schema, row.text);
    CHECK(findings.empty() == row.valid);
    for (const Finding& finding : findings)
      CHECK(finding.rule != "schema/limit");
  }
}

TEST_CASE("faults are told in the order of the text, with values, places and suggestions") {
  constexpr std::string_view kSchema = R"({
    "type": "object",
    "required": ["iteration", "mode"],
    "additionalProperties": false,
    "propertyNames": {"pattern": "^[a-z_]+$"},
    "properties": {
      "mode": {"enum": ["simple", "parallel"]},
      "iteration": {"type": "integer", "minimum": 0},
      "name": {"type": "string", "maxLength": 3},
      "when": {"format": "date-time"},
      "list": {"type": "array", "uniqueItems": true, "maxItems": 2}
    }})";
  CHECK(told(kSchema,
             "{\n  \"mode\": \"paralell\",\n  \"nam\": 1,\n  \"name\": \"abcd\",\n"
             "  \"when\": \"today\",\n  \"list\": [1, 2, 1],\n  \"X\": 1\n}") ==
        "schema/required  1:1 the member \"iteration\" is missing\n"
        "schema/enum /mode 2:11 \"paralell\" is not one of \"simple\", \"parallel\" (parallel?)\n"
        "schema/additionalProperties /nam 3:3 the member \"nam\" is not allowed here (name?)\n"
        "schema/maxLength /name 4:11 \"abcd\" has 4 characters, at most 3 are allowed\n"
        "schema/format /when 5:11 \"today\" is not a valid date-time\n"
        "schema/maxItems /list 6:11 3 items, at most 2 are allowed\n"
        "schema/uniqueItems /list/2 6:18 1 appears twice\n"
        "schema/propertyNames /X 7:3 the name \"X\" is not allowed\n"
        "schema/additionalProperties /X 7:3 the member \"X\" is not allowed here\n");
  CHECK(told(kSchema, "{\"mode\": \"simple\", \"iteration\": -1}") ==
        "schema/minimum /iteration 1:33 -1 is not at least 0\n");
  CHECK(told(kSchema, "{\"mode\": \"simple\", \"iteration\": null}") ==
        "schema/type /iteration 1:33 expected integer, found null\n");
  CHECK(told(kSchema, "[]") == "schema/type  1:1 expected object, found an array\n");
}

TEST_CASE("a member that is missing is told with the one that is nearly it") {
  constexpr std::string_view kSchema =
      R"({"required": ["initial", "to"], "properties": {"initials": {}}})";
  CHECK(told(kSchema, R"({"inital": 1, "ta": 1})") ==
        "schema/required  1:1 the member \"initial\" is missing; \"inital\" is nearly that\n"
        "schema/required  1:1 the member \"to\" is missing\n");
  // It has a meaning of its own.
  CHECK(told(kSchema, R"({"initials": 1, "to": 1})") ==
        "schema/required  1:1 the member \"initial\" is missing\n");
}

TEST_CASE("a finding carries where the schema says so, what was found and what is right") {
  const Findings findings = check(
      R"({"properties":{"a":{"$ref":"#/definitions/word"}},"definitions":{"word":{"type":["string","null"]}}})",
      R"({"a":5})");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == "schema/type");
  CHECK(findings[0].pointer == "/a");
  CHECK(findings[0].schema_pointer == "#/definitions/word/type");
  CHECK(findings[0].found == "5");
  CHECK(findings[0].expected == "string or null");
  CHECK(findings[0].message == "expected string or null, found the integer 5");
  CHECK(findings[0].span.begin == Position{1, 6, 5});
}

TEST_CASE("of alternatives, the one that was meant is explained") {
  constexpr std::string_view kSchema = R"({"anyOf": [
    {"type": "null"},
    {"type": "object", "properties": {"kind": {"const": "a"}, "size": {"type": "integer"}}}]})";
  CHECK(told(kSchema, R"({"kind": "a", "size": "big"})") ==
        "schema/type /size 1:23 expected integer, found the string \"big\"\n");
  CHECK(told(kSchema, "7") ==
        "schema/anyOf  1:1 none of 2 alternatives fits: expected null, found the integer 7; "
        "expected object, found the integer 7\n");
}

TEST_CASE("only so many findings are kept, and the rest is counted") {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += i == 0 ? "1" : ",1";
  const Findings findings =
      check(R"({"items":{"type":"string"}})", text + "]", {.max_findings = 10});
  REQUIRE(findings.size() == 11);
  CHECK(findings[9].pointer == "/9");
  CHECK(findings[10].message == "990 more faults");
  CHECK(findings[10].span == findings[9].span);
}

TEST_CASE("faults that are not looked for any more are not counted") {
  std::string text = "[1";
  for (int i = 0; i < 30'000; ++i)
    text += ",1";
  const Findings findings =
      check(R"({"items":{"type":"string"}})", text + "]", {.max_findings = 10});
  REQUIRE(findings.size() == 11);
  CHECK(findings[10].message == "at least 9990 more faults");
}

TEST_CASE("of a schema at most a hundred doubts are told") {
  std::string text = "{";
  for (int i = 0; i < 9000; ++i)
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
  const auto schema = compile_schema(text + "}", "s.json", [](std::string_view) {
    return Result<std::string>(fail(Errc::not_found, "none"));
  });
  REQUIRE(schema.has_value());
  const Findings& lint = (*schema)->lint();
  REQUIRE(lint.size() == 101);
  CHECK(lint[100].message.starts_with("at least "));
}

TEST_CASE("a value in a message cannot steer a terminal or fill a screen") {
  const Findings findings =
      check(R"({"type":"integer"})", "\"\\u001b[31m" + std::string(5000, 'x') + "\"");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.find('\x1b') == std::string::npos);
  CHECK(findings[0].message.size() < 200);
}

TEST_CASE("a bad schema is refused with its place") {
  struct Row {
    std::string_view schema;
    std::string_view where;
    std::string_view message;
  };
  for (
      const Row& row : {
          Row{"{", "test.json:1:2",
              "the text ends in the middle of an object that begins in line 1"},
          Row{R"({"$schema":"http://json-schema.org/draft-03/schema#"})", "test.json:1:12",
              "$schema is \"http://json-schema.org/draft-03/schema#\", which is none of draft-04, "
              "draft-06, draft-07, draft 2019-09, draft 2020-12 (such as "
              "\"https://json-schema.org/draft/2020-12/schema\"), and cannot be used as a "
              "meta-schema "
              "of your own: no such schema: http://json-schema.org/draft-03/schema"},
          Row{"{\n \"type\": \"strng\"}", "test.json:2:10", ""},
          Row{R"({"required":true})", "test.json:1:13", ""},
          Row{R"({"minimum":"5"})", "test.json:1:12", ""},
          Row{R"({"multipleOf":0})", "test.json:1:15", ""},
          Row{R"({"pattern":"("})", "test.json:1:12", ""},
          Row{R"({"pattern":"(?i)a"})", "test.json:1:12", ""},
          Row{R"({"$ref":"#"})", "test.json:1:9", "this $ref leads back to itself"},
          Row{R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}},"items":{"$ref":"#/definitions/a"}})",
              "test.json:1:29", "this $ref leads back to itself"},
          Row{R"({"definitions":{"a":{"allOf":[{"$ref":"#/definitions/a"}]}},"items":{"$ref":"#/definitions/a"}})",
              "test.json:1:21", "this schema applies itself to the same value without end"},
          Row{R"({"$ref":"#/definitions/none"})", "test.json:1:9",
              "there is nothing at #/definitions/none"},
          Row{R"({"items":{"$ref":"other.json#/a"}})", "test.json:1:18",
              "the reference \"other.json#/a\" leads nowhere: no such schema: other.json"},
          Row{"[]", "test.json:1:1", ""},
          Row{"5", "test.json:1:1", ""},
          Row{R"({"$schema":"http://json-schema.org/draft-04/schema#","items":true})",
              "test.json:1:62", ""},
      }) {
    CAPTURE(row.schema);
    const Error error = error_of(row.schema);
    CAPTURE(error.message);
    CHECK(error.code == Errc::schema);
    CHECK(error.where == row.where);
    if (!row.message.empty())
      CHECK(error.message == row.message);
  }
}

TEST_CASE("references lead into other documents, by path and by $id") {
  const std::map<std::string, std::string, std::less<>> files = {
      {"schemas/common.json", R"({"definitions":{"id":{"type":"string","minLength":1}}})"},
      {"http://example.org/base.json",
       R"({"$id":"http://example.org/base.json","items":{"$ref":"leaf.json"}})"},
      {"http://example.org/leaf.json", R"({"type":"integer"})"},
  };
  const SchemaFetch fetch = [&](std::string_view uri) -> Result<std::string> {
    const auto found = files.find(uri);
    return found == files.end() ? nothing(uri) : Result<std::string>(found->second);
  };
  const auto by_path = compile_schema(R"({"items":{"$ref":"common.json#/definitions/id"}})",
                                      "schemas/flow.json", fetch);
  REQUIRE(by_path.has_value());
  const auto document = load_document(R"(["a",""])", Format::json);
  const Findings findings = (*by_path)->check(**document);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].schema_pointer == "schemas/common.json#/definitions/id/minLength");
  const auto by_id = compile_schema(R"({"$ref":"http://example.org/base.json"})", "x.json", fetch);
  REQUIRE(by_id.has_value());
  CHECK((*by_id)->check(**document).size() == 2);
}

TEST_CASE("two schemas of one name are refused, and both are named") {
  const std::map<std::string, std::string, std::less<>> files = {
      {"same.json", R"({"$id":"http://x.example/s.json","definitions":{"q":{"type":"string"}}})"},
      {"copy.json", R"({"$id":"http://x.example/s.json","$ref":"b.json"})"},
      {"http://x.example/b.json",
       R"({"$id":"http://x.example/s.json","definitions":{"q":{"type":"string"}}})"},
      {"http://x.example/s.json", R"({"$id":"http://x.example/s.json","type":"string"})"},
      {"path.json", R"({"$id":"http://x.example/s.json","type":"string"})"},
  };
  const SchemaFetch fetch = [&](std::string_view uri) -> Result<std::string> {
    const auto found = files.find(uri);
    return found == files.end() ? nothing(uri) : Result<std::string>(found->second);
  };
  struct Row {
    std::string_view schema;
    std::string_view places;
  };
  for (
      const Row& row : {
          Row{R"({"$id":"http://x.example/s.json","properties":{"p":{"$ref":"b.json#/definitions/q"}}})",
              "test.json:1:8 and at http://x.example/b.json:1:8"},
          Row{R"({"definitions":{"a":{"$id":"http://x.example/t.json","type":"string"},"b":{"$id":"http://x.example/t.json"}}})",
              "test.json:1:28 and at test.json:1:82"},
          Row{R"({"definitions":{"a":{"$id":"#t","type":"string"},"b":{"$id":"#t"}}})",
              "test.json:1:28 and at test.json:1:61"},
          Row{R"({"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"a":{"id":"#t","type":"string"},"b":{"id":"#t"}}})",
              "test.json:1:79 and at test.json:1:111"},
      }) {
    CAPTURE(row.schema);
    const Error error = error_of(row.schema, fetch);
    CHECK(error.message.starts_with("two schemas are called "));
    CHECK(error.message.ends_with(": at " + std::string(row.places)));
  }
  // The same under two addresses is no contradiction.
  CHECK(compile_schema(
            R"({"properties":{"a":{"$ref":"http://x.example/s.json"},"b":{"$ref":"path.json"}}})",
            "test.json", fetch)
            .has_value());
}

TEST_CASE("the more text, the more steps") {
  std::string text = "[\"\"";
  for (int i = 0; i < 1000; ++i)
    text += ",\"a word\"";
  const std::string_view schema = R"({"items":{"type":"string"}})";
  CHECK(check(schema, text + "]", {.max_steps = 100}).empty());
  const Findings findings = check(schema, text + "]", {.max_steps = 100, .max_steps_per_byte = 0});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == "schema/limit");
}

TEST_CASE("honest schemas of many alternatives and patterns stay within the usual steps") {
  const auto numbered = [](std::size_t count, const auto& each) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ",") + each(std::to_string(i));
    return text;
  };
  // 300 kinds of names, 5,000 members.
  const std::string patterns =
      numbered(300, [](const std::string& i) { return "\"^kind" + i + "_[a-z]+$\":{}"; });
  const std::string members =
      numbered(5000, [](const std::string& i) { return "\"kind" + i + "_name\":1"; });
  CHECK(check(R"({"patternProperties":{)" + patterns + "}}", "{" + members + "}").empty());
  // Ten kinds of records, 10 MB of them.
  const std::string kinds = numbered(10, [](const std::string& i) {
    return R"({"type":"object","required":["kind"],"properties":{"kind":{"const":")" + i +
           R"("},"id":{"type":"integer"}}})";
  });
  const std::string records = numbered(130'000, [](const std::string& i) {
    return R"({"kind":")" + i.substr(i.size() - 1) + R"(","id":)" + i +
           R"(,"text":"what it says, in some words and a few more of them"})";
  });
  REQUIRE(records.size() > 9'500'000);
  CHECK(check(R"({"items":{"oneOf":[)" + kinds + "]}}", "[" + records + "]").empty());
  // What takes more is refused with advice; never called valid.
  const std::string small = numbered(300'000, [](const std::string& i) {
    return R"({"kind":")" + i.substr(i.size() - 1) + "\"}";
  });
  const Findings findings = check(R"({"items":{"oneOf":[)" + kinds + "]}}", "[" + small + "]");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == "schema/limit");
  CHECK(findings[0].message ==
        "the validation was stopped after too many steps; use a smaller document, or fewer "
        "alternatives and patterns in the schema");
}

TEST_CASE("what one may doubt in a schema is told") {
  const auto schema =
      compiled(R"({"propertees":{},"format":"dat","x-own":1,"properties":{"a":{"requird":[]}}})");
  REQUIRE(schema->lint().size() == 3);
  CHECK(schema->lint()[0].message == "the keyword \"propertees\" is not known");
  CHECK(schema->lint()[0].suggestion == "properties");
  CHECK(schema->lint()[1].message == "the format \"dat\" is not known and not checked");
  CHECK(schema->lint()[1].suggestion == "date");
  CHECK(schema->lint()[2].pointer == "/properties/a/requird");
  CHECK(schema->lint()[2].suggestion == "required");
}

TEST_CASE("what has no effect in a schema is doubted, and nothing else") {
  struct Row {
    std::string schema;
    std::string pointer;  ///< empty: no doubt
    std::string suggestion;
  };
  for (
      const Row& row : {
          Row{R"({"then": {}})", "/then", ""},
          Row{R"({"else": {}})", "/else", ""},
          Row{R"({"if": {}})", "/if", ""},
          Row{R"({"if": {}, "then": {}})", "", ""},
          Row{R"({"additionalItems": {}})", "/additionalItems", ""},
          Row{R"({"items": {}, "additionalItems": false})", "/additionalItems", ""},
          Row{R"({"items": [{}], "additionalItems": false})", "", ""},
          Row{R"({"type": "string", "minimum": 1})", "/minimum", ""},
          Row{R"({"type": "integer", "minimum": 1})", "", ""},
          Row{R"({"type": ["null", "object"], "required": []})", "", ""},
          Row{R"({"type": ["null", "array"], "required": []})", "/required", ""},
          Row{R"({"type": "object", "items": {}})", "/items", ""},
          Row{R"({"required": ["statsu"], "properties": {"status": {}}, "additionalProperties": false})",
              "/required/0", "status"},
          Row{R"({"required": ["a"], "properties": {"b": {}}})", "", ""},
          Row{R"({"required": ["a"], "patternProperties": {"a": {}}, "additionalProperties": false})",
              "", ""},
          Row{R"({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1})", "/const",
              ""},
          Row{R"({"$schema": "http://json-schema.org/draft-06/schema#", "then": {}})", "/then", ""},
          Row{R"({"$defs": {}, "x-any": 1, "$comment": "c", "examples": []})", "", ""},
          Row{R"({"properties": {"minimum": {"type": "string"}}})", "", ""},
      }) {
    CAPTURE(row.schema);
    const Findings doubts = compiled(row.schema)->lint();
    REQUIRE(doubts.size() == (row.pointer.empty() ? 0 : 1));
    if (row.pointer.empty())
      continue;
    CHECK(doubts[0].pointer == row.pointer);
    CHECK(doubts[0].suggestion == row.suggestion);
    CHECK(doubts[0].severity == Severity::warning);
    CHECK(doubts[0].span.begin.column > 1);
  }
}

TEST_CASE("no document and no schema stalls or ends the process") {
  const auto limited = [](std::string_view schema, const std::string& text) {
    // A tenth of the default, for the sake of builds with sanitizers.
    const Findings findings = check(schema, text, {.max_steps = 2'000'000});
    return findings.size() == 1 && findings[0].rule == "schema/limit";
  };
  const auto string = [](const std::string& text) { return "\"" + text + "\""; };

  SUBCASE("long strings") {
    CHECK_FALSE(check(R"({"format":"date-time"})", string(std::string(30'000, '1'))).empty());
    check(R"({"pattern":"^(a|b)*$"})", string(std::string(30'000, 'a')));
    check(R"({"pattern":"^a*$"})", string(std::string(100'000, 'a')));
    check(R"({"format":"hostname"})", string(std::string(1'000'000, 'a')));
    check(R"({"format":"ipv6"})", string(std::string(1'000'000, ':')));
    check(R"({"format":"regex"})", string(std::string(1'000'000, '(')));
  }
  SUBCASE("patterns that explode") {
    CHECK(limited(R"({"pattern":"^(a+)+$"})", string(std::string(40, 'a') + "!")));
    CHECK(limited(R"({"patternProperties":{"^(a+)+$":{}}})",
                  "{" + string(std::string(40, 'a') + "!") + ":1}"));
  }
  SUBCASE("many items") {
    std::string text = "[0";
    for (int i = 1; i < 20'000; ++i)
      text += "," + std::to_string(i);
    CHECK(check(R"({"uniqueItems":true})", text + "]").empty());
  }
  SUBCASE("many large items, which are neighbours") {
    constexpr std::uint64_t kBegin = 1ULL << 62U;
    for (const std::string& sign : {""s, "-"s}) {
      std::string text = "[" + sign + std::to_string(kBegin);
      for (std::uint64_t i = 1; i < 20'000; ++i)
        text += "," + sign + std::to_string(kBegin + i);
      CHECK(check(R"({"uniqueItems":true})", text + "]", {.max_steps = 2'000'000}).empty());
      // One of them again, as a double.
      const std::string twice = text + "," + sign + "4611686018427387904.0]";
      CHECK(check(R"({"uniqueItems":true})", twice, {.max_steps = 2'000'000}).size() == 1);
    }
  }
  SUBCASE("a chain of alternatives") {
    std::string schema = R"({"definitions":{"d0":{"type":"string"})";
    for (int i = 1; i <= 25; ++i) {
      const std::string last = R"({"$ref":"#/definitions/d)" + std::to_string(i - 1) + "\"}";
      schema += ",\"d" + std::to_string(i) + R"(":{"anyOf":[)" + last + "," + last + "]}";
    }
    const std::string wrapped = schema + R"(},"allOf":[{"$ref":"#/definitions/d25"}]})";
    CHECK(limited(wrapped, "1"));
  }
  SUBCASE("depth times depth") {
    std::string schema = R"({"definitions":{"d0":{"items":{"$ref":"#/definitions/d400"}})";
    for (int i = 1; i <= 400; ++i)
      schema += ",\"d" + std::to_string(i) + R"(":{"allOf":[{"$ref":"#/definitions/d)" +
                std::to_string(i - 1) + "\"}]}";
    schema += R"(},"allOf":[{"$ref":"#/definitions/d400"}]})";
    const std::string text = std::string(120, '[') + std::string(120, ']');
    CHECK(limited(schema, text));
  }
  SUBCASE("a long chain of references") {
    std::string schema = R"({"definitions":{"d0":{"type":"string"})";
    for (int i = 1; i <= 5000; ++i)
      schema += ",\"d" + std::to_string(i) + R"(":{"items":{"$ref":"#/definitions/d)" +
                std::to_string(i - 1) + "\"}}";
    schema += R"(},"items":{"$ref":"#/definitions/d5000"}})";
    CHECK(check(schema, "[[[]]]").empty());
  }
  SUBCASE("a million small schemas") {
    std::string schema = R"({"allOf":[{})";
    for (int i = 0; i < 100'000; ++i)
      schema += ",{}";
    CHECK(error_of(schema + "]}").code == Errc::schema);
  }
  SUBCASE("a large enum") {
    std::string schema = R"({"enum":["")";
    for (int i = 0; i < 5000; ++i)
      schema += ",\"a longer word " + std::to_string(i) + "\"";
    CHECK_FALSE(check(schema + "]}", "\"a longer word 7x\"").empty());
  }
}

TEST_CASE("the judge and the walk agree on mutilated documents") {
  constexpr std::string_view kSchema = R"({
    "type": "object",
    "required": ["a"],
    "properties": {
      "a": {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "object",
            "patternProperties": {"^p": {"type": "string"}}, "additionalProperties": {"type": "null"}}]},
            "contains": {"type": "integer"}},
      "b": {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"not": {"type": "null"}}},
      "c": {"items": [{"type": "boolean"}], "additionalItems": {"type": "string"}}
    },
    "dependencies": {"b": ["c"], "c": {"properties": {"d": {"anyOf": [{"const": 1}, {"const": "x"}]}}}},
    "additionalProperties": {"propertyNames": {"maxLength": 2}}})";
  const std::string text =
      R"({"a":[1,{"px":"s","n":null}],"b":"xy","c":[true,"s"],"d":1,"e":{"f":{}}})";
  const auto schema = compiled(kSchema);
  const auto tree = build_schema_tree(kSchema, "test.json", nothing, true);
  REQUIRE(tree.has_value());
  int valid = 0;
  int invalid = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const std::string_view piece :
         {"1", "null", "\"", "x", "[", "]", "{", "}", ",", "p", "true", " "}) {
      std::string changed = text;
      changed.replace(at, 1, piece);
      const auto document = load_document(changed, Format::json);
      if (!document)
        continue;
      CAPTURE(changed);
      const bool good = SchemaWalk(**tree, 1'000'000).holds(0, (*document)->root());
      const Findings findings = schema->check(**document);
      CHECK(findings.empty() == good);
      CHECK(explain(**tree, **document, {}).empty() == good);
      ++(good ? valid : invalid);
    }
  }
  CHECK(valid > 30);
  CHECK(invalid > 30);
}

}  // namespace baton

namespace baton {

TEST_CASE("a schema may say in words what a pattern allows") {
  const std::string_view plain = R"({"properties": {"a": {"pattern": "^x$"}}})";
  CHECK(told(plain, R"({"a": "y"})") == "schema/pattern /a 1:7 \"y\" does not match ^x$\n");
  const std::string_view worded = R"({
    "properties": {"a": {"pattern": "^x$", "patternErrorMessage": "write x"}},
    "propertyNames": {"pattern": "^[a-z]$", "patternErrorMessage": "write one letter"}})";
  CHECK(told(worded, R"({"a": "y"})") == "schema/pattern /a 1:7 \"y\": write x\n");
  CHECK(told(worded, R"({"bb": 1})") ==
        "schema/propertyNames /bb 1:2 the name \"bb\" is not allowed: write one letter\n");
  CHECK(compiled(worded)->lint().empty());
  // It is no keyword of the standard, so anything may stand there.
  CHECK(told(R"({"pattern": "^x$", "patternErrorMessage": 3})", R"("y")") ==
        "schema/pattern  1:1 \"y\" does not match ^x$\n");
}

TEST_CASE("a pattern that is refused says why, and https names a draft too") {
  const SchemaFetch none = [](std::string_view) {
    return Result<std::string>(fail(Errc::not_found, "none"));
  };
  const auto bad = compile_schema(R"({"pattern":"(?i)a"})", "s.json", none);
  REQUIRE(!bad.has_value());
  CHECK(bad.error().message.find("a group like (?i)") != std::string::npos);
  const auto name = compile_schema(R"({"patternProperties":{"a":{},"(?i)a":{}}})", "s.json", none);
  REQUIRE(!name.has_value());
  CHECK(name.error().where == "s.json:1:30");
  CHECK(name.error().message.find("a group like (?i)") != std::string::npos);
  const auto open = compile_schema(
      R"({"$schema":"http://json-schema.org/draft-04/schema#","patternProperties":{"(":{}}})",
      "s.json", none);
  REQUIRE(!open.has_value());
  CHECK(open.error().message.find("missing closing parenthesis") != std::string::npos);
  CHECK(compile_schema(R"({"$schema":"https://json-schema.org/draft-07/schema#"})", "s.json", none)
            .has_value());
}

}  // namespace baton
