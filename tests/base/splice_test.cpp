// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/json/document.h"
#include "base/json/json.h"
#include "print.h"
#include "random.h"

namespace baton {
namespace {

struct Row {
  std::string_view before;
  std::string_view pointer;
  std::string_view text;
  std::string_view after;
};

void check(const Row& row) {
  CAPTURE(row.before);
  CAPTURE(row.pointer);
  CAPTURE(row.text);
  const auto out = json::splice(
      row.before, {{.pointer = std::string(row.pointer), .text = std::string(row.text)}});
  REQUIRE(out.has_value());
  CHECK(*out == row.after);
  CHECK(parse_json(*out).has_value());
}

}  // namespace

TEST_CASE("replacing a value touches nothing else") {
  for (const Row& row : {
           Row{R"({"a":1,"b":2})", "/a", "10", R"({"a":10,"b":2})"},
           Row{"{ \"n\" : 66.70 , \"e\" : 1e2 }\n", "/e", "true",
               "{ \"n\" : 66.70 , \"e\" : true }\n"},
           Row{R"({"u":"\/\u00e4","a":[1, 2 ,3]})", "/a/1", "{}",
               R"({"u":"\/\u00e4","a":[1, {} ,3]})"},
           Row{R"({"a\"b":{"x":"}"}})", "/a\"b/x", "\"]\"", R"({"a\"b":{"x":"]"}})"},
           Row{R"({"\u0061":1})", "/a", "2", R"({"\u0061":2})"},
           Row{R"({"a/b":1,"m~n":2})", "/a~1b", "3", R"({"a/b":3,"m~n":2})"},
           Row{R"({"":1})", "/", "2", R"({"":2})"},
           Row{"  [1]\r\n", "", "null", "  null\r\n"},
           Row{"\xEF\xBB\xBF{\"a\":1}", "/a", "2", "\xEF\xBB\xBF{\"a\":2}"},
       })
    check(row);
}

TEST_CASE("an added member looks like its neighbours") {
  for (const Row& row : {
           Row{R"({})", "/a", "1", R"({"a": 1})"},
           Row{R"({ })", "/a", "1", R"({"a": 1})"},
           Row{"{\n}", "/a", "1", "{\n  \"a\": 1\n}"},
           Row{"{\n  \"o\": {\n  }\n}", "/o/a", "1", "{\n  \"o\": {\n    \"a\": 1\n  }\n}"},
           Row{"{\r\n\t\"o\": {\r\n\t}\r\n}", "/o/a", "1",
               "{\r\n\t\"o\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}"},
           Row{R"({"a": 1})", "/b", "2", R"({"a": 1, "b": 2})"},
           Row{R"({"a":1})", "/b", "2", R"({"a":1,"b":2})"},
           Row{R"({"a":1,"b":2})", "/c", "3", R"({"a":1,"b":2,"c":3})"},
           Row{R"({ "a": 1 })", "/b", "2", R"({ "a": 1, "b": 2 })"},
           Row{"{\n  \"a\": 1\n}\n", "/b", "2", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
           Row{"{\n  \"a\": 1,\n  \"z\": [\n    1\n  ]\n}\n", "/b", "{\"x\": 1}",
               "{\n  \"a\": 1,\n  \"z\": [\n    1\n  ],\n  \"b\": {\"x\": 1}\n}\n"},
           Row{"{\r\n\t\"a\": 1\r\n}", "/b", "2", "{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}"},
           Row{"{\n  \"a\" : 1\n}", "/q\"", "2", "{\n  \"a\" : 1,\n  \"q\\\"\" : 2\n}"},
           Row{R"({"a": "x,y"})", "/b", "2", R"({"a": "x,y", "b": 2})"},
           Row{"{\n  \"a\":\n    1\n}", "/b", "2", "{\n  \"a\":\n    1,\n  \"b\": 2\n}"},
       })
    check(row);
}

TEST_CASE("an item is appended to an array") {
  for (const Row& row : {
           Row{"[]", "/-", "1", "[1]"},
           Row{"[1]", "/-", "2", "[1, 2]"},
           Row{"[1,2]", "/-", "3", "[1,2,3]"},
           Row{"[1, 2]", "/-", "3", "[1, 2, 3]"},
           Row{"[\n  1,\n  2\n]", "/-", "3", "[\n  1,\n  2,\n  3\n]"},
           Row{"{\"l\": [\n]}", "/l/-", "3", "{\"l\": [\n  3\n]}"},
       })
    check(row);
}

TEST_CASE("a removed member takes its comma along") {
  for (const Row& row : {
           Row{R"({"a": 1})", "/a", "", "{}"},
           Row{"{\n  \"a\": 1\n}", "/a", "", "{}"},
           Row{R"({"a": 1, "b": 2})", "/a", "", R"({"b": 2})"},
           Row{R"({"a": 1, "b": 2})", "/b", "", R"({"a": 1})"},
           Row{"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "/b", "",
               "{\n  \"a\": 1,\n  \"c\": 3\n}"},
           Row{"{\n  \"a\": 1,\n  \"b\": 2\n}", "/b", "", "{\n  \"a\": 1\n}"},
           Row{"[1,2,3]", "/0", "", "[2,3]"},
           Row{"[1, 2, 3]", "/2", "", "[1, 2]"},
           Row{R"({"a": 1})", "/absent", "", R"({"a": 1})"},
       })
    check(row);
}

TEST_CASE("several edits follow each other") {
  const auto out =
      json::splice("{\n  \"a\": 1\n}\n",
                   {{"/a", "2"}, {"/b", "{}"}, {"/b/c", "[]"}, {"/b/c/-", "7"}, {"/a", ""}});
  REQUIRE(out.has_value());
  CHECK(*out == "{\n  \"b\": {\"c\": [7]}\n}\n");
}

TEST_CASE("many edits come to what they come to one after the other") {
  testing::Random random(1);
  const auto name = [&] { return "/" + std::string(1, static_cast<char>('a' + random.below(4))); };
  constexpr int kRounds = 300;
  int many = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string before =
        random.one_in(2)
            ? "{\n  \"a\": {},\n  \"b\": {\"a\": 1, \"c\": {\n  }},\n  \"c\": [1, {}]\n}"
            : "\xEF\xBB\xBF{\"a\":{\"b\":{}},\"d\":2,\"b\":{\"a\":{},\"b\":{}}}";
    std::string text = before;
    std::vector<json::Edit> edits;
    for (int i = 0; i < 40; ++i) {
      const json::Edit edit{name() + name() + (random.one_in(3) ? name() : ""),
                            random.one_in(5)   ? ""
                            : random.one_in(2) ? "{}"
                                               : std::to_string(i)};
      auto next = json::splice(text, {edit});
      if (!next)
        continue;
      text = *std::move(next);
      edits.push_back(edit);
    }
    many += edits.size() > 8 ? 1 : 0;
    const auto at_once = json::splice(before, edits);
    REQUIRE(at_once.has_value());
    CHECK(*at_once == text);
    edits.push_back({"/z/z", "1"});
    const auto nowhere = json::splice(before, edits);
    REQUIRE_FALSE(nowhere.has_value());
    CHECK(nowhere.error().message == "/z/z cannot be set: there is no /z");
  }
  CHECK(many > kRounds / 2);
}

