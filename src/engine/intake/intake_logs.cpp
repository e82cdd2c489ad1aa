// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/intake/intake.h"
#include "engine/state/log_entries.h"
#include "findings/report.h"

namespace baton {
namespace {

/// A log that was cut off may be being written anew by an editor, and one that is missing may be
/// being rotated.
constexpr Rest kAnew{Millis(500), Millis(2500)};
/// How many lines from which nothing follows one look passes.
constexpr int kMostPassed = 200;

/// A person has said that the last line of a log that was changed counts.
bool is_resumed(const FlowLogs& logs, const std::string& path) {
  const auto changed = logs.changed.find(path);
  return changed != logs.changed.end() && changed->second.empty();
}

bool waits_for_lines(const FlowLogs& logs, const std::string& path) {
  return logs.changed.contains(path) && !is_resumed(logs, path);
}

/// Forgets the stages, so that the next line is an entry whatever it says. If the flow has other
/// files, nobody knows which of the stages they have brought.
void enter_anew(const FlowId& flow, Draft& draft) {
  FlowRecord& record = draft.touch(flow);
  if (record.accepted.size() > 1)
    return;
  for (auto& [subject, state] : record.stages) {
    state.stage.clear();
    draft.stage(record, subject);
  }
}

std::string first_fault(const Findings& findings) {
  const auto first = std::find_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.severity == Severity::error;
  });
  if (first == findings.end())
    return "it is not valid";
  // The document is the one line, as the only item of a list.
  Finding finding = *first;
  if (finding.pointer.starts_with("/0"))
    finding.pointer.erase(0, 2);
  return sentence_at_pointer(finding);
}

}  // namespace

void Intake::there_again(const Catalog::Match& match, const std::string& path, Draft& draft) {
  draft.as_accepted.insert(path);
  draft.compared.insert(path);
  (void)no_longer_rejected(match.flow, path, draft);
  const FlowRecord* const known = draft.find(match.flow);
  if (known == nullptr || !known->accepted.contains(path) || known->accepted.at(path).present)
    return;
  note_presence(match.flow, path, draft);
  draft.event("back", match.flow, path + " is there again");
}

Result<void> Intake::look_at_log(const Catalog::Match& match, const std::string& path,
                                 Draft& draft) {
  const auto there = ports_.disk.read_from(path, 0, 0);
  complete_.erase(path);
  // While a log is rotated it is missing for a moment.
  const FlowRecord* const before = draft.find(match.flow);
  if (!there && there.error().code == Errc::not_found && before != nullptr &&
      before->logs.files.contains(path)) {
    auto rest = read_rest(match, path, draft);
    if (!rest)
      return pass_on(rest);
    if (*rest || unsettled_.wait(path, match.flow, digest_of("missing"), draft.now, kAnew))
      return {};
  }
  if (!can_read(match, path, there ? std::nullopt : std::optional(there.error()), draft))
    return {};
  scan_.read(path, there->stamp);
  auto copy = provenance_.is_copy_of_log(match, path, *there, draft);
  if (!copy)
    return pass_on(copy);
  if (*copy) {
    ignore_copy(match, path, draft);
    return {};
  }
  no_longer_ignored(path, draft);
  const FlowRecord* const record = draft.find(match.flow);
  const bool was_gone =
      record != nullptr && record->accepted.contains(path) && !record->accepted.at(path).present;
  there_again(match, path, draft);
  auto step = read_log(match, path, there->identity, draft);
  if (!step) {
    (void)can_read(match, path, step.error(), draft);
    return {};
  }
  if (*step && match.kind->log == LogReading::entries)
    pass_repeated_lines(match, path, **step, draft);
  if (*step)
    if (auto taken = take_line(match, path, **step, there->size_bytes, draft); !taken)
      return taken;
  if (const FlowRecord* const now = draft.find(match.flow);
      now != nullptr && now->accepted.contains(path))
    draft.identify(match.flow, path, there->identity, was_gone);
  return {};
}

/// The flow is blocked until the lines are back or a person resumes it.
void Intake::note_changed(const FlowId& flow, const std::string& path, const std::string& why,
                          Draft& draft) {
  with_lines_.insert(path);
  const auto& changed = draft.find(flow)->logs.changed;
  if (const auto row = changed.find(path); row != changed.end() && row->second == why)
    return;
  draft.touch(flow).logs.changed[path] = why;
  draft.decide.insert(flow);
}

