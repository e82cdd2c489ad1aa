// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_parts.h"

namespace baton::fsm_loop {

using baton::testing::json_from;

namespace {

/// Everything a text can be filled in from.
class Given {
 public:
  Values values() const {
    Values all;
    all.context = &*context_;
    all.captured = &*captured_;
    all.prev = &*prev_;
    all.last = &*last_;
    all.param = &*param_;
    all.state = "fix";
    all.iteration = 3;
    all.loop = "fix-types";
    all.started_at = "2026-01-20T08:15:00Z";
    all.elapsed_ms = 192'500;
    all.messages = messages_;
    all.env = &env_;
    return all;
  }

 private:
  Json context_ = json_from(R"({"dir": "src", "n": 4, "big": 9007199254740993, "half": 0.5,
      "four": 4.0, "on": true, "none": null, "deep": {"er": {"x": "y"}}, "list": [1, "two"],
      "later": "${context.dir}", "quote": "it's; touch f", "nul": "a\u0000b", "lines": "a\nb"})");
  Json captured_ = json_from(R"({"log": {"output": "3 errors", "exit_code": 1}})");
  Json prev_ = json_from(R"({"output": "x\n", "exit_code": 0, "state": "check"})");
  Json last_ = json_from(R"({"verdict": "failure", "details": {"reason": "red"}})");
  Json param_ = json_from(R"({"who": "${context.dir}/main", "n": 7, "self": "${param.n}"})");
  std::vector<std::string> messages_ = {"one", "two", "three"};
  std::map<std::string, std::string> env_ = {{"HOME", "/home/me"}, {"EMPTY", ""}};
};

}  // namespace

TEST_CASE("placeholders are filled in from every name space") {
  const Given given;
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& row : {
           Case{"plain $HOME and $(date)", "plain $HOME and $(date)"},
           Case{"ls ${context.dir}/${context.deep.er.x}", "ls src/y"},
           Case{"${context.n} ${context.four} ${context.half}", "4 4 0.5"},
           Case{"${context.big}", "9007199254740993"},
           Case{"${context.on}|${context.none}|", "true||"},
           Case{"${context.list} ${context.deep}", R"([1,"two"] {"er":{"x":"y"}})"},
           Case{"${context.later}", "${context.dir}"},
           Case{"${captured.log.output}: ${captured.log.exit_code}", "3 errors: 1"},
           Case{"${prev.output}${prev.state} ${prev.exit_code}", "x\ncheck 0"},
           Case{"${last.verdict} ${last.details.reason}", "failure red"},
           Case{"${state.name}#${state.iteration}", "fix#3"},
           Case{"${loop.name} ${loop.started_at} ${loop.elapsed_ms} ${loop.elapsed}",
                "fix-types 2026-01-20T08:15:00Z 192500 3m 12s"},
           Case{"${env.HOME}[${env.EMPTY}]", "/home/me[]"},
           Case{"${messages}", "one\ntwo\nthree"},
           Case{"${messages.output}", "one\ntwo\nthree"},
           Case{"${messages.last(2)}", "two\nthree"},
           Case{"${messages.last(9)}", "one\ntwo\nthree"},
           Case{"${messages.summary}", "3 messages, the last: three"},
           Case{"${param.who} ${param.n}", "src/main 7"},
           Case{"$${context.dir} ${context.dir}", "${context.dir} src"},
           Case{"$$${context.dir}", "$${context.dir}"},
           Case{"${context.dir", "${context.dir"},
           Case{"${}", "${}"},
       }) {
    CAPTURE(row.text);
    const auto text = interpolate(row.text, given.values());
    REQUIRE_MESSAGE(text, text.error().message);
    CHECK(*text == row.expected);
  }
}

TEST_CASE("a suffix says what becomes of a value, or stands in for a missing one") {
  const Given given;
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& row : {
           Case{"[${context.missing?}]", "[]"},
           Case{"[${env.MISSING?}]", "[]"},
           Case{"[${context.dir?}]", "[src]"},
           Case{"[${context.missing:default=a b?}]", "[a b?]"},
           Case{"[${context.missing:default=}]", "[]"},
           Case{"[${context.none:default=x}]", "[]"},  // null is there, and empty
           Case{"[${context.dir:default=x}]", "[src]"},
           Case{"echo ${context.quote:shell}", R"(echo 'it'\''s; touch f')"},
           Case{"echo ${context.lines:shell}", "echo 'a\nb'"},
           Case{"echo ${context.none:shell}", "echo ''"},
           Case{"echo ${context.later:shell}", "echo '${context.dir}'"},
       }) {
    CAPTURE(row.text);
    const auto text = interpolate(row.text, given.values());
    REQUIRE_MESSAGE(text, text.error().message);
    CHECK(*text == row.expected);
  }
}

