// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/intake.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "core/flow_plan.h"
#include "findings/report.h"

namespace baton {
namespace {

/// As long as baton waits for descriptors or memory before it reports a file.
constexpr Rest kStarved{.stand = Millis(2000), .most = Millis(10'000)};
/// As long as baton waits for git to end before it judges what git has put in place.
constexpr Rest kGitAtWork{.stand = Millis(10'000), .most = Millis(10'000)};
constexpr std::size_t kMaxRestores = 3;
/// The journal remembers each of them, so there is a limit.
constexpr std::size_t kMostIgnored = 1000;

bool run_ended(const FlowId& flow, const Draft& draft) {
  return std::any_of(draft.commit.runs.begin(), draft.commit.runs.end(),
                     [&](const Run& run) { return run.key.flow == flow && !run.live(); });
}

/// Whether the last live run of the flow ends in this step. Its end and what follows from it are
/// one transaction, so no crash can come between them.
bool last_leaves(const FlowRecord& record, const Draft& draft) {
  return !record.live() && run_ended(record.id, draft);
}

/// The findings for a version that the dialect refuses because of the version before it. If the
/// dialect gives only a reason, the reason becomes a finding.
Findings complaints(const Catalog::Match& match, const Admission& admission,
                    const Document& after) {
  Findings findings = admission.findings;
  if (findings.empty() && !admission.why.empty()) {
    Finding finding;
    finding.rule = std::string(match.entry->dialect->name) + "/history";
    finding.message = admission.why;
    findings.push_back(std::move(finding));
  }
  locate(findings, after);
  return findings;
}

Finding unreadable(const Error& error) {
  Finding finding;
  finding.rule = "file";
  finding.message = error.message;
  return finding;
}

}  // namespace

RunId only_writer(const FlowRecord& record) {
  RunId writer;
  for (const Run& run : record.runs) {
    if (!run.live())
      continue;
    if (!writer.empty())
      return {};
    writer = run.id;
  }
  return writer;
}

Intake::Intake(Ports ports, const Catalog& catalog, const Environment& environment,
               LoadLimits limits, const SizeLimits& sizes, bool act_on_reverted)
    : ports_(ports),
      catalog_(catalog),
      environment_(environment),
      limits_(limits),
      provenance_(ports.disk, ports.documents, limits.max_bytes, act_on_reverted),
      scan_(ports.disk, catalog),
      size_ceiling_(sizes),
      log_reader_(ports.disk, limits) {}

namespace {

/// Whether the last accepted or rejected version of the path has this digest.
template <class Rows>
bool has_version(const Rows& rows, const std::string& path, const Digest& digest) {
  const auto row = rows.find(path);
  return row != rows.end() && row->second.digest == digest;
}

/// Whether only the dialect's own rules refuse the version, and the dialect mends such versions.
bool mendable(const Catalog::Match& match, const DocumentCheck& checked) {
  const std::string own = std::string(match.entry->dialect->name) + "/";
  return match.entry->dialect->mends && checked.document != nullptr &&
         std::none_of(
             checked.findings.begin(), checked.findings.end(), [&](const Finding& finding) {
               return finding.severity == Severity::error && !finding.rule.starts_with(own);
             });
}

}  // namespace

Result<void> Intake::look(const std::string& path, Draft& draft,
                          const std::vector<Request>& requests) {
  const bool complete = complete_.erase(path) > 0;
  const auto match = catalog_.match(path);
  if (!match || !match->kind->kept)
    draft.as_accepted.insert(path);
  if (const auto log = rotated_.find(path); !match && log != rotated_.end())
    return look(std::string(log->second), draft, requests);
  if (!match) {
    ignore(path, draft);
    return {};
  }
  // Under an earlier configuration baton may have ignored the file.
  if (!match->copy)
    no_longer_ignored(path, draft);
  if (!match->kind->kept)
    return {};
  if (match->kind->log != LogReading::whole)
    return look_at_log(*match, path, draft);
  auto bytes = ports_.disk.read(path, limits_.max_bytes);
  if (!can_read(*match, path, bytes ? std::nullopt : std::optional(bytes.error()), draft))
    return {};
  scan_.read(path, bytes->stamp);
  auto copy = provenance_.is_copy(*match, path, bytes->digest, draft);
  if (!copy)
    return pass_on(copy);
  if (*copy) {
    ignore_copy(*match, path, draft);
    return {};
  }
  no_longer_ignored(path, draft);
  note_size(*match, path, bytes->bytes.size(), draft);
  const FlowRecord* const record = draft.find(match->flow);
  const bool was_gone =
      record != nullptr && record->accepted.contains(path) && !record->accepted.at(path).present;
  if (record != nullptr && has_version(record->accepted, path, bytes->digest)) {
    same(*match, path, draft);
    draft.identify(match->flow, path, bytes->identity, was_gone);
    return {};
  }
  // Before anything is parsed, because that takes many times as much memory.
  if (const std::string why = size_ceiling_.left_out(match->flow, path, bytes->bytes.size(), draft);
      !why.empty()) {
    reject(*match, path, digest_of(why), {unreadable(Error{Errc::too_large, why, path})}, draft);
    return {};
  }
  const bool known_bad = record != nullptr && has_version(record->rejected, path, bytes->digest);
  // Check even a version that was rejected before, because the schema may have changed.
  auto judged = check_after(*match, path, *bytes, draft);
  if (!judged)
    return pass_on(judged);
  const DocumentCheck checked = *std::move(judged);
  if (known_bad && !checked.accepted()) {
    unsettled_.settled(path);
    note_presence(match->flow, path, draft);
    return {};
  }
  const FoundVersion version{
      .format = match->kind->format,
      .parsed = checked.document != nullptr || checked.definite,
      .fresh = patient_ && (was_gone || record == nullptr || !record->accepted.contains(path)),
      .complete = complete,
      .polled = polled_,
      .left = run_ended(match->flow, draft),
      .copy = match->copy.has_value(),
      .age = draft.wall - bytes->changed};
  if (const auto rest = rest_of(version);
      rest && unsettled_.wait(path, match->flow, bytes->digest, draft.now, *rest))
    return {};
  if (!checked.accepted() && !mendable(*match, checked)) {
    reject(*match, path, bytes->digest, checked.findings, draft);
    return {};
  }
  const auto by_git_now = [&](bool may_wait) {
    return checked.accepted() ? provenance_.reverted(*match, path, bytes->digest, draft, may_wait)
                              : Result<Reverted>(Reverted::no);
  };
  auto by_git = by_git_now(true);
  if (by_git && *by_git == Reverted::wait) {
    if (unsettled_.wait(path, match->flow, bytes->digest, draft.now, kGitAtWork))
      return {};
    by_git = by_git_now(false);
  }
  if (!by_git)
    return pass_on(by_git);
  Provenance::note_reverted(match->flow, path, *by_git, draft);
  if (*by_git != Reverted::no) {
    accept(*match, path, checked.document, {}, draft);
    draft.identify(match->flow, path, bytes->identity, was_gone);
    return {};
  }
  auto admitted = admit(*match, path, *bytes, checked, draft, requests);
  if (const FlowRecord* const now = draft.find(match->flow);
      now != nullptr && has_version(now->accepted, path, bytes->digest))
    draft.identify(match->flow, path, bytes->identity, was_gone);
  return admitted;
}

void Intake::no_longer_ignored(const std::string& path, Draft& draft) {
  if (passed_over(draft.find(FlowId{}), path))
    draft.touch(FlowId{}).notified.ignored.erase(path);
}

bool Intake::can_read(const Catalog::Match& match, const std::string& path,
                      const std::optional<Error>& error, Draft& draft) {
  starved_ = starved_ && error && error->code == Errc::busy;
  if (!error)
    return true;
  if (error->code == Errc::away) {
    away_ = error;
    leave(path);
    return false;
  }
  scan_.forget(path);
  no_longer_ignored(path, draft);
  not_read(match, path, *error, draft);
  return false;
}

void Intake::ignore_copy(const Catalog::Match& match, const std::string& path, Draft& draft) {
  unsettled_.settled(path);
  copies_[match.copy->beside].insert(path);
  if (scan_.stays(path))
    note_ignored(path,
                 printable(path, 200) + " is " + match.copy->why + " of " +
                     printable(match.copy->beside, 200) + ": no state file",
                 draft);
}

Result<std::shared_ptr<const Document>> Intake::before(const Catalog::Match& match,
                                                       const std::string& path,
                                                       const Draft& draft) {
  const FlowRecord* const record = draft.find(match.flow);
  if (record == nullptr || !record->accepted.contains(path))
    return nullptr;
  auto document =
      ports_.documents.document(*record, record->accepted.at(path), *match.entry, draft.documents);
  if (!document && document.error().code == Errc::parse)
    return nullptr;
  return document;
}

Result<DocumentCheck> Intake::check_after(const Catalog::Match& match, const std::string& path,
                                          const FileBytes& bytes, const Draft& draft) {
  DocumentCheck checked = judged_.check(bytes.bytes, bytes.digest, match.kind->format,
                                        ports_.schemas.of(*match.kind), limits_);
  check_rules(checked, match, path);
  const bool needs_line = match.kind->needs_line;
  if (checked.document == nullptr || !has_lost_its_end(*checked.document, needs_line))
    return checked;
  auto known = before(match, path, draft);
  if (!known)
    return pass_on(known);
  return *known == nullptr ? checked : checked_after(std::move(checked), **known, needs_line);
}

void Intake::not_read(const Catalog::Match& match, const std::string& path, const Error& error,
                      Draft& draft) {
  if (error.code == Errc::not_found)
    return gone(match, path, draft);
  if (error.code == Errc::busy && unsettled_.wait(path, match.flow, {}, draft.now, kStarved))
    return;
  if (error.code == Errc::too_large) {
    // A file that grows on is reported once, so its size is no part of the digest.
    const std::string digest = "larger than " + std::to_string(limits_.max_bytes);
    const Error named{error.code,
                      error.message +
                          " (limits: max_file), so baton does not take it; make the file smaller, "
                          "or raise max_file and `baton reload`",
                      error.where};
    return reject(match, path, digest_of(digest), {unreadable(named)}, draft);
  }
  reject(match, path, digest_of(error.message), {unreadable(error)}, draft);
  if (error.code != Errc::busy)
    return;
  // The shortage lasts: it has been reported now, and baton keeps trying.
  starved_ = true;
  (void)unsettled_.wait(path, match.flow, {}, draft.now, kStarved);
}

void Intake::note_size(const Catalog::Match& match, const std::string& path, std::size_t bytes,
                       Draft& draft) {
  const FlowRecord* const root = draft.find(FlowId{});
  const bool known = root != nullptr && root->notified.large.contains(path);
  const bool large = match.kind->format != Format::jsonl && is_almost_too_large(bytes, limits_);
  if (large == known)
    return;
  auto& all = draft.touch(FlowId{}).notified.large;
  if (!large) {
    all.erase(path);
  } else if (all.size() < kMostIgnored) {
    all.insert(path);
    draft.event("warning", match.flow, path + ": " + almost_too_large(bytes, limits_));
  }
}

void Intake::note_ignored(const std::string& path, const std::string& why, Draft& draft) {
  if (passed_over(draft.find(FlowId{}), path))
    return;
  auto& known = draft.touch(FlowId{}).notified.ignored;
  if (known.size() >= kMostIgnored)
    return;
  known.insert(path);
  draft.event("ignored", {},
              known.size() < kMostIgnored ? why : why + "; of further files nothing is said");
}

void Intake::ignore(const std::string& path, Draft& draft) {
  const std::string why = scan_.unfit_name(path);
  const bool notified = passed_over(draft.find(FlowId{}), path);
  if (!notified && (why.empty() || !scan_.stays(path)))
    return;
  const auto there = ports_.disk.read(path, 0);
  if (!there && there.error().code == Errc::away)
    return;
  const bool gone = !there && there.error().code == Errc::not_found;
  if ((gone || why.empty()) && notified)
    draft.touch(FlowId{}).notified.ignored.erase(path);
  if (gone || why.empty() || notified)
    return;
  note_ignored(path, why, draft);
}

bool Intake::no_longer_rejected(const FlowId& flow, const std::string& path, Draft& draft) {
  const FlowRecord* const known = draft.find(flow);
  if (known == nullptr || !known->rejected.contains(path))
    return false;
  draft.decide.insert(flow);
  return draft.no_longer_rejected(draft.touch(flow), path);
}

void Intake::gone(const Catalog::Match& match, const std::string& path, Draft& draft) {
  unsettled_.settled(path);
  size_ceiling_.settled(path);
  note_size(match, path, 0, draft);
  // Without the file they count themselves.
  if (const auto copies = copies_.extract(path); !copies.empty())
    for (const std::string& copy : copies.mapped())
      unsettled_.later(copy, match.flow, {}, draft.now, Millis(0));
  (void)no_longer_rejected(match.flow, path, draft);
  const FlowRecord* const known = draft.find(match.flow);
  if (known == nullptr)
    return;
  const auto row = known->accepted.find(path);
  // A log of which no line counted has no place to go on from.
  if (row == known->accepted.end() && known->logs.files.contains(path))
    draft.touch(match.flow).logs.files.erase(path);
  if (row == known->accepted.end() || !row->second.present)
    return;
  FlowRecord& record = draft.touch(match.flow);
  AcceptedRow& changed = record.accepted[path];
  changed.present = false;
  if (const auto file = record.origin.files.find(path); file != record.origin.files.end())
    draft.let_go.insert({{match.flow, path}, file->second});
  record.last_activity = draft.now;
  draft.presence.insert(path);
  draft.decide.insert(match.flow);
  draft.event("gone", match.flow, path + " is gone; its last accepted version stays in force");
}

void Intake::same(const Catalog::Match& match, const std::string& path, Draft& draft) {
  draft.compared.insert(path);
  size_ceiling_.settled(path);
  // A decision may have waited for this file.
  if (unsettled_.waits(path))
    draft.decide.insert(match.flow);
  unsettled_.settled(path);
  draft.as_accepted.insert(path);
  if (no_longer_rejected(match.flow, path, draft))
    draft.event("accepted", match.flow, path + " is again as it was accepted last");
  if (draft.find(match.flow)->accepted.at(path).present)
    return;
  draft.touch(match.flow).accepted[path].present = true;
  draft.presence.insert(path);
  draft.decide.insert(match.flow);
  draft.event("back", match.flow, path + " is there again, as it was");
}

/// The last accepted version stays in force, just as when a bad version overwrites a good one.
void Intake::note_presence(const FlowId& flow, const std::string& path, Draft& draft) {
  const FlowRecord* const known = draft.find(flow);
  const bool absent =
      known != nullptr && known->accepted.contains(path) && !known->accepted.at(path).present;
  if (!absent)
    return;
  draft.touch(flow).accepted.at(path).present = true;
  draft.presence.insert(path);
  draft.decide.insert(flow);
}

void Intake::reject(const Catalog::Match& match, const std::string& path, const Digest& digest,
                    const Findings& findings, Draft& draft) {
  unsettled_.settled(path);
  note_presence(match.flow, path, draft);
  const FlowRecord* const known = draft.find(match.flow);
  if (known != nullptr && has_version(known->rejected, path, digest))
    return;
  FlowRecord& record = draft.touch(match.flow);
  const RejectedRow row{path, match.flow, digest, findings_json(path, findings), draft.wall};
  record.rejected[path] = row;
  record.last_activity = draft.now;
  draft.commit.rejected.push_back(row);
  draft.decide.insert(match.flow);
  count_change(match, path, record, draft);
  std::string why = path;
  const auto first = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.severity == Severity::error; });
  if (first != findings.end()) {
    if (first->rule != "file")
      why += ":" + std::to_string(first->span.begin.line) + ":" +
             std::to_string(first->span.begin.column);
    why += ": " + sentence_at_pointer(*first);
    if (findings.size() > 1)
      why += " (and " + std::to_string(findings.size() - 1) + " more)";
  }
  draft.event("rejected", match.flow, why);
}

namespace {

/// The verdict when baton cannot use the journal's copy of a document of the flow. A new version
/// of that same file replaces the copy, so baton accepts it. baton refuses a version of any other
/// file, because the dialect cannot compare it with the rest of the flow.
Admission without_before(const Catalog::Match& match, const std::string& path,
                         const Error& unreadable) {
  Admission admission;
  if (unreadable.where == path)
    return admission;
  admission.verdict = Admission::Verdict::restore;
  admission.why = text(match.flow) + " starts nothing: " + describe(unreadable);
  return admission;
}

}  // namespace

Result<Admission> Intake::ask(const Catalog::Match& match, const std::string& path,
                              const Document& after, std::optional<Unseen> unseen, Draft& draft,
                              const std::vector<Request>& requests) {
  const Dialect& dialect = *match.entry->dialect;
  if (dialect.admit == nullptr || (dialect.files_rule && !unseen))
    return Admission{};
  FlowRecord& record = draft.touch(match.flow);
  auto docs = ports_.documents.open(record, *match.entry, draft.documents);
  if (!docs && docs.error().code == Errc::parse)
    return without_before(match, path, docs.error());
  if (!docs)
    return pass_on(docs);
  const auto before = docs->find(path);
  const Change change{path,
                      match.kind->kind,
                      before == docs->end() ? nullptr : before->second.document.get(),
                      after,
                      only_writer(record),
                      unseen,
                      !compared_.contains(path) && draft.compared.insert(path).second};
  const View view{record.id,   *docs,     record.stages,        record.runs,
                  record.memo, requests,  match.entry->options, environment_,
                  draft.now,   draft.wall};
  Admission admission = dialect.admit(view, change);
  // After a merge the memo counts only if the merged text is valid; see `admit`.
  if (admission.memo && admission.verdict != Admission::Verdict::merged)
    draft.memo(record, *admission.memo);
  // Without an accepted version there is nothing to restore. Then `admit` rejects the version.
  if (admission.verdict == Admission::Verdict::restore && change.before == nullptr)
    admission.text.clear();
  else if (admission.verdict == Admission::Verdict::restore)
    admission.text = change.before->text();
  return admission;
}

Result<void> Intake::admit(const Catalog::Match& match, const std::string& path,
                           const FileBytes& bytes, const DocumentCheck& checked, Draft& draft,
                           const std::vector<Request>& requests) {
  std::optional<Unseen> unseen;
  if (const auto base = draft.gave_way.find(path); base != draft.gave_way.end())
    unseen = Unseen{base->second};
  auto asked = ask(match, path, *checked.document, unseen, draft, requests);
  if (!asked)
    return pass_on(asked);
  Admission admission = std::move(*asked);
  admission.findings = complaints(match, admission, *checked.document);
  FlowRecord& record = draft.touch(match.flow);
  const bool puts = !admission.text.empty() && (admission.verdict == Admission::Verdict::restore ||
                                                admission.verdict == Admission::Verdict::merged);
  if (!checked.accepted() &&
      (!puts || !check_document(match, path, admission.text, ports_.schemas, limits_).accepted())) {
    reject(match, path, bytes.digest, checked.findings, draft);
    return {};
  }
  switch (admission.verdict) {
    case Admission::Verdict::accept:
      accept(match, path, checked.document, only_writer(record), draft);
      break;
    case Admission::Verdict::later:
      unsettled_.later(path, match.flow, bytes.digest, draft.now, admission.again);
      break;
    case Admission::Verdict::restore:
      if (!admission.text.empty())
        return restore(match, path, bytes, admission, draft);
      reject(match, path, bytes.digest, admission.findings, draft);
      break;
    case Admission::Verdict::merged: {
      DocumentCheck merged = check_document(match, path, admission.text, ports_.schemas, limits_);
      if (!merged.accepted()) {
        Findings findings = merged.findings;
        for (Finding& finding : findings)
          finding.message += " (of it with what baton had written, which its writer had not seen)";
        reject(match, path, bytes.digest, findings, draft);
        break;
      }
      if (admission.memo)
        draft.memo(record, *admission.memo);
      draft.write_over(record, path, bytes, admission.text, admission.why);
      accept(match, path, merged.document, "baton", draft);
      draft.event("merged", record.id, path + ": " + admission.why);
      break;
    }
  }
  return {};
}

void Intake::accept(const Catalog::Match& match, const std::string& path,
                    const std::shared_ptr<const Document>& document, const RunId& writer,
                    Draft& draft) {
  unsettled_.settled(path);
  (void)no_longer_rejected(match.flow, path, draft);
  FlowRecord& record = draft.touch(match.flow);
  draft.accept(record,
               AcceptedRow{path, match.flow, match.kind->kind, match.part, document->digest(),
                           ++draft.arrival, writer, true},
               document);
  // Lines that were appended together are one change.
  const auto log = draft.appended.find(path);
  const auto counted = appended_.find(path);
  if (log == draft.appended.end() || counted == appended_.end() || counted->second != log->second) {
    draft.changed.push_back(path);
    count_change(match, path, record, draft);
  }
  draft.event("accepted", match.flow,
              path + (writer.empty() || writer == "baton"
                          ? ""
                          : " (while run " + writer.substr(0, 8) + " was at work)"));
}

void Intake::count_change(const Catalog::Match& match, const std::string& path, FlowRecord& record,
                          Draft& draft) {
  const auto until = rate_breaker_.too_many(path, *match.kind, draft.now);
  if (!until)
    return;
  if (record.calm_at < draft.now)
    draft.event("rate_breaker", match.flow,
                path + " changed more than " + std::to_string(match.kind->breaker_changes) +
                    " times within " + duration_text(match.kind->breaker_window) +
                    "; nothing is started until it is calm");
  record.calm_at = std::max(record.calm_at, *until);
}

Result<void> Intake::restore(const Catalog::Match& match, const std::string& path,
                             const FileBytes& bytes, const Admission& admission, Draft& draft) {
  unsettled_.settled(path);
  FlowRecord& record = draft.touch(match.flow);
  const std::size_t before = rate_breaker_.restores(path, draft.now);
  draft.restored.push_back(path);
  draft.decide.insert(match.flow);
  // Two writers must not overwrite each other for ever. After a few restores baton pauses the flow,
  // and restores nothing more until a person resumes it. Two things end such a dispute, so each
  // allows one more restore: a write of baton's own gave way to this version, or its writer has
  // ended.
  const bool disputed =
      cause_of(record.control.control, record.control.reason).reason == Reason::write_conflict;
  const bool left = last_leaves(record, draft);
  // A writer ends only once, so that case needs no limit. Writes can give way again and again.
  const bool once_more = left || (draft.gave_way.contains(path) && before < 2 * kMaxRestores);
  if ((disputed || before >= kMaxRestores) && !once_more) {
    const std::string who = only_writer(record);
    const std::string why = path + " was put back " + std::to_string(kMaxRestores) +
                            " times within ten minutes and is written against the rules again" +
                            (who.empty() ? "" : ", while run " + who.substr(0, 8) + " is at work") +
                            ": " + admission.why;
    // Keep an operator's pause or stop: it needs a `resume` anyway.
    if (record.control.control == Control::run || record.control.control == Control::idle)
      draft.control(record, Control::pause, std::string(kWriteConflict), why);
    reject(match, path, bytes.digest, admission.findings, draft);
    return {};
  }
  if (disputed)
    draft.control(record, Control::pause, std::string(kWriteConflict),
                  path + " was put back " + std::to_string(kMaxRestores) +
                      " times within ten minutes, and once more when " +
                      (left ? "its writer had left: " : "a word was given: ") + admission.why);
  draft.write_over(record, path, bytes, admission.text, admission.why, Intent::Kind::restore);
  draft.event("restored", match.flow, path + ": " + admission.why);
  return {};
}

}  // namespace baton
