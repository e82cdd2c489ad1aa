// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/flow_page.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/text.h"
#include "cli/commands/overview.h"
#include "core/run_text.h"
#include "workspace/command.h"
#include "workspace/history.h"
#include "workspace/table.h"

namespace baton {
namespace {

constexpr std::size_t kEvents = 5;
constexpr std::size_t kErrorLines = 5;

/// `3 of 5 steps, attempt 2 of 3`
std::string progress_text(const FlowStatus& status) {
  std::vector<std::string> parts;
  if (status.progress)
    parts.push_back(std::to_string(status.progress->done) + " of " +
                    std::to_string(status.progress->total) + " " +
                    std::string(status.progress->unit));
  if (status.attempt > 0 && status.attempts_max > 0)
    parts.push_back("attempt " + std::to_string(status.attempt) + " of " +
                    std::to_string(status.attempts_max));
  return join(parts, ", ");
}

std::string time_text(Time time, Time now) {
  return time == Time{} ? "" : iso_time(time) + " (" + ago(time, now) + ")";
}

std::string seconds_text(Millis time) {
  return duration_text(std::chrono::duration_cast<std::chrono::seconds>(std::max(time, Millis(0))));
}

std::string condition_words(const Cause& cause) {
  const std::string_view reason = word(cause.reason);
  return std::string(word(cause.condition)) +
         (reason.empty() ? "" : " (" + std::string(reason) + ")");
}

/// The runs of one subject.
struct SubjectRuns {
  const Run* live = nullptr;
  std::optional<double> cost;
};

SubjectRuns runs_of(const FlowRecord* record, const Subject& subject) {
  SubjectRuns runs;
  if (record == nullptr)
    return runs;
  for (const Run& run : record->runs) {
    if (run.key.subject != subject)
      continue;
    if (run.live())
      runs.live = &run;
    if (run.cost_usd)
      runs.cost = runs.cost.value_or(0) + *run.cost_usd;
  }
  return runs;
}

Table subjects_of(const FlowStatus& status, const FlowRecord* record, Time now) {
  Table table({"SUBJECT", "STAGE", "CONDITION", "REASON", "AGENT", "ATTEMPT", "RUNNING", "LIMIT",
               "SILENT", "COST"});
  table.keep_end(0);
  table.may_leave_out({9, 8, 7, 5, 3, 6, 4});
  for (const SubjectStatus& subject : status.subjects) {
    const SubjectRuns runs = runs_of(record, subject.name);
    const auto silent = runs.live == nullptr ? std::nullopt : silent_since(*runs.live, now);
    const bool limited = runs.live != nullptr && runs.live->limits.timeout > Millis(0);
    table.row({subject.name, subject.stage, std::string(word(subject.cause.condition)),
               std::string(word(subject.cause.reason)), subject.agent,
               subject.attempt == 0 ? "" : std::to_string(subject.attempt),
               runs.live == nullptr ? "" : seconds_text(now - runs.live->started),
               limited ? seconds_text(runs.live->limits.timeout) : "",
               silent ? span_text(*silent, now) : "", runs.cost ? cost_text(*runs.cost) : ""});
    table.colour(2, colour_of(subject.cause.condition));
  }
  return table;
}

std::string events_of(const History& history, const FlowId& flow, std::size_t columns) {
  EventQuery query;
  query.flow = flow;
  query.limit = kEvents;
  query.newest = true;
  const auto events = history.journal->events(query);
  if (!events || events->empty())
    return {};
  std::string text = "\nlast events:\n";
  for (const Event& event : *events)
    text += wrapped(event_text(event, ""), columns) + "\n";
  return text;
}

/// What the last run that has written to stderr wrote there last.
std::string errors_of(const History& history, const FlowId& flow, std::size_t columns) {
  RunQuery query;
  query.flow = flow;
  query.limit = 1;
  const auto runs = history.runs(query);
  if (!runs || runs->empty() || trimmed(runs->back().errors).empty())
    return {};
  const Run& run = runs->back();
  std::vector<std::string> lines = split(trimmed(run.errors), '\n');
  if (lines.size() > kErrorLines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kErrorLines));
  std::string text =
      "\n" +
      wrapped("last error output (" + run_name(run) + ", " + outcome_text(run) + "):", columns) +
      "\n";
  for (const std::string& line : lines)
    text += wrapped("  " + printable(line, 400), columns) + "\n";
  return text;
}

}  // namespace

std::string title_text(const FlowStatus& status) {
  const auto title = status.details.is_null() ? std::nullopt : json::text(*status.details, "title");
  return !title || title->empty() ? "" : "\"" + printable(*title, 80) + "\": ";
}

std::string flow_page(const FlowStatus& status, const RehearsedRoot& on_root, Time now,
                      std::size_t columns) {
  const FlowRecord* const record = on_root.rehearsal->record(status.flow);
  const std::string title = title_text(status);
  std::string head = printable(text(status.flow), 400) + ": " + condition_words(status.cause);
  std::string page = wrapped(head, columns) + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    if (value.empty())
      return;
    constexpr std::size_t kWidth = 10;
    name.resize(kWidth, ' ');
    page += wrapped(name + printable(value, 4000), columns) + "\n";
  };
  line("title", title.empty() ? "" : title.substr(0, title.size() - 2));
  line("why", status.why);
  line("do", status.action);
  line("progress", progress_text(status));
  line("files say", status.declared);
  line("until", status.until ? iso_time(*status.until) : "");
  line("since", time_text(status.since, now));
  line("activity", time_text(status.last_activity, now));
  line("cost", status.cost ? cost_text(*status.cost) : "");
  if (!status.subjects.empty())
    page += "\n" + subjects_of(status, record, now).text(columns);
  const auto histories = histories_of(on_root.context);
  if (!histories)
    return page;
  for (const History& history : *histories)
    if (history.root == on_root.context.root())
      page += events_of(history, status.flow, columns) + errors_of(history, status.flow, columns);
  return page;
}

std::string event_text(const Event& event, const std::string& root) {
  std::string line = iso_time(event.time, true) + "  ";
  if (!root.empty())
    line += printable(root, 200) + "  ";
  std::string what = event.event;
  constexpr std::size_t kWidth = 10;
  what.resize(std::max(what.size(), kWidth), ' ');
  line += what + "  ";
  if (event.flow != FlowId{})
    line += printable(text(event.flow), 200) + "  ";
  if (!event.role.empty())
    line += printable(event.role, 80) + " ";
  if (!event.subject.empty() && event.subject != "main")
    line += printable(event.subject, 80) + " ";
  if (!event.run.empty())
    line += "(" + event.run.substr(0, kShortRunId) + ") ";
  return line + printable(event.why, 2000);
}

}  // namespace baton
