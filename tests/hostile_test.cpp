// SPDX-License-Identifier: Apache-2.0

// Hostile schemas and documents: each is refused or judged, by an own process with a limit of
// memory, under whatever sanitizers the build has. Time is printed, at the end that of the slowest
// (a release build is to stay below 250 ms), and not asserted; a process that computes for 20
// seconds is taken for one that hangs. What is asserted instead is work: built with
// BATON_COUNT_WORK, the engine counts the branches it comes by, the same number on every machine.
// What the libraries do inside is not counted; PCRE2 asks the engine at each item.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/json/document.h"
#include "base/schema/schema.h"
#include "hostile_generated.h"

namespace baton {

namespace {

using namespace std::string_literals;

#ifdef BATON_SANITIZE
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr long kMostKib = 64L << 10;

#if defined(BATON_COUNT_WORK)
constexpr bool kCounted = true;
#else
constexpr bool kCounted = false;
#endif
// An optimised build comes by three to four million in a millisecond, so this is within 250 ms.
constexpr std::uint64_t kMostBranches = 700'000'000;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the compiler's interface
std::uint64_t branches = 0;

/// What a child tells its parent.
struct Effort {
  long ms = 0;
  std::uint64_t branches = 0;
};

/// What has to come out. `bad_schema`: not compiled. `bad_text`: not loaded. `limit`: a finding
/// says that it was given up. `any`: nobody knows; it has to end.
enum class End { bad_schema, bad_text, limit, valid, invalid, any };
constexpr const char* kEnds[] = {"bad schema", "bad text", "limit", "valid", "invalid", "any"};
constexpr std::uint64_t kGenerated = kSanitized ? 100 : 400;

using Input = testing::HostileInput;

struct Case {
  std::string name;
  End end;
  std::function<Input()> make;
};

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i)
    out += piece;
  return out;
}

std::string numbered(std::size_t count, const std::function<std::string(std::size_t)>& each) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += (i == 0 ? "" : ",") + each(i);
  return out;
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}
std::string number(std::size_t i) {
  return std::to_string(i);
}

