// SPDX-License-Identifier: Apache-2.0
#include "adapters/adapter_check.h"

#include <string>

#include <doctest/doctest.h>

#include "adapters/adapter.h"
#include "base/json/document.h"
#include "print.h"

using namespace baton;

namespace {

Findings checked(const std::string& text) {
  auto loaded = load_document(text, Format::yaml);
  REQUIRE(loaded);
  Findings findings = adapter_findings((*loaded)->root());
  locate(findings, **loaded);
  return findings;
}

}  // namespace

TEST_CASE("faults of an adapter that its schema cannot see have a place") {
  struct Row {
    std::string text;     ///< after `name` and `tested`
    std::string pointer;  ///< of the first finding; "ok": there is none
    std::string says;
  };
  for (const Row& row : {
           Row{"command: [mine]", "ok", ""},
           Row{"command: [mine, \"${args}\", \"--to=${prompt_file}\"]\nprompt: { by: file }", "ok",
               ""},
           Row{"command: [mine, \"${model}\"]\nmodel: [-m, \"${model}\"]", "ok", ""},
           Row{"command: [mine, \"${session}\"]\nsession: { begin: [--id, \"${session}\"] }", "ok",
               ""},
           Row{"command: [\"${args}\"]", "/command/0", "the program has to be named"},
           Row{"command: [mine, \"${model}\"]", "/command", "nobody fills in `${model}`"},
           Row{"command: [mine]\nmodel: [-m]", "/model", "no place"},
           Row{"command: [mine, \"${session}\"]", "/command", "nobody fills in `${session}`"},
           Row{"command: [mine, \"${session}\"]\nsession: { id: [/id] }", "/command",
               "nobody fills in `${session}`"},
           Row{"command: [mine]\nsession: { resume: [--resume] }", "/session", "no place"},
           Row{"command: [mine, \"a${args}\"]", "/command/1", "inside of another text"},
           Row{"command: [mine]\nprompt: { by: argument }", "/command", "has no `${prompt}`"},
           Row{"command: [mine, \"${prompt}\"]", "/command", "only for a prompt"},
           Row{"command: [mine]\nprompt: { by: file }", "/command", "does not name it"},
           Row{"command: [mine]\ninclude: [claude, cluade]", "/include/1", "no adapter"},
       }) {
    CAPTURE(row.text);
    const Findings findings = checked("name: mine\ntested: none\n" + row.text + "\n");
    CHECK((findings.empty() ? "ok" : findings.front().pointer) == row.pointer);
    if (findings.empty())
      continue;
    CHECK(findings.front().message.find(row.says) != std::string::npos);
    CHECK(findings.front().severity == Severity::error);
    CHECK(findings.front().span.begin.line >= 2);
    // What to do.
    CHECK_FALSE(findings.front().expected.empty());
  }
  CHECK(checked("name: x\ntested: none\ncommand: [x]\ninclude: [cluade]").front().suggestion ==
        "claude");
}

TEST_CASE("a session whose id is known is continued by its id") {
  const std::string start = "name: x\ntested: none\ncommand: [x, \"${session}\"]\nsession: ";
  CHECK(checked(start + "{ resume: [--c], id: [/a] }").front().pointer == "/session/resume");
  CHECK(checked(start + "{ begin: [--b], resume: [--c, \"${session}\"] }").front().pointer ==
        "/session/begin");
  CHECK(checked(start + "{ resume: [\"--c=${session}\"], id: [/a] }").empty());
  // The program has one session for each folder.
  CHECK(checked(start + "{ resume: [--c] }").empty());
}

TEST_CASE("the adapters of baton have no such fault") {
  for (const std::string& name : adapter_names()) {
    CAPTURE(name);
    for (const Finding& finding : checked(std::string(adapter_text(name))))
      FAIL_CHECK(finding.pointer << ": " << finding.message);
    CHECK_FALSE(embedded_adapter(name).login_variables.empty());
  }
}

TEST_CASE("an id of a session is no path, no option and no text with blanks") {
  for (const char* const good : {"a", "T-1", "0199a2c4-6e5b-7c11", "ses_1.2"})
    CHECK(is_session_id(good));
  for (const std::string& bad :
       {std::string(), std::string(".."), std::string(".a"), std::string("-a"), std::string("_a"),
        std::string("a/b"), std::string("../a"), std::string("a\\b"), std::string("a b"),
        std::string("a\n"), std::string("\xc3\xa4"), std::string(201, 'a')})
    CHECK_FALSE(is_session_id(bad));
}
