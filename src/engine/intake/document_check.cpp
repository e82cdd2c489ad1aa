// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/document_check.h"

#include <algorithm>
#include <utility>

#include "base/embedded.h"
#include "base/schema/uri.h"
#include "base/size.h"
#include "core/flow_logs.h"
#include "findings/report.h"

namespace baton {
namespace {

const std::string_view* embedded_schema(const std::string& name) {
  if (const auto* const bytes = embedded_file(name))
    return bytes;
  return embedded_file("schemas/" + name + ".schema.json");
}

void in_order(Findings& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.span.begin.offset < b.span.begin.offset;
  });
}

/// Raises the step limits of the schema check with the memory limit, because larger documents need
/// more steps.
SchemaLimits steps_by(const LoadLimits& limits) {
  const std::size_t times =
      std::max<std::size_t>(1, limits.max_memory_bytes / LoadLimits{}.max_memory_bytes);
  SchemaLimits steps;
  steps.max_steps *= times;
  steps.max_steps_per_byte *= times;
  return steps;
}

void add(Findings& to, Findings&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Whether the list `now` is shorter than the list `before` and begins like it.
bool is_beginning(const Value& now, const Value& before) {
  if (!before.IsArray() || now.Size() >= before.Size())
    return false;
  for (rapidjson::SizeType i = 0; i < now.Size(); ++i)
    if (!json::equal(now[i], before[i]))
      return false;
  return true;
}

}  // namespace

bool is_embedded(const std::string& schema) {
  return embedded_schema(schema) != nullptr;
}

Schemas::Schemas(SchemaFetch fetch) : fetch_(std::move(fetch)) {}

Result<std::string> Schemas::text_of(const std::string& name) {
  if (const auto* const bytes = embedded_schema(name))
    return std::string(*bytes);
  return fetched(name);
}

Result<std::string> Schemas::fetched(std::string_view uri) {
  auto text = fetch_(uri);
  if (text)
    fetched_[std::string(uri)] = digest_of(*text);
  return text;
}

std::optional<std::string> Schemas::changed() const {
  for (const auto& [uri, digest] : fetched_)
    if (const auto text = fetch_(uri); !text || digest_of(*text) != digest)
      return uri;
  return std::nullopt;
}

Result<std::shared_ptr<const Schema>> Schemas::get(const std::string& name) {
  if (const auto found = compiled_.find(name); found != compiled_.end())
    return found->second;
  auto text = text_of(name);
  if (!text)
    return pass_on(text);
  auto schema = compile_schema(*text, name, [this](std::string_view uri) { return fetched(uri); });
  if (schema)
    compiled_.emplace(name, *schema);
  return schema;
}

Result<std::shared_ptr<const Schema>> Schemas::for_lines(const std::string& name) {
  // This URI lies beside the schema, so the file name of the schema is enough as reference.
  const std::string uri = name + ".lines";
  if (const auto found = compiled_.find(uri); found != compiled_.end())
    return found->second;
  auto text = text_of(name);
  if (!text)
    return pass_on(text);
  const auto slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  // A file name may have characters that a URI must not have.
  const std::string reference = percent_encoded(last);
  const std::string whole = resolve_uri(uri, reference);
  const auto fetch = [&](std::string_view wanted) -> Result<std::string> {
    return wanted == whole ? Result<std::string>(*text) : fetched(wanted);
  };
  auto schema = compile_schema(
      Json::object({{"items", Json::object({{"$ref", reference}})}}).dump(), uri, fetch);
  if (schema)
    compiled_.emplace(uri, *schema);
  return schema;
}

Result<std::shared_ptr<const Schema>> Schemas::of(const FileKind& kind) {
  if (kind.schema.empty())
    return std::shared_ptr<const Schema>();
  return kind.format == Format::jsonl ? for_lines(kind.schema) : get(kind.schema);
}

DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             Schemas& schemas, const LoadLimits& limits) {
  return check_document(match, path, std::move(text), schemas.of(*match.kind), limits);
}

DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             const Result<std::shared_ptr<const Schema>>& schema,
                             const LoadLimits& limits, std::optional<Time> wall) {
  Findings lines = match.kind->log == LogReading::whole ? Findings() : long_lines(text);
  DocumentCheck checked = check_text(std::move(text), match.kind->format, schema, limits);
  check_rules(checked, match, path, wall);
  add(checked.findings, std::move(lines));
  in_order(checked.findings);
  return checked;
}

Findings long_lines(std::string_view text) {
  Findings findings;
  Position begin;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > kLongestLine) {
      Finding finding;
      finding.rule = "file";
      finding.message =
          "the line has " + size_text(line.size()) + "; baton skips lines of more than 1 MiB";
      finding.span = {begin, begin};
      findings.push_back(std::move(finding));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    begin.offset += line.size() + 1;
    ++begin.line;
  }
  return findings;
}

DocumentCheck check_text(std::string text, Format format,
                         const Result<std::shared_ptr<const Schema>>& schema,
                         const LoadLimits& limits) {
  DocumentCheck checked;
  auto loaded = load_document(std::move(text), format, limits);
  if (!loaded) {
    checked.findings = std::move(loaded.error().findings);
    checked.definite = loaded.error().definite;
    return checked;
  }
  checked.document = std::move(*loaded);
  checked.findings = checked.document->warnings();
  if (!schema) {
    Finding finding;
    finding.rule = "schema";
    finding.message = "the schema cannot be used: " + describe(schema.error());
    checked.findings.push_back(std::move(finding));
    return checked;
  }
  if (*schema != nullptr)
    add(checked.findings, (*schema)->check(*checked.document, steps_by(limits)));
  in_order(checked.findings);
  return checked;
}

void check_rules(DocumentCheck& checked, const Catalog::Match& match, const std::string& path,
                 std::optional<Time> wall) {
  const Dialect& dialect = *match.entry->dialect;
  if (checked.document == nullptr || has_error(checked.findings) || dialect.check == nullptr)
    return;
  const Accepted alone{checked.document, match.kind->kind, match.part};
  Findings found = dialect.check(path, alone, match.entry->options, wall);
  locate(found, *checked.document);
  add(checked.findings, std::move(found));
  in_order(checked.findings);
}

bool has_lost_its_end(const Document& document, bool needs_line) {
  return document.end_passed_over() ||
         (needs_line && document.format() == Format::jsonl && document.root().Empty());
}

DocumentCheck checked_after(DocumentCheck checked, const Document& before, bool needs_line) {
  if (checked.document == nullptr || !has_lost_its_end(*checked.document, needs_line) ||
      !is_beginning(checked.document->root(), before.root()))
    return checked;
  Finding finding;
  if (const auto& passed_over = checked.document->end_passed_over(); passed_over) {
    finding = *passed_over;
    finding.severity = Severity::error;
    finding.message +=
        "; what stood there is lost, and the line in front of it does not take its place: write "
        "that line anew, or append one";
  } else {
    finding.rule = "json";
    finding.message =
        "no line is left; what the last one said stays in force: append a line, or remove the file";
  }
  DocumentCheck damaged;
  damaged.findings.push_back(std::move(finding));
  return damaged;
}

std::string findings_json(const std::string& path, const Findings& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings)
    all.push(finding_json(path, finding));
  return all.dump();
}

bool is_almost_too_large(std::size_t bytes, const LoadLimits& limits) {
  return bytes <= limits.max_bytes && bytes >= limits.max_bytes / 4 * 3;
}

std::string almost_too_large(std::size_t bytes, const LoadLimits& limits) {
  return "the file has " + size_text(bytes) + "; above " + size_text(limits.max_bytes) +
         " baton does not take it (limits: max_file)";
}

}  // namespace baton
