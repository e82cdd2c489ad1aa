// SPDX-License-Identifier: Apache-2.0
#include "engine/state/log_entries.h"

#include <algorithm>

namespace baton {
namespace {

/// Whether a line behind this one could not end the hold, or a person is asked.
bool keeps_queue(const Hold& hold) {
  const Reason reason = hold.cause.reason;
  return reason != Reason::condition && reason != Reason::unknown_stage &&
         reason != Reason::no_stage && reason != Reason::by_operator &&
         reason != Reason::log_changed;
}

bool has_failed(const Hold& hold) {
  return hold.cause.reason == Reason::attempts_exhausted;
}

bool may_run(const ControlRow& control) {
  return control.control == Control::run ||
         (control.control == Control::idle && control.reason == kMoved);
}

bool has_worked(const FlowRecord& record, const Role& role, const Subject& subject) {
  const auto stage = record.stages.find(subject);
  return stage == record.stages.end() ||
         std::any_of(record.runs.begin(), record.runs.end(), [&](const Run& run) {
           return run.key.role == role && run.key.subject == subject &&
                  run.key.generation == stage->second.generation &&
                  run.outcome == Outcome::succeeded && run.error.empty() && !run.forgiven;
         });
}

}  // namespace

void note_entries(FlowRecord& record) {
  FlowLogs& logs = record.logs;
  if (logs.files.empty())
    return;
  logs.wanted.clear();
  if (logs.passed) {
    logs.held = record.held && keeps_queue(*record.held);
    return;
  }
  for (const Desired& desired : record.decision.desired)
    logs.wanted.emplace_back(desired.role, desired.subject);
  logs.held = (record.held && keeps_queue(*record.held)) ||
              std::any_of(record.decision.holds.begin(), record.decision.holds.end(), keeps_queue);
}

void pass_failed(FlowRecord& record) {
  if (!record.logs.files.empty() && !record.live() &&
      std::any_of(record.holds.begin(), record.holds.end(), has_failed))
    record.logs.passed = true;
}

bool is_worked(const FlowRecord& record, const FlowRecord* root) {
  return !record.live() && !record.logs.held && may_run(record.control) &&
         (root == nullptr || root->control.control == Control::run) &&
         std::all_of(record.logs.wanted.begin(), record.logs.wanted.end(),
                     [&](const auto& each) { return has_worked(record, each.first, each.second); });
}

}  // namespace baton
