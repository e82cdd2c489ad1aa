// SPDX-License-Identifier: Apache-2.0

// What draft 2019-09 and draft 2020-12 have and older drafts do not, one row for each keyword and
// each way in which keywords meet. Written from the specification.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/schema/schema.h"
#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "print.h"

namespace baton {
namespace {

const std::map<std::string, std::string, std::less<>> far_schemas = {
    {"http://far.example/list.json",
     R"({"$id":"http://far.example/list.json","type":"array","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item"}}})"},
    {"http://far.example/node.json",
     R"({"$id":"http://far.example/node.json","$recursiveAnchor":true,"type":"object","properties":{"next":{"$recursiveRef":"#"}}})"},
    {"http://far.example/loose.json",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://far.example/loose.json","$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://json-schema.org/draft/2020-12/vocab/applicator":true,"http://far.example/vocab/ours":false}})"},
    {"http://far.example/strict.json",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://far.example/strict.json","$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://json-schema.org/draft/2020-12/vocab/format-assertion":true},"properties":{"title":{"maxLength":5}}})"},
    {"http://far.example/strict-2019.json",
     R"({"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"http://far.example/strict-2019.json","$vocabulary":{"https://json-schema.org/draft/2019-09/vocab/core":true,"https://json-schema.org/draft/2019-09/vocab/format":true}})"},
    {"http://far.example/needy.json",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://far.example/needy.json","$vocabulary":{"http://far.example/vocab/ours":true}})"},
    {"http://far.example/wrong.json",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://far.example/wrong.json","$defs":[]})"},
    {"http://far.example/meta-meta.json",
     R"({"$schema":"http://far.example/loose.json","$id":"http://far.example/meta-meta.json"})"},
    {"http://far.example/ring.json",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://far.example/ring.json","properties":{"a":{"$ref":"ringed.json"}}})"},
    {"http://far.example/ringed.json", R"({"$schema":"http://far.example/ring.json"})"},
    {"http://far.example/old.json",
     R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"$defs":{"a":{"$id":"#no","const":1}}})"},
};

Result<std::string> far_schema(std::string_view uri) {
  const auto found = far_schemas.find(uri);
  if (found == far_schemas.end())
    return fail(Errc::not_found, "no such schema: " + std::string(uri));
  return found->second;
}

/// The schema with the `$schema` of a draft, or of an own meta-schema.
std::string of_draft(std::string_view draft, std::string_view schema) {
  const std::string uri = draft.starts_with("http")
                              ? std::string(draft)
                              : "https://json-schema.org/draft/" + std::string(draft) + "/schema";
  return R"({"$schema":")" + uri + R"(",)" + std::string(schema.substr(1));
}

bool is_valid(const std::string& schema, std::string_view text) {
  const auto compiled = compile_schema(schema, "http://near.example/root.json", far_schema);
  const std::string error = compiled ? "" : describe(compiled.error());
  CAPTURE(error);
  REQUIRE(compiled.has_value());
  const auto document = load_document(std::string(text), Format::json);
  REQUIRE(document.has_value());
  const Findings findings = (*compiled)->check(**document);
  for (const Finding& finding : findings)
    CHECK(finding.rule != "schema/limit");
  // The walk alone comes to the same verdict as valijson.
  const auto tree = build_schema_tree(schema, "http://near.example/root.json", far_schema, true);
  REQUIRE(tree.has_value());
  CHECK(SchemaWalk(**tree, 1'000'000).holds(0, (*document)->root()) == findings.empty());
  return findings.empty();
}

struct Row {
  std::string_view name;
  std::string_view draft;  ///< "" means both
  std::string_view schema;
  std::vector<std::string_view> good;
  std::vector<std::string_view> bad;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      Row{"$defs",
          "",
          R"({"$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a"}}})",
          {R"({"x":"a"})"},
          {R"({"x":1})"}},
      Row{"$anchor",
          "",
          R"({"$defs":{"a":{"$anchor":"text","type":"string"}},"properties":{"x":{"$ref":"#text"}}})",
          {R"({"x":"a"})"},
          {R"({"x":1})"}},
      Row{"$anchor of an embedded resource",
          "",
          R"({"$defs":{"a":{"$id":"http://near.example/a","$defs":{"b":{"$anchor":"b","type":"string"}}}},"properties":{"x":{"$ref":"a#b"}}})",
          {R"({"x":"a"})"},
          {R"({"x":1})"}},
      Row{"$ref beside other keywords",
          "",
          R"({"$defs":{"a":{"type":"string"}},"$ref":"#/$defs/a","minLength":2})",
          {R"("ab")"},
          {R"("a")", "12"}},
      Row{"$id beside $ref counts",
          "",
          R"({"$defs":{"text":{"$id":"http://near.example/b/text","type":"string"}},"properties":{"x":{"$id":"http://near.example/b/","$ref":"text"}}})",
          {R"({"x":"a"})"},
          {R"({"x":1})"}},
      Row{"$ref to an own part of a part",
          "",
          R"({"$ref":"#/$defs/a/$defs/b","$defs":{"a":{"$defs":{"b":{"type":"string"}}}}})",
          {R"("a")"},
          {"1"}},
      Row{"definitions and dependencies still count",
          "",
          R"({"definitions":{"a":{"type":"string"}},"dependencies":{"x":["y"],"z":{"required":["y"]}},"properties":{"x":{"$ref":"#/definitions/a"}}})",
          {R"({"x":"a","y":1})", "{}"},
          {R"({"x":"a"})", R"({"z":1})"}},
      Row{"dependentRequired",
          "",
          R"({"dependentRequired":{"card":["name","till"]}})",
          {"{}", R"({"name":1})", R"({"card":1,"name":2,"till":3})", "[]"},
          {R"({"card":1,"name":2})"}},
      Row{"dependentSchemas",
          "",
          R"({"dependentSchemas":{"card":{"properties":{"name":{"type":"string"}},"required":["name"]}}})",
          {R"({"name":1})", R"({"card":1,"name":"a"})"},
          {R"({"card":1})", R"({"card":1,"name":2})"}},
      Row{"prefixItems",
          "2020-12",
          R"({"prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"}})",
          {"[]", R"(["a"])", R"(["a",1])", R"(["a",1,true])", "{}"},
          {"[1]", R"(["a","b"])", R"(["a",1,2])"}},
      Row{"items false closes the array",
          "2020-12",
          R"({"prefixItems":[true],"items":false})",
          {"[]", "[1]"},
          {"[1,2]"}},
      Row{"items as a list",
          "2019-09",
          R"({"items":[{"type":"string"}],"additionalItems":{"type":"boolean"}})",
          {R"(["a",true])"},
          {"[1]", R"(["a",1])"}},
      Row{"additionalItems says nothing any more",
          "2020-12",
          R"({"prefixItems":[true],"additionalItems":false})",
          {"[1,2]"},
          {}},
      Row{"prefixItems says nothing yet",
          "2019-09",
          R"({"prefixItems":[{"type":"string"}]})",
          {"[1]"},
          {}},
      Row{"minContains",
          "",
          R"({"contains":{"const":1},"minContains":2})",
          {"[1,1]", "[1,2,1]"},
          {"[]", "[1]", "[2,2]"}},
      Row{"maxContains",
          "",
          R"({"contains":{"const":1},"maxContains":1})",
          {"[1]", "[1,2]"},
          {"[]", "[1,1]", "[2]"}},
      Row{"minContains of 0",
          "",
          R"({"contains":{"const":1},"minContains":0,"maxContains":1})",
          {"[]", "[2]", "[1]"},
          {"[1,1]"}},
      Row{"minContains without contains",
          "",
          R"({"minContains":2,"maxContains":0})",
          {"[]", "[1]"},
          {}},
      Row{"minContains above maxContains",
          "",
          R"({"contains":true,"minContains":3,"maxContains":1})",
          {},
          {"[1]", "[1,1,1]"}},
      Row{"unevaluatedProperties sees properties beside it",
          "",
          R"({"properties":{"a":true},"patternProperties":{"^x":true},"unevaluatedProperties":false})",
          {R"({"a":1,"xy":2})", "[1]"},
          {R"({"b":1})"}},
      Row{"unevaluatedProperties sees what was referred to",
          "",
          R"({"$ref":"#/$defs/a","properties":{"b":true},"unevaluatedProperties":false,"$defs":{"a":{"properties":{"a":true}}}})",
          {R"({"a":1,"b":2})"},
          {R"({"c":1})"}},
      Row{"unevaluatedProperties as a schema",
          "",
          R"({"properties":{"a":true},"unevaluatedProperties":{"type":"integer"}})",
          {R"({"a":"x","b":2})"},
          {R"({"b":"x"})"}},
      Row{"unevaluatedProperties sees allOf",
          "",
          R"({"allOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false})",
          {R"({"a":1,"b":2})"},
          {R"({"a":1,"c":2})"}},
      Row{"unevaluatedProperties sees every fitting branch of anyOf",
          "",
          R"({"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{"const":1}},"required":["b"]}],"unevaluatedProperties":false})",
          {R"({"a":1})", R"({"a":1,"b":1})"},
          {R"({"a":1,"b":2})", R"({"a":2,"b":2})"}},
      Row{"unevaluatedProperties sees the fitting branch of oneOf",
          "",
          R"({"oneOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{"const":1}},"required":["b"]}],"unevaluatedProperties":false})",
          {R"({"a":1})", R"({"b":1})"},
          {R"({"a":1,"b":2})", R"({"a":1,"b":1})"}},
      Row{"unevaluatedProperties does not see into not",
          "",
          R"({"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false})",
          {"{}"},
          {R"({"a":1})"}},
      Row{"unevaluatedProperties sees if and the branch taken",
          "",
          R"({"if":{"properties":{"kind":{"const":"a"}},"required":["kind"]},"then":{"properties":{"a":true}},"else":{"properties":{"b":true}},"unevaluatedProperties":false})",
          {R"({"kind":"a","a":1})", R"({"b":1})"},
          {R"({"kind":"a","b":1})", R"({"kind":"b"})"}},
      Row{"unevaluatedProperties sees if alone",
          "",
          R"({"if":{"properties":{"a":{"const":1}}},"unevaluatedProperties":false})",
          {R"({"a":1})"},
          {R"({"a":2})"}},
      Row{"unevaluatedProperties sees dependentSchemas",
          "",
          R"({"properties":{"a":true},"dependentSchemas":{"a":{"properties":{"b":true}}},"unevaluatedProperties":false})",
          {R"({"a":1,"b":2})"},
          {R"({"b":2})"}},
      Row{"unevaluatedProperties sees additionalProperties",
          "",
          R"({"allOf":[{"additionalProperties":{"type":"integer"}}],"unevaluatedProperties":false})",
          {R"({"a":1})"},
          {R"({"a":"x"})"}},
      Row{"unevaluatedProperties does not see its cousins",
          "",
          R"({"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]})",
          {"{}"},
          {R"({"a":1})"}},
      Row{"unevaluatedProperties sees an inner one",
          "",
          R"({"allOf":[{"properties":{"a":true},"unevaluatedProperties":{"type":"integer"}}],"unevaluatedProperties":false})",
          {R"({"a":"x","b":1})"},
          {R"({"b":"x"})"}},
      Row{"unevaluatedProperties is about one object, not those in it",
          "",
          R"({"properties":{"a":{"properties":{"b":true}}},"unevaluatedProperties":false})",
          {R"({"a":{"c":1}})"},
          {R"({"b":1})"}},
      Row{"unevaluatedItems and the beginning of an array",
          "2020-12",
          R"({"prefixItems":[true],"unevaluatedItems":{"type":"integer"}})",
          {R"(["a",1])", "{}"},
          {R"(["a","b"])"}},
      Row{"unevaluatedItems sees items",
          "2020-12",
          R"({"allOf":[{"items":{"type":"integer"}}],"unevaluatedItems":false})",
          {"[1,2]"},
          {R"(["a"])"}},
      Row{"unevaluatedItems sees contains",
          "2020-12",
          R"({"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}})",
          {R"(["a",1])"},
          {R"(["a",true])", "[1]"}},
      Row{"unevaluatedItems does not see contains yet",
          "2019-09",
          R"({"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}})",
          {},
          {R"(["a",1])"}},
      Row{"unevaluatedItems after a list",
          "2019-09",
          R"({"items":[true],"unevaluatedItems":{"type":"integer"}})",
          {R"(["a",1])"},
          {R"(["a","b"])"}},
      Row{"unevaluatedItems sees additionalItems",
          "2019-09",
          R"({"items":[true],"additionalItems":true,"unevaluatedItems":false})",
          {"[1,2,3]"},
          {}},
      Row{"unevaluatedItems sees the branch that fits",
          "2020-12",
          R"({"anyOf":[{"prefixItems":[true,{"const":1}],"minItems":2},{"prefixItems":[true]}],"unevaluatedItems":false})",
          {"[0]", "[0,1]"},
          {"[0,2]"}},
      Row{"$dynamicRef leads to the outermost anchor",
          "2020-12",
          R"({"$ref":"http://far.example/list.json","$defs":{"text":{"$dynamicAnchor":"item","type":"string"}}})",
          {R"(["a"])"},
          {"[1]", "{}"}},
      Row{"$dynamicRef sees a resource that only refers on",
          "2020-12",
          R"({"$id":"http://near.example/0","$ref":"1#/$defs/A","$defs":{"b1":{"$id":"1","$defs":{"A":{"$ref":"3"},"item":{"$dynamicAnchor":"item","type":"string"}}},"b3":{"$id":"3","$dynamicRef":"#item","$defs":{"item":{"$dynamicAnchor":"item"}}}}})",
          {R"("a")"},
          {"1"}},
      Row{"$dynamicRef with an escaped name",
          "2020-12",
          R"({"$ref":"b","$defs":{"n":{"$dynamicAnchor":"n","type":"string"},"b":{"$id":"b","$dynamicRef":"#%6e","$defs":{"n":{"$dynamicAnchor":"n"}}}}})",
          {R"("a")"},
          {"1"}},
      Row{"$dynamicRef that would go round, and leads elsewhere",
          "2020-12",
          R"({"$id":"http://near.example/root","$ref":"list","$defs":{"T":{"$dynamicAnchor":"T","type":"string"},"l":{"$id":"list","$dynamicAnchor":"T","$dynamicRef":"#T"}}})",
          {R"("a")"},
          {"1"}},
      Row{"$dynamicRef within one resource",
          "2020-12",
          R"({"items":{"$dynamicRef":"#item"},"$defs":{"a":{"$dynamicAnchor":"item","type":"string"}}})",
          {R"(["a"])"},
          {"[1]"}},
      Row{"$dynamicRef to a plain anchor is like $ref",
          "2020-12",
          R"({"items":{"$dynamicRef":"#item"},"$defs":{"a":{"$anchor":"item","type":"string"}}})",
          {R"(["a"])"},
          {"[1]"}},
      Row{"a tree that a stricter schema extends",
          "2020-12",
          R"({"$id":"http://near.example/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"children":{"items":{"$dynamicRef":"#node"}}}}}})",
          {R"({"children":[{"children":[]}]})"},
          {R"({"children":[{"daat":1}]})", R"({"x":1})"}},
      Row{"$recursiveRef leads to the outermost root",
          "2019-09",
          R"({"$id":"http://near.example/closed","$recursiveAnchor":true,"$ref":"http://far.example/node.json","unevaluatedProperties":false})",
          {R"({"next":{"next":{}}})"},
          {R"({"next":{"nxet":1}})", R"({"x":1})"}},
      Row{"$recursiveRef without $recursiveAnchor is like $ref",
          "2019-09",
          R"({"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":false})",
          {R"({"a":{"a":{}}})"},
          {R"({"a":{"b":1}})"}},
      Row{"$vocabulary without the rules about values",
          "http://far.example/loose.json",
          R"({"properties":{"a":false},"minProperties":3})",
          {"{}"},
          {R"({"a":1})"}},
      Row{"$vocabulary with formats that have to hold",
          "http://far.example/strict.json",
          R"({"format":"ipv4"})",
          {R"("127.0.0.1")"},
          {R"("local")"}},
      Row{"$vocabulary of 2019-09 with formats that have to hold",
          "http://far.example/strict-2019.json",
          R"({"format":"ipv4"})",
          {R"("127.0.0.1")"},
          {R"("local")"}},
      Row{"format is a note", "", R"({"format":"ipv4"})", {R"("local")"}, {}},
      Row{"deprecated and contentSchema are notes",
          "",
          R"({"deprecated":true,"contentMediaType":"application/json","contentSchema":{"type":"object"}})",
          {R"("1")", "1"},
          {}},
      Row{"a document of an older draft",
          "2020-12",
          R"({"$ref":"http://far.example/old.json"})",
          {R"(["a"])"},
          {"[1]"}},
      Row{"the meta-schema itself",
          "",
          R"({"properties":{"x":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}})",
          {R"({"x":{"type":"string","items":{"minItems":1}}})"},
          {R"({"x":{"items":{"minItems":"1"}}})"}},
      Row{"a part of a meta-schema",
          "",
          R"({"$ref":"https://json-schema.org/draft/2019-09/meta/validation#/$defs/stringArray"})",
          {R"(["a"])"},
          {R"(["a","a"])", "[1]"}},
  };
  return all;
}

}  // namespace

