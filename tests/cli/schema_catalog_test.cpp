// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/schema_catalog.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <doctest/doctest.h>

#include "base/embedded.h"
#include "base/json/document.h"
#include "config/registry.h"
#include "engine/intake/document_check.h"

namespace baton {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

SchemaFetch nothing_else() {
  return [](std::string_view uri) -> Result<std::string> {
    return fail(Errc::not_found, "no such schema", std::string(uri));
  };
}

/// What an editor shows of a property: its own words, or those of what it refers to.
bool described(const Value& root, const Value& property) {
  const Value* at = &property;
  for (auto target = json::text(*at, "$ref"); at != nullptr && target && target->starts_with("#");
       target = json::text(*at, "$ref")) {
    at = json::at(root, target->substr(1));
    if (at == nullptr)
      return false;
  }
  return !json::text(*at, "description").value_or("").empty() ||
         !json::text(*at, "title").value_or("").empty();
}

/// Every `properties` of a schema, wherever it stands.
void look_at_properties(const Value& root, const Value& value, const std::string& pointer,
                        std::size_t& seen) {
  if (value.IsArray())
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i)
      look_at_properties(root, value[i], pointer + "/" + std::to_string(i), seen);
  if (!value.IsObject())
    return;
  for (const auto& member : value.GetObject()) {
    const std::string name(json::text(member.name).value_or(""));
    const std::string inner = pointer + "/" + name;
    // What a condition says of a property is no place to describe it.
    if (name == "if" || name == "then" || name == "else" || name == "not")
      continue;
    if ((name == "properties" || name == "patternProperties") && member.value.IsObject())
      for (const auto& property : member.value.GetObject()) {
        CAPTURE(inner + "/" + std::string(json::text(property.name).value_or("")));
        CHECK((!property.value.IsObject() || described(root, property.value)));
        ++seen;
      }
    look_at_properties(root, member.value, inner, seen);
  }
}

/// Every `if`, wherever it stands.
void look_at_conditions(const Value& value, std::size_t& seen) {
  if (value.IsArray())
    for (const Value& item : value.GetArray())
      look_at_conditions(item, seen);
  if (!value.IsObject())
    return;
  for (const auto& member : value.GetObject())
    look_at_conditions(member.value, seen);
  const Value* const asked = json::at(value, "/if/properties");
  if (asked == nullptr)
    return;
  ++seen;
  const Value* const required = json::at(value, "/if/required");
  for (const auto& member : asked->GetObject()) {
    CAPTURE(json::dump(*json::child(value, "if")));
    CHECK((required != nullptr &&
           std::any_of(required->Begin(), required->End(),
                       [&](const Value& name) { return json::equal(name, member.name); })));
  }
}

}  // namespace

TEST_CASE("a condition on a member asks whether it is there") {
  // Else all of them hold of an object without it, which is then said to lack everything.
  std::size_t seen = 0;
  for (const std::string& name : schema_names()) {
    CAPTURE(name);
    const auto json = parse_json(*embedded_file("schemas/" + name + ".schema.json"));
    REQUIRE(json.has_value());
    look_at_conditions(**json, seen);
  }
  CHECK(seen > 15);
}

TEST_CASE("every property of every schema has a description or a title") {
  std::size_t seen = 0;
  for (const std::string& name : schema_names()) {
    CAPTURE(name);
    const auto json = parse_json(*embedded_file("schemas/" + name + ".schema.json"));
    REQUIRE(json.has_value());
    look_at_properties(**json, **json, "", seen);
  }
  CHECK(seen > 700);
}

TEST_CASE("schemas/catalog.json is what the registry says") {
  // `baton schema --catalog >schemas/catalog.json` writes it anew.
  CHECK(bytes_of(std::string(BATON_SCHEMAS) + "/catalog.json") == schema_catalog("").pretty());
}

TEST_CASE("the catalogue names every schema that files are judged by") {
  const Json catalog = schema_catalog("https://example.org/");
  std::set<std::string> urls;
  for (const Value& entry : (*json::at(*catalog, "/schemas")).GetArray()) {
    const std::string url(json::text(entry, "url").value_or(""));
    CAPTURE(url);
    urls.insert(url);
    CHECK_FALSE(json::text(entry, "name").value_or("").empty());
    CHECK_FALSE(json::text(entry, "description").value_or("").empty());
    for (const Value& glob : json::child(entry, "fileMatch")->GetArray())
      CHECK(json::text(glob)->find('{') == std::string_view::npos);
  }
  for (const Dialect* const dialect : dialects())
    for (const FileKind& kind : dialect->files(Json()))
      if (!kind.schema.empty() && kind.format != Format::jsonl) {
        CAPTURE(kind.schema);
        CHECK(urls.contains("https://example.org/" + kind.schema.substr(8)));
      }
}

TEST_CASE("every schema says what it is, by a name of its own, and leaves no doubt") {
  std::set<std::string> ids;
  Schemas schemas(nothing_else());
  CHECK(schema_names().size() > 20);
  for (const std::string& name : schema_names()) {
    CAPTURE(name);
    const auto* const bytes = embedded_file("schemas/" + name + ".schema.json");
    REQUIRE(bytes != nullptr);
    const auto json = parse_json(*bytes);
    REQUIRE(json.has_value());
    CHECK(json::text(**json, "$schema") == "http://json-schema.org/draft-07/schema#");
    CHECK_FALSE(json::text(**json, "title").value_or("").empty());
    CHECK_FALSE(json::text(**json, "description").value_or("").empty());
    const std::string id(json::text(**json, "$id").value_or(""));
    CHECK(id.starts_with("urn:baton:schema:"));
    CHECK(ids.insert(id).second);
    const auto schema = schemas.get(name);
    REQUIRE(schema.has_value());
    for (const Finding& doubt : (*schema)->lint())
      FAIL_CHECK(doubt.span.begin.line, ": ", doubt.message);
  }
}

}  // namespace baton
