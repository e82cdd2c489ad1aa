// SPDX-License-Identifier: Apache-2.0
#include "workspace/inspection.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "workspace/output.h"

namespace baton {

void Inspection::count(const Findings& findings) {
  if (has_error(findings) || (rules_.warnings_as_errors && !findings.empty()))
    code_ = graver(code_, ExitCode::failed);
}

void Inspection::add(Inspected file) {
  count(file.findings);
  if (!rules_.keep_text || file.findings.empty())
    file.text.clear();
  report_.files.push_back(std::move(file));
}

/// Whether the schema can be used. If not, reports why.
bool Inspection::usable(const std::string& path, const std::string& schema) {
  if (schema.empty())
    return true;
  used_.insert(schema);
  auto found = schemas_->get(schema);
  if (found)
    return true;
  complain("the schema for " + printable(path) +
           " cannot be used: " + printable(describe(found.error())));
  code_ = graver(code_, ExitCode::usage);
  return false;
}

void Inspection::check_document(const FileName& name, std::string text,
                                const Catalog::Match& match) {
  const FileKind& kind = *match.kind;
  if (!usable(name.shown, kind.schema))
    return;
  if (kind.schema.empty() && rules_.require_schema)
    return refuse(name.shown,
                  {.rule = "schema/none",
                   .message = "there is no schema for this file; name one by --as or --schema"});
  ++report_.checked;
  pending_.push_back({match, name, report_.files.size(), {}, {}});
  report_.files.push_back(
      {.path = name.shown, .kind = std::string(match.entry->dialect->name) + "/" + kind.kind});
  const std::size_t bytes = text.size();
  parallel_.add(bytes, [&pending = pending_.back(), text = std::move(text),
                        schema = schemas_->of(kind), rules = rules_]() mutable {
    try {
      if (rules.keep_text)
        pending.text = text;
      pending.checked = baton::check_document(pending.match, pending.name.path, std::move(text),
                                              schema, rules.load, rules.wall);
    } catch (const std::exception& error) {
      pending.checked = tl::unexpected(std::string(error.what()));
    }
    if (!pending.checked)
      return;
    if (pending.checked->findings.empty())
      pending.text.clear();
    // A document needs several times the memory of its text.
    if (!rules.across)
      pending.checked->document.reset();
  });
}

namespace {

/// Moves the places of findings of one part of a log to where they are in the whole of it.
void move_on(Findings& findings, const Position& begin, std::size_t values) {
  for (Finding& finding : findings) {
    for (Position* const each : {&finding.span.begin, &finding.span.end}) {
      each->line += begin.line - 1;
      each->offset += begin.offset;
    }
    // The pointer begins with the number of the line's value.
    std::size_t number = 0;
    const char* const first = finding.pointer.data() + 1;
    const char* const last = finding.pointer.data() + finding.pointer.size();
    if (finding.pointer.size() < 2)
      continue;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc())
      finding.pointer = "/" + std::to_string(number + values) + std::string(end, last);
  }
}

}  // namespace

void Inspection::check_log(const FileName& name, const Catalog::Match& match,
                           const NextLines& next) {
  constexpr std::size_t kMostFindings = 200;
  const FileKind& kind = *match.kind;
  if (!usable(name.shown, kind.schema))
    return;
  Inspected file{.path = name.shown,
                 .kind = std::string(match.entry->dialect->name) + "/" + kind.kind};
  const auto schema = schemas_->of(kind);
  Position begin;
  std::size_t values = 0;
  auto part = next();
  while (part && *part && file.findings.size() < kMostFindings) {
    const std::string text = **std::move(part);
    part = next();
    const bool last = part && !*part;
    DocumentCheck checked = check_text(text, Format::jsonl, schema, rules_.load);
    // Where the work stands is said by the last line alone.
    if (last || !kind.kept)
      check_rules(checked, match, name.path, rules_.wall);
    if (kind.log != LogReading::whole)
      for (Finding& line : long_lines(text))
        checked.findings.push_back(std::move(line));
    if (last && rules_.across)
      note_flow({match, name, report_.files.size(), {}, checked});
    move_on(checked.findings, begin, values);
    file.findings.insert(file.findings.end(), checked.findings.begin(), checked.findings.end());
    begin.line += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    begin.offset += text.size();
    values += checked.document == nullptr ? 0 : checked.document->root().Size();
  }
  if (!part)
    return unreadable(name.shown, part.error());
  ++report_.checked;
  add(std::move(file));
}

void Inspection::finish() {
  parallel_.finish();
  for (Pending& pending : pending_)
    settle(pending);
  pending_.clear();
}

void Inspection::settle(Pending& pending) {
  Inspected& file = report_.files[pending.result];
  if (!pending.checked) {
    code_ = graver(code_, ExitCode::unreachable);
    complain(printable(file.path) + ": this should not happen: " +
             printable(pending.checked.error()) + "; please report it");
    return;
  }
  if (rules_.across)
    note_flow(pending);
  count(pending.checked->findings);
  file.findings = std::move(pending.checked->findings);
  file.text = std::move(pending.text);
}

