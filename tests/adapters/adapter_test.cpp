// SPDX-License-Identifier: Apache-2.0
#include "adapters/adapter.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "base/embedded.h"
#include "base/json/document.h"
#include "base/schema/schema.h"
#include "print.h"

using namespace baton;

namespace {

std::shared_ptr<const Schema> schema() {
  const auto nothing_else = [](std::string_view uri) -> Result<std::string> {
    return fail(Errc::not_found, "no such schema", std::string(uri));
  };
  const auto* const text = embedded_file("schemas/adapter.schema.json");
  REQUIRE(text != nullptr);
  auto compiled = compile_schema(*text, "schemas/adapter.schema.json", nothing_else);
  REQUIRE(compiled);
  return *compiled;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names = adapter_names();
  names.emplace_back("generic");
  return names;
}

std::shared_ptr<const Document> document(std::string_view text) {
  auto loaded = load_document(std::string(text), Format::yaml);
  REQUIRE(loaded);
  return *loaded;
}

constexpr std::string_view kSmallest = "name: mine\ntested: none\ncommand: [mine]\n";

}  // namespace

TEST_CASE("the adapters of baton fit their schema and can be read") {
  CHECK(adapter_names() == std::vector<std::string>{"aider", "amp", "claude", "codex", "copilot",
                                                    "crush", "cursor-agent", "gemini", "goose",
                                                    "kimi", "opencode", "qwen"});
  const auto checked = schema();
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    const auto file = document(adapter_text(name));
    for (const Finding& finding : checked->check(*file))
      FAIL_CHECK(finding.pointer << ": " << finding.message);
    const auto adapter = parse_adapter(file->root());
    REQUIRE(adapter);
    CHECK(adapter->name == name);
    // Limits come before all other errors, whatever the files say.
    CHECK(std::is_sorted(adapter->errors.begin(), adapter->errors.end(),
                         [](const ErrorRow& left, const ErrorRow& right) {
                           return left.error <= ErrorClass::spend &&
                                  right.error > ErrorClass::spend;
                         }));
    CHECK((name == "generic") == adapter->argv.empty());
    CHECK(embedded_adapter(name).errors.size() == adapter->errors.size());
  }
  CHECK(adapter_text("nobody").empty());
}

TEST_CASE("each adapter puts each value where it belongs") {
  for (const std::string& name : adapter_names()) {
    CAPTURE(name);
    const Adapter& adapter = embedded_adapter(name);
    const auto times = [&](const std::string& word) {
      return std::count(adapter.argv.begin(), adapter.argv.end(), word);
    };
    CHECK(times("${args}") == 1);
    CHECK(times("${session}") == 1);
    CHECK(times("${model}") == (adapter.model.empty() ? 0 : 1));
    CHECK(times("${prompt}") == (adapter.prompt == PromptBy::argument ? 1 : 0));
    CHECK(times("${prompt_file}") == (adapter.prompt == PromptBy::file ? 1 : 0));
    CHECK_FALSE(adapter.session.resume.empty());
    CHECK_FALSE(adapter.version_argv.empty());
    CHECK_FALSE(adapter.account.empty());
    // One argument has room for 128 KiB.
    if (adapter.prompt == PromptBy::argument)
      CHECK(adapter.prompt_max_bytes == 120U << 10U);
  }
}

TEST_CASE("the words of error classes are those of the files") {
  for (int i = 0; i <= static_cast<int>(ErrorClass::permanent); ++i) {
    const auto error = static_cast<ErrorClass>(i);
    CHECK(parse_error_class(word(error)) == error);
  }
  CHECK(word(ErrorClass::credit) == "credit");
  CHECK(word(ErrorClass::transient) == "transient");
  CHECK_FALSE(parse_error_class("nothing"));
}

TEST_CASE("an adapter of one's own is checked") {
  struct Row {
    std::string more;
    std::string pointer;  ///< of the first finding; "ok": there is none
  };
  const auto checked = schema();
  for (const Row& row : {
           Row{"", "ok"},
           Row{"output: { answer: [/a, /b/0/c], final: [{ match: { /type: x }, ok: true }] }",
               "ok"},
           Row{"output: { answer: [a] }", "/output/answer/0"},
           Row{"output: { answer: [\"/a~2\"] }", "/output/answer/0"},
           Row{"output: { answr: [/a] }", "/output/answr"},
           Row{"output: { final: [{ ok: true }] }", "/output/final/0"},
           Row{"output: { events: [{ match: { /a: 1 }, like: x }] }", "/output/events/0"},
           Row{"errors: [{ class: limit, like: [\"Usage\"] }]", "/errors/0/like/0"},
           Row{"errors: [{ class: limit, like: [\"\\\\S+ limit\"] }]", "ok"},
           Row{"errors: [{ class: limit, like: [\"(\"] }]", "/errors/0/like/0"},
           Row{"errors: [{ class: limits, like: [x] }]", "/errors/0/class"},
           Row{"errors: [{ class: limit, in: [answer], like: [x] }]", "/errors/0/in/0"},
           Row{"exits: { 3: auth }", "ok"},
           Row{"exits: { three: auth }", "/exits/three"},
           Row{"model: [\"${modle}\"]", "/model/0"},
           Row{"session: { resume: [\"--resume=${session}\"] }", "ok"},
           Row{"session: { resume: [\"${id}\"] }", "/session/resume/0"},
           Row{"env: { set: { BATON_EXE: x } }", "/env/set/BATON_EXE"},
           Row{"env: { pass: [A=B] }", "/env/pass/0"},
           Row{"colour: red", "/colour"},
       }) {
    CAPTURE(row.more);
    const auto file = document(std::string(kSmallest) + row.more + "\n");
    const Findings findings = checked->check(*file);
    CHECK((findings.empty() ? "ok" : findings.front().pointer) == row.pointer);
  }
  CHECK(schema()->check(*document("name: mine\ntested: none\ncommand: [\"${promt}\"]\n")).size() ==
        1);
}

TEST_CASE("an adapter of one's own is read") {
  const auto read = [](const std::string& more) {
    return parse_adapter(document(std::string(kSmallest) + more)->root());
  };
  const auto plain = read("");
  REQUIRE(plain);
  CHECK(plain->name == "mine");
  CHECK(plain->provider == "mine");
  CHECK(plain->tested.empty());
  CHECK(plain->prompt == PromptBy::standard_input);
  const auto more = read(
      "provider: anthropic\nexits: { 75: transient }\n"
      "errors: [{ class: auth, like: [no key] }]\ninclude: [qwen, opencode, codex]\n");
  REQUIRE(more);
  CHECK(more->provider == "anthropic");
  CHECK(more->exits.at(75) == ErrorClass::transient);
  // Each file counts once, however often it is included.
  CHECK(std::count_if(more->errors.begin(), more->errors.end(), [](const ErrorRow& row) {
          return row.pattern.source() == "selected model is at capacity";
        }) == 3);
  const auto unknown = read("include: [clod]\n");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "`include` names `clod`, which is no adapter of baton");
  CHECK_FALSE(read("errors: [{ class: auth, like: [\"(\"] }]\n"));
  CHECK_FALSE(read("session: { unusable: \"[\" }\n"));
  CHECK_FALSE(read("output: { events: [{ match: { /a: 1 }, text: [/b], like: \"*\" }] }\n"));
}