TEST_CASE("an edit that leads nowhere says which step is missing") {
  struct Wrong {
    std::string_view before;
    const char* pointer;
    const char* message;
  };
  for (const Wrong& row : {
           Wrong{"{}", "/a/b/c", "/a/b/c cannot be set: there is no /a"},
           Wrong{"{\"a\": {}}", "/a/b/c", "/a/b/c cannot be set: there is no /a/b"},
           Wrong{"{\"a\": 1}", "/a/b", "/a/b cannot be set: /a is neither an object nor a list"},
           Wrong{"[1]", "/5",
                 "/5 cannot be set: the list has 1 item, counted from 0 "
                 "without zeros in front; `-` appends one"},
           Wrong{"{\"l\": [1, 2]}", "/l/01",
                 "/l/01 cannot be set: the list /l has 2 items, "
                 "counted from 0 without zeros in front; `-` appends "
                 "one"},
       }) {
    CAPTURE(row.pointer);
    const auto out = json::splice(row.before, {{row.pointer, "1"}});
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().message == row.message);
  }
}

TEST_CASE("an edit that leads nowhere changes nothing") {
  struct Wrong {
    std::string_view before;
    json::Edit edit;
    Errc code;
  };
  for (const Wrong& row : {
           Wrong{"{}", {"/a/b", "1"}, Errc::schema},
           Wrong{"{\"a\": 1}", {"/a/b", "1"}, Errc::schema},
           Wrong{"[1]", {"/1", "2"}, Errc::schema},
           Wrong{"[1]", {"/x", "2"}, Errc::schema},
           Wrong{"{}", {"a", "2"}, Errc::schema},
           Wrong{"{}", {"", ""}, Errc::schema},
           Wrong{"{}", {"/a", "{"}, Errc::parse},
           Wrong{"{", {"/a", "1"}, Errc::parse},
           Wrong{"{}", {"/a", "1, \"b\": 2"}, Errc::parse},
       }) {
    CAPTURE(row.before);
    CAPTURE(row.edit.pointer);
    const auto out = json::splice(row.before, {row.edit});
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().code == row.code);
  }
}

}  // namespace baton
