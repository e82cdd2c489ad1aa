// SPDX-License-Identifier: Apache-2.0
#include "engine/state/flow_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/state/flow_index.h"

namespace baton {
namespace {

bool gone_for(const StageState& state, Time now, Millis time) {
  return state.stage.empty() && state.since <= now - time;
}

constexpr Millis kHour{3'600'000};

// The times in a row from which limits and waits are counted.
std::array<Time*, 2> times_of(Run& run) {
  return {&run.started, &run.ended};
}
std::array<Time*, 1> times_of(StageRow& row) {
  return {&row.state.since};
}
std::array<Time*, 2> times_of(ControlRow& row) {
  return {&row.since, &row.resumed_at};
}
std::vector<Time*> times_of(std::pair<FlowId, FlowOrigin>& row) {
  std::vector<Time*> times;
  for (Rename& rename : row.second.renames)
    times.insert(times.end(), {&rename.at, &rename.from_resumed, &rename.to_resumed});
  for (FormerAttempts& former : row.second.attempts)
    times.push_back(&former.at);
  return times;
}

template <class Row>
void raise(Time& newest, std::vector<Row>& rows) {
  for (Row& row : rows)
    for (const Time* const time : times_of(row))
      newest = std::max(newest, *time);
}

/// Moves back the times that lie after `now`. Returns the changed rows.
template <class Row>
std::vector<Row> move_back(std::vector<Row>& rows, Time now, Millis by) {
  std::vector<Row> moved;
  for (Row& row : rows) {
    const auto times = times_of(row);
    const auto ahead = [&](const Time* time) { return *time > now; };
    if (std::none_of(times.begin(), times.end(), ahead))
      continue;
    for (Time* const time : times)
      *time -= ahead(time) ? by : Millis(0);
    moved.push_back(row);
  }
  return moved;
}

}  // namespace

std::vector<Run>::iterator FlowRecord::run(const RunId& wanted) {
  return std::find_if(runs.begin(), runs.end(), [&](const Run& run) { return run.id == wanted; });
}

std::vector<Run>::const_iterator FlowRecord::run(const RunId& wanted) const {
  return std::find_if(runs.begin(), runs.end(), [&](const Run& run) { return run.id == wanted; });
}

bool FlowRecord::live() const {
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.live(); });
}

bool has_no_file(const FlowRecord& record) {
  return record.accepted.empty() && record.rejected.empty();
}

bool is_left(const FlowRecord& record) {
  return record.control.reason == kLeft && has_no_file(record);
}

FlowRecords records_of(const Ledger& ledger) {
  FlowRecords records;
  const auto record = [&](const FlowId& flow) -> FlowRecord& {
    FlowRecord& found = records[flow];
    found.id = flow;
    found.control.flow = flow;
    return found;
  };
  for (const AcceptedRow& row : ledger.accepted) {
    FlowRecord& known = record(row.flow);
    known.accepted[row.path] = row;
    known.accepted_bytes += row.size_bytes;
  }
  for (const RejectedRow& row : ledger.rejected)
    record(row.flow).rejected[row.path] = row;
  for (const StageRow& row : ledger.stages) {
    record(row.flow).stages[row.subject] = row.state;
    record(row.flow).entries[row.subject] = row.entries;
    record(row.flow).last_activity = std::max(record(row.flow).last_activity, row.state.since);
  }
  for (const auto& [flow, memo] : ledger.memos)
    record(flow).memo = memo;
  for (const auto& [flow, notified] : ledger.notified)
    record(flow).notified = notified_state_of(notified);
  for (const auto& [flow, origin] : ledger.origins)
    record(flow).origin = origin;
  for (const auto& [flow, logs] : ledger.logs)
    record(flow).logs = logs;
  for (const Run& run : ledger.runs)
    record(run.key.flow).runs.push_back(run);
  for (const ControlRow& row : ledger.controls)
    record(row.flow).control = row;
  return records;
}

Commit set_back(Ledger& ledger, Time now) {
  Time newest = now;
  raise(newest, ledger.runs);
  raise(newest, ledger.stages);
  raise(newest, ledger.controls);
  raise(newest, ledger.origins);
  const Millis ahead = newest - now;
  Commit moved;
  moved.runs = move_back(ledger.runs, now, ahead);
  moved.stages = move_back(ledger.stages, now, ahead);
  moved.controls = move_back(ledger.controls, now, ahead);
  moved.origins = move_back(ledger.origins, now, ahead);
  return moved;
}

Commit let_go(Ledger& ledger, const std::string& boot) {
  Commit gone;
  for (Run& run : ledger.runs)
    if (left_something(run) && !run.boot_id.empty() && !boot.empty() && run.boot_id != boot) {
      run.reason = kLookedAfter;
      gone.runs.push_back(run);
    }
  return gone;
}

