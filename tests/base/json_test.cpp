// SPDX-License-Identifier: Apache-2.0
#include "base/json/json.h"

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "base/json/numbers.h"
#include "print.h"

namespace baton {
namespace {

Json parsed(std::string_view text) {
  auto value = parse_json(text);
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace

TEST_CASE("a sum that there is not is the nearest number there is") {
  using Limits = std::numeric_limits<std::int64_t>;
  struct Row {
    std::int64_t left, right, sum;
  };
  for (const Row& row :
       {Row{2, 3, 5}, Row{Limits::max(), 1, Limits::max()}, Row{Limits::max(), Limits::min(), -1},
        Row{Limits::min(), -1, Limits::min()}, Row{Limits::max() - 1, 1, Limits::max()}}) {
    CAPTURE(row.left);
    CAPTURE(row.right);
    CHECK(sum(row.left, row.right) == row.sum);
    CHECK(sum(row.right, row.left) == row.sum);
  }
}

TEST_CASE("a value of our own is copied deep") {
  Json one = Json::object({{"a", 1}, {"b", Json::array({"x", true, Json()})}});
  const Json other = one;
  one.set("a", 2).erase("b");
  CHECK(other.dump() == R"({"a":1,"b":["x",true,null]})");
  CHECK(one.dump() == R"({"a":2})");
}

TEST_CASE("moving leaves nothing behind") {
  Json one = Json::object({{"a", "a string that needs memory of its own"}});
  const Json other = std::move(one);
  CHECK(other.dump() == R"({"a":"a string that needs memory of its own"})");
  CHECK(one.is_null());  // NOLINT(bugprone-use-after-move): this is the test
  one = other;
  CHECK(one == other);
}

TEST_CASE("a value can be set into itself") {
  Json value = Json::object({{"a", 1}});
  value.set("self", value);
  CHECK(value.dump() == R"({"a":1,"self":{"a":1}})");
}

TEST_CASE("a value that is changed for ever does not grow for ever") {
  Json value = Json::object();
  const std::string big(1000, 'x');
  for (int i = 0; i < 100'000; ++i)
    value.set("member", big);
  CHECK(json::text(*value, "member") == big);
}

TEST_CASE("pretty text has two spaces and ends with a newline") {
  const Json value = Json::object({{"a", Json::array({1, 2})}, {"b", Json::object()}});
  CHECK(value.pretty() == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}\n");
}

TEST_CASE("what is not UTF-8 is written so that it can be read") {
  const Json name = Json::object({{"path", "t/\xff.json"}, {"v", "\xe2\x82\xac"}});
  for (const std::string& text : {name.dump(), name.pretty()}) {
    const auto read = parse_json(text);
    REQUIRE(read.has_value());
    CHECK(json::text(**read, "path") == "t/\xEF\xBF\xBD.json");
    CHECK(json::text(**read, "v") == "\xe2\x82\xac");
  }
  CHECK(json::quote("\xff") == "\"\xEF\xBF\xBD\"");
  CHECK_FALSE(json::is_utf8(*name));
  CHECK(json::is_utf8(*Json::object({{"v", std::string("\0\xe2\x82\xac", 4)}})));
}

TEST_CASE("numbers that JSON cannot spell become null") {
  CHECK(Json(std::numeric_limits<double>::infinity()).is_null());
  CHECK(Json(std::numeric_limits<double>::quiet_NaN()).is_null());
}

TEST_CASE("values compare as JSON") {
  struct Row {
    std::string_view left;
    std::string_view right;
    bool equal;
  };
  for (const Row& row : {
           Row{"1", "1.0", true},
           Row{"1", "1.5", false},
           Row{"0", "-0.0", true},
           Row{"9007199254740993", "9007199254740992", false},
           Row{"9007199254740993", "9007199254740992.0", false},
           Row{"9007199254740992", "9007199254740992.0", true},
           Row{"18446744073709551615", "-1", false},
           Row{"18446744073709551615", "18446744073709551616", false},
           Row{"1", "\"1\"", false},
           Row{"1", "true", false},
           Row{"0", "false", false},
           Row{R"({"a":1,"b":2})", R"({"b":2,"a":1})", true},
           Row{R"({"a":1,"b":2})", R"({"a":1})", false},
           Row{R"({"a":null})", R"({"b":null})", false},
           Row{"[1,2]", "[2,1]", false},
           Row{"[1,2]", "[1,2,3]", false},
           Row{R"("a\u0000b")", R"("a\u0000c")", false},
       }) {
    CAPTURE(row.left);
    CAPTURE(row.right);
    CHECK((parsed(row.left) == parsed(row.right)) == row.equal);
    CHECK((parsed(row.right) == parsed(row.left)) == row.equal);
  }
}

TEST_CASE("large objects compare in any order") {
  Json up = Json::object();
  Json down = Json::object();
  for (int i = 0; i < 100; ++i) {
    up.set(std::to_string(i), i);
    down.set(std::to_string(99 - i), 99 - i);
  }
  CHECK(up == down);
  down.set("50", 51);
  CHECK_FALSE(up == down);
}

TEST_CASE("reading never trusts the type") {
  const Json value = parsed(R"({"t":"x","i":3,"f":3.0,"h":3.5,"b":true,"n":null,"big":1e300})");
  CHECK(json::text(*value, "t") == "x");
  CHECK_FALSE(json::text(*value, "i").has_value());
  CHECK(json::integer(*value, "i") == 3);
  CHECK(json::integer(*value, "f") == 3);
  CHECK_FALSE(json::integer(*value, "h").has_value());
  CHECK_FALSE(json::integer(*value, "big").has_value());
  CHECK_FALSE(json::integer(*value, "t").has_value());
  CHECK(json::number(*value, "i") == 3.0);
  CHECK(json::boolean(*value, "b") == true);
  CHECK_FALSE(json::boolean(*value, "n").has_value());
  CHECK(json::child(*value, "absent") == nullptr);
  CHECK(json::child(*Json(1), "absent") == nullptr);
}

TEST_CASE("JSON pointers follow RFC 6901") {
  const Json value = parsed(R"({"":0,"a/b":1,"m~n":2,"list":[{"x":5}]})");
  CHECK(json::at(*value, "") == &*value);
  CHECK(json::integer(*json::at(*value, "/")) == 0);
  CHECK(json::integer(*json::at(*value, "/a~1b")) == 1);
  CHECK(json::integer(*json::at(*value, "/m~0n")) == 2);
  CHECK(json::integer(*json::at(*value, "/list/0/x")) == 5);
  for (const char* pointer : {"a", "/~2", "/~", "/list/00", "/list/1", "/list/-", "/list/0/x/y"}) {
    CAPTURE(pointer);
    CHECK(json::at(*value, pointer) == nullptr);
  }
  CHECK(json::pointer_token("a/b~c") == "a~1b~0c");
  CHECK(json::pointer_tokens("/a~1b~0c") == std::vector<std::string>{"a/b~c"});
}

TEST_CASE("strings are escaped") {
  CHECK(json::quote("a\"b\\\n\x01") == "\"a\\\"b\\\\\\n\\u0001\"");
}

}  // namespace baton
