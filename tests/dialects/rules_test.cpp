// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dialects/dialects.h"
#include "dialects/rules/condition.h"
#include "dialects/rules/layout.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton {

namespace {

Json read(const std::string& text) {
  auto json = parse_json(text);
  REQUIRE_MESSAGE(json.has_value(), text);
  return *std::move(json);
}

/// Whether the condition `{"pointer": "/x", TEST: OPERAND}` holds for a value; "": there is none.
bool passes(const std::string& test, const std::string& value, const std::string& limit = "") {
  const auto condition = rules::read_condition(*read("{\"pointer\": \"/x\", " + test + "}"));
  REQUIRE(condition);
  const Json found = value.empty() ? Json() : read(value);
  const Json bound = limit.empty() ? Json() : read(limit);
  return rules::holds(*condition, value.empty() ? nullptr : &*found,
                      limit.empty() ? nullptr : &*bound);
}

rules::Rule rule(const std::string& react, const std::string& stage = "/s") {
  return rules::read_rule(*read(R"({"name": "r", "files": ["{flow}.json"], "stage": ")" + stage +
                                R"(", "react": [)" + react + "]}"));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts)
    all += text + "\n";
  return all;
}

}  // namespace

TEST_CASE("a test over all, for every number of values") {
  const auto holds = [](const std::string& test, const std::vector<std::string>& values) {
    const auto condition = rules::read_condition(*read("{\"pointer\": \"p:/x\", " + test + "}"));
    REQUIRE(condition);
    CHECK(rules::is_over_all(*condition));
    std::vector<Json> found;
    std::vector<const Value*> all;
    for (const std::string& value : values)
      found.push_back(value.empty() ? Json() : read(value));
    for (std::size_t i = 0; i < values.size(); ++i)
      all.push_back(values[i].empty() ? nullptr : &*found[i]);
    return rules::holds_over(*condition, all);
  };
  struct Row {
    std::vector<std::string> values;  ///< "": the member is not there
    bool all;
    bool any;
    bool none;
  };
  for (const Row& row : std::vector<Row>{{{}, false, false, false},
                                         {{R"("a")"}, true, true, false},
                                         {{"2.0", R"("a")"}, true, true, false},
                                         {{R"("a")", R"("2")"}, false, true, false},
                                         {{R"("a")", ""}, false, true, false},
                                         {{"", "null"}, false, false, true},
                                         {{R"("b")"}, false, false, true}}) {
    CAPTURE(row.values);
    CHECK(holds(R"("all": ["a", 2])", row.values) == row.all);
    CHECK(holds(R"("any": ["a", 2])", row.values) == row.any);
    CHECK(holds(R"("none": ["a", 2])", row.values) == row.none);
  }
}

TEST_CASE("a reaction over all has a name that says its test, and each test its own") {
  const auto name = [](const std::string& row) { return rule(row, "part:/s").react.at(0).join; };
  const auto with = [&](const std::string& test) {
    return name(R"({"run": "a", "when": [{"pointer": "part:/s", )" + test + "}]}");
  };
  CHECK(with(R"("equals": "done")").empty());
  CHECK(with(R"("all": ["done", "not needed"])") == R"(all part:/s: done, "not needed")");
  CHECK(with(R"("any": [1, "1", true, "true", null])") ==
        R"(any part:/s: 1, "1", true, "true", null)");
  CHECK(name(R"({"to": ["x", "y"], "set": {"/n": 1}, "when": [{"pointer": "part:/s", "none": ["a"]},
                 {"pointer": "/k", "below": 3}]})") ==
        "stage x or y and none part:/s: a and /k is below 3");
  std::string words;
  for (int i = 0; i < 100; ++i)
    words += R"("word)" + std::to_string(i) + R"(", )";
  const std::string one = with(R"("all": [)" + words + R"("x"])");
  const std::string other = with(R"("all": [)" + words + R"("y"])");
  CHECK(one != other);
  CHECK(one.size() < 200);
}