void forget_old_runs(FlowRecord& record, Time now) {
  const auto passed = [&](const Run& run) {
    const auto stage = record.stages.find(run.key.subject);
    return stage != record.stages.end() && (stage->second.generation != run.key.generation ||
                                            gone_for(stage->second, now, kRemembered));
  };
  for (Run& run : record.runs)
    if (const auto stage = record.stages.find(run.key.subject);
        stage != record.stages.end() && !run.live() && gone_for(stage->second, now, kHour)) {
      run.output = std::string();
      run.errors = std::string();
    }
  for (Run& run : record.runs)
    if (!run.live() && run.output.size() > kOldOutputBytes && passed(run)) {
      run.output.erase(0, run.output.size() - kOldOutputBytes);
      run.output.shrink_to_fit();
    }
  // Runs of the last hour count for the hourly limits, but actions of a dialect do not. A loop
  // would keep thousands of them.
  std::erase_if(record.runs, [&](const Run& run) {
    const bool counts =
        run.key.role != kActionRole && std::max(run.started, run.ended) > now - kHour;
    return !run.live() && !counts && !left_something(run) && passed(run);
  });
}

const FlowRecord* Draft::before(const FlowId& flow) const {
  const auto found = records_.find(flow);
  return found == records_.end() ? nullptr : &found->second;
}

const FlowRecord* Draft::find(const FlowId& flow) const {
  if (const auto found = touched_.find(flow); found != touched_.end())
    return &found->second;
  const auto found = records_.find(flow);
  return found == records_.end() || forgotten.contains(flow) ? nullptr : &found->second;
}

FlowRecord& Draft::touch(const FlowId& flow) {
  const auto [at, fresh] = touched_.try_emplace(flow);
  if (fresh) {
    if (const auto found = records_.find(flow);
        found != records_.end() && !forgotten.contains(flow))
      at->second = found->second;
    at->second.id = flow;
    at->second.control.flow = flow;
  }
  return at->second;
}

void Draft::publish(FlowRecords& records, FlowIndex& flow_index) {
  for (const FlowId& flow : forgotten)
    if (const auto known = records.find(flow); known != records.end()) {
      flow_index.remove(known->second);
      records.erase(known);
    }
  for (auto& [flow, record] : touched_) {
    const auto [known, fresh] = records.try_emplace(flow);
    if (!fresh)
      flow_index.remove(known->second);
    known->second = std::move(record);
    flow_index.add(known->second);
  }
  touched_.clear();
}

Draft Draft::trial(const FlowId& flow) const {
  Draft trial(records_, arrival, intent, now, wall);
  trial.forgotten = forgotten;
  trial.accepted_bytes = accepted_bytes;
  if (const auto found = touched_.find(flow); found != touched_.end())
    trial.touched_.insert(*found);
  return trial;
}

void Draft::event(Word event, const FlowId& flow, std::string why, Subject subject, Role role,
                  RunId run) {
  commit.events.push_back(Event{0, wall, std::move(event), flow, std::move(subject),
                                std::move(role), std::move(run), std::move(why)});
}

bool Draft::reply(const Reply& reply) {
  const bool answered =
      std::any_of(commit.replies.begin(), commit.replies.end(),
                  [&](const Reply& other) { return other.request == reply.request; });
  if (!answered)
    commit.replies.push_back(reply);
  return !answered;
}

void Draft::stage(const FlowRecord& record, const Subject& subject) {
  StageRow row{record.id, subject, record.stages.at(subject), record.entries.at(subject)};
  // Find the row by its index, because thousands of subjects may change in one step.
  const auto [known, first] = staged_[record.id].try_emplace(subject, commit.stages.size());
  if (first)
    commit.stages.push_back(std::move(row));
  else
    commit.stages[known->second] = std::move(row);
}

void Draft::memo(FlowRecord& record, const Json& memo) {
  if (memo == record.memo)
    return;
  record.memo = memo;
  std::erase_if(commit.memos, [&](const auto& row) { return row.first == record.id; });
  commit.memos.emplace_back(record.id, memo);
}

void Draft::tell() {
  commit.notified.clear();
  commit.origins.clear();
  commit.logs.clear();
  for (const auto& [flow, record] : touched_) {
    const auto before = records_.find(flow);
    const bool known = before != records_.end() && !forgotten.contains(flow);
    if (known ? record.notified != before->second.notified : record.notified != NotifiedState{})
      commit.notified.emplace_back(flow, json_of(record.notified));
    if (known ? record.origin != before->second.origin : record.origin != FlowOrigin{})
      commit.origins.emplace_back(flow, record.origin);
    if (known ? record.logs != before->second.logs : record.logs != FlowLogs{})
      commit.logs.emplace_back(flow, record.logs);
  }
}

void Draft::forget(const FlowId& flow) {
  const FlowId id = flow;  // `flow` may lie in the record that is erased below
  if (const FlowRecord* const known = find(id); known != nullptr) {
    accepted_bytes -= known->accepted_bytes;
    has_more_room = true;
  }
  forgotten.insert(id);
  commit.forgotten.push_back(id);
  touched_.erase(id);
  // Rows that this step has added so far would outlive the flow.
  std::erase_if(commit.accepted, [&](const auto& row) { return row.first.flow == id; });
  std::erase_if(commit.rejected, [&](const RejectedRow& row) { return row.flow == id; });
  if (staged_.erase(id) != 0) {
    std::erase_if(commit.stages, [&](const StageRow& row) { return row.flow == id; });
    staged_.clear();
    for (std::size_t i = 0; i < commit.stages.size(); ++i)
      staged_[commit.stages[i].flow].emplace(commit.stages[i].subject, i);
  }
  std::erase_if(commit.memos, [&](const auto& row) { return row.first == id; });
  std::erase_if(commit.runs, [&](const Run& run) { return run.key.flow == id; });
  std::erase_if(commit.controls, [&](const ControlRow& row) { return row.flow == id; });
}

