#include "app/schema_catalog.h"

#include <fstream>
#include <iterator>
#include <set>

#include <doctest/doctest.h>

#include "app/judge.h"
#include "base/document.h"
#include "base/embedded.h"
#include "dialects/registry.h"

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

}  // namespace

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