/// Reads on in a file that was renamed, while there is no new one. False: nothing is left of it.
Result<bool> Intake::read_rest(const Catalog::Match& match, const std::string& path, Draft& draft) {
  const LogPosition at = draft.find(match.flow)->logs.files.at(path);
  auto rest = log_reader_.has_rest(path, at);
  if (!rest || !*rest)
    return rest;
  auto step = read_log(match, path, 0, draft);
  if (!step)
    return pass_on(step);
  if (!*step)
    return true;
  // A line without its end will get none any more.
  if (!(*step)->record && (*step)->fault_count == 0)
    return false;
  if (auto taken = take_line(match, path, **step, 0, draft); !taken)
    return pass_on(taken);
  return true;
}

/// How far the file was read under the name that it had before. What is written under that name
/// from now on is another log.
std::optional<LogPosition> Intake::position_before_rename(const Catalog::Match& match,
                                                          FileIdentity file, Draft& draft) {
  if (draft.names == nullptr || file == 0)
    return std::nullopt;
  const auto names = draft.names->find(file);
  if (names == draft.names->end())
    return std::nullopt;
  for (const FlowFile& name : names->second) {
    const FlowRecord* const record = draft.find(name.flow);
    const auto former = catalog_.match(name.path);
    if (record != nullptr && name.flow != match.flow && former && former->kind == match.kind &&
        record->logs.files.contains(name.path) && record->logs.files.at(name.path).file == file) {
      // A second name of the file takes nothing from the first one.
      if (const auto there = ports_.disk.read_from(name.path, 0, 0);
          there && there->identity == file)
        continue;
      LogPosition another;
      another.anew = true;
      return std::exchange(draft.touch(name.flow).logs.files.at(name.path), another);
    }
  }
  return std::nullopt;
}

/// Nothing: no line may be read now.
Result<std::optional<LogStep>> Intake::read_log(const Catalog::Match& match,
                                                const std::string& path, FileIdentity file,
                                                Draft& draft) {
  const bool all = match.kind->log == LogReading::last;
  const FlowRecord* const record = draft.find(match.flow);
  const FlowLogs* const known = record == nullptr ? nullptr : &record->logs;
  std::optional<LogPosition> at;
  if (known != nullptr && known->files.contains(path))
    at = known->files.at(path);
  if (at && !all && !is_worked(*record, draft.find(FlowId{}))) {
    with_lines_.insert(path);
    unsettled_.settled(path);
    return std::optional<LogStep>();
  }
  if (!at && !all && record == nullptr)
    at = position_before_rename(match, file, draft);
  // An older baton took the whole file for its version.
  if (!at && record != nullptr && record->accepted.contains(path)) {
    const AcceptedRow& row = record->accepted.at(path);
    auto behind = log_reader_.behind(path, row.size_bytes, row.digest);
    if (!behind)
      return pass_on(behind);
    at = *std::move(behind);
  }
  const bool waited = unsettled_.waits(path);
  const bool resumed = known != nullptr && is_resumed(*known, path);
  const bool fresh = !at;
  auto step = at && !resumed ? log_reader_.next(path, *at, all, false) : log_reader_.first(path);
  if (step && step->unsettled) {
    if (unsettled_.wait(path, match.flow, digest_of("anew"), draft.now, kAnew))
      return std::optional<LogStep>();
    step = log_reader_.next(path, *at, all, true);
  }
  if (!step)
    return pass_on(step);
  if (!step->changed.empty()) {
    note_changed(match.flow, path, step->changed, draft);
    unsettled_.settled(path);
    return std::optional<LogStep>();
  }
  if (resumed)
    step->note = "is read on from its last line (" + step->where + ")";
  if (fresh && !all && step->passed > 0)
    step->note =
        "is seen for the first time; of its lines only the last one counts (" + step->where + ")";
  // A decision may have waited for this file.
  if (waited)
    draft.decide.insert(match.flow);
  unsettled_.settled(path);
  return std::optional(*std::move(step));
}

namespace {

bool same_course(const Decision& one, const Decision& other) {
  return one.desired == other.desired && one.holds == other.holds && one.updates == other.updates &&
         one.notices == other.notices && one.releases == other.releases &&
         one.standing == other.standing && one.memo == other.memo;
}

}  // namespace

