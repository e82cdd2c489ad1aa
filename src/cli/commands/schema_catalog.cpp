// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/schema_catalog.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/embedded.h"
#include "base/json/document.h"
#include "config/registry.h"

namespace baton {
namespace {

constexpr std::string_view kSchemaFolder = "schemas/";
constexpr std::string_view kSchemaSuffix = ".schema.json";

/// Converts `a/{flow}.json` to a glob that matches in any folder.
std::string glob_of(const std::string& pattern) {
  std::string glob = "**/" + pattern;
  for (const std::string_view name : {"{flow}", "{part}"})
    for (auto at = glob.find(name); at != std::string::npos; at = glob.find(name, at))
      glob.replace(at, name.size(), "*");
  return glob;
}

/// The file patterns of each schema, by its path in this binary.
std::map<std::string, std::set<std::string>> files_of_schemas() {
  std::map<std::string, std::set<std::string>> files;
  files["schemas/config.schema.json"] = {"baton.yaml"};
  files["schemas/adapter.schema.json"] = {"**/adapters/*.yaml"};
  for (const Dialect* const dialect : dialects())
    for (const FileKind& kind : dialect->files(Json()))
      if (!kind.schema.empty() && kind.format != Format::jsonl)
        files[kind.schema].insert(glob_of(kind.pattern));
  return files;
}

Json entry(const std::string& path, const std::set<std::string>& globs, std::string_view base) {
  const auto* const bytes = embedded_file(path);
  const auto schema = bytes == nullptr ? Result<Json>(fail(Errc::not_found, "no such schema", path))
                                       : parse_json(*bytes);
  const auto word = [&](std::string_view name) {
    return schema ? std::string(json::text(**schema, name).value_or("")) : std::string();
  };
  Json matches = Json::array();
  for (const std::string& glob : globs)
    matches.push(glob);
  return Json::object({{"name", word("title")},
                       {"description", word("description")},
                       {"fileMatch", matches},
                       {"url", std::string(base) + path.substr(kSchemaFolder.size())}});
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    std::string_view path = file.path;
    if (!path.starts_with(kSchemaFolder) || !path.ends_with(kSchemaSuffix))
      continue;
    path.remove_prefix(kSchemaFolder.size());
    path.remove_suffix(kSchemaSuffix.size());
    names.emplace_back(path);
  }
  return names;
}

std::vector<std::string> prompt_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(kSchemaFolder) &&
        file.path.find("/prompts/") != std::string_view::npos)
      names.emplace_back(file.path.substr(kSchemaFolder.size()));
  std::sort(names.begin(), names.end());
  return names;
}

Json schema_catalog(std::string_view base) {
  Json schemas = Json::array();
  for (const auto& [path, globs] : files_of_schemas())
    schemas.push(entry(path, globs, base));
  return Json::object({{"$schema", "https://json.schemastore.org/schema-catalog.json"},
                       {"version", 1},
                       {"schemas", schemas}});
}

}  // namespace baton
