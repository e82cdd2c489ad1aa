// SPDX-License-Identifier: Apache-2.0
#include "daemon/once.h"

#include <algorithm>

#include "base/text.h"

namespace baton {
namespace {

bool lies_in(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

bool is_wanted(const std::string& root, const FlowRecord& record, const OnceWish& wish) {
  if (!wish.flow.empty() && !is_called(record.id, wish.flow))
    return false;
  return wish.paths.empty() ||
         std::any_of(wish.paths.begin(), wish.paths.end(),
                     [&](const std::string& path) { return has_file_in(root, record, path); });
}

/// Whether the flow changed in this call.
bool has_moved(const FlowRecord& record, Time began) {
  return record.last_activity >= began || record.control.since >= began ||
         std::any_of(record.runs.begin(), record.runs.end(),
                     [&](const Run& run) { return run.started >= began || run.ended >= began; });
}

/// Whether only somebody outside can bring the next start. Then nothing was due.
bool waits_for_others(Reason reason) {
  return reason == Reason::condition || reason == Reason::dependency || reason == Reason::claimed;
}

ExitCode code_of(const FlowStatus& status, const FlowRecord* record, Time began) {
  const Condition condition = status.cause.condition;
  switch (row_of(condition).once) {
    case Outlook::fine:
      return ExitCode::fine;
    case Outlook::goes_on:
    case Outlook::by_until:
      return condition == Condition::waiting && waits_for_others(status.cause.reason)
                 ? ExitCode::fine
                 : ExitCode::failed;
    case Outlook::failed: {
      const bool due =
          record != nullptr && condition == Condition::paused && !record->decision.desired.empty();
      return due || record == nullptr || has_moved(*record, began) ? ExitCode::failed
                                                                   : ExitCode::fine;
    }
  }
  return ExitCode::failed;
}

std::string line_of(const FlowStatus& status) {
  std::string line = status.flow == FlowId{} ? "the root" : text(status.flow);
  line += " is " + text(status.cause);
  if (status.until)
    line += " until " + iso_time(*status.until);
  if (!status.why.empty())
    line += ": " + status.why;
  if (!status.action.empty())
    line += "; do: " + status.action;
  return line;
}

}  // namespace

bool is_called(const FlowId& flow, const std::string& name) {
  return text(flow) == name || text(flow).ends_with("/" + name);
}

bool has_file_in(const std::string& root, const FlowRecord& record, const std::string& path) {
  const auto named = [&](const auto& row) { return lies_in(root + "/" + row.first, path); };
  return std::any_of(record.accepted.begin(), record.accepted.end(), named) ||
         std::any_of(record.rejected.begin(), record.rejected.end(), named);
}

void judge(const std::string& root, const FlowRecords& records, const Plan& plan, Time began,
           const OnceWish& wish, OnceVerdict& verdict) {
  for (const FlowStatus& status : statuses(records, plan)) {
    const auto known = records.find(status.flow);
    const FlowRecord* const record =
        known == records.end() || status.flow == FlowId{} ? nullptr : &known->second;
    if (status.absent || (record == nullptr ? !wish.flow.empty() || !wish.paths.empty()
                                            : !is_wanted(root, *record, wish)))
      continue;
    verdict.flows += record == nullptr ? 0U : 1U;
    verdict.counts.at(static_cast<std::size_t>(status.cause.condition)) +=
        record == nullptr ? 0U : 1U;
    verdict.code = graver(verdict.code, code_of(status, record, began));
    if (status.cause.condition != Condition::done && status.cause.condition != Condition::idle)
      verdict.lines.push_back(line_of(status));
  }
}

std::string totals(const OnceVerdict& verdict) {
  std::string line = std::to_string(verdict.flows) + (verdict.flows == 1 ? " flow" : " flows");
  const char* between = ": ";
  for (const ConditionRow& row : kConditions)
    if (const std::size_t count = verdict.counts.at(static_cast<std::size_t>(row.condition));
        count > 0) {
      line += between + std::to_string(count) + " " + std::string(row.word);
      between = ", ";
    }
  return line;
}

}  // namespace baton