TEST_CASE("every test of a condition, for values of every type and for none") {
  struct Row {
    std::string test;
    std::vector<std::string> pass;
    std::vector<std::string> fail;  ///< "": the member is not there
  };
  const std::vector<Row> rows = {
      {R"("equals": "a")", {R"("a")"}, {R"("b")", "1", "null", R"(["a"])", ""}},
      {R"("equals": 1)", {"1", "1.0"}, {"2", R"("1")", "true", ""}},
      {R"("equals": null)", {"null"}, {"false", "0", ""}},
      {R"("equals": {"a": [1]})", {R"({"a": [1]})"}, {R"({"a": [1, 2]})", ""}},
      {R"("not": "a")", {R"("b")", "1", "null", ""}, {R"("a")"}},
      {R"("in": ["a", 2])", {R"("a")", "2", "2.0"}, {R"("2")", "null", R"(["a", 2])", ""}},
      {R"("not_in": ["a", 2])", {R"("b")", "null", ""}, {R"("a")", "2"}},
      {R"("exists": true)", {"null", "false", R"("")"}, {""}},
      {R"("exists": false)", {""}, {"null", "0"}},
      {R"("below": 3)", {"2", "2.9", "-1"}, {"3", "4", R"("2")", "null", ""}},
      {R"("at_most": 3)", {"3", "2"}, {"3.1", R"("3")", ""}},
      {R"("at_least": 3)", {"3", "9"}, {"2.9", "true", ""}},
      {R"("above": 3)", {"3.1", "4"}, {"3", "[4]", ""}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.test);
    for (const std::string& value : row.pass) {
      CAPTURE(value);
      CHECK(passes(row.test, value));
    }
    for (const std::string& value : row.fail) {
      CAPTURE(value);
      CHECK_FALSE(passes(row.test, value));
    }
  }
}

TEST_CASE("a comparison may take its limit from another member") {
  CHECK(passes(R"("below": "plan:/max")", "2", "3"));
  CHECK_FALSE(passes(R"("below": "plan:/max")", "3", "3"));
  CHECK_FALSE(passes(R"("below": "plan:/max")", "2", R"("3")"));
  CHECK_FALSE(passes(R"("below": "plan:/max")", "2"));
  const auto condition = rules::read_condition(*read(R"({"pointer": "/x", "below": "plan:/max"})"));
  REQUIRE(condition);
  CHECK(rules::limit_place(*condition) == rules::Place{"plan", "/max"});
}

TEST_CASE("what is no condition is named") {
  struct Row {
    std::string condition;
    std::string fault;
  };
  for (const Row& row : {
           Row{R"({"equals": 1})", "needs a `pointer`"},
           Row{R"({"pointer": "x", "equals": 1})", "is not a pointer"},
           Row{R"({"pointer": "/~2", "equals": 1})", "is not a pointer"},
           Row{R"({"pointer": ":/a", "equals": 1})", "is not a pointer"},
           Row{R"({"pointer": "/x"})", "exactly one of"},
           Row{R"({"pointer": "/x", "equals": 1, "not": 2})", "exactly one of"},
           Row{R"({"pointer": "/x", "in": []})", "takes a list"},
           Row{R"({"pointer": "/x", "in": "a"})", "takes a list"},
           Row{R"({"pointer": "/x", "exists": 1})", "true or false"},
           Row{R"({"pointer": "/x", "below": "three"})", "takes a number, or the place"},
           Row{R"({"pointer": "/x", "above": true})", "takes a number, or the place"},
       }) {
    CAPTURE(row.condition);
    CHECK(rules::condition_fault(*read(row.condition)).find(row.fault) != std::string::npos);
    CHECK_FALSE(rules::read_condition(*read(row.condition)));
  }
}