TEST_CASE("drafts 2019-09 and 2020-12, keyword by keyword") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    for (const std::string_view draft : {"2019-09", "2020-12"}) {
      if (!row.draft.empty() && row.draft != draft && !row.draft.starts_with("http"))
        continue;
      const std::string schema =
          of_draft(row.draft.empty() ? std::string_view(draft) : row.draft, row.schema);
      CAPTURE(schema);
      for (const std::string_view text : row.good) {
        CAPTURE(text);
        CHECK(is_valid(schema, text));
      }
      for (const std::string_view text : row.bad) {
        CAPTURE(text);
        CHECK_FALSE(is_valid(schema, text));
      }
    }
  }
}

TEST_CASE("every keyword that older drafts do not have is in the table") {
  for (const SchemaDraft draft : {SchemaDraft::draft2019_09, SchemaDraft::draft2020_12}) {
    const auto keywords = SchemaKeywords::of(draft);
    std::size_t found = 0;
    for (const std::string_view keyword :
         {"$anchor", "$defs", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef",
          "$vocabulary", "contentSchema", "dependentRequired", "dependentSchemas", "deprecated",
          "maxContains", "minContains", "prefixItems", "unevaluatedItems",
          "unevaluatedProperties"}) {
      CAPTURE(keyword);
      CHECK_FALSE(SchemaKeywords::of(SchemaDraft::draft7).has(keyword));
      found += keywords.has(keyword) ? 1U : 0U;
      const std::string quoted = "\"" + std::string(keyword) + "\"";
      const auto has = [&](std::string_view text) {
        return text.find(quoted) != std::string::npos;
      };
      const bool there = std::any_of(rows().begin(), rows().end(),
                                     [&](const Row& row) { return has(row.schema); }) ||
                         std::any_of(far_schemas.begin(), far_schemas.end(),
                                     [&](const auto& far) { return has(far.second); });
      CHECK(there);
    }
    CHECK(found == (draft == SchemaDraft::draft2019_09 ? 13 : 14));
  }
}

