// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/run_completion.h"

#include <algorithm>
#include <utility>

#include "adapters/adapter.h"
#include "adapters/output_values.h"
#include "core/agent_text.h"
#include "core/reported.h"
#include "engine/decide/status.h"

namespace baton {
namespace {

constexpr Millis kFirstPause{5000};
constexpr Millis kLongestPause{60'000};

bool past_timeout(const Run& run, Time now) {
  return run.limits.timeout != Millis(0) && now - run.started > run.limits.timeout;
}

/// When the agent should have ended and its shim should have recorded the end.
Time overdue(const Run& run, Time asked) {
  const Millis room = Time::max() - asked - kLongestPause;
  return run.limits.kill_grace > room ? Time::max() : asked + run.limits.kill_grace + kLongestPause;
}

}  // namespace

void RunCompletion::ask(const Run& run, Time now) {
  const auto heard = agents_.stop(run);
  Asked& asked = asked_[run.id];
  if (!heard) {
    asked.pause = asked.pause == Millis(0) ? kFirstPause : std::min(asked.pause * 2, kLongestPause);
    asked.again = now + asked.pause;
    asked.error = describe(heard.error());
    return;
  }
  asked.heard = asked.heard.value_or(now);
  asked.pause = Millis(0);
  const Time due = overdue(run, *asked.heard);
  asked.again = now < due ? due : now + kLongestPause;
  asked.error =
      now < due ? "" : "it was told to end, and no end of it is recorded: " + run.directory;
}

void RunCompletion::ask(const FlowRecords& records, const FlowIndex& flow_index,
                        const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    if (const FlowRecord* const record = record_of(records, flow_index, stop.run);
        record != nullptr)
      ask(*record->run(stop.run), now);
}

void RunCompletion::ask_unjournalled(const FlowRecords& records, const FlowIndex& flow_index,
                                     const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    unjournalled_.insert(stop.run);
  ask(records, flow_index, stops, now);
}

void RunCompletion::ask_again(const FlowRecords& records, const FlowIndex& flow_index, Time now) {
  std::vector<RunId> due;
  for (const auto& [id, asked] : asked_)
    if (asked.again <= now)
      due.push_back(id);
  for (const RunId& id : due) {
    const FlowRecord* const record = record_of(records, flow_index, id);
    // A stop that was never committed may no longer be wanted.
    if (record == nullptr || record->run(id)->state != RunState::stopping)
      asked_.erase(id);
    else
      ask(*record->run(id), now);
  }
}

std::optional<Time> RunCompletion::wake() const {
  std::optional<Time> wake;
  for (const auto& [id, asked] : asked_)
    if (!wake || asked.again < *wake)
      wake = asked.again;
  return wake;
}

void RunCompletion::tell(Draft& draft, const FlowRecords& records) const {
  if (!untold())
    return;
  for (const auto& [flow, record] : records)
    for (const Run& run : record.runs)
      if (const auto asked = asked_.find(run.id); asked != asked_.end() && untold(asked->second))
        draft.event("could_not_stop", flow,
                    asked->second.error + "; tried again until it has ended", run.key.subject,
                    run.key.role, run.id);
}

bool RunCompletion::untold(const Asked& asked) {
  return !asked.error.empty() && asked.error != asked.notified;
}

bool RunCompletion::untold() const {
  return std::any_of(asked_.begin(), asked_.end(),
                     [](const auto& row) { return untold(row.second); });
}

void RunCompletion::committed() {
  unjournalled_.clear();
  for (auto& [id, asked] : asked_)
    asked.notified = asked.error;
}

namespace {

/// The end of a text, beginning with a whole character.
std::string end_of(const std::string& text, std::size_t most_bytes) {
  std::size_t begin = text.size() - std::min(text.size(), most_bytes);
  while (begin < text.size() && begin > 0 &&
         (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
    ++begin;
  return text.substr(begin);
}

}  // namespace

Run ended_run(Run run, const RunEnd& end, Time now) {
  // Without a time the end was not seen, so it counts as now.
  // A stopped run that was past its timeout counts as timed out, and so as an attempt.
  run.ended = end.ended == Time{} ? now : std::clamp(end.ended, std::min(run.started, now), now);
  const bool late = end.outcome == Outcome::stopped && past_timeout(run, run.ended);
  run.state = RunState::ended;
  run.outcome = late ? Outcome::timed_out : end.outcome;
  run.exit_code = end.exit_code;
  run.signal = end.signal;
  run.reason = end.reason;
  run.error = end.error;
  run.output = end_of(end.output, kOutputBytes);
  run.errors = end_of(end.errors, kErrorBytes);
  run.duration = end.duration;
  // A report that the dialect has read already takes precedence over the output.
  if (!run.cost_usd && !run.tokens) {
    const ReportedUsage reported = reported_usage(run.output);
    run.cost_usd = reported.cost_usd;
    run.tokens = reported.tokens;
  }
  return run;
}

namespace {

/// Whether the output is that of a program which baton knows, and not of any command.
bool has_known_program(const Run& run, const Setup& setup) {
  const auto agent = setup.agents.find(run.agent);
  return !run.agent.empty() && agent != setup.agents.end() && agent->second.adapter != nullptr &&
         !agent->second.adapter->argv.empty();
}

}  // namespace

Result<void> RunCompletion::enter(Draft& next, const FlowRecords& records,
                                  const FlowIndex& flow_index, const Setup& setup, RunEnd ended) {
  asked_.erase(ended.run);
  const FlowRecord* const known = record_of(records, flow_index, ended.run);
  if (known == nullptr)
    return {};
  FlowRecord& record = next.touch(known->id);
  Run run = *record.run(ended.run);
  if (!run.live())
    return {};
  // An interrupted run counts as stopped only if the journal has its stop, or would have it if the
  // disk had room.
  if ((run.state == RunState::stopping || unjournalled_.contains(run.id)) &&
      ended.outcome == Outcome::interrupted)
    ended.outcome = Outcome::stopped;
  // A program that prints its prompt has not answered it.
  ended.output = without_echo(std::move(ended.output), ended.prompt);
  ended.errors = without_echo(std::move(ended.errors), ended.prompt);
  // A report that the dialect has read already takes precedence over the output.
  const bool usage_known = run.cost_usd || run.tokens;
  run = ended_run(std::move(run), ended, next.now);
  if (auto kept = judgement_.enter(run, ended, setup, {record.runs, usage_known}, next); !kept)
    return kept;
  // Dialects look for what the agent says, not for what it was told.
  if (has_known_program(run, setup))
    run.output = end_of(agent_text(ended.output), kOutputBytes);
  next.put(record, run);
  next.decide.insert(record.id);
  record.last_activity = next.now;
  next.event("ended", record.id, ending_text(run), run.key.subject, run.key.role, run.id);
  return {};
}

}  // namespace baton
