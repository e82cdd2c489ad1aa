// SPDX-License-Identifier: Apache-2.0
#include "dialects/kinds.h"

#include <utility>

#include "base/embedded.h"
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
      if (auto match = match_pattern(each.pattern, path, each.names))
        return match;
  return std::nullopt;
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
      // A message about JSON syntax already says what is expected.
      if (const auto expected = text_of(finding, "expected"); !expected.empty() && rule != "json")
        lines += "; expected: " + expected;
      lines += rule.empty() ? "\n" : " [" + rule + "]\n";
    }
  }
  return lines;
}

std::shared_ptr<const Schema> embedded_schema(std::string_view path) {
  const std::string_view* const text = embedded_file(path);
  const auto none = [](std::string_view) { return fail(Errc::not_found, "no such schema"); };
  auto compiled = compile_schema(text == nullptr ? "" : *text, path, none);
  return compiled ? *std::move(compiled) : nullptr;
}

std::string first_error(const std::string& path, const std::string& findings) {
  const auto parsed = parse_json(findings);
  for (const Value& each : items_in(parsed ? &**parsed : nullptr)) {
    const auto number = [&](const char* key) {
      return ":" + std::to_string(json::integer(each, key).value_or(1));
    };
    if (json::text(each, "severity") == "error")
      return path + number("line") + number("column") + ": " + text_of(each, "message") +
             (text_of(each, "suggestion").empty()
                  ? ""
                  : "; did you mean " + text_of(each, "suggestion") + "?");
  }
  return path;
}

std::string normalized(std::string_view path) {
  std::vector<std::string> kept;
  for (std::string& part : split(path, '/')) {
    if (part == ".." && !kept.empty() && kept.back() != "..")
      kept.pop_back();
    else if (!part.empty() && part != "." && !(part == ".." && path.starts_with('/')))
      kept.push_back(std::move(part));
  }
  return (path.starts_with('/') ? "/" : "") + join(kept, "/");
}

namespace {

const Value& or_null(const Value* value) {
  static const Value none;
  return value == nullptr ? none : *value;
}

}  // namespace

const Value& member(const Value& object, std::string_view name) {
  return or_null(json::child(object, name));
}

const Value& value_at(const Value& root, std::string_view pointer) {
  return or_null(json::at(root, pointer));
}

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

bool flag_of(const Value& object, std::string_view name) {
  return json::boolean(object, name).value_or(false);
}

std::string pretty_text(const Value* value) {
  return value == nullptr || value->IsNull() ? "" : Json(*value).pretty();
}

std::string list_lines(const std::vector<std::string>& items) {
  return items.empty() ? "" : "- " + join(items, "\n- ") + "\n";
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
