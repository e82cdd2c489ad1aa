// SPDX-License-Identifier: Apache-2.0
#include "hostile_generated.h"

#include <string_view>
#include <vector>

#include "random.h"

namespace baton::testing {
namespace {

constexpr std::size_t kMostBytes = 2U << 20U;

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times && out.size() < kMostBytes; ++i)
    out += piece;
  return out;
}

/// Many more small numbers than large ones.
std::size_t some(Random& random) {
  return random.below(std::size_t{1} << random.below(19));
}

std::string scalar(Random& random) {
  static const std::vector<std::string> scalars = {"1",
                                                   "-0.0",
                                                   "1e308",
                                                   "1e-400",
                                                   "0.1",
                                                   "18446744073709551616",
                                                   "null",
                                                   "true",
                                                   R"("")",
                                                   R"("\u0000")",
                                                   R"("\ud83d\ude00")",
                                                   R"("2026-02-30T24:00:60Z")",
                                                   R"("a/b~c")"};
  if (!random.one_in(4))
    return random.pick(scalars);
  const std::vector<std::string> letters = {"a",    " ",  "1",  "\xE2\x82\xAC",
                                            "\\\\", "0,", "::", "@a."};
  return "\"" + repeated(random.pick(letters), some(random)) + (random.one_in(2) ? "!\"" : "\"");
}

std::string document(Random& random, std::size_t depth) {
  if (depth > 4 || random.one_in(5))
    return scalar(random);
  std::string inner = document(random, depth + 1);
  // The input itself is not what is measured.
  constexpr std::size_t kMostInner = 128U << 10U;
  if (inner.size() > kMostInner)
    return inner;
  switch (random.below(4)) {
    case 0: {  // a wide array of one thing
      const std::string items = repeated(inner + ",", some(random));
      return "[" + items + inner + "]";
    }
    case 1: {  // many members
      std::string members;
      const std::size_t count = some(random) / 8;
      for (std::size_t i = 0; i < count && members.size() < kMostBytes; ++i)
        members += "\"a" + std::to_string(i) + "\":" + inner + ",";
      return "{" + members + "\"a\":" + inner + "}";
    }
    case 2: {  // a tower
      const std::size_t height = random.below(140);
      return repeated("[", height) + inner + repeated("]", height);
    }
    default: {
      const std::size_t height = random.below(140);
      return repeated(R"({"a":)", height) + inner + repeated("}", height);
    }
  }
}

/// A reference at the same value may lead in a circle, which is refused; below, it is a trap.
std::string schema(Random& random, std::size_t depth, bool below) {
  static const std::vector<std::string> leaves = {
      R"({"type":"string"})",
      R"({"type":["integer","null"]})",
      R"({"pattern":"^(a+)+$"})",
      R"({"pattern":"(a|a)*b"})",
      R"({"pattern":"^(?=.*a)(?=.*b).*$"})",
      R"({"pattern":"\\s+$"})",
      R"({"format":"date-time"})",
      R"({"format":"regex"})",
      R"({"format":"uri-template"})",
      R"({"format":"email"})",
      R"({"uniqueItems":true})",
      R"({"multipleOf":1e-300})",
      R"({"minLength":3,"maxLength":1e18})",
      R"({"const":{"a":[1,{"a":null}]}})",
      "true",
      "false",
      R"({"enum":[1,"a",[],{}]})",
      R"({"required":["a","a1","a2"],"minProperties":1e9})"};
  const std::string refs = R"({"$ref":"#/definitions/d)" + std::to_string(random.below(4)) + "\"}";
  if (depth > 4 || random.one_in(4))
    return below && random.one_in(2) ? refs : random.pick(leaves);
  const auto inner = [&] { return schema(random, depth + 1, true); };
  const auto here = [&] { return schema(random, depth + 1, below && random.one_in(40)); };
  const auto list = [&] {
    std::string out = here();
    for (std::size_t i = random.below(12); i > 0; --i)
      out += "," + here();
    return "[" + out + "]";
  };
  switch (random.below(8)) {
    case 0:
      return R"({"items":)" + inner() + R"(,"contains":)" + inner() + "}";
    case 1:
      return R"({"properties":{"a":)" + inner() + R"(},"additionalProperties":)" + inner() + "}";
    case 2:
      return R"({"patternProperties":{"^(a|a1)+":)" + inner() + R"(,"[0-9]$":)" + inner() +
             R"(},"propertyNames":)" + inner() + "}";
    case 3:
      return R"({"anyOf":)" + list() + "}";
    case 4:
      return R"({"oneOf":)" + list() + "}";
    case 5:
      return R"({"allOf":)" + list() + R"(,"not":)" + here() + "}";
    case 6:
      return R"({"if":)" + here() + R"(,"then":)" + here() + R"(,"else":)" + here() + "}";
    default:
      return R"({"items":)" + list() + R"(,"additionalItems":)" + inner() +
             R"(,"dependencies":{"a":)" + here() + R"(},"uniqueItems":true})";
  }
}

}  // namespace

HostileInput generated(std::uint64_t seed) {
  Random random(seed);
  HostileInput out;
  out.schema = R"({"definitions":{)";
  for (std::size_t i = 0; i < 4; ++i)
    out.schema += (i == 0 ? "\"d" : ",\"d") + std::to_string(i) + "\":" + schema(random, 1, false);
  out.schema += R"(},"allOf":[)" + schema(random, 0, false) + "]}";
  while (out.text.size() < 64) {
    out.text = document(random, 0);
    if (random.one_in(50))
      break;
  }
  if (out.text.size() > kMostBytes)
    out.text.resize(kMostBytes);
  if (random.one_in(8) && !out.text.empty())
    out.text.resize(random.below(out.text.size()));
  // Flow style is YAML too.
  if (random.one_in(6))
    out.format = random.one_in(2) ? Format::yaml : Format::jsonl;
  return out;
}

}  // namespace baton::testing
