// SPDX-License-Identifier: Apache-2.0

// Identifiers, references and spellings of keywords as the specification means them: every group of
// tests in which valijson by itself is wrong has a case here, written from the specification.

#include <map>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/embedded.h"
#include "base/schema/schema.h"
#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "print.h"

namespace baton {
namespace {

const std::map<std::string, std::string, std::less<>> remote_schemas = {
    {"http://far.example/integer.json", R"({"type":"integer"})"},
    {"http://far.example/folder/integer.json", R"({"type":"integer"})"},
    {"http://far.example/named.json",
     R"({"definitions":{"orNull":{"anyOf":[{"type":"null"},{"$ref":"#"}]}},"type":"string"})"},
    {"http://far.example/definitions.json",
     R"({"$id":"http://far.example/definitions.json","definitions":{"bar":{"type":"string"}},"properties":{"bar":{"$ref":"#/definitions/bar"}}})"},
    {"http://far.example/anchored.json",
     R"({"definitions":{"a":{"$id":"#foo","type":"integer"}},"properties":{"x":{"$ref":"#foo"}}})"},
    {"http://far.example/old.json",
     R"({"definitions":{"a":{"id":"#foo","type":"integer"},"b":{"$ref":"#foo"}}})"},
    {"http://far.example/nested/outer.json", R"({"items":{"$ref":"inner.json"}})"},
    {"http://far.example/nested/inner.json", R"({"type":"string"})"},
    {"http://far.example/twice.json",
     R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"integer.json"}}})"},
};

Result<std::string> remote(std::string_view uri) {
  const auto found = remote_schemas.find(uri);
  if (found == remote_schemas.end())
    return fail(Errc::not_found, "no such schema: " + std::string(uri));
  return found->second;
}

struct Row {
  std::string_view name;
  std::string_view schema;
  std::string_view good;
  std::string_view bad;
};

bool holds(const Row& row, std::string_view text) {
  const auto schema = compile_schema(row.schema, "http://near.example/root.json", remote);
  const std::string error = schema ? "" : describe(schema.error());
  CAPTURE(error);
  REQUIRE(schema.has_value());
  const auto document = load_document(std::string(text), Format::json);
  REQUIRE(document.has_value());
  const Findings findings = (*schema)->check(**document);
  for (const Finding& finding : findings)
    CHECK(finding.rule != "schema/limit");
  return findings.empty();
}

}  // namespace

TEST_CASE("identifiers, references and keyword values as the specification means them") {
  for (
      const Row& row : {
          Row{"a decimal maxItems", R"({"maxItems":2.0})", "[1,2]", "[1,2,3]"},
          Row{"a decimal minItems", R"({"minItems":1.0})", "[1]", "[]"},
          Row{"a decimal maxLength", R"({"maxLength":2.0})", R"("ab")", R"("abc")"},
          Row{"a decimal minLength", R"({"minLength":2.0})", R"("ab")", R"("a")"},
          Row{"a decimal maxProperties", R"({"maxProperties":1.0})", R"({"a":1})",
              R"({"a":1,"b":2})"},
          Row{"a decimal minProperties", R"({"minProperties":1.0})", R"({"a":1})", "{}"},
          Row{"a small multiple of a large integer", R"({"type":"integer","multipleOf":1e-8})",
              "12391239123", "0.5"},
          Row{"date says nothing about numbers", R"({"format":"date"})", "12", R"("12")"},
          Row{"time says nothing about null", R"({"format":"time"})", "null", R"("null")"},
          Row{"date-time says nothing about objects", R"({"format":"date-time"})", R"({"a":1})",
              R"("a")"},
          Row{"$id beside $ref does not count",
              R"({"$id":"http://far.example/","definitions":{"foo":{"type":"string"},"a":{"$id":"http://far.example/elsewhere/","$ref":"integer.json"}},"allOf":[{"$ref":"#/definitions/a"}]})",
              "1", R"("x")"},
          Row{"schemas that refer to each other",
              R"({"$id":"http://near.example/tree","type":"object","required":["nodes"],"properties":{"nodes":{"type":"array","items":{"$ref":"node"}}},"definitions":{"node":{"$id":"http://near.example/node","required":["value"],"properties":{"value":{"type":"number"},"subtree":{"$ref":"tree"}}}}})",
              R"({"nodes":[{"value":1,"subtree":{"nodes":[{"value":1.1}]}}]})",
              R"({"nodes":[{"value":1,"subtree":{"nodes":[{"value":"x"}]}}]})"},
          Row{"an anchor",
              R"({"allOf":[{"$ref":"#foo"}],"definitions":{"A":{"$id":"#foo","type":"integer"}}})",
              "1", R"("a")"},
          Row{"an anchor with an absolute URI",
              R"({"allOf":[{"$ref":"http://near.example/bar#foo"}],"definitions":{"A":{"$id":"http://near.example/bar#foo","type":"integer"}}})",
              "1", R"("a")"},
          Row{"an anchor below a changed base",
              R"({"$id":"http://near.example/root","allOf":[{"$ref":"http://near.example/nested.json#foo"}],"definitions":{"A":{"$id":"nested.json","definitions":{"B":{"$id":"#foo","type":"integer"}}}}})",
              "1", R"("a")"},
          Row{"relative URIs and definitions, by pointer",
              R"({"$id":"http://near.example/a.json","definitions":{"x":{"$id":"http://near.example/b/c.json","definitions":{"inner":{"$id":"d.json","definitions":{"y":{"type":"integer"}}}}}},"allOf":[{"$ref":"http://near.example/b/d.json#/definitions/y"}]})",
              "1", R"("a")"},
          Row{"the nearest $id is the base",
              R"({"$id":"http://near.example/a.json","definitions":{"x":{"$id":"http://near.example/b/c.json","not":{"definitions":{"y":{"$id":"d.json","type":"number"}}}}},"allOf":[{"$ref":"http://near.example/b/d.json"}]})",
              "1", R"("a")"},
          Row{"a URN",
              R"({"$id":"urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed","minProperties":30,"properties":{"foo":{"$ref":"urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed"}}})",
              "1", R"({"foo":{}})"},
          Row{"a URN and a pointer",
              R"({"$id":"urn:uuid:deadbeef-1234-0000-0000-4321feebdaed","properties":{"foo":{"$ref":"#/definitions/bar"},"far":{"$ref":"urn:uuid:deadbeef-1234-0000-0000-4321feebdaed#/definitions/bar"}},"definitions":{"bar":{"type":"string"}}})",
              R"({"foo":"a","far":"b"})", R"({"far":12})"},
          Row{"a URN and an anchor",
              R"({"$id":"urn:uuid:deadbeef-1234-ff00-00ff-4321feebdaed","properties":{"foo":{"$ref":"urn:uuid:deadbeef-1234-ff00-00ff-4321feebdaed#something"}},"definitions":{"bar":{"$id":"#something","type":"string"}}})",
              R"({"foo":"a"})", R"({"foo":12})"},
          Row{"a reference to what if holds",
              R"({"allOf":[{"$ref":"http://near.example/if"},{"if":{"$id":"http://near.example/if","type":"integer"}}]})",
              "1", R"("a")"},
          Row{"a reference to what then holds",
              R"({"allOf":[{"$ref":"http://near.example/then"},{"then":{"$id":"http://near.example/then","type":"integer"}}]})",
              "1", R"("a")"},
          Row{"a reference to what else holds",
              R"({"allOf":[{"$ref":"http://near.example/else"},{"else":{"$id":"http://near.example/else","type":"integer"}}]})",
              "1", R"("a")"},
          Row{"a reference by absolute path",
              R"({"$id":"http://near.example/deep/root.json","definitions":{"a":{"$id":"http://near.example/absref/foobar.json","type":"number"}},"allOf":[{"$ref":"/absref/foobar.json"}]})",
              "1", R"("a")"},
          Row{"empty tokens in a pointer",
              R"({"definitions":{"":{"definitions":{"":{"type":"number"}}}},"allOf":[{"$ref":"#/definitions//definitions/"}]})",
              "1", R"("a")"},
          Row{"a changed base for a remote document",
              R"({"$id":"http://far.example/","items":{"$id":"folder/","items":{"$ref":"integer.json"}}})",
              "[[1]]", R"([["a"]])"},
          Row{"a changed base, in definitions, by pointer",
              R"({"$id":"http://far.example/start.json","allOf":[{"$ref":"#/definitions/baz/definitions/bar"}],"definitions":{"baz":{"$id":"folder/","definitions":{"bar":{"type":"array","items":{"$ref":"integer.json"}}}}}})",
              "[1]", R"(["a"])"},
          Row{"# in a remote document is its own root",
              R"({"$id":"http://far.example/object","properties":{"name":{"$ref":"named.json#/definitions/orNull"}}})",
              R"({"name":null})", R"({"name":{"name":null}})"},
          Row{"a remote document with its own definitions",
              R"({"$id":"http://far.example/by-id.json","allOf":[{"$ref":"definitions.json"}]})",
              R"({"bar":"a"})", R"({"bar":1})"},
          Row{"an anchor in a remote document", R"({"$ref":"http://far.example/anchored.json"})",
              R"({"x":1})", R"({"x":"a"})"},
          Row{"a remote document that refers to its neighbour",
              R"({"$ref":"http://far.example/nested/outer.json"})", R"(["a"])", "[1]"},
          Row{"a reference to a reference to a reference",
              R"({"$ref":"http://far.example/twice.json#/definitions/a"})", "1", R"("a")"},
          Row{"a remote document without $schema has the draft of the one that refers to it",
              R"({"$schema":"http://json-schema.org/draft-04/schema#","allOf":[{"$ref":"http://far.example/old.json#/definitions/b"}]})",
              "1", R"("a")"},
          Row{"draft-04 says id",
              R"({"$schema":"http://json-schema.org/draft-04/schema#","id":"http://far.example/","items":{"id":"folder/","items":{"$ref":"integer.json"}}})",
              "[[1]]", R"([["a"]])"},
          Row{"draft-07 does not say id",
              R"({"id":"http://elsewhere.example/","properties":{"a":{"$ref":"http://far.example/integer.json"}}})",
              R"({"a":1})", R"({"a":"x"})"},
          Row{"definitions of the same name in two documents",
              R"({"definitions":{"bar":{"type":"integer"}},"properties":{"near":{"$ref":"#/definitions/bar"},"far":{"$ref":"http://far.example/definitions.json#/definitions/bar"}}})",
              R"({"near":1,"far":"a"})", R"({"near":1,"far":1})"},
      }) {
    CAPTURE(row.name);
    CHECK(holds(row, row.good));
    CHECK_FALSE(holds(row, row.bad));
  }
}

TEST_CASE("every schema of the binary fits its meta-schema, for at run time nobody asks") {
  std::size_t schemas = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.ends_with(".json") || !file.path.starts_with("schemas/"))
      continue;
    CAPTURE(file.path);
    // Under a name that is not its own it is checked as a foreign one is.
    const auto foreign = compile_schema(file.bytes, "foreign.json", [](std::string_view uri) {
      const auto* const own = embedded_file("schemas/" + std::string(uri));
      return own == nullptr ? Result<std::string>(fail(Errc::not_found, "none"))
                            : Result<std::string>(std::string(*own));
    });
    const std::string error = foreign ? "" : describe(foreign.error());
    CAPTURE(error);
    CHECK(foreign.has_value());
    ++schemas;
  }
  CHECK(schemas > 20);
}

TEST_CASE("a schema may be asked by several threads") {
  const auto schema = compile_schema(
      R"({"items":{"anyOf":[{"pattern":"^a+$"},{"format":"date-time"},{"enum":[1,2]}]}})",
      "threads.json", remote);
  REQUIRE(schema.has_value());
  const auto document = load_document(R"(["aaa","2026-01-01T00:00:00Z",1,"b"])", Format::json);
  REQUIRE(document.has_value());
  constexpr std::size_t kThreads = 4;
  std::vector<std::size_t> faults(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::size_t& count : faults)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        count += (*schema)->check(**document).size();
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const std::size_t count : faults)
    CHECK(count == 200);
}

}  // namespace baton