TEST_CASE("a place is a pointer, with or without the name of a document") {
  CHECK(rules::parse_place("/a/b") == rules::Place{"", "/a/b"});
  CHECK(rules::parse_place("plan:/a") == rules::Place{"plan", "/a"});
  CHECK(rules::parse_place("/a:b") == rules::Place{"", "/a:b"});
  for (const char* none : {"", "a", "plan", "plan:", "plan:a", ":/a", "/a~"})
    CHECK_FALSE(rules::parse_place(none));
  CHECK(rules::pointer_for({"", "/g/{subject}/s"}, "a/b") == "/g/a~1b/s");
}

TEST_CASE("rounds that set reactions go by themselves are found, whatever their conditions") {
  struct Row {
    std::string what;
    std::string react;
    std::string cycles;
  };
  for (const Row& row : {
           Row{"two", R"({"to": "a", "set": {"/s": "b"}}, {"to": "b", "set": {"/s": "a"}})",
               "a -> (react 1) b -> (react 2) a\n"},
           Row{"with a condition",
               R"({"to": "a", "when": [{"pointer": "/n", "below": 3}], "set": {"/s": "b"}},
                  {"to": ["x", "b"], "set": {"/s": "a"}})",
               "a -> (react 1) b -> (react 2) a\n"},
           Row{"of three, and one that leads into it",
               R"({"to": "0", "set": {"/s": "b"}}, {"to": "b", "set": {"/s": "c"}},
                  {"to": "c", "set": {"/s": "a"}}, {"to": "a", "set": {"/s": "b"}})",
               "a -> (react 4) b -> (react 2) c -> (react 3) a\n"},
           Row{"`from` makes it one", R"({"from": "b", "to": "a", "set": {"/s": "b"}},
               {"from": "a", "to": "b", "set": {"/s": "a"}})",
               "a -> (react 1) b -> (react 2) a\n"},
           Row{"`from` makes it none", R"({"from": "x", "to": "a", "set": {"/s": "b"}},
               {"to": "b", "set": {"/s": "a"}})",
               ""},
           Row{"an agent in between", R"({"to": "a", "set": {"/s": "b"}}, {"to": "b", "run": "x"})",
               ""},
           Row{"a person in between", R"({"to": "a", "set": {"/s": "b"}},
               {"to": "b", "approval": {"rejected": {"/s": "a"}}, "set": {"/s": "a"}})",
               ""},
           Row{"the stage it stands in already", R"({"to": "a", "set": {"/s": "a", "/n": 1}})", ""},
           Row{"a number is a word too",
               R"({"to": "1", "set": {"/s": 2}}, {"to": "2", "set": {"/s": 1}})",
               "1 -> (react 1) 2 -> (react 2) 1\n"},
           Row{"another member",
               R"({"to": "a", "set": {"/t": "b"}}, {"to": "b", "set": {"/s": "a"}})", ""},
       }) {
    CAPTURE(row.what);
    CHECK(joined(rules::set_cycles(rule(row.react))) == row.cycles);
  }
}

TEST_CASE("a round through another subject, or through a whole object, is one too") {
  CHECK(
      joined(rules::set_cycles(rule(
          R"({"to": "done", "set": {"/B/s": "go"}}, {"to": "go", "set": {"/{subject}/s": "done"}})",
          "/{subject}/s"))) == "done -> (react 1) go -> (react 2) done\n");
  CHECK(joined(rules::set_cycles(
            rule(R"({"to": "a", "set": {"/x": {"s": "b"}}}, {"to": "b", "set": {"/x/s": "a"}})",
                 "/x/s"))) == "a -> (react 1) b -> (react 2) a\n");
}

TEST_CASE("more steps than baton makes at once are found") {
  std::string react;
  for (int i = 0; i < 8; ++i)
    react += std::string(i == 0 ? "" : ", ") + R"({"to": ")" + std::to_string(i) +
             R"(", "set": {"/s": ")" + std::to_string(i + 1) + R"("}})";
  CHECK(rules::long_chain(rule(react)).empty());
  CHECK(rules::long_chain(rule(react + R"(, {"to": "x", "set": {"/s": "0"}})")) ==
        "x -> 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8");
}

