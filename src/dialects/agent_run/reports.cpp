#include "dialects/agent_run/reports.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

/// Exit and file come by different ways; so long a file may still be on its way, or be settling.
constexpr Millis kReportGrace{3000};
/// So long a file that lies there may wait for the next scan, when its event was lost.
constexpr Millis kScanGrace{90'000};
/// Agents write whole seconds, and their clocks are not ours.
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

/// The first finding of a rejected version, as a clause.
std::string rejection(const std::string& findings) {
  const auto parsed = parse_json(findings);
  if (!parsed || !(*parsed)->IsArray())
    return "it was rejected";
  for (const Value& finding : (*parsed)->GetArray())
    if (json::text(finding, "severity") == "error")
      return "line " + std::to_string(json::integer(finding, "line").value_or(0)) + ", column " +
             std::to_string(json::integer(finding, "column").value_or(0)) + ": " +
             std::string(json::text(finding, "message").value_or(""));
  return "it was rejected";
}

/// Why a valid report cannot be the one of this start; empty when it can.
std::string doubt(const Scene& scene, const Step& step, const Value& root) {
  const auto ended = parse_time(json::text(root, "ended_at").value_or(""));
  const auto began = parse_time(scene.record(step.id).started_at.value_or(""));
  if (ended && began && *ended + kClockGrace < *began)
    return "it says that it ended at " + std::string(*json::text(root, "ended_at")) +
           ", before this attempt began at " + *scene.record(step.id).started_at +
           ": it is an older one";
  if (!scene.settings.strict_reports)
    return {};
  const Findings findings = check_report(root, Place{scene.view.flow.name, file_part(step.id)});
  const auto placeholder = std::find_if(findings.begin(), findings.end(), [](const Finding& one) {
    return one.rule == "agent_run/S43";
  });
  return placeholder == findings.end()
             ? std::string()
             : "at " + placeholder->pointer + ": " + placeholder->message + " (strict_reports)";
}

bool texts(const Value* list) {
  return list == nullptr || list->IsNull() ||
         (list->IsArray() && std::all_of(list->Begin(), list->End(), [](const Value& item) {
            return !json::text(item).value_or("").empty();
          }));
}

/// The schema is asked when the text stands in its file; what would be refused there ends here.
std::string fault_of(const Value& root, const Step& step, const std::string& run) {
  if (!root.IsObject())
    return "it is not an object";
  for (const char* const name :
       {"schema", "run_id", "step_id", "agent", "status", "started_at", "ended_at"})
    if (json::text(root, name).value_or("").empty())
      return std::string(name) + " is missing";
  for (const char* const name : {"artifacts", "logs"})
    if (!texts(json::child(root, name)))
      return std::string(name) + " is no list of texts";
  const auto is = [&](const char* name, auto&& right) {
    const Value* const value = json::child(root, name);
    return value == nullptr || right(*value);
  };
  if (!is("metrics", [](const Value& v) { return v.IsObject() || v.IsNull(); }))
    return "metrics is no object";
  if (!is("gate_failure", [](const Value& v) { return v.IsBool(); }))
    return "gate_failure is neither true nor false";
  if (!is("next_suggested_steps", [](const Value& v) { return v.IsArray() || v.IsNull(); }) ||
      !is("memory_updates", [](const Value& v) {
        constexpr std::array kNames = {"scope", "section", "entry"};
        return v.IsNull() ||
               (v.IsArray() && std::all_of(v.Begin(), v.End(), [&](const Value& note) {
                  return note.IsObject() && note.MemberCount() == kNames.size() &&
                         std::all_of(kNames.begin(), kNames.end(), [&](const char* name) {
                           return json::text(note, name).has_value();
                         });
                }));
      }))
    return "a list in it is none";
  for (const Finding& finding : check_report(root, Place{run, file_part(step.id)}))
    if (finding.severity == Severity::error)
      return finding.message;
  return {};
}

Testimony printed(const Scene& scene, const Step& step, const std::string& block) {
  Testimony told;
  told.kind = Testimony::Kind::invalid;
  const auto parsed = parse_json(block);
  if (!parsed) {
    told.why = "the report that the agent printed cannot be read: " + parsed.error().message;
    return told;
  }
  if (const std::string fault = fault_of(**parsed, step, scene.view.flow.name); !fault.empty()) {
    told.why = "the report that the agent printed is wrong: " + fault;
    return told;
  }
  told.kind = Testimony::Kind::written;
  told.file =
      Create{scene.places.report(step.id), parsed->pretty(), "the agent printed its report"};
  return told;
}

/// Members that hold what an agent says, or lead to it.
constexpr std::array kSaying = {"text", "result", "response", "content"};
constexpr std::array kLeading = {"message", "content", "item", "part", "parts"};
/// What is no word of the agent's: its orders, what its tools do and find, its thoughts, and pieces
/// of texts that come whole later.
constexpr std::array kOthers = {"user",        "system",    "tool_use", "tool_result",
                                "tool_call",   "reasoning", "thinking", "command_execution",
                                "stream_event"};

template <class Names>
bool is_one_of(std::string_view word, const Names& names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

class Texts {
 public:
  void add(const Value& value) {
    if (value.IsArray())
      for (const Value& item : value.GetArray())
        add(item);
    if (!value.IsObject() || is_one_of(json::text(value, "type").value_or(""), kOthers) ||
        is_one_of(json::text(value, "role").value_or(""), kOthers))
      return;
    for (const char* const name : kSaying)
      if (const auto text = json::text(value, name))
        say(*text, json::boolean(value, "delta").value_or(false));
    for (const char* const name : kLeading)
      if (const Value* const inner = json::child(value, name))
        add(*inner);
  }
  void line(std::string_view text) { say(text, false); }
  std::string take() { return std::move(all_); }

 private:
  /// Pieces of one text go on where the last one ended.
  void say(std::string_view text, bool piece) {
    if (!(piece && in_pieces_) && !all_.empty() && !all_.ends_with('\n'))
      all_ += '\n';
    all_ += text;
    in_pieces_ = piece;
  }

  std::string all_;
  bool in_pieces_ = false;
};

bool is_event(const Value& value) {
  return value.IsObject() && (json::text(value, "type") || json::text(value, "response"));
}

/// A line of a stream, or all of an output that is one document; null when it is neither.
Json events_in(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '['))
    return {};
  auto parsed = parse_json(text);
  if (!parsed)
    return {};
  const Value& root = **parsed;
  const bool events = is_event(root) || (root.IsArray() && !root.Empty() &&
                                         std::all_of(root.Begin(), root.End(), is_event));
  return events ? *std::move(parsed) : Json();
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

Report report_of(const Scene& scene, const Value& root) {
  Report report;
  const ReportRow* const row = row_of(kReport, upper(json::text(root, "status").value_or("")));
  report.completed = row != nullptr && row->completed;
  report.gate_failure = json::boolean(root, "gate_failure").value_or(false);
  report.ended_at = json::text(root, "ended_at").value_or("");
  const Json artifacts = list_in(root, "artifacts");
  for (const Value& item : artifacts->GetArray()) {
    const std::string path = scene.places.relative(std::string(json::text(item).value_or("")));
    if (leaves(path))
      report.astray.push_back(path);
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

std::vector<std::string> wanting_reports(const Scene& scene) {
  std::vector<std::string> all;
  for (const auto& [id, memo] : scene.memo.steps) {
    const auto step = scene.run.steps.find(id);
    const Run* const run = scene.find(memo.run);
    if (step != scene.run.steps.end() && step->second.status == Status::running && run != nullptr &&
        !run->live())
      all.push_back(id);
  }
  return all;
}

Testimony testimony(const Scene& scene, const Step& step, const Run& run) {
  Testimony told;
  const std::string path = scene.places.report(step.id);
  // Counted from when baton has learnt of the end: it may have been away, or too busy to look.
  const Time ended = Time(Millis(scene.memo.steps.at(step.id).ended_ms));
  const Accepted* const file = scene.document(path);
  const bool unseen = file != nullptr && file->kind == "read";
  if (const auto rejected = scene.view.rejected.find(path); rejected != scene.view.rejected.end()) {
    // Another text lies there by now, and no event has told of it: the next scan will.
    told.again = ended + kScanGrace;
    if (unseen && scene.view.now < told.again &&
        file->document->digest() != scene.view.rejected_digests.at(path)) {
      told.kind = Testimony::Kind::waiting;
      return told;
    }
    told.kind = Testimony::Kind::invalid;
    told.why = "the report is not valid: " + rejection(rejected->second);
    return told;
  }
  if (file != nullptr && !unseen && file->present && fresh(run, path, file->document->digest())) {
    const Value& root = file->document->root();
    told.why = doubt(scene, step, root);
    told.kind = told.why.empty() ? Testimony::Kind::valid : Testimony::Kind::invalid;
    if (!told.why.empty())
      told.why = "the report does not count: " + told.why;
    else
      told.report = report_of(scene, root);
    return told;
  }
  told.again = ended + (unseen ? kScanGrace : kReportGrace);
  if (scene.view.now < told.again) {
    told.kind = Testimony::Kind::waiting;
    return told;
  }
  if (const auto block = printed_report(run.output))
    return printed(scene, step, *block);
  return told;
}

std::optional<Report> lying_report(const Scene& scene, const Step& step, const Run& run) {
  const std::string path = scene.places.report(step.id);
  const Accepted* const file = scene.document(path);
  if (file == nullptr || !file->present || scene.view.rejected.contains(path) ||
      !fresh(run, path, file->document->digest()) ||
      !doubt(scene, step, file->document->root()).empty())
    return std::nullopt;
  return report_of(scene, file->document->root());
}

std::string spoken(std::string_view output) {
  Texts texts;
  if (const Json whole = events_in(output); !whole.is_null()) {
    texts.add(*whole);
    return texts.take();
  }
  for (const std::string& line : split(output, '\n')) {
    if (const Json events = events_in(line); !events.is_null())
      texts.add(*events);
    else
      texts.line(line);
  }
  return texts.take();
}

std::optional<std::string> printed_report(std::string_view output) {
  auto block = marker_block(output);
  return block ? block : marker_block(spoken(output));
}

}  // namespace baton::agent_run