/// Goes on to the last line of those that change neither a stage nor what the dialect wants, so
/// that a log full of heartbeats does not need a transaction for each. A line from which something
/// follows is never passed.
void Intake::pass_repeated_lines(const Catalog::Match& match, const std::string& path,
                                 LogStep& step, const Draft& draft) {
  const FlowRecord* const record = draft.find(match.flow);
  const Dialect& dialect = *match.entry->dialect;
  if (!step.record || !step.more || !step.note.empty() || step.at.anew || record == nullptr ||
      !record->accepted.contains(path) || dialect.stages == nullptr || dialect.decide == nullptr)
    return;
  auto docs = ports_.documents.open(*record, *match.entry, draft.documents);
  if (!docs || !docs->contains(path))
    return;
  const View view{record->id,   *docs,     record->stages,       record->runs,
                  record->memo, {},        match.entry->options, environment_,
                  draft.now,    draft.wall};
  const Stages stages = dialect.stages(view);
  const Decision decision = dialect.decide(view);
  for (int passed = 0; step.more && step.faults.empty() && passed < kMostPassed; ++passed) {
    DocumentCheck checked =
        check_text(*step.record, match.kind->format, ports_.schemas.of(*match.kind), limits_);
    check_rules(checked, match, path);
    if (!checked.accepted())
      return;
    docs->at(path).document = checked.document;
    if (dialect.stages(view) != stages || !same_course(dialect.decide(view), decision))
      return;
    auto following = log_reader_.next(path, step.at, false, false);
    if (!following || !following->record || !following->faults.empty() || !following->note.empty())
      return;
    step = *std::move(following);
  }
}

Result<void> Intake::take_line(const Catalog::Match& match, const std::string& path, LogStep& step,
                               std::uint64_t size_bytes, Draft& draft) {
  if (step.more)
    with_lines_.insert(path);
  else
    with_lines_.erase(path);
  std::erase_if(rotated_, [&](const auto& row) { return row.second == path; });
  if (!step.beside.empty())
    rotated_[step.beside] = path;
  const std::string shown = printable(path, 200);
  if (step.record) {
    DocumentCheck checked =
        check_text(*step.record, match.kind->format, ports_.schemas.of(*match.kind), limits_);
    check_rules(checked, match, path);
    std::string why = checked.accepted()
                          ? size_ceiling_.left_out(match.flow, path, step.record->size(), draft)
                          : first_fault(checked.findings);
    const FlowRecord* const record = draft.find(match.flow);
    const auto row = record == nullptr ? nullptr : &record->accepted;
    const bool repeats = row != nullptr && row->contains(path) && checked.document != nullptr &&
                         row->at(path).digest == checked.document->digest();
    if (!why.empty()) {
      LogFault fault{step.where, std::move(why)};
      ++step.fault_count;
      ++step.at.faults;
      step.at.tail.back() = kRefused;
      step.at.last_faults = {fault};
      step.faults.push_back(std::move(fault));
    } else if (!repeats) {
      const RunId writer = record == nullptr ? RunId() : only_writer(*record);
      if (step.at.anew || (record != nullptr && is_resumed(record->logs, path)))
        enter_anew(match.flow, draft);
      step.at.anew = false;
      draft.appended[path] = size_bytes;
      accept(match, path, checked.document, writer, draft);
      // Until the flow has been decided, nobody knows what this line asks for.
      FlowLogs& logs = draft.touch(match.flow).logs;
      logs.held = match.kind->log == LogReading::entries;
      logs.passed = false;
    }
  }
  const FlowRecord* const record = draft.find(match.flow);
  const bool has_row = record != nullptr && record->logs.files.contains(path);
  if (record != nullptr && record->logs.changed.contains(path)) {
    draft.touch(match.flow).logs.changed.erase(path);
    draft.decide.insert(match.flow);
    if (step.note.empty() && size_bytes > 0)
      step.note = "has its lines again, and is read on behind them";
  }
  if (!has_row || record->logs.files.at(path) != step.at)
    draft.touch(match.flow).logs.files[path] = step.at;
  if (!step.note.empty())
    draft.event("log", match.flow, shown + " " + step.note);
  if (step.faults.empty())
    return {};
  std::string why;
  for (const LogFault& fault : step.faults)
    why += (why.empty() ? "" : "; ") + fault.where + ": " + fault.why;
  if (step.fault_count > step.faults.size())
    why += "; and " + std::to_string(step.fault_count - step.faults.size()) + " more";
  draft.event(
      "rejected", match.flow,
      shown + ": " + printable(why) +
          (step.fault_count == 1 ? " (this line is skipped)" : " (these lines are skipped)"));
  return {};
}

std::set<std::string> Intake::lines_due(const FlowRecords& records) {
  std::set<std::string> due;
  const auto root = records.find(FlowId{});
  for (const std::string& path : with_lines_) {
    const auto match = catalog_.match(path);
    const auto record = match ? records.find(match->flow) : records.end();
    if (record == records.end() || match->kind->log != LogReading::entries ||
        (!waits_for_lines(record->second.logs, path) &&
         is_worked(record->second, root == records.end() ? nullptr : &root->second)))
      due.insert(path);
  }
  for (const std::string& path : due)
    with_lines_.erase(path);
  return due;
}

}  // namespace baton