TEST_CASE("agents that may start each other without end are named by the shortest way") {
  const std::string dev = R"({"to": ["open", "failed"], "run": "dev")";
  const std::string qa = R"({"to": "test", "run": "qa")";
  CHECK(joined(rules::run_cycles(rule(dev + "}"))) == "failed -(dev)-> open -(dev)-> failed\n");
  CHECK(joined(rules::run_cycles(
            rule(dev + R"(, "next": "test"}, )" + qa + R"(, "next": ["failed", "done"]})"))) ==
        "failed -(dev)-> test -(qa)-> failed\n");
  CHECK(
      joined(rules::run_cycles(rule(dev + R"(, "next": "test"}, )" + qa + R"(, "next": "done"})")))
          .empty());
  CHECK(
      joined(rules::run_cycles(rule(
          R"({"to": "open", "run": "dev", "next": "test"}, {"to": "test", "set": {"/s": "open"}})"))) ==
      "open -(dev)-> test -> open\n");
  CHECK(joined(rules::run_cycles(rule(
                   R"({"to": "open", "run": "dev", "next": "test"},
               {"to": "test", "approval": true, "set": {"/s": "open"}})")))
            .empty());
}

TEST_CASE("a stage that is no text is spelled by its value") {
  struct Row {
    const char* json;
    const char* word;
  };
  for (const Row& row :
       {Row{"1", "1"}, Row{"1.0", "1"}, Row{"1e0", "1"}, Row{"-0.0", "0"}, Row{"2.50", "2.5"},
        Row{"18446744073709551615", "18446744073709551615"}, Row{"true", "true"},
        Row{R"("1.0")", "1.0"}, Row{R"("")", ""}, Row{"null", ""}, Row{"[1]", ""}}) {
    CAPTURE(row.json);
    CHECK(rules::word_of(&*read(row.json)).value_or("") == row.word);
  }
}

TEST_CASE("a pointer is unknown where the schema names all members it knows") {
  const Json schema = read(R"({"properties": {
      "status": {"type": "string"}, "owner": {"$ref": "#/definitions/owner"},
      "groups": {"additionalProperties": {"properties": {"state": {}}}},
      "open": {"allOf": [{}]}, "any": {}},
      "definitions": {"owner": {"properties": {"name": {}}}}})");
  for (const char* known : {"/status", "/owner/name", "/groups/{subject}/state", "/groups/a/state",
                            "/open/x", "/any/x"}) {
    CAPTURE(known);
    CHECK(rules::pointer_fault(*schema, known).empty());
  }
  CHECK(rules::pointer_fault(*schema, "/statuss") ==
        "the schema has no member 'statuss' for the pointer /statuss; did you mean 'status'?");
  CHECK(rules::pointer_fault(*schema, "/owner/nome").find("did you mean 'name'?") !=
        std::string::npos);
  CHECK(rules::pointer_fault(*schema, "/groups/{subject}/kind").find("it names state") !=
        std::string::npos);
}

TEST_CASE("a stage that the schema does not know never comes, and is named") {
  const Json schema = read(R"({"properties": {"s": {"enum": ["open", "done", 3.0]},
      "n": {"type": "integer"}, "any": {"anyOf": [{"enum": ["x"]}]}}})");
  const auto faults = [&](const std::string& react) {
    return joined(rules::place_faults(rule(react), [&](const rules::Kind&) { return &*schema; }));
  };
  CHECK(faults(R"({"to": ["open", "3"], "from": "done", "run": "dev", "next": "done"},
                  {"to": "done", "set": {"/s": "${stage}", "/n": 7, "/any": "y"}})")
            .empty());
  CHECK(faults(R"({"to": "opne", "run": "dev"})") ==
        "rule r, to of react 1: the schema does not allow 'opne' at /s; did you mean 'open'?\n");
  CHECK(
      faults(R"({"to": "open", "from": "review", "run": "dev", "next": "review"})") ==
      "rule r, from of react 1: the schema does not allow 'review' at /s; it allows open, done, 3\n"
      "rule r, next of react 1: the schema does not allow 'review' at /s; it allows open, done, "
      "3\n");
  CHECK(faults(R"({"to": "open", "approval": {"rejected": {"/s": "no"}}, "set": {"/s": 4}})") ==
        "rule r, set of react 1: the schema does not allow '4' at /s; it allows open, done, 3\n"
        "rule r, rejected of react 1: the schema does not allow 'no' at /s; it allows open, done, "
        "3\n");
}