TEST_CASE("what cannot be filled in is named, with the reason") {
  const Given given;
  struct Case {
    const char* text;
    Errc code;
    const char* reason;
  };
  for (const Case& row : {
           Case{"${context.mising}", Errc::not_found, "\"mising\" is not in the context"},
           Case{"${context.deep.x}", Errc::not_found, "\"deep.x\" is not in the context"},
           Case{"${context.dir.x}", Errc::not_found, "\"dir.x\" is not in the context"},
           Case{"${context.list.0}", Errc::not_found, "\"list.0\" is not in the context"},
           Case{"${captured.other.output}", Errc::not_found, "is not in what was captured"},
           Case{"${env.MISSING}", Errc::not_found, "\"MISSING\" is not set"},
           Case{"${state.age}", Errc::usage, "\"iteration\""},
           Case{"${loop.age}", Errc::usage, "\"elapsed\""},
           Case{"${prev.out}", Errc::usage, "\"output\""},
           Case{"${result.reason}", Errc::usage, "\"details\""},
           Case{"${messages.first}", Errc::not_found, "last(N)"},
           Case{"${messages.last(x)}", Errc::not_found, "last(N)"},
           Case{"${param.none}", Errc::not_found, "the fragment's parameters"},
           Case{"${param.self}", Errc::not_found, "no parameters"},
           Case{"${HOME}", Errc::usage, "no name space"},
           Case{"${contxt.a}", Errc::usage, "\"contxt\" does not exist"},
           Case{"${context.a?:default=x}", Errc::usage, "exclude each other"},
           Case{"${context.a:default=x:shell}", Errc::usage, "exclude each other"},
           Case{"${context.nul}", Errc::usage, "NUL"},
       }) {
    CAPTURE(row.text);
    const auto text = interpolate(std::string("echo ") + row.text, given.values());
    REQUIRE_FALSE(text);
    CHECK(text.error().code == row.code);
    CHECK_MESSAGE(text.error().message.find(row.reason) != std::string::npos, text.error().message);
    CHECK(text.error().message.find(std::string(row.text).substr(0, 60)) != std::string::npos);
  }
}

TEST_CASE("what is not there yet is an error of its own") {
  const Values none;
  for (const char* const text :
       {"${context.a}", "${captured.a.output}", "${prev.output}", "${last.verdict}",
        "${result.verdict}", "${env.A}", "${param.a}"}) {
    CAPTURE(text);
    CHECK_FALSE(interpolate(text, none));
  }
  CHECK(interpolate("${messages}${messages.summary}", none).value() == "");
}

TEST_CASE("D-LL-21: result is the evaluation before, unless a way on is looked for") {
  const Given given;
  Values values = given.values();
  CHECK(interpolate("${result.details.reason}", values).value() == "red");
  const Json routing = json_from(R"({"verdict": "success", "details": {"reason": "green"}})");
  values.result = &*routing;
  CHECK(interpolate("${result.details.reason}", values).value() == "green");
  CHECK(interpolate("${last.details.reason}", values).value() == "red");
}

TEST_CASE("D-LL-16: of a capture only what is asked for has to be there") {
  const Json captured = json_from(R"({"errors": {"output": "4"}})");
  Values values;
  values.captured = &*captured;
  CHECK(interpolate("${captured.errors.output}", values).value() == "4");
  CHECK_FALSE(interpolate("${captured.errors.exit_code}", values));
  CHECK(interpolate("${captured.errors.exit_code?}", values).value() == "");
}

TEST_CASE("elapsed time is told as people say it") {
  struct Case {
    std::int64_t elapsed_ms;
    const char* text;
  };
  for (const Case& row : {Case{0, "0ms"}, Case{999, "999ms"}, Case{1000, "1s"}, Case{59'999, "59s"},
                          Case{60'000, "1m"}, Case{61'000, "1m 1s"}, Case{3'600'000, "60m"}})
    CHECK(elapsed_text(row.elapsed_ms) == row.text);
}

TEST_CASE("all texts of a value are filled in, and nothing else of it") {
  const Given given;
  const Json value = json_from(R"({"a": "${context.dir}", "${context.dir}": [1, "${context.n}"]})");
  CHECK(interpolate_all(*value, given.values())->dump() ==
        R"({"a":"src","${context.dir}":[1,"4"]})");
  CHECK_FALSE(interpolate_all(*json_from(R"([["${context.none.x}"]])"), given.values()));
}

}  // namespace baton::fsm_loop