void Draft::control(FlowRecord& record, Control control, Word reason, std::string why) {
  ControlRow& row = record.control;
  // A flow without files has no work. It is forgotten when its agents have ended.
  if (is_left(record)) {
    control = control == Control::stop ? Control::stop : Control::idle;
    reason = kLeft;
  }
  if (control == Control::run)
    row.resumed_at = now;
  row.control = control;
  row.reason = std::move(reason);
  row.why = std::move(why);
  row.since = now;
  row.flow = record.id;
  decide.insert(record.id);
  std::erase_if(commit.controls, [&](const ControlRow& other) { return other.flow == record.id; });
  commit.controls.push_back(row);
}

void Draft::put(FlowRecord& record, const Run& run) {
  if (const auto at = record.run(run.id); at != record.runs.end())
    *at = run;
  else
    record.runs.push_back(run);
  const auto row = std::find_if(commit.runs.begin(), commit.runs.end(),
                                [&](const Run& other) { return other.id == run.id; });
  if (row != commit.runs.end())
    *row = run;
  else
    commit.runs.push_back(run);
}

void Draft::accept(FlowRecord& record, const AcceptedRow& row,
                   std::shared_ptr<const Document> document) {
  AcceptedRow& known = record.accepted[row.path];
  const std::uint64_t before = known.size_bytes;
  known = row;
  known.size_bytes = document->text().size();
  resize(record, before, known.size_bytes);
  record.last_activity = now;
  decide.insert(record.id);
  (void)no_longer_rejected(record, row.path);
  presence.erase(row.path);
  std::erase_if(commit.accepted, [&](const auto& pair) { return pair.first.path == row.path; });
  commit.accepted.emplace_back(known, document->text());
  documents[row.path] = std::move(document);
}

void Draft::resize(FlowRecord& record, std::uint64_t before, std::uint64_t after) {
  record.accepted_bytes = record.accepted_bytes - before + after;
  accepted_bytes = accepted_bytes - before + after;
  has_more_room = has_more_room || after < before;
}

void Draft::identify(const FlowId& flow, const std::string& path, FileIdentity identity,
                     bool anew) {
  const FlowRecord* const known = find(flow);
  const auto file = known->origin.files.find(path);
  const FileIdentity before = file == known->origin.files.end() ? 0 : file->second;
  if (identity == 0 || (identity == before && !anew))
    return;
  identified.insert({flow, path});
  if (identity == before)
    return;
  if (before != 0)
    let_go.insert({{flow, path}, before});
  touch(flow).origin.files[path] = identity;
}

bool Draft::no_longer_rejected(FlowRecord& record, const std::string& path) {
  if (record.rejected.erase(path) == 0)
    return false;
  std::erase_if(commit.rejected, [&](const RejectedRow& row) { return row.path == path; });
  commit.no_longer_rejected.push_back(path);
  return true;
}

void Draft::move_away(FlowRecord& record, const std::string& path) {
  if (const auto row = record.accepted.find(path); row != record.accepted.end()) {
    resize(record, row->second.size_bytes, 0);
    record.accepted.erase(row);
  }
  std::erase_if(commit.accepted, [&](const auto& pair) { return pair.first.path == path; });
  documents.erase(path);
  presence.erase(path);
  commit.moved_away.push_back(path);
}

void Draft::write_over(const FlowRecord& record, const std::string& path,
                       const FileBytes& now_there, const std::string& text, const std::string& why,
                       Intent::Kind kind) {
  commit.replaced.emplace_back(path, now_there.bytes);
  Intent write;
  write.kind = kind;
  write.path = path;
  write.assumes = now_there.digest;
  write.bytes = text;
  write.after = digest_of(text);
  write.flow = record.id;
  write.why = why;
  plan_write(std::move(write));
}

namespace {

bool replaces(const Intent& write) {
  return write.kind == Intent::Kind::replace || write.kind == Intent::Kind::restore;
}

}  // namespace

void Draft::plan_write(Intent write) {
  for (Intent& earlier : writes) {
    if (earlier.path != write.path || earlier.kind == Intent::Kind::move)
      continue;
    if (write.kind == Intent::Kind::append && !replaces(earlier)) {
      earlier.bytes += write.bytes;
      earlier.after = digest_of(earlier.bytes);
      return;
    }
    if (replaces(write) && earlier.kind != Intent::Kind::append) {
      if (earlier.kind == Intent::Kind::restore)
        earlier.kind = write.kind;
      earlier.bytes = std::move(write.bytes);
      earlier.after = write.after;
      earlier.why += "; " + write.why;
      return;
    }
  }
  write.id = ++intent;
  writes.push_back(std::move(write));
}

}  // namespace baton
