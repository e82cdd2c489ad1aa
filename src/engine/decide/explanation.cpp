// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/explanation.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/run_text.h"
#include "engine/intake/document_check.h"

namespace baton {
namespace {

Json findings_value(const DocumentReport& document) {
  auto findings = parse_json(findings_json(document.path, document.findings));
  return findings ? *std::move(findings) : Json::array();
}

Json hold_json(const Hold& hold) {
  Json json = Json::object({{"role", hold.role}, {"subject", hold.subject}});
  add_cause(hold.cause, json);
  json.set("why", Json(hold.why));
  json.set("do", hold.action.empty() ? Json() : Json(hold.action));
  json.set("until", hold.until ? Json(iso_time(*hold.until)) : Json());
  return json;
}

Json desired_json(const Desired& desired) {
  return Json::object({{"role", desired.role},
                       {"subject", desired.subject},
                       {"purpose", desired.purpose},
                       {"turn", static_cast<std::uint64_t>(desired.turn)},
                       {"why", desired.why}});
}

/// The first finding of a version that is valid by itself, at its place.
Finding by_history(const RejectedRow& row) {
  Finding finding;
  finding.rule = "history";
  finding.message = first_message(row);
  const auto findings = parse_json(row.findings);
  const Value* const first = findings ? json::at(**findings, "/0") : nullptr;
  if (first == nullptr)
    return finding;
  finding.pointer = json::text(*first, "pointer").value_or("");
  const auto number = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(1, json::integer(*first, name).value_or(1)));
  };
  finding.span.begin = {number("line"), number("column"), 0};
  return finding;
}

template <class Items, class Make>
Json list(const Items& items, const Make& make) {
  Json all = Json::array();
  for (const auto& item : items)
    all.push(make(item));
  return all;
}

std::string whom(const Role& role, const Subject& subject) {
  std::string text = role;
  if (!subject.empty() && subject != "main")
    text += (text.empty() ? "" : " for ") + printable(subject, 100);
  return text.empty() ? "the flow" : text;
}

void section(std::string& text, const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty())
    return;
  text += title + "\n";
  for (const std::string& line : lines)
    text += "  " + line + "\n";
}

std::vector<std::string> document_lines(const Explanation& explanation) {
  std::vector<std::string> lines;
  for (const DocumentReport& document : explanation.documents) {
    lines.push_back(printable(document.path) + " (" + document.kind +
                    "): " + std::string(word(document.verdict)));
    for (const Finding& finding : document.findings)
      lines.push_back("  " + std::to_string(finding.span.begin.line) + ":" +
                      std::to_string(finding.span.begin.column) + ": " +
                      (finding.severity == Severity::error ? "error: " : "warning: ") +
                      (finding.pointer.empty() ? "" : printable(finding.pointer, 200) + ": ") +
                      finding.message + " [" + finding.rule + "]");
  }
  return lines;
}

std::string run_line(const Run& run) {
  constexpr std::size_t kShort = 8;
  std::string line = run.id.substr(0, kShort) + " " +
                     whom(role_text(run.key.role, run.agent), run.key.subject) + ", attempt " +
                     std::to_string(run.attempt) + ", started " + iso_time(run.started) + ": ";
  if (run.live())
    return line + std::string(word(run.state));
  return line + printable(ending_text(run), 200);
}

}  // namespace

std::string_view word(DocumentVerdict verdict) {
  switch (verdict) {
    case DocumentVerdict::accepted:
      return "accepted";
    case DocumentVerdict::rejected:
      return "rejected";
    case DocumentVerdict::conflicting:
      return "conflict";
    case DocumentVerdict::absent:
      return "absent";
  }
  return "";
}

