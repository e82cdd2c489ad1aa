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

std::map<std::string, Findings> check_each(const FlowState& docs, const Json& options, Scope scope,
                                           CheckOne check_one) {
  std::map<std::string, Findings> all;
  if (scope == Scope::document)
    for (const auto& [path, accepted] : docs)
      if (Findings found = check_one(path, accepted, options); !found.empty())
        all.emplace(path, std::move(found));
  return all;
}

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

Value::ConstArray items_in(const Value* list) {
  static const Json none = Json::array();
  return (list != nullptr && list->IsArray() ? list : &*none)->GetArray();
}

Value::ConstArray items_in(const Value& object, std::string_view name) {
  return items_in(json::child(object, name));
}

Value::ConstObject members_in(const Value& object, std::string_view name) {
  static const Json none = Json::object();
  const Value* const found = json::child(object, name);
  return (found != nullptr && found->IsObject() ? found : &*none)->GetObject();
}

std::vector<std::string> texts_of(const Value* value) {
  std::vector<std::string> all;
  if (const auto one = value == nullptr ? std::nullopt : json::text(*value))
    all.emplace_back(*one);
  for (const Value& item : items_in(value))
    if (const auto each = json::text(item))
      all.emplace_back(*each);
  return all;
}

std::vector<std::string> texts_of(const Value& object, std::string_view name) {
  return texts_of(json::child(object, name));
}

}  // namespace baton
