#include "dialects/kinds.h"

#include <utility>

namespace baton {

FileKind file_kind(std::string_view dialect, std::string name, std::string pattern, Format format) {
  FileKind kind;
  kind.schema = "schemas/" + std::string(dialect) + "/" + name + ".schema.json";
  kind.kind = std::move(name);
  kind.pattern = std::move(pattern);
  kind.format = format;
  kind.flow = "{flow}";
  return kind;
}

std::optional<PatternMatch> match_kind(const std::vector<FileKind>& kinds, std::string_view kind,
                                       std::string_view path) {
  for (const FileKind& each : kinds)
    if (each.kind == kind)
      if (auto match = match_pattern(each.pattern, path, each.loose))
        return match;
  return std::nullopt;
}

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

std::vector<std::string> texts_of(const Value* value) {
  std::vector<std::string> all;
  if (value == nullptr)
    return all;
  if (const auto one = json::text(*value))
    all.emplace_back(*one);
  else if (value->IsArray())
    for (const Value& item : value->GetArray())
      if (const auto each = json::text(item))
        all.emplace_back(*each);
  return all;
}

std::vector<std::string> texts_of(const Value& object, std::string_view name) {
  return texts_of(json::child(object, name));
}

}  // namespace baton