Explanation explain(const FlowRecord& record, const Plan& plan, const ControlRow& root,
                    std::vector<DocumentReport> documents) {
  Explanation explanation;
  explanation.status = status_of(record, plan, root);
  explanation.documents = std::move(documents);
  for (DocumentReport& document : explanation.documents) {
    // The file is valid by itself. baton rejected it because of the version before it or a merge.
    if (const auto rejected = record.rejected.find(document.path);
        rejected != record.rejected.end() && document.verdict == DocumentVerdict::accepted) {
      document.verdict = DocumentVerdict::rejected;
      document.findings.push_back(by_history(rejected->second));
    }
    const auto conflict = record.conflicts.find(document.path);
    if (conflict == record.conflicts.end() || document.verdict != DocumentVerdict::accepted)
      continue;
    document.findings.insert(document.findings.end(), conflict->second.begin(),
                             conflict->second.end());
    if (has_error(conflict->second))
      document.verdict = DocumentVerdict::conflicting;
  }
  for (const Subject& subject : subjects_in_order(record))
    explanation.stages.emplace_back(subject, record.stages.at(subject));
  explanation.desired = record.decision.desired;
  explanation.holds = obstacles(record, root);
  std::copy_if(plan.starts.begin(), plan.starts.end(), std::back_inserter(explanation.starts),
               [&](const Start& start) { return start.key.flow == record.id; });
  explanation.runs = record.runs;
  return explanation;
}

Json explanation_json(const Explanation& explanation) {
  return Json::object(
      {{"schema", "baton/explain/v1"},
       {"flow", text(explanation.status.flow)},
       {"documents", list(explanation.documents,
                          [](const DocumentReport& document) {
                            return Json::object({{"path", document.path},
                                                 {"kind", document.kind},
                                                 {"verdict", word(document.verdict)},
                                                 {"findings", findings_value(document)}});
                          })},
       {"subjects", list(explanation.stages,
                         [](const auto& row) {
                           return Json::object({{"subject", row.first},
                                                {"stage", row.second.stage},
                                                {"generation", row.second.generation}});
                         })},
       {"desired", list(explanation.desired, desired_json)},
       {"holds", list(explanation.holds, hold_json)},
       {"runs", list(explanation.runs, agent_json)},
       {"starts", list(explanation.starts,
                       [](const Start& start) {
                         Json json = desired_json(start.desired);
                         json.set("attempt", Json(static_cast<std::uint64_t>(start.attempt)));
                         return json;
                       })},
       {"status", status_json(explanation.status)}});
}

std::string explanation_text(const Explanation& explanation) {
  const FlowStatus& status = explanation.status;
  std::string out = printable(text(status.flow)) + ": " + text(status.cause);
  if (!status.declared.empty())
    out += ", declared " + printable(status.declared, 300);
  out += "\n";
  if (!status.why.empty())
    out += "  " + printable(status.why) + "\n";
  if (!status.action.empty())
    out += "  do: " + printable(status.action) + "\n";
  section(out, "documents", document_lines(explanation));
  std::vector<std::string> lines;
  for (const auto& [subject, state] : explanation.stages)
    lines.push_back(printable(subject, 100) + ": " +
                    (state.stage.empty() ? "gone" : printable(state.stage, 100)) + " (generation " +
                    std::to_string(state.generation) + ", since " + iso_time(state.since) + ")");
  section(out, "subjects", lines);
  lines.clear();
  for (const Desired& desired : explanation.desired)
    lines.push_back(whom(desired.role, desired.subject) + ", to " + printable(desired.purpose, 60) +
                    ": " + printable(desired.why));
  section(out, "desired", lines);
  lines.clear();
  for (const Start& start : explanation.starts)
    lines.push_back(whom(start.key.role, start.key.subject) + ", attempt " +
                    std::to_string(start.attempt));
  section(out, "would be started now", lines);
  lines.clear();
  for (const Hold& hold : explanation.holds)
    lines.push_back(whom(hold.role, hold.subject) + ": " + text(hold.cause) + ": " +
                    printable(hold.why));
  section(out, "not started", lines);
  lines.clear();
  for (const Run& run : explanation.runs)
    lines.push_back(run_line(run));
  section(out, "runs", lines);
  return out;
}

}  // namespace baton