TEST_CASE("the stages of a rule are those it declares, names and sets") {
  const rules::Rule some = rules::read_rule(*read(
      R"({"name": "r", "files": ["{flow}.json"], "stage": "/s", "stages": ["open", "3"],
          "done": ["shut"], "react": [
            {"to": ["ready", "open"], "from": "new", "run": "dev", "next": "review"},
            {"to": "review", "approval": {"rejected": {"/s": "back"}}, "set": {"/s": "built"}},
            {"to": "built", "set": {"/t": "other"}}]})"));
  CHECK(rules::known_stages(some) ==
        std::vector<Word>{"open", "3", "shut", "ready", "new", "review", "built", "back"});
  CHECK(rules::is_end(some, "shut"));
  CHECK_FALSE(rules::is_end(some, "open"));
}

TEST_CASE("a mistyped stage is told what it was probably meant to be") {
  const std::vector<Word> known = {"ready", "in_review", "done", "qa"};
  struct Row {
    Word stage;
    Word meant;
  };
  for (const Row& row : {Row{"reddy", "ready"}, Row{"in_reviw", "in_review"}, Row{"in", ""},
                         Row{"don", "done"}, Row{"ok", ""}, Row{"elsewhere", ""}}) {
    CAPTURE(row.stage);
    CHECK(rules::meant_stage(known, row.stage).value_or("") == row.meant);
  }
}

TEST_CASE("validate reports the stages that block a flow, and the daemon accepts them") {
  struct Row {
    std::string stage;
    std::string text;
    std::string found;  ///< the rule, the pointer and the suggestion; empty: nothing
  };
  const std::vector<Row> rows = {
      {"/s", R"({"s": "reddy"})", "rules/unknown_stage /s ready"},
      {"/s", R"({"s": "elsewhere"})", "rules/unknown_stage /s "},
      {"/s", R"({"s": "ready"})", ""},
      {"/s", R"({"s": "shut"})", ""},
      {"/s", R"({"t": "ready"})", "rules/no_stage  "},
      {"/{subject}/s", R"({"A": {"s": "reddy"}, "note": "x"})", "rules/unknown_stage /A/s ready"},
      {"/{subject}/s", R"({"A": {"t": 1}})", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.stage);
    CAPTURE(row.text);
    const Json options = read(
        R"({"rules": [{"name": "r", "files": ["r.json"], "stages": ["draft"], "done": ["shut"], "stage": ")" +
        row.stage + R"(", "react": [{"to": ["ready"], "run": "d"}]}]})");
    auto document = load_document(row.text, Format::json);
    REQUIRE(document.has_value());
    Accepted accepted;
    accepted.document = *document;
    accepted.kind = "r";
    CHECK(rules_dialect().check("r.json", accepted, options, {}).empty());
    std::string found;
    for (const Finding& each : rules_dialect().check("r.json", accepted, options, Time{}))
      found += each.rule + " " + each.pointer + " " + each.suggestion;
    CHECK(found == row.found);
  }
}

