#include "cli/commands/schema_map.h"

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "io/files/disk.h"
#include "io/system/state_folder.h"
#include "workspace/context.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

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

}  // namespace baton
