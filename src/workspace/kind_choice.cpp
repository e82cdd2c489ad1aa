// SPDX-License-Identifier: Apache-2.0
#include "workspace/kind_choice.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <utility>
#include <vector>

#include "adapters/adapter_check.h"
#include "base/text.h"
#include "workspace/inspection.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kLoneDocument = "document";

/// A kind of `rules` is also known by the name of its rule alone.
bool fits(const Catalog::Entry& entry, const FileKind& kind, const std::string& name) {
  return name == std::string(entry.dialect->name) + "/" + kind.kind ||
         (entry.dialect->name == "rules" && name == kind.kind);
}

std::vector<std::string> kind_names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      names.push_back(entry.dialect->name == "rules"
                          ? kind.kind
                          : std::string(entry.dialect->name) + "/" + kind.kind);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// For a pattern such as `flows/{flow}/state.json` and a file `.../flows/NAME/state.json`: NAME. ""
/// for any other pattern or file.
std::string folder_in_pattern(const std::string& pattern, const std::string& file) {
  const fs::path wanted(pattern);
  const fs::path found = fs::absolute(file).lexically_normal();
  const bool fits =
      wanted.parent_path().filename() == "{flow}" && wanted.filename() == found.filename() &&
      wanted.parent_path().parent_path().filename() == found.parent_path().parent_path().filename();
  return fits ? found.parent_path().filename().string() : "";
}

/// For adapters of one's own, which have rules besides their schema.
const Dialect& adapter_dialect() {
  static const Dialect dialect = {
      .name = "file",
      .files = [](const Json&) { return std::vector<FileKind>{}; },
      .check = [](const std::string&, const Accepted& file, const Json&,
                  std::optional<Time>) { return adapter_findings(file.document->root()); },
  };
  return dialect;
}

}  // namespace

KindChoice::KindChoice(Catalog::Entry entry, bool by_name)
    : entry_(std::make_unique<Catalog::Entry>(std::move(entry))), format_by_name_(by_name) {}

Result<KindChoice> KindChoice::named(const Catalog& catalog, const std::string& name) {
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (fits(entry, kind, name))
        return KindChoice(Catalog::Entry{entry.dialect, entry.options, {kind}}, false);
  const auto names = kind_names(catalog);
  const auto near = nearest(name, names);
  std::string message = "there is no kind of files called " + printable(name, 80);
  if (near)
    message += "; did you mean " + *near + "?";
  else if (names.empty())
    message += "; there is none at all: `rules:` in baton.yaml describe some";
  else
    message += "; there are " + join(names, ", ");
  return fail(Errc::usage, std::move(message));
}

KindChoice KindChoice::of_schema(const std::string& schema) {
  std::vector<FileKind> kinds;
  for (const Format format : {Format::json, Format::jsonl, Format::yaml})
    kinds.push_back({.kind = "file", .schema = schema, .format = format, .flow = "file"});
  const bool of_adapter = schema == kAdapterSchema;
  return KindChoice(
      Catalog::Entry{of_adapter ? &adapter_dialect() : &plain_dialect(), Json(), std::move(kinds)},
      true);
}

Catalog::Match KindChoice::match(const std::string& path) const {
  const std::vector<FileKind>& kinds = entry_->kinds;
  auto kind = kinds.begin();
  if (format_by_name_)
    kind = std::find_if(kinds.begin(), kinds.end(),
                        [&](const FileKind& each) { return each.format == format_of_name(path); });
  // `of_schema` makes a kind for every format.
  assert(kind != kinds.end());
  return Catalog::Match{entry_.get(), &*kind, FlowId{std::string(entry_->dialect->name), path}, ""};
}

std::string path_in_pattern(const std::string& pattern, const std::string& file) {
  // With `loop-v2-{flow}.json`, the flow of the file `loop-v2-7.json` is `7`.
  const auto flow = pattern.find("{flow}");
  const auto begin = flow == std::string::npos ? flow : pattern.rfind('/', flow) + 1;
  const std::string prefix = flow == std::string::npos ? "" : pattern.substr(begin, flow - begin);
  const bool in_folder = flow != std::string::npos && pattern.find('/', flow) != std::string::npos;
  const std::string stem =
      in_folder ? folder_in_pattern(pattern, file) : fs::path(file).stem().string();
  const std::string name =
      stem.starts_with(prefix) ? stem.substr(prefix.size()) : std::string(kLoneDocument);
  std::string path = pattern;
  replace_all(path, "{flow}", safe_name(name) ? name : std::string(kLoneDocument));
  replace_all(path, "{part}", "part");
  return path;
}

}  // namespace baton