TEST_CASE("a schema of a new draft that cannot be used says where and why") {
  struct Bad {
    std::string_view draft;
    std::string_view schema;
    std::string_view where;
    std::string_view message;
  };
  for (const Bad& bad : {
           Bad{"2021-01", "{}", ":1:12",
               "$schema is \"https://json-schema.org/draft/2021-01/schema\", which is none of "
               "draft-04, "
               "draft-06, draft-07, draft 2019-09, draft 2020-12 (such as "
               "\"https://json-schema.org/draft/2020-12/schema\"), and cannot be used as a "
               "meta-schema "
               "of your own: no such schema: https://json-schema.org/draft/2021-01/schema"},
           Bad{"http://far.example/needy.json", "{}", ":1:12",
               "its schemas need the vocabulary \"http://far.example/vocab/ours\", which is not "
               "known"},
           Bad{"http://far.example/meta-meta.json", "{}", ":1:12",
               "its own $schema names none of them either"},
           Bad{"http://far.example/wrong.json", "{}", ":1:12",
               "http://far.example/wrong.json:1:105: not a JSON Schema: expected object, found an "
               "array"},
           Bad{"http://far.example/ring.json", "{}", ":1:12",
               "a meta-schema may only refer to schemas of these drafts"},
           Bad{"http://far.example/strict.json", R"({"title":"too long"})", ":1:53",
               "not a JSON Schema: \"too long\" has 8 characters, at most 5 are allowed"},
           Bad{"2020-12",
               R"({"$defs":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}})", ":1:83",
               "the part of a schema has another $schema, "
               "\"http://json-schema.org/draft-07/schema#\", "
               "than the whole; put it into a file of its own, or leave $schema out"},
           Bad{"2020-12", R"({"$dynamicRef":"#nowhere"})", ":1:73",
               "there is no schema called #nowhere"},
           Bad{"2020-12", R"({"$dynamicRef":"gone.json#a"})", ":1:73",
               "the reference \"gone.json#a\" leads nowhere: no such schema: "
               "http://near.example/gone.json"},
           Bad{"2020-12", R"({"$dynamicRef":7})", ":1:73", "not a JSON Schema: "},
           Bad{"2020-12", R"({"$dynamicAnchor":"a","$dynamicRef":"#a"})", ":1:1",
               "this schema applies itself to the same value without end"},
           Bad{"2019-09", R"({"$recursiveRef":"#"})", ":1:1",
               "this schema applies itself to the same value without end"},
           Bad{"2020-12", R"({"$ref":"#","type":"object"})", ":1:1",
               "this schema applies itself to the same value without end"},
           Bad{"2020-12", R"({"items":{"$ref":"#/items"}})", ":1:75",
               "this $ref leads back to itself"},
           Bad{"2020-12", R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x","type":"string"}}})",
               "", "two schemas are called \"http://near.example/root.json#x\""},
           Bad{"2020-12", R"({"items":[{}]})", ":1:67", "not a JSON Schema: "},
           Bad{"2020-12", R"({"prefixItems":[]})", ":1:73", "not a JSON Schema: "},
           Bad{"2020-12", R"({"unevaluatedItems":1})", ":1:78", "not a JSON Schema: "},
           Bad{"2019-09", R"({"minContains":-1})", ":1:73", "not a JSON Schema: "},
           Bad{"2020-12", R"({"$id":"a#b"})", ":1:65", "not a JSON Schema: "},
           Bad{"2020-12", R"({"pattern":"("})", ":1:69", ""},
           Bad{"2020-12", R"({"$ref":"https://json-schema.org/draft/2020-12/meta/none"})", "",
               "leads nowhere: draft 2020-12 has no such part"},
       }) {
    const std::string schema =
        of_draft(bad.draft, bad.schema == "{}" ? R"({"title":""})" : bad.schema);
    CAPTURE(schema);
    const auto compiled = compile_schema(schema, "http://near.example/root.json", far_schema);
    REQUIRE_FALSE(compiled.has_value());
    CAPTURE(compiled.error().message);
    CAPTURE(compiled.error().where);
    CHECK(compiled.error().message.find(bad.message) != std::string::npos);
    CHECK(compiled.error().where.ends_with(bad.where));
  }
}

TEST_CASE("faults under the new keywords have their place and words") {
  const auto told = [](std::string_view schema, std::string_view text) {
    const auto compiled = compile_schema(of_draft("2020-12", schema), "s.json", far_schema);
    REQUIRE(compiled.has_value());
    const auto document = load_document(std::string(text), Format::json);
    REQUIRE(document.has_value());
    std::string out;
    for (const Finding& each : (*compiled)->check(**document))
      out += each.rule + " " + each.pointer + " " + std::to_string(each.span.begin.line) + ":" +
             std::to_string(each.span.begin.column) + " " + each.message + "\n";
    return out;
  };
  CHECK(told(R"({"properties":{"status":true},"unevaluatedProperties":false})", R"({"staus":1})") ==
        "schema/unevaluatedProperties /staus 1:2 the member \"staus\" is not allowed here\n");
  CHECK(told(R"({"prefixItems":[true],"unevaluatedItems":false})", "[1, 2]") ==
        "schema/false /1 1:5 nothing is allowed here\n");
  CHECK(told(R"({"contains":{"const":1},"minContains":2})", "[1]") ==
        "schema/minContains  1:1 at least 2 items must match the schema of contains, 1 does\n");
  CHECK(told(R"({"contains":{"const":1},"maxContains":1})", "[1,1]") ==
        "schema/maxContains  1:1 at most 1 item may match the schema of contains, 2 do\n");
  CHECK(told(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})") ==
        "schema/dependentRequired  1:1 the member \"b\" is missing; \"a\" needs it\n");
}

TEST_CASE("doubts name what a draft does not have, and formats that are only notes") {
  const auto doubts = [](std::string_view schema) {
    const auto compiled = compile_schema(std::string(schema), "s.json", far_schema);
    REQUIRE(compiled.has_value());
    std::string out;
    for (const Finding& each : (*compiled)->lint())
      out += each.pointer + " " + each.message + "\n";
    return out;
  };
  CHECK(doubts(of_draft(
            "2020-12",
            R"({"additionalItems":false,"items":{"format":"ipv4"},"not":{"format":"date"}})")) ==
        "/additionalItems \"additionalItems\" has no meaning in draft 2020-12\n"
        "/items/format no value is checked for its format: in draft 2020-12 a format is a note, "
        "unless "
        "the meta-schema says otherwise\n");
  CHECK(doubts(of_draft("2019-09", R"({"prefixItems":[],"minContains":1})")) ==
        "/prefixItems \"prefixItems\" has no meaning in draft 2019-09\n"
        "/minContains \"minContains\" has no effect without contains\n");
  CHECK(doubts(R"({"unevaluatedProperties":false})") ==
        "/unevaluatedProperties \"unevaluatedProperties\" has no meaning in draft-07\n");
  CHECK(doubts(of_draft("http://far.example/loose.json", R"({"minimum":1})")) ==
        "/minimum \"minimum\" has no meaning: its vocabulary is not one of the meta-schema\n");
  CHECK(doubts(of_draft("2020-12", R"({"if":true})")).empty());
  CHECK(doubts(of_draft("2020-12", R"({"unevaluatedPropertys":false})")).find("is not known") !=
        std::string::npos);
}

}  // namespace baton