void Inspection::note_flow(const Pending& pending) {
  FlowDocuments& flow = flows_[{pending.name.root, pending.match.flow}];
  flow.entry = pending.match.entry;
  if (!pending.checked->accepted()) {
    flow.broken = true;
    return;
  }
  flow.result[pending.name.path] = pending.result;
  flow.docs[pending.name.path] = Accepted{
      pending.checked->document, pending.match.kind->kind, pending.match.part, 0, {}, true};
}

void Inspection::skip(const std::string& path, const std::string& why) {
  ++report_.skipped;
  if (!rules_.skip_unknown)
    add({.path = path, .findings = {{.rule = "file/unknown", .message = why}}});
}

void Inspection::checked(const std::string& path, Findings findings) {
  ++report_.checked;
  add({.path = path, .findings = std::move(findings)});
}

void Inspection::unreadable(const std::string& path, const Error& error) {
  code_ = graver(code_, ExitCode::unreachable);
  complain(printable(path) + ": " + printable(error.message));
  refuse(path, {.rule = "file", .message = printable(error.message)});
}

void Inspection::refuse(const std::string& path, Finding finding) {
  ++report_.checked;
  add({.path = path, .findings = {std::move(finding)}});
}

void Inspection::doubt(const std::string& path, Finding finding) {
  ++report_.skipped;
  add({.path = path, .findings = {std::move(finding)}});
}

/// Adds a file that the rules of a flow need. False: the file exists but cannot be read as a
/// document, so the rules cannot be checked. What is wrong with it is reported once.
bool Inspection::add_related(const std::string& path, const Result<std::string>& text,
                             FlowDocuments& flow) {
  Accepted& related = flow.docs[path];
  related = Accepted{nullptr, "related", {}, 0, {}, false, {}};
  const bool reported = std::any_of(report_.files.begin(), report_.files.end(),
                                    [&](const Inspected& file) { return file.path == path; });
  if (!text && text.error().code != Errc::not_found && !reported)
    refuse(path, {.rule = "file", .message = printable(text.error().message)});
  if (!text)
    return text.error().code == Errc::not_found;
  auto document = load_document(*text, format_of_name(path), rules_.load);
  if (document) {
    related.document = std::move(*document);
    related.present = true;
    return true;
  }
  if (!reported) {
    count(document.error().findings);
    report_.files.push_back({.path = path, .findings = std::move(document.error().findings)});
  }
  return false;
}

void Inspection::add_related(const std::string& root, FlowDocuments& flow, const Reader& read) {
  constexpr std::size_t kMost = 1024;
  std::size_t looked_up = 0;
  for (bool more = flow.entry->dialect->related != nullptr; more && !flow.broken;) {
    more = false;
    for (const std::string& path : flow.entry->dialect->related(flow.docs, flow.entry->options)) {
      if (flow.docs.contains(path) || ++looked_up > kMost)
        continue;
      more = true;
      flow.broken = !add_related(path, read(root, path), flow) || flow.broken;
    }
  }
}

void Inspection::check_flows(const Reader& read) {
  for (auto& [id, flow] : flows_) {
    if (!flow.broken && flow.entry != nullptr && flow.entry->dialect->check_flow != nullptr)
      add_related(id.first, flow, read);
    // If one document is invalid, the rules would blame the others for it.
    if (flow.broken || flow.entry == nullptr || flow.entry->dialect->check_flow == nullptr)
      continue;
    auto all = flow.entry->dialect->check_flow(flow.docs, flow.entry->options);
    for (auto& [path, findings] : all)
      add_of_flow(flow, path, std::move(findings));
  }
}

void Inspection::add_of_flow(const FlowDocuments& flow, const std::string& path,
                             Findings findings) {
  const auto doc = flow.docs.find(path);
  for (Finding& finding : findings)
    if (doc != flow.docs.end() && doc->second.document != nullptr)
      finding.span = doc->second.document->locate(finding.pointer);
  count(findings);
  const auto place = flow.result.find(path);
  if (place == flow.result.end()) {
    report_.files.push_back({.path = path, .findings = std::move(findings)});
    return;
  }
  Inspected& file = report_.files[place->second];
  if (rules_.keep_text && doc != flow.docs.end())
    file.text = doc->second.document->text();
  file.findings.insert(file.findings.end(), findings.begin(), findings.end());
  std::stable_sort(
      file.findings.begin(), file.findings.end(),
      [](const Finding& a, const Finding& b) { return a.span.begin.offset < b.span.begin.offset; });
}

void Inspection::doubt_schemas(const std::function<std::string(const std::string& schema)>& shown) {
  for (const std::string& name : used_) {
    const auto schema =
        is_embedded(name) ? Result<std::shared_ptr<const Schema>>(nullptr) : schemas_->get(name);
    if (!schema || *schema == nullptr || (*schema)->lint().empty())
      continue;
    Findings doubts = (*schema)->lint();
    if (rules_.strict)
      for (Finding& doubt : doubts)
        doubt.severity = Severity::error;
    add({.path = shown(name), .kind = "schema", .findings = std::move(doubts)});
  }
}

const Dialect& plain_dialect() {
  static const Dialect dialect = {
      .name = "file",
      .files = [](const Json&) { return std::vector<FileKind>{}; },
  };
  return dialect;
}

Format format_of_name(const std::string& path) {
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson"))
    return Format::jsonl;
  if (path.ends_with(".yaml") || path.ends_with(".yml"))
    return Format::yaml;
  return Format::json;
}

}  // namespace baton
