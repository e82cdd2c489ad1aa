// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/schema_source.h"

#include <filesystem>
#include <utility>

#include "base/schema/uri.h"
#include "base/text.h"
#include "cli/commands/schema_catalog.h"
#include "io/files/root.h"
#include "io/system/state_folder.h"
#include "workspace/context.h"
#include "workspace/folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// The folder that references of a schema may not leave: the current folder or that of the
/// configuration, if the schema is below it; else its own folder. Messages name the schema by its
/// path from there.
std::string home_of(const std::string& schema, const std::string& configured) {
  std::error_code error;
  for (const std::string& folder : {fs::current_path(error).string(), configured})
    if (below(folder, schema))
      return folder;
  return fs::path(schema).parent_path().string();
}

/// A file name as a base for references, with special characters escaped; other characters stay
/// readable.
std::string as_base(const std::string& name) {
  // A colon in the first name would look like the end of a scheme.
  std::string out = name.find(':') < name.find('/') ? "./" : "";
  for (const char c : name)
    out += c == '%' || c == '#' || c == '?' ? percent_encoded({&c, 1}) : std::string(1, c);
  return out;
}

/// For a schema in a file: files beside it come before built-in schemas, which have similar names.
SchemaFetch files_below(const std::string& folder) {
  return [folder, others = schemas_below(folder)](std::string_view uri) -> Result<std::string> {
    if (uri.find(':') == std::string_view::npos)
      if (auto text = schema_file(folder, uri); text || text.error().code != Errc::not_found)
        return text;
    return others(uri);
  };
}

Result<std::string> mapped(const SchemaMap& map, std::string_view uri) {
  std::string_view rest = uri.substr(map.prefix.size());
  while (rest.starts_with('/'))
    rest.remove_prefix(1);
  return schema_file(map.folder, rest);
}

/// A prefix must end where a name ends: `https://a/b` does not match `https://a/bc`.
bool fits(const SchemaMap& map, std::string_view uri) {
  return uri.starts_with(map.prefix) &&
         (map.prefix.ends_with('/') || uri == map.prefix || uri[map.prefix.size()] == '/');
}

}  // namespace

Result<SchemaMap> parse_schema_map(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return fail(Errc::usage, "--map takes URI-PREFIX=DIR, not " + printable(text, 200));
  auto folder = real_path(text.substr(equals + 1));
  std::error_code error;
  if (!folder || !fs::is_directory(*folder, error))
    return fail(Errc::usage, "--map: there is no folder " + printable(text.substr(equals + 1)));
  return SchemaMap{text.substr(0, equals), *std::move(folder)};
}

SchemaFetch mapped_schemas(std::vector<SchemaMap> maps, SchemaFetch other) {
  return [maps = std::move(maps),
          other = std::move(other)](std::string_view uri) -> Result<std::string> {
    const SchemaMap* best = nullptr;
    for (const SchemaMap& map : maps)
      if (fits(map, uri) && (best == nullptr || map.prefix.size() > best->prefix.size()))
        best = &map;
    if (best != nullptr)
      return mapped(*best, uri);
    auto found = other(uri);
    if (!found && uri.find("://") != std::string_view::npos)
      found.error().message += "; use --map URI-PREFIX=DIR to say where its files are";
    return found;
  };
}

Result<SchemaSource> schema_source(const std::string& asked, const std::string& configured) {
  std::error_code error;
  SchemaSource out{.name = asked, .folder = configured, .fetch = schemas_below(configured)};
  // A folder is no schema.
  const fs::file_status status = fs::status(fs::path(asked), error);
  if (fs::exists(status) && !(fs::is_directory(status) && is_embedded(asked))) {
    auto real = real_path(asked);
    if (!real)
      return pass_on(real);
    out.folder = home_of(*real, configured);
    out.name = as_base(below(out.folder, *real).value_or(*real));
    if (is_embedded(out.name))
      out.name.insert(0, "./");
    out.fetch = files_below(out.folder);
  } else if (!is_embedded(asked)) {
    return fail(Errc::usage, "--schema: there is no file " + printable(asked) +
                                 ", and `baton schema --list` has no such name");
  }
  return out;
}

}  // namespace baton
