// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"
#include "core/agent_text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

/// How long after the end of the agent its report may still arrive.
constexpr Millis kReportGrace{3000};
/// If the event of a file was lost, the next scan finds the file within this time.
constexpr Millis kScanGrace{90'000};
/// Agents write whole seconds, and their clocks may differ from baton's.
constexpr Millis kClockGrace{2000};

Json list_in(const Value& root, std::string_view name) {
  const Value* const list = json::child(root, name);
  return list != nullptr && list->IsArray() ? Json(*list) : Json::array();
}

bool fresh(const Run& run, const std::string& path, const Digest& digest) {
  return std::none_of(run.base.begin(), run.base.end(), [&](const DocRef& before) {
    return before.path == path && before.digest == digest;
  });
}

/// Whether a text begins like a date. Its time zone may be missing.
bool begins_with_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  return text.size() >= kForm.size() &&
         std::equal(kForm.begin(), kForm.end(), text.begin(),
                    [](char form, char c) { return form == '0' ? is_digit(c) : form == c; });
}

/// What shows that nobody has filled in the template of the report, as in the echo of a prompt.
/// Empty if nothing does.
std::string left_blank(const Value& root, const Findings& findings) {
  for (const char* const key : {"started_at", "ended_at"})
    if (const auto time = json::text(root, key); time && !begins_with_date(*time))
      return std::string(key) + " is no time: `" + printable(*time, 80) + "`";
  const auto placeholder = std::find_if(findings.begin(), findings.end(), [](const Finding& one) {
    return one.rule == "agent_run/S43" && !one.found.empty();
  });
  return placeholder == findings.end() ? std::string()
                                       : "at " + placeholder->pointer + ": " + placeholder->message;
}

/// Why a valid report does not count for this start. Empty if it does.
std::string mismatch(const Snapshot& snapshot, const Step& step, const Value& root) {
  const auto ended = parse_time(json::text(root, "ended_at").value_or(""));
  const auto began = parse_time(snapshot.record(step.id).started_at.value_or(""));
  if (ended && began && *ended + kClockGrace < *began)
    return "its ended_at is " + std::string(*json::text(root, "ended_at")) +
           ", before this attempt began at " + *snapshot.record(step.id).started_at +
           ", so it belongs to an older attempt";
  const Findings findings =
      check_report(root, RunFile{snapshot.view.flow.name, file_part(step.id)});
  if (std::string blank = left_blank(root, findings); !blank.empty())
    return blank;
  if (!snapshot.settings.strict_reports)
    return {};
  const auto placeholder = std::find_if(findings.begin(), findings.end(), [](const Finding& one) {
    return one.rule == "agent_run/S43";
  });
  return placeholder == findings.end()
             ? std::string()
             : "at " + placeholder->pointer + ": " + placeholder->message + " (strict_reports)";
}

/// Why a printed report cannot be used. Empty if it can. It has no file yet, so nothing else has
/// checked it.
std::string fault_of(const Json& report, const Step& step, const std::string& run) {
  static const auto schema = embedded_schema("schemas/agent_run/report.schema.json");
  const auto document = load_document(report.dump(), Format::json);
  Findings findings = document ? schema->check(**document) : document.error().findings;
  if (findings.empty())
    findings = check_report(*report, RunFile{run, file_part(step.id)});
  for (const Finding& finding : findings)
    if (finding.severity == Severity::error)
      return finding.message;
  return document ? left_blank(*report, findings) : std::string();
}

FoundReport report_from_output(const Snapshot& snapshot, const Step& step,
                               const std::string& block) {
  FoundReport found;
  found.kind = FoundReport::Kind::invalid;
  const auto parsed = parse_json(block);
  if (!parsed) {
    found.why = "the report that the agent printed cannot be read: " + parsed.error().message;
    return found;
  }
  if (const std::string fault = fault_of(*parsed, step, snapshot.view.flow.name); !fault.empty()) {
    found.why = "the report that the agent printed is not valid: " + fault;
    return found;
  }
  found.kind = FoundReport::Kind::written;
  found.file =
      Create{snapshot.paths.report(step.id), parsed->pretty(), "the agent printed its report"};
  return found;
}

std::optional<std::string> marker_block(std::string_view output) {
  const std::vector<std::string> lines = split(output, '\n');
  const auto last = [&](std::string_view marker, std::size_t before) -> std::optional<std::size_t> {
    for (std::size_t i = before; i-- > 0;) {
      std::string_view line = lines[i];
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      if (line == marker)
        return i;
    }
    return std::nullopt;
  };
  const auto end = last("RUN_REPORT_JSON>>>", lines.size());
  const auto begin = end ? last("<<<RUN_REPORT_JSON", *end) : std::nullopt;
  if (!begin)
    return std::nullopt;
  return join(std::span(lines).subspan(*begin + 1, *end - *begin - 1), "\n");
}

}  // namespace

