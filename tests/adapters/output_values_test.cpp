// SPDX-License-Identifier: Apache-2.0
#include "adapters/output_values.h"

#include <string>

#include <doctest/doctest.h>

#include "base/json/document.h"

using namespace baton;

namespace {

std::string found(const std::string& output) {
  std::string all;
  for_each_object(output, [&](const Value& each) { all += json::dump(each); });
  return all;
}

}  // namespace

TEST_CASE("objects are found in any output") {
  struct Row {
    std::string output;
    std::string found;
  };
  const std::string a = R"({"a":1})";
  const std::string b = R"({"b":2})";
  const std::string pretty = "{\n  \"a\": 1\n}";
  const std::string bracket = "[INFO] started\n";
  std::string log;
  for (int i = 0; i < 10'000; ++i)
    log += "[INFO] step\n{ no json\n[ 1, 2\n";
  for (const Row& row : {
           Row{"", ""},
           Row{a, a},
           Row{a + "\n" + b + "\n", a + b},
           Row{a + "\r\n" + b + "\r\n", a + b},
           Row{a + "\r" + b + "\r", a + b},
           Row{"text\n" + a + "\nmore\n" + b + "\nend", a + b},
           Row{"  " + a + "  ", a},
           Row{a + " and text\n" + b, a + b},
           Row{"[" + a + "," + b + "]", a + b},
           Row{"[1,\"x\"]\n[]\n[[" + a + "]]\n{}", ""},
           Row{"[\n" + a + ",\n" + b + "\n]\nbye", a + b},
           Row{pretty + "\n" + b, a + b},
           Row{bracket + pretty + "\n" + bracket, a},
           Row{log + pretty + "\n" + log + b, a + b},
           // Text on the same line
           Row{"result: " + a, a},
           Row{"result: [" + a + "," + b + "]", a + b},
           Row{"[12:00] " + a + "\n{x} " + b, a + b},
           Row{"result: " + a + " done", a},
           Row{"result: " + pretty + " done " + b, a + b},
           Row{"\x1B]0;claude\a" + a, a},
           Row{"\xEF\xBB\xBF" + a, a},
           Row{std::string("\0", 1) + a, a},
           Row{a + b, a + b},
           Row{a + " " + b + " end", a + b},
           // Quotations, and parts of a broken object
           Row{"the line `" + a + "` means", ""},
           Row{"the line '" + a + "' means", ""},
           Row{"cut\"},\"x\":" + a + ",\"y\":[" + a + "," + b + "]}", ""},
           Row{R"({"type":"x", cut, "x":)" + a + "}", ""},
           Row{a + "\n" + R"({"type":"result","cut)", a},
           Row{R"({"type":"result","cut)"
               "\n" +
                   a,
               a},
           Row{R"({"type":"result","cut)" + a, a},
           Row{"{\"a\":1,}\n" + b, b},
           Row{"{\"a\":1,\"a\":1}", ""},
           Row{"\"{}\"\n17\nnull\ntrue", ""},
           // Faults that are mended
           Row{R"({"a":"\ud83d cut","b":"\ude00","c":"\ud83d\ude00","d":"\\ud83d"})",
               "{\"a\":\"\uFFFD cut\",\"b\":\"\uFFFD\",\"c\":\"\U0001F600\",\"d\":\"\\\\ud83d\"}"},
           Row{R"({"a":NaN,"b":[-Infinity, 1e400,1],"c":true})",
               R"({"a":"NaN","b":["-Infinity","1e400",1],"c":true})"},
           Row{"x {\n \"a\": NaN\n} x " + b, R"({"a":"NaN"})" + b},
           Row{R"({"a":NaN,"b":broken})", ""},
       }) {
    CAPTURE(row.output.substr(0, 200));
    CHECK(found(row.output) == row.found);
  }
}

TEST_CASE("a result of any size is found") {
  const std::string big = R"({"a":")" + std::string(300U << 10U, 'x') + "\"}";
  CHECK(found(big) == big);
  CHECK(found("text\n[" + big + ",\n" + big + "]\n") == big + big);
}

TEST_CASE("the first copy of the prompt is taken out") {
  const std::string prompt = "Fix the ticket that is named below.\nReport when you are done.\n";
  const std::string shorter = "Fix it.\n";
  struct Row {
    std::string output;
    std::string prompt;
    std::string rest;
  };
  for (const Row& row : {
           Row{prompt, prompt, ""},
           Row{"a\n" + prompt + "b\n", prompt, "a\nb\n"},
           Row{"a\n\nFix the ticket that is named below.  \r\nReport when you are done.\r\n\nb",
               prompt, "a\n\n\nb"},
           Row{prompt + prompt, prompt, prompt},
           Row{"a\n" + prompt.substr(0, prompt.size() - 1), prompt, "a\n"},
           Row{"a\n" + prompt + "b", "\n\n" + prompt + "\n\n", "a\nb"},
           Row{"  indented\n    more, and it is long enough to be an echo\nend",
               "  indented\n    more, and it is long enough to be an echo", "end"},
           Row{"> " + prompt, prompt, "> " + prompt},
           Row{"Fix the ticket that is named below.\nb", prompt,
               "Fix the ticket that is named below.\nb"},
           Row{shorter, shorter, shorter},
           Row{"", prompt, ""},
           Row{"a\nb\n", "", "a\nb\n"},
       }) {
    CAPTURE(row.output);
    CHECK(without_echo(row.output, row.prompt) == row.rest);
  }
}

TEST_CASE("the last lines are those with text after them") {
  CHECK(last_lines("a\nb\nc\n\n", 2) == "b\nc");
  CHECK(last_lines("a\nb", 5) == "a\nb");
  CHECK(last_lines("a", 1) == "a");
  CHECK(last_lines("a\nb", 1) == "b");
  CHECK(last_lines("", 3).empty());
  CHECK(last_lines("\n\n", 3).empty());
}

TEST_CASE("hostile outputs end in time that grows with their length") {
  constexpr std::size_t kSize = 1U << 20U;
  const auto repeated = [](std::string_view what) {
    std::string all;
    while (all.size() < kSize)
      all += what;
    return all;
  };
  for (const std::string_view what :
       {"[\n",       "{\n",         "[{\n",          "{\"a\":\n",
        "{\"a\n",    "[{\"a\":[",   "{\"a\":{",      "\n",
        " ",         "{\"a\":1,\n", "[{},\n",        "\xFF\n",
        "x {\n",     "x {}\n",      "{\"a\":NaN,\n", "{\"a\":\"\\ud83d\n",
        "{\"a\":1}", "{\"a\":1,",   "{\"a\" ",       "x{\"a"}) {
    CAPTURE(what);
    const std::string output = repeated(what) + "\n{\"last\":1}";
    CHECK(found(output).ends_with("{\"last\":1}"));
  }
  const std::string lines = repeated("the same line again\n");
  CHECK(without_echo(lines, lines).empty());
  CHECK(without_echo(lines, "x\n" + lines) == lines);
  CHECK(without_echo(lines, lines + "x").size() == lines.size());
}
