#include "dialects/kinds.h"

#include <utility>

#include "base/text.h"

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

std::string rejected_lines(const View& view) {
  std::string lines;
  for (const auto& [path, accepted] : view.docs) {
    if (accepted.rejected.empty())
      continue;
    lines += "- " + view.env.root + "/" + path + "\n";
    const auto findings = parse_json(accepted.rejected);
    if (!findings || !(*findings)->IsArray())
      continue;
    for (const Value& finding : (*findings)->GetArray()) {
      lines += "  line " + std::to_string(count_of(finding, "line")) + ", " +
               text_of(finding, "pointer") + ": " + text_of(finding, "message");
      const std::string rule = text_of(finding, "rule");
      // A message about the syntax of JSON says itself what is expected.
      if (const auto expected = text_of(finding, "expected"); !expected.empty() && rule != "json")
        lines += "; expected: " + expected;
      lines += rule.empty() ? "\n" : " [" + rule + "]\n";
    }
  }
  return lines;
}

Decision only_looked_at(const View& view, std::string_view state) {
  Decision decision;
  decision.control = Control::idle;
  for (const auto& [path, accepted] : view.docs)
    if (accepted.kind == state)
      decision.declared = json::text(accepted.document->root(), "status").value_or("");
  return decision;
}

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

std::string pretty_text(const Value* value) {
  return value == nullptr || value->IsNull() ? "" : Json(*value).pretty();
}

std::string list_lines(const std::vector<std::string>& items) {
  return items.empty() ? "" : "- " + join(items, "\n- ") + "\n";
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