/// `d0` to `d<count>` in `definitions`, each made of the one before; the root refers to the last.
std::string tower(std::size_t count, std::string_view first,
                  const std::function<std::string(const std::string& before)>& each) {
  std::string out = R"({"definitions":{"d0":)" + std::string(first);
  for (std::size_t i = 1; i <= count; ++i)
    out += ",\"d" + number(i) + "\":" + each(R"({"$ref":"#/definitions/d)" + number(i - 1) + "\"}");
  return out + R"(},"allOf":[{"$ref":"#/definitions/d)" + number(count) + "\"}]}";
}

std::string nested(std::size_t depth) {
  return repeated("[", depth) + repeated("]", depth);
}

Input text_only(std::string text) {
  return {"{}", std::move(text)};
}
Input of_schema(std::string schema) {
  return {std::move(schema), "1"};
}

constexpr std::size_t kMega = 1U << 20U;

std::vector<Case> loader_cases() {
  return {
      {"a million brackets", End::bad_text, [] { return text_only(repeated("[", 1'000'000)); }},
      {"16 MiB of brackets", End::bad_text, [] { return text_only(repeated("[", 16 * kMega)); }},
      {"a million objects deep", End::bad_text,
       [] { return text_only(repeated("{\"a\":", 1'000'000)); }},
      {"the exponent of CVE-2024-38517", End::valid,
       [] { return text_only("[0.00000000001e-2147483639]"); }},
      {"many digits and a small exponent", End::valid,
       [] { return text_only("[128.74836467836484838364836483643636483648e-336]"); }},
      {"an exponent of 900 digits", End::bad_text,
       [] { return text_only("1e" + repeated("9", 900)); }},
      {"a negative exponent of 900 digits", End::valid,
       [] { return text_only("1e-" + repeated("9", 900)); }},
      {"a number of 16 MiB", End::bad_text, [] { return text_only(repeated("7", 16 * kMega)); }},
      {"a million zeros behind a point", End::bad_text,
       [] { return text_only("0." + repeated("0", 1'000'000) + "1"); }},
      {"1e309", End::bad_text, [] { return text_only("1e309"); }},
      {"NaN", End::bad_text, [] { return text_only("[NaN]"); }},
      {"a string of 16 MiB", End::valid,
       [] { return text_only(quoted(repeated("x", 16 * kMega - 10))); }},
      {"17 MiB", End::bad_text, [] { return text_only(quoted(repeated("x", 17 * kMega))); }},
      {"eight million numbers", End::bad_text,
       [] { return text_only("[" + repeated("1,", 8 * kMega - 10) + "1]"); }},
      {"a million numbers", End::valid,
       [] { return text_only("[" + repeated("1,", 999'000) + "1]"); }},
      {"records of 12 MiB", End::valid,
       [] {
         return text_only(
             "[" +
             repeated(
                 R"({"id":"a-long-identifier","name":"what people call it","numbers":[1,2],"status":"ready"},)",
                 12 * kMega / 89) +
             "1]");
       }},
      {"as many small arrays as 16 MiB hold", End::bad_text,
       [] { return text_only("[" + repeated("[1,1,1],", 2 * kMega - 10) + "1]"); }},
      {"a string of 8 MiB and as many small arrays as fit", End::bad_text,
       [] {
         return text_only("[" + quoted(repeated("x", 8 * kMega)) +
                          repeated(",[1,1,1]", kMega - 10) + "]");
       }},
      {"16 MiB of short strings", End::valid,
       [] { return text_only("[" + repeated("\"abcdefghijklmnopqrstuvwxyz\",", 570'000) + "1]"); }},
      {"unique items, as many as fit", End::invalid,
       [] {
         return Input{R"({"uniqueItems":true})", "[" + repeated("1,", 1'200'000) + "1]"};
       }},
      {"JSON Lines, records of 15 MiB", End::valid,
       [] {
         return Input{
             R"({"items":{"properties":{"status":{"enum":["ready"]}}}})",
             repeated("{\"id\":\"a-long-identifier\",\"status\":\"ready\",\"description\":"
                      "\"what has to be done by somebody before the day has come to its end\"}\n",
                      15 * kMega / 124),
             Format::jsonl};
       }},
      {"three million empty arrays", End::bad_text,
       [] { return text_only("[" + repeated("[],", 3'000'000) + "1]"); }},
      {"too many keys", End::bad_text,
       [] {
         return text_only("{" + numbered(20'000, [](auto i) { return quoted(number(i)) + ":1"; }) +
                          "}");
       }},
      {"the same key 10,000 times", End::bad_text,
       [] { return text_only("{" + numbered(10'000, [](auto) { return "\"a\":1"s; }) + "}"); }},
      {"10,000 keys of one long beginning", End::valid,
       [] {
         const std::string beginning = repeated("k", 1000);
         return text_only(
             "{" + numbered(10'000, [&](auto i) { return quoted(beginning + number(i)) + ":1"; }) +
             "}");
       }},
      {"keys that collide in a weak hash", End::valid,
       [] {
         // Aa and BB have the same sum in the hash of Java and its like.
         return text_only("{" +
                          numbered(8192,
                                   [](auto i) {
                                     std::string key;
                                     for (unsigned bit = 0; bit < 13; ++bit)
                                       key += (i >> bit & 1U) != 0 ? "Aa" : "BB";
                                     return quoted(key) + ":1";
                                   }) +
                          "}");
       }},
      {"a NUL behind the value", End::bad_text, [] { return text_only("{\"a\":1}\0{\"b\":2}"s); }},
      {"an overlong slash", End::bad_text, [] { return text_only("\"\xC0\xAF\""); }},
      {"a surrogate in UTF-8", End::bad_text, [] { return text_only("\"\xED\xA0\x80\""); }},
      {"above U+10FFFF", End::bad_text, [] { return text_only("\"\xF4\x90\x80\x80\""); }},
      {"a continuation alone", End::bad_text, [] { return text_only("\"\x80\""); }},
      {"a cut character", End::bad_text, [] { return text_only("\"\xE2\x82"); }},
      {"UTF-16", End::bad_text, [] { return text_only("\xFF\xFE{\0}\0"s); }},
      {"half a surrogate pair, low", End::bad_text, [] { return text_only(R"("\udc00")"); }},
      {"half a surrogate pair, high", End::bad_text, [] { return text_only(R"("\ud800x")"); }},
      {"16 MiB of multi-byte characters", End::valid,
       [] { return text_only(quoted(repeated("\xE2\x82\xAC", 5'000'000))); }},
      {"a million lines", End::bad_text,
       [] {
         return Input{"{}", repeated("1\n", 999'000), Format::jsonl};
       }},
      {"eight million lines that are no JSON", End::bad_text,
       [] {
         return Input{"{}", repeated("x\n", 8 * kMega), Format::jsonl};
       }},
      {"as many lines that are no JSON as may be", End::valid,
       [] {
         return Input{"{}", repeated("[1,2,{\"a\":\"b\",}]\n", 99'000), Format::jsonl};
       }},
      {"16 MiB of line ends", End::valid,
       [] {
         return Input{"{}", repeated("\n", 16 * kMega), Format::jsonl};
       }},
  };
}

std::vector<Case> yaml_cases() {
  return {
      {"a billion laughs", End::bad_text,
       [] {
         std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
         for (std::size_t i = 1; i < 12; ++i)
           text += "a" + number(i) + ": &a" + number(i) + " [" +
                   numbered(9, [&](auto) { return "*a" + number(i - 1); }) + "]\n";
         return Input{"{}", text, Format::yaml};
       }},
      {"YAML: a node that holds itself", End::bad_text,
       [] {
         return Input{"{}", "a: &a\n  b: *a\n", Format::yaml};
       }},
      {"YAML: a comma", End::bad_text,
       [] {
         return Input{"{}", ",", Format::yaml};
       }},
      {"YAML: 100,000 brackets", End::bad_text,
       [] {
         return Input{"{}", repeated("[", 100'000), Format::yaml};
       }},
      {"YAML: 100,000 dashes", End::bad_text,
       [] {
         return Input{"{}", repeated("- ", 100'000), Format::yaml};
       }},
      {"YAML: 500,000 items", End::bad_text,
       [] {
         return Input{"{}", repeated("- a\n", 500'000), Format::yaml};
       }},
      {"YAML: 500,000 items in brackets", End::bad_text,
       [] {
         return Input{"{}", "[" + repeated("a,", 500'000) + "a]", Format::yaml};
       }},
      {"YAML: 50,000 items", End::valid,
       [] {
         return Input{"{}", repeated("- a\n", 49'000), Format::yaml};
       }},
      {"YAML: a scalar of 512 KiB", End::valid,
       [] {
         return Input{"{}", "a: " + repeated("x", kMega / 2 - 10) + "\n", Format::yaml};
       }},
      {"YAML: a quoted scalar of 512 KiB", End::valid,
       [] {
         return Input{"{}", "a: \"" + repeated("x", kMega / 2 - 10) + "\"\n", Format::yaml};
       }},
      {"YAML: 512 KiB of escapes", End::valid,
       [] {
         return Input{"{}", "a: \"" + repeated("\\u0041", kMega / 12 - 10) + "\"\n", Format::yaml};
       }},
      {"YAML: 8 MiB", End::bad_text,
       [] {
         return Input{"{}", "a: " + repeated("x", 8 * kMega) + "\n", Format::yaml};
       }},
      {"YAML: invalid UTF-8", End::bad_text,
       [] {
         return Input{"{}", "a: \xFF\n", Format::yaml};
       }},
      {"YAML: merge keys", End::bad_text,
       [] {
         return Input{"{}", "a: &a {b: 1}\nc:\n  <<: *a\n", Format::yaml};
       }},
  };
}

std::vector<Case> wrong_schemas() {
  return {
      {"a reference to itself", End::bad_schema, [] { return of_schema(R"({"$ref":"#"})"); }},
      {"a circle of two references", End::bad_schema,
       [] {
         return of_schema(
             R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}},"items":{"$ref":"#/definitions/a"}})");
       }},
      {"allOf of itself", End::bad_schema, [] { return of_schema(R"({"allOf":[{"$ref":"#"}]})"); }},
      {"a dependency on itself", End::bad_schema,
       [] { return of_schema(R"({"dependencies":{"a":{"$ref":"#"}}})"); }},
      {"a chain of 5,000 allOf", End::bad_schema,
       [] {
         return of_schema(
             tower(5000, "{}", [](const auto& before) { return R"({"allOf":[)" + before + "]}"; }));
       }},
      {"100,000 small schemas", End::bad_schema,
       [] {
         return of_schema("{\"allOf\":[" + numbered(100'000, [](auto) { return "{}"s; }) + "]}");
       }},
      {"a schema 5,000 deep", End::bad_schema,
       [] { return of_schema(repeated(R"({"items":)", 5000) + "{}" + repeated("}", 5000)); }},
      {"multipleOf 0", End::bad_schema, [] { return of_schema(R"({"multipleOf":0})"); }},
      {"a reference into the network", End::bad_schema,
       [] { return of_schema(R"({"$ref":"http://example.org/x.json"})"); }},
      {"an unknown draft", End::bad_schema,
       [] { return of_schema(R"({"$schema":"https://json-schema.org/draft/2099-12/schema"})"); }},
      {"a pattern of 100 KB", End::bad_schema,
       [] { return of_schema("{\"pattern\":" + quoted(repeated("a?", 50'000)) + "}"); }},
      {"a pattern of 1,000 groups inside each other", End::bad_schema,
       [] {
         return of_schema("{\"pattern\":" + quoted(repeated("(", 1000) + repeated(")", 1000)) +
                          "}");
       }},
      {"a schema of 5 MiB", End::bad_schema,
       [] { return of_schema("{\"title\":" + quoted(repeated("x", 5 * kMega)) + "}"); }},
      {"a repetition of 65,535 in itself", End::bad_schema,
       [] { return of_schema(R"({"pattern":"((a{1,60000}){1,60000}){1,60000}"})"); }},
  };
}

std::vector<Case> text_traps() {
  return {
      {"30 KB of digits for a time", End::invalid,
       [] {
         return Input{R"({"format":"date-time"})", quoted(repeated("1", 30'000))};
       }},
      {"alternatives in a star", End::limit,
       [] {
         return Input{R"({"pattern":"^(a|b)*$"})", quoted(repeated("a", 1'000'000))};
       }},
      {"a plus in a plus", End::limit,
       [] {
         return Input{R"({"pattern":"^(a+)+$"})", quoted(repeated("a", 40) + "!")};
       }},
      {"spaces before an end that does not come", End::limit,
       [] {
         return Input{R"({"pattern":"\\s+$"})", quoted(repeated(" ", 100'000) + "x")};
       }},
      {"letters before a digit that does not come", End::limit,
       [] {
         return Input{R"({"pattern":"[a-z]+[0-9]"})", quoted(repeated("a", 100'000))};
       }},
      {"x before a y that comes too early", End::limit,
       [] {
         return Input{R"({"pattern":"x*y[0-9]"})", quoted("y" + repeated("x", 100'000) + "zy")};
       }},
      {"two possessive runs", End::limit,
       [] {
         return Input{R"({"pattern":"^a*a*[0-9]"})", quoted(repeated("a", 100'000))};
       }},
      {"a long repetition at every place", End::limit,
       [] {
         return Input{R"({"pattern":"(a{60000}|b)c"})", quoted(repeated("a", 59'000) + "c")};
       }},
      {"a text of 100 KB without an anchor", End::valid,
       [] {
         return Input{R"({"pattern":"\\S"})", quoted(repeated(" ", 100'000) + "x")};
       }},
      {"many texts just below the limit of one", End::invalid,
       [] {
         return Input{
             R"({"items":{"pattern":"^(a+)+$"}})",
             "[" + numbered(100'000, [](auto) { return quoted(repeated("a", 15) + "!"); }) + "]"};
       }},
      {"a million short expressions that grow", End::limit,
       [] {
         return Input{R"({"items":{"format":"regex"}})",
                      "[" + numbered(500'000, [](auto) { return "\"(a{1,900}){1,60}\""s; }) + "]"};
       }},
      {"3,000 short patterns that grow", End::bad_schema,
       [] {
         return of_schema(
             "{\"allOf\":[" +
             numbered(3'000, [](auto) { return R"({"pattern":"((ab){1,40}){1,40}"})"s; }) + "]}");
       }},
      {"a back reference that explodes", End::limit,
       [] {
         return Input{R"x({"pattern":"^(a*)*\\1b$"})x", quoted(repeated("a", 5000))};
       }},
      {"patterns for names that explode", End::limit,
       [] {
         return Input{R"({"patternProperties":{"^(a+)+$":{}}})",
                      "{" + quoted(repeated("a", 40) + "!") + ":1}"};
       }},
      {"100 patterns for 10,000 names", End::valid,
       [] {
         return Input{
             "{\"patternProperties\":{" +
                 numbered(100, [](auto i) { return quoted("^a" + number(i) + "$") + ":{}"; }) +
                 "}}",
             "{" + numbered(10'000, [](auto i) { return quoted("b" + number(i)) + ":1"; }) + "}"};
       }},
  };
}

std::vector<Case> schema_traps() {
  return {
      {"an anyOf tower of 2^25", End::limit,
       [] {
         return of_schema(tower(25, R"({"type":"string"})", [](const auto& before) {
           return R"({"anyOf":[)" + before + "," + before + "]}";
         }));
       }},
      {"a oneOf tower of 2^25", End::limit,
       [] {
         return of_schema(tower(25, R"({"type":"string"})", [](const auto& before) {
           return R"({"oneOf":[)" + before + "," + before + "]}";
         }));
       }},
      {"an allOf tower of 2^25 on what is wrong", End::invalid,
       [] {
         return of_schema(tower(25, R"({"type":"string"})", [](const auto& before) {
           return R"({"allOf":[)" + before + "," + before + "]}";
         }));
       }},
      {"an allOf tower of 2^20 above a required member", End::invalid,
       [] {
         return Input{tower(20, R"({"required":["a"]})",
                            [](const auto& before) {
                              return R"({"allOf":[)" + before + "," + before + "]}";
                            }),
                      "{}"};
       }},
      {"300,000 items that fit no alternative", End::invalid,
       [] {
         return Input{R"({"items":{"anyOf":[{"const":1},{"const":2},{"const":3}]}})",
                      "[" + numbered(300'000, [](auto) { return "9"s; }) + "]"};
       }},
      {"990,000 items of the wrong type", End::invalid,
       [] {
         return Input{R"({"items":{"type":"string"}})",
                      "[" + numbered(990'000, [](auto) { return "9"s; }) + "]"};
       }},
      {"9,000 keywords that nobody knows", End::valid,
       [] {
         return of_schema(
             "{" + numbered(9'000, [](auto i) { return "\"propertees" + number(i) + "\":1"; }) +
             "}");
       }},
      {"a not tower", End::invalid,
       [] {
         return of_schema(tower(301, R"({"type":"number"})",
                                [](const auto& before) { return R"({"not":)" + before + "}"; }));
       }},
      {"if in if", End::limit,
       [] {
         return of_schema(tower(25, R"({"type":"string"})", [](const auto& before) {
           return R"({"if":)" + before + R"(,"then":)" + before + R"(,"else":)" + before + "}";
         }));
       }},
      {"depth times depth", End::limit,
       [] {
         return Input{R"({"definitions":{"d0":{"items":{"$ref":"#/definitions/d400"}})" +
                          [] {
                            std::string out;
                            for (std::size_t i = 1; i <= 400; ++i)
                              out += ",\"d" + number(i) +
                                     R"(":{"allOf":[{"$ref":"#/definitions/d)" + number(i - 1) +
                                     "\"}]}";
                            return out;
                          }() +
                          R"(},"allOf":[{"$ref":"#/definitions/d400"}]})",
                      nested(120)};
       }},
      {"an enum of 20,000 long words", End::invalid,
       [] {
         return Input{
             "{\"items\":{\"enum\":[" +
                 numbered(20'000, [](auto i) { return quoted(repeated("w", 100) + number(i)); }) +
                 "]}}",
             "[" + numbered(20'000, [](auto i) {
               return quoted(repeated("w", 100) + "x" + number(i));
             }) + "]"};
       }},
      {"unique items, 300,000 numbers", End::valid,
       [] {
         return Input{R"({"uniqueItems":true})", "[" + numbered(300'000, number) + "]"};
       }},
      {"unique items on every level", End::limit,
       [] {
         return Input{
             R"({"uniqueItems":true,"items":{"$ref":"#"}})",
             repeated("[", 120) + "[" + numbered(400'000, number) + "]" + repeated("]", 120)};
       }},
      {"a huge minLength", End::invalid,
       [] {
         return Input{R"({"minLength":1e300})", "\"a\""};
       }},
      {"a huge maxItems", End::valid,
       [] {
         return Input{R"({"maxItems":18446744073709551616})", "[1]"};
       }},
      {"multipleOf of the least double", End::valid,
       [] {
         return Input{R"({"multipleOf":5e-324})", "1e308"};
       }},
      {"multipleOf that never fits", End::invalid,
       [] {
         return Input{R"({"multipleOf":0.123456789})", "1e308"};
       }},
      {"INT64_MIN and -1", End::bad_schema,
       [] {
         return Input{R"({"multipleOf":-1})", "-9223372036854775808"};
       }},
  };
}

std::vector<Case> size_traps() {
  return {
      {"40,000 required names, many members", End::limit,
       [] {
         return Input{
             "{\"items\":{\"required\":[" +
                 numbered(40'000, [](auto i) { return quoted("r" + number(i)); }) + "]}}",
             "[" + numbered(40, [](auto) {
               return "{" + numbered(9000, [](auto i) { return quoted("m" + number(i)) + ":1"; }) +
                      "}";
             }) + "]"};
       }},
      {"9,000 properties, many members", End::valid,
       [] {
         return Input{
             "{\"properties\":{" +
                 numbered(9'000, [](auto i) { return quoted("p" + number(i)) + ":{}"; }) + "}}",
             "{" + numbered(9'900, [](auto i) { return quoted("m" + number(i)) + ":1"; }) + "}"};
       }},
      {"40,000 properties", End::valid,
       [] {
         const std::string many =
             "{\"properties\":{" +
             numbered(9'900, [](auto i) { return quoted("a-long-name-" + number(i)) + ":{}"; }) +
             "}}";
         return Input{
             "{\"allOf\":[" + numbered(4, [&](auto) -> const std::string& { return many; }) + "]}",
             "{}"};
       }},
      {"40,000 properties of long names", End::bad_schema,
       [] {
         const std::string many =
             "{\"properties\":{" +
             numbered(9'900, [](auto i) { return quoted(repeated("p", 60) + number(i)) + ":{}"; }) +
             "}}";
         return Input{
             "{\"allOf\":[" + numbered(4, [&](auto) -> const std::string& { return many; }) + "]}",
             "{}"};
       }},
      {"as many schemas as may be", End::valid,
       [] {
         return Input{
             "{\"allOf\":[" +
                 numbered(44'990, [](auto) { return R"({"type":"object","title":"t"})"s; }) + "]}",
             "{}"};
       }},
      {"30,000 references to 9,900 definitions", End::valid,
       [] {
         return Input{"{\"definitions\":{" +
                          numbered(9'900, [](auto i) { return quoted("d" + number(i)) + ":{}"; }) +
                          "},\"allOf\":[" +
                          numbered(30'000,
                                   [](auto i) {
                                     return R"({"$ref":"#/definitions/d)" + number(i % 9'900) +
                                            "\"}";
                                   }) +
                          "]}",
                      "{}"};
       }},
      {"40,000 dependencies", End::valid,
       [] {
         const std::string many =
             "{\"dependencies\":{" +
             numbered(9'900, [](auto i) { return quoted("d" + number(i)) + ":[\"a\"]"; }) + "}}";
         return Input{
             "{\"allOf\":[" + numbered(4, [&](auto) -> const std::string& { return many; }) + "]}",
             "{}"};
       }},
      {"200,000 faults at the end of a long line", End::invalid,
       [] {
         return Input{R"({"items":{"type":"string"}})",
                      "[" + quoted(repeated("x", 8 * kMega)) + repeated(",1", 200'000) + "]"};
       }},
      {"a name of 8 MiB above 10,000 faults", End::invalid,
       [] {
         return Input{
             R"({"additionalProperties":{"items":{"type":"string"}}})",
             "{" + quoted(repeated("n", 8 * kMega)) + ":[1" + repeated(",1", 10'000) + "]}"};
       }},
      {"20,000 alternatives that all fail", End::invalid,
       [] {
         return Input{"{\"items\":{\"anyOf\":[" +
                          numbered(20'000, [](auto i) { return "{\"const\":" + number(i) + "}"; }) +
                          "]}}",
                      "[\"a\",\"b\",\"c\"]"};
       }},
      {"a document that is a meta-schema", End::valid,
       [] {
         const std::string meta(*embedded_file("schemas/metaschemas/draft-07.json"));
         return Input{meta, meta};
       }},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& table :
       {loader_cases, yaml_cases, wrong_schemas, text_traps, schema_traps, size_traps})
    for (Case& each : table())
      all.push_back(std::move(each));
  for (std::uint64_t seed = 1; seed <= kGenerated; ++seed)
    all.push_back({"generated " + std::to_string(seed), End::any,
                   [seed] { return testing::generated(seed); }});
  return all;
}

End outcome(const Input& input, std::string& said) {
  const SchemaFetch none = [](std::string_view) { return fail(Errc::not_found, "no such schema"); };
  const auto schema = compile_schema(input.schema, "hostile.json", none);
  if (!schema) {
    said = describe(schema.error());
    return End::bad_schema;
  }
  const auto document = load_document(input.text, input.format);
  if (!document) {
    said = document.error().findings.front().message;
    return End::bad_text;
  }
  const Findings findings = (*schema)->check(**document);
  if (findings.empty())
    return End::valid;
  said = findings.front().message;
  return findings.front().rule == "schema/limit" ? End::limit : End::invalid;
}

/// Of the processor, so that other programs do not count.
long milliseconds(const rusage& used) {
  return used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 + used.ru_stime.tv_sec * 1000 +
         used.ru_stime.tv_usec / 1000;
}

/// In the child. Exits with the End, or 100 above it.
[[noreturn]] void check_document(const Case& hostile, Effort& took) {
  const rlimit seconds{20, 20};
  setrlimit(RLIMIT_CPU, &seconds);
  const Input input = hostile.make();
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  std::string said;
  branches = 0;
  const End end = outcome(input, said);
  took.branches = branches;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const long ms = milliseconds(used) - milliseconds(before);
  took.ms = ms;
  // The inputs are ours, and not what is measured.
  const long kib =
      used.ru_maxrss - static_cast<long>((input.schema.size() + input.text.size()) >> 10U);
  const bool large = !kSanitized && kib > kMostKib;
  const bool long_way = took.branches > kMostBranches;
  std::printf("%-45.*s %-10s %6ld ms %6ld KiB%s", static_cast<int>(hostile.name.size()),
              hostile.name.data(), kEnds[static_cast<int>(end)], ms, kib, large ? " TOO MUCH" : "");
  if (kCounted)
    std::printf(" %5ld million branches%s", static_cast<long>(took.branches / 1'000'000),
                long_way ? " TOO MANY" : "");
  std::printf("  %.100s\n", said.c_str());
  std::fflush(stdout);
  _exit((end == hostile.end || hostile.end == End::any) && !large && !long_way ? 0 : 1);
}

}  // namespace

#if defined(BATON_COUNT_WORK)
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the compiler's interface
extern "C" void __sanitizer_cov_trace_pc();
/// Called by every branch of the engine.
extern "C" void __sanitizer_cov_trace_pc() {
  ++branches;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

/// The cases whose name begins with this; returns the exit code.
static int judge_all(std::string_view beginning) {
  // Written by the child, read here.
  void* const shared =
      mmap(nullptr, sizeof(Effort), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 3;
  Effort& took = *new (shared) Effort();
  int wrong = 0;
  int all = 0;
  long slowest = 0;
  std::uint64_t most = 0;
  std::string slowest_name;
  std::string most_name;
  for (const Case& hostile : all_cases()) {
    if (!hostile.name.starts_with(beginning))
      continue;
    ++all;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
      return 3;
    if (child == 0)
      check_document(hostile, took);
    int status = 0;
    waitpid(child, &status, 0);
    if (took.ms > slowest) {
      slowest = took.ms;
      slowest_name = hostile.name;
    }
    if (took.branches > most) {
      most = took.branches;
      most_name = hostile.name;
    }
    if (status == 0)
      continue;
    ++wrong;
    std::printf("FAILED: %.*s should be: %s; %s %d\n", static_cast<int>(hostile.name.size()),
                hostile.name.data(), kEnds[static_cast<int>(hostile.end)],
                WIFSIGNALED(status) ? "ended by signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  std::printf("%d hostile inputs, %d wrong; the slowest took %ld ms of the processor: %.*s\n", all,
              wrong, slowest, static_cast<int>(slowest_name.size()), slowest_name.data());
  if (kCounted)
    std::printf("the most work were %ld million branches, %ld are allowed: %s\n",
                static_cast<long>(most / 1'000'000), static_cast<long>(kMostBranches / 1'000'000),
                most_name.c_str());
  // A counter that stands still shows nothing.
  const bool counts = !kCounted || most > 0;
  return wrong == 0 && all > 0 && counts ? 0 : 1;
}

}  // namespace baton

/// Without arguments all cases, else those whose name begins with the argument.
int main(int count, char** arguments) {
  return baton::judge_all(count > 1 ? arguments[1] : "");
}
