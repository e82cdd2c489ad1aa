#include "app/judge.h"

#include <algorithm>
#include <utility>

#include "base/embedded.h"

namespace baton {
namespace {

const std::string_view* embedded_schema(const std::string& name) {
  if (const auto* const bytes = embedded_file(name))
    return bytes;
  return embedded_file("schemas/" + name + ".schema.json");
}

void add(Findings& to, Findings&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Schemas::Schemas(SchemaFetch fetch) : fetch_(std::move(fetch)) {}

Result<std::shared_ptr<const Schema>> Schemas::get(const std::string& name) {
  if (const auto found = compiled_.find(name); found != compiled_.end())
    return found->second;
  std::string text;
  if (const auto* const bytes = embedded_schema(name)) {
    text = *bytes;
  } else {
    auto fetched = fetch_(name);
    if (!fetched)
      return pass_on(fetched);
    text = std::move(*fetched);
  }
  auto schema = compile_schema(text, name, fetch_);
  if (schema)
    compiled_.emplace(name, *schema);
  return schema;
}

Verdict judge(const Catalog::Match& match, const std::string& path, std::string text,
              Schemas& schemas, const LoadLimits& limits) {
  Verdict verdict;
  auto loaded = load_document(std::move(text), match.kind->format, limits);
  if (!loaded) {
    verdict.findings = std::move(loaded.error().findings);
    verdict.incomplete = loaded.error().incomplete;
    return verdict;
  }
  verdict.document = std::move(*loaded);
  verdict.findings = verdict.document->warnings();
  if (!match.kind->schema.empty()) {
    auto schema = schemas.get(match.kind->schema);
    if (!schema) {
      Finding finding;
      finding.rule = "schema";
      finding.message = "the schema cannot be used: " + describe(schema.error());
      verdict.findings.push_back(std::move(finding));
      return verdict;
    }
    add(verdict.findings, (*schema)->check(*verdict.document));
  }
  if (has_error(verdict.findings) || match.entry->dialect->check == nullptr)
    return verdict;
  FlowState alone;
  alone[path] = Accepted{verdict.document, match.kind->kind, match.part, 0, {}, true};
  auto findings = match.entry->dialect->check(alone, match.entry->options, Scope::document);
  for (auto& [where, found] : findings) {
    for (Finding& finding : found)
      finding.span = verdict.document->locate(finding.pointer);
    add(verdict.findings, std::move(found));
  }
  std::stable_sort(
      verdict.findings.begin(), verdict.findings.end(),
      [](const Finding& a, const Finding& b) { return a.span.begin.offset < b.span.begin.offset; });
  return verdict;
}

std::string findings_json(const std::string& path, const Findings& findings) {
  Json all = Json::array();
  for (const Finding& f : findings) {
    const auto number = [](std::size_t n) { return Json(static_cast<std::uint64_t>(n)); };
    all.push(Json::object({{"path", path},
                           {"line", number(f.span.begin.line)},
                           {"column", number(f.span.begin.column)},
                           {"end_line", number(f.span.end.line)},
                           {"end_column", number(f.span.end.column)},
                           {"pointer", f.pointer},
                           {"schema_pointer", f.schema_pointer},
                           {"severity", f.severity == Severity::error ? "error" : "warning"},
                           {"rule", f.rule},
                           {"message", f.message},
                           {"found", f.found},
                           {"expected", f.expected},
                           {"suggestion", f.suggestion}}));
  }
  return all.dump();
}

}  // namespace baton