TEST_CASE("elements of a list need a key of their own, and each fault says where") {
  struct Row {
    std::string items;
    std::string found;  ///< pointer and message of each finding; empty: nothing
  };
  const std::vector<Row> rows = {
      {R"([{"id": "A", "s": "go"}, {"id": 1, "s": true}, {"id": "B"}])", ""},
      {R"([])", ""},
      {R"({"A": {"s": "go"}})", ""},
      {R"([{"key": "A", "s": "go"}])", ""},
      {R"([{"name": "A", "s": "go"}])", ""},
      {R"([{"s": "go"}])", "/items/0 the element has no `id`, by which baton knows it\n"},
      {R"([{"id": "A"}, {"key": "B"}])",
       "/items/1 the element has no `id`, by which baton knows it\n"},
      {R"([{"id": "A"}, "B"])",
       "/items/1 each element of the list is a subject, but this one is a string\n"},
      {R"([null])", "/items/0 each element of the list is a subject, but this one is null\n"},
      {R"([[1]])", "/items/0 each element of the list is a subject, but this one is an array\n"},
      {R"([{"id": ""}])", "/items/0/id `id` is the key of the element, but it is an empty text\n"},
      {R"([{"id": null}])", "/items/0/id `id` is the key of the element, but it is null\n"},
      {R"([{"id": true}])", "/items/0/id `id` is the key of the element, but it is a boolean\n"},
      {R"([{"id": {}}])", "/items/0/id `id` is the key of the element, but it is an object\n"},
      {R"([{"id": "1"}, {"id": 1.0}])", "/items/1/id `1` is the `id` of /items/0 too\n"},
      {R"([{"id": "A", "s": null}])", "/items/0/s a stage is a word, not null\n"},
      {R"("A")", "/items expected an object with a member per subject, or a list, found string\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.items);
    const Json options = read(
        R"({"rules": [{"name": "r", "files": ["r.json"], "stage": "/items/{subject}/s", "react": [{"to": ["go"], "run": "d"}]}]})");
    auto document = load_document(R"({"items": )" + row.items + "}", Format::json);
    REQUIRE(document.has_value());
    Accepted accepted;
    accepted.document = *document;
    accepted.kind = "r";
    std::string found;
    for (const Finding& each : rules_dialect().check("r.json", accepted, options, {}))
      found += each.pointer + " " + each.message + "\n";
    CHECK(found == row.found);
  }
}

TEST_CASE("the schema of a list says what its subjects may have") {
  const Json schema = read(R"({"type": "object", "properties": {"items": {"type": "array", "items":
    {"type": "object", "properties": {"s": {"enum": ["go", "done"]}}}}}})");
  CHECK(rules::words_at(*schema, "/items/{subject}/s") == std::vector<Word>{"go", "done"});
  CHECK(rules::pointer_fault(*schema, "/items/{subject}/s").empty());
  CHECK_FALSE(rules::pointer_fault(*schema, "/items/{subject}/t").empty());
}

TEST_CASE("the words of an enum are found where the pointer leads") {
  const Json schema = read(R"({"properties": {"s": {"$ref": "#/definitions/s"},
      "g": {"additionalProperties": {"properties": {"s": {"enum": ["a", 2, true]}}}},
      "open": {"anyOf": [{"enum": ["x"]}], "enum": ["x"]}, "any": {"type": "string"}},
      "definitions": {"s": {"enum": ["on", "off"]}}})");
  CHECK(rules::words_at(*schema, "/s") == std::vector<Word>{"on", "off"});
  CHECK(rules::words_at(*schema, "/g/{subject}/s") == std::vector<Word>{"a", "2", "true"});
  for (const char* none : {"/open", "/any", "/elsewhere"}) {
    CAPTURE(none);
    CHECK(rules::words_at(*schema, none).empty());
  }
}

TEST_CASE("stages that are declared and that the schema forbids are named") {
  const Json schema = read(R"({"properties": {"s": {"enum": ["open", "done"]}}})");
  rules::Rule declared = rule(R"({"to": "open", "run": "dev"})");
  declared.stages = {"open", "wait"};
  declared.done = {"dome"};
  CHECK(joined(rules::place_faults(declared, [&](const rules::Kind&) { return &*schema; })) ==
        "rule r, stages: the schema does not allow 'wait' at /s; it allows open, done\n"
        "rule r, done: the schema does not allow 'dome' at /s; did you mean 'done'?\n");
}

}  // namespace baton