Report report_of(const Snapshot& snapshot, const Value& root) {
  Report report;
  const ReportRow* const row = row_of(kReport, upper(json::text(root, "status").value_or("")));
  report.completed = row != nullptr && row->completed;
  report.gate_failure = json::boolean(root, "gate_failure").value_or(false);
  report.ended_at = json::text(root, "ended_at").value_or("");
  for (const std::string& each : texts_of(root, "artifacts")) {
    const std::string path = snapshot.paths.relative(each);
    if (leaves_folder(path))
      report.outside.push_back(path);
    report.artifacts.push(Json(path));
  }
  if (const Value* const metrics = json::child(root, "metrics");
      metrics != nullptr && metrics->IsObject())
    report.metrics = Json(*metrics);
  report.logs = list_in(root, "logs");
  if (const Json notes = list_in(root, "memory_updates"); !notes->Empty())
    report.memory_updates = notes;
  return report;
}

std::string first_line(const Report& report) {
  return report.logs->Empty() ? std::string("no reason given")
                              : std::string(json::text((*report.logs)[0]).value_or(""));
}

std::string last_lines(const Report& report) {
  constexpr rapidjson::SizeType kLines = 3;
  const rapidjson::SizeType size = report.logs->Size();
  std::vector<std::string> lines;
  for (rapidjson::SizeType i = size > kLines ? size - kLines : 0; i < size; ++i)
    lines.emplace_back(json::text((*report.logs)[i]).value_or(""));
  return lines.empty() ? std::string("the agent reported a failure") : join(lines, ", ");
}

std::vector<std::string> steps_wanting_reports(const Snapshot& snapshot) {
  std::vector<std::string> all;
  for (const auto& [id, memo] : snapshot.memo.steps) {
    const auto step = snapshot.run.steps.find(id);
    const Run* const run = snapshot.find(memo.run);
    if (step != snapshot.run.steps.end() && step->second.status == Status::running &&
        run != nullptr && !run->live())
      all.push_back(id);
  }
  return all;
}

FoundReport find_report(const Snapshot& snapshot, const Step& step, const Run& run) {
  FoundReport found;
  const std::string path = snapshot.paths.report(step.id);
  // The time counts from when baton saw the end, because the daemon may have been down or busy.
  const Time ended = Time(Millis(snapshot.memo.steps.at(step.id).ended_ms));
  const Accepted* const file = snapshot.document(path);
  const bool unseen = file != nullptr && file->kind == "read";
  if (const auto rejected = snapshot.view.rejected.find(path);
      rejected != snapshot.view.rejected.end()) {
    // If the file has changed without an event, the next scan reads it.
    found.look_again = ended + kScanGrace;
    if (unseen && snapshot.view.now < found.look_again &&
        file->document->digest() != snapshot.view.rejected_digests.at(path)) {
      found.kind = FoundReport::Kind::waiting;
      return found;
    }
    found.kind = FoundReport::Kind::invalid;
    found.why = "the report is not valid: " + first_error(path, rejected->second);
    return found;
  }
  if (file != nullptr && !unseen && file->present && fresh(run, path, file->document->digest())) {
    const Value& root = file->document->root();
    found.why = mismatch(snapshot, step, root);
    found.kind = found.why.empty() ? FoundReport::Kind::valid : FoundReport::Kind::invalid;
    if (!found.why.empty())
      found.why = "the report does not count: " + found.why;
    else
      found.report = report_of(snapshot, root);
    return found;
  }
  found.look_again = ended + (unseen ? kScanGrace : kReportGrace);
  if (snapshot.view.now < found.look_again) {
    found.kind = FoundReport::Kind::waiting;
    return found;
  }
  if (const auto block = report_in_output(run.output))
    return report_from_output(snapshot, step, *block);
  return found;
}

std::optional<Report> early_report(const Snapshot& snapshot, const Step& step, const Run& run) {
  const std::string path = snapshot.paths.report(step.id);
  const Accepted* const file = snapshot.document(path);
  if (file == nullptr || !file->present || snapshot.view.rejected.contains(path) ||
      !fresh(run, path, file->document->digest()) ||
      !mismatch(snapshot, step, file->document->root()).empty())
    return std::nullopt;
  return report_of(snapshot, file->document->root());
}

std::optional<std::string> report_in_output(std::string_view output) {
  auto block = marker_block(output);
  return block ? block : marker_block(agent_text(output));
}

}  // namespace baton::agent_run
