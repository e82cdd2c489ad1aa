#include "cli/inspection.h"

#include <algorithm>

#include "base/text.h"
#include "cli/output.h"

namespace baton {

void Inspection::count(const Findings& findings) {
  if (has_error(findings) || (rules_.warnings_as_errors && !findings.empty()))
    code_ = graver(code_, ExitCode::failed);
}

void Inspection::add(const std::string& path, Findings findings) {
  count(findings);
  results_.push_back(Inspected{path, std::move(findings)});
}

void Inspection::judge(const std::string& path, std::string text, const Catalog::Match& match) {
  const FileKind& kind = *match.kind;
  if (!kind.schema.empty())
    if (auto schema = schemas_->get(kind.schema); !schema) {
      complain("the schema for " + printable(path) +
               " cannot be used: " + printable(describe(schema.error())));
      code_ = graver(code_, ExitCode::usage);
      return;
    }
  if (kind.schema.empty() && rules_.require_schema) {
    skip(path);
    return;
  }
  ++checked_;
  pending_.push_back({match, results_.size(), {}});
  results_.push_back({path, {}});
  const std::size_t bytes = text.size();
  parallel_.add(bytes, [&pending = pending_.back(), path, text = std::move(text),
                        schema = schemas_->of(kind), load = rules_.load]() mutable {
    try {
      pending.verdict = baton::judge(pending.match, path, std::move(text), schema, load);
    } catch (const std::exception& error) {
      pending.verdict = tl::unexpected(std::string(error.what()));
    }
  });
}

void Inspection::finish() {
  parallel_.finish();
  for (Pending& pending : pending_)
    settle(pending);
  pending_.clear();
}

void Inspection::settle(Pending& pending) {
  Inspected& file = results_[pending.result];
  if (!pending.verdict) {
    code_ = graver(code_, ExitCode::unreachable);
    complain(printable(file.path) + ": this should not happen: " +
             printable(pending.verdict.error()) + "; please report it");
    return;
  }
  Verdict& verdict = *pending.verdict;
  FlowDocuments& flow = flows_[pending.match.flow];
  flow.entry = pending.match.entry;
  if (verdict.accepted()) {
    flow.result[file.path] = pending.result;
    flow.docs[file.path] =
        Accepted{verdict.document, pending.match.kind->kind, pending.match.part, 0, {}, true};
  } else {
    flow.broken = true;
  }
  count(verdict.findings);
  file.findings = std::move(verdict.findings);
}

void Inspection::skip(const std::string& path) {
  ++skipped_;
  if (!rules_.require_schema)
    return;
  Finding finding;
  finding.rule = "schema/none";
  finding.message = "there is no schema for this file; name one by --as or --schema";
  add(path, {std::move(finding)});
}

void Inspection::unreadable(const std::string& path, const Error& error) {
  code_ = graver(code_, ExitCode::unreachable);
  complain(printable(path) + ": " + printable(error.message));
  if (error.code != Errc::not_regular)
    return;
  Finding finding;
  finding.rule = "file";
  finding.message = error.message;
  refuse(path, std::move(finding));
}

void Inspection::refuse(const std::string& path, Finding finding) {
  ++checked_;
  add(path, {std::move(finding)});
}

void Inspection::check_flows() {
  for (auto& [id, flow] : flows_) {
    // A document that is wrong by itself would make the others look wrong.
    if (flow.broken || flow.entry == nullptr || flow.entry->dialect->check == nullptr)
      continue;
    auto all = flow.entry->dialect->check(flow.docs, flow.entry->options, Scope::flow);
    for (auto& [path, findings] : all) {
      const auto doc = flow.docs.find(path);
      for (Finding& finding : findings)
        if (doc != flow.docs.end())
          finding.span = doc->second.document->locate(finding.pointer);
      count(findings);
      const auto place = flow.result.find(path);
      if (place == flow.result.end()) {
        results_.push_back(Inspected{path, std::move(findings)});
        continue;
      }
      Findings& known = results_[place->second].findings;
      known.insert(known.end(), findings.begin(), findings.end());
      std::stable_sort(known.begin(), known.end(), [](const Finding& a, const Finding& b) {
        return a.span.begin.offset < b.span.begin.offset;
      });
    }
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
