// SPDX-License-Identifier: Apache-2.0
#include "engine/recovery.h"

#include <algorithm>
#include <utility>

#include "base/gzip.h"

namespace baton {

/// Fails if the file is there and in force, or if baton cannot replace what stands in its place.
Result<void> Recovery::needed(const std::string& path, const FlowRecord& record) {
  const auto there = ports_.disk.read(path, setup_.load.max_bytes);
  const auto row = record.accepted.find(path);
  if (there && row != record.accepted.end() && row->second.digest == there->digest)
    return fail(Errc::usage, path + " is there and in force; nothing is to be recovered");
  if (!there && there.error().code == Errc::away)
    return tl::unexpected(there.error());
  if (!there && there.error().code != Errc::not_found)
    return fail(Errc::usage,
                "what stands in the place cannot be replaced: " + describe(there.error()));
  return {};
}

/// The text in a backup, decrypted if needed.
Result<std::string> Recovery::backup(const BackupPlan& plan, const std::string& path) const {
  auto there = ports_.disk.read(path, setup_.load.max_bytes);
  if (!there)
    return pass_on(there);
  if (!backup_filtered(path))
    return gunzip(there->bytes, setup_.load.max_bytes);
  if (plan.undo.empty() || !setup_.filter)
    return fail(Errc::config, setup_.filter
                                  ? "it is encrypted, and `decrypt` is not configured"
                                  : "it is encrypted, and only the daemon's user may run what "
                                    "decrypts it");
  const auto bytes = setup_.filter(plan.undo, there->bytes)(true);
  if (!bytes || !*bytes)
    return bytes ? *bytes : fail(Errc::io, "its program has not ended");
  return gunzip(**bytes, setup_.load.max_bytes);
}

/// Adds the backups of the flow to `docs`; an unreadable backup gets no document. Returns which
/// ones cannot be read, and why.
std::string Recovery::add_backups(const FlowId& flow, const Catalog::Entry& entry,
                                  FlowState& docs) {
  std::string damaged;
  bool hangs = false;  // the decryption program does not end: wait for it only once
  if (entry.dialect->backups == nullptr)
    return damaged;
  const BackupPlan plan = entry.dialect->backups(entry.options);
  const auto files = ports_.disk.list(backup_folder(plan, flow.name), 0);
  for (const FileEntry& file : files ? *files : std::vector<FileEntry>()) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (!backup_time(name))
      continue;
    std::string fault;
    auto text = hangs && backup_filtered(file.path)
                    ? fail(Errc::busy, "it was not tried: `decrypt` does not end")
                    : backup(plan, file.path);
    hangs = hangs || (!text && text.error().code == Errc::busy);
    if (!text)
      fault = text.error().message;
    else if (auto document = load_document(*std::move(text), Format::json, setup_.load); !document)
      fault = document.error().findings.empty() ? "not JSON"
                                                : document.error().findings.front().message;
    else
      docs[file.path] = Accepted{*std::move(document), "backup", name, 0, {}, true, {}};
    if (fault.empty())
      continue;
    docs[file.path] = Accepted{nullptr, "backup", name, 0, {}, true, {}};
    damaged += "; " + file.path + " cannot be used: " + fault;
  }
  return damaged;
}

namespace {

/// The last accepted versions of files that have gone or hold a version that was rejected.
std::vector<Create> last_good(const FlowRecord& record, const Catalog::Entry& entry,
                              const FlowState& docs) {
  std::vector<Create> candidates;
  const auto add = [&](const std::string& path, const AcceptedRow& row, bool broken) {
    const FileKind* const kind = kind_now(entry, record, row).kind;
    if (kind == nullptr)
      return;
    // What a flow can do without, or has many of, may have been removed on purpose.
    const bool needed = kind->essential && kind->pattern.find("{part}") == std::string::npos;
    // Of a log only lines are in force, and they are not the file.
    if (kind->format == Format::jsonl || !(broken || needed))
      return;
    if (const auto accepted = docs.find(path);
        accepted != docs.end() && accepted->second.document != nullptr)
      candidates.push_back(Create{.path = path,
                                  .text = std::string(accepted->second.document->text()),
                                  .why = "from its last accepted version"});
  };
  // What is broken keeps the flow from going on, so it comes first.
  for (const auto& [path, row] : record.accepted)
    if (record.rejected.contains(path))
      add(path, row, true);
  for (const auto& [path, row] : record.accepted)
    if (!row.present && !record.rejected.contains(path))
      add(path, row, false);
  return candidates;
}

}  // namespace

Result<Rebuilt> Recovery::rebuilt(const FlowRecord& record, const DocumentStore::Documents& fresh,
                                  Time now, Time wall) {
  const Catalog::Entry* const entry = catalog_.entry(record.id.dialect);
  if (entry == nullptr)
    return fail(Errc::usage, "the configuration has no dialect " + record.id.dialect);
  auto docs = ports_.documents.open(record, *entry, fresh);
  if (!docs)
    return pass_on(docs);
  std::vector<Create> candidates;
  std::string faults;
  std::string in_force;
  if (entry->dialect->rebuild != nullptr) {
    faults = add_backups(record.id, *entry, *docs);
    const std::vector<Request> none;
    const View view{record.id, *docs,          record.stages,      record.runs, record.memo,
                    none,      entry->options, setup_.environment, now,         wall};
    candidates = entry->dialect->rebuild(view);
  }
  for (Create& candidate : last_good(record, *entry, *docs))
    candidates.push_back(std::move(candidate));
  for (Create& candidate : candidates) {
    const auto match = catalog_.match(candidate.path);
    if (!match || match->flow != record.id)
      continue;
    if (auto asked = needed(candidate.path, record); !asked) {
      if (asked.error().code != Errc::usage)
        return pass_on(asked);
      if (in_force.empty())
        in_force = asked.error().message;
      continue;
    }
    DocumentCheck checked =
        check_document(*match, candidate.path, candidate.text, ports_.schemas, setup_.load);
    if (checked.accepted())
      return Rebuilt{candidate.path, std::move(candidate.text), candidate.why + faults,
                     std::move(checked.document)};
    const auto first =
        std::find_if(checked.findings.begin(), checked.findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::error; });
    if (first != checked.findings.end())
      faults += "; " + candidate.why + ": " + first->pointer + ": " + first->message;
  }
  if (!in_force.empty())
    return fail(Errc::usage, in_force);
  const bool broken = std::any_of(record.accepted.begin(), record.accepted.end(),
                                  [](const auto& row) { return !row.second.present; }) ||
                      !record.rejected.empty() || record.accepted.empty();
  return fail(Errc::usage, broken || entry->dialect->rebuild != nullptr
                               ? "there is nothing left to rebuild it from" + faults
                               : "its files are there and in force; nothing is to be recovered");
}

Result<Reply> Recovery::perform(const Request& request, Draft& draft) {
  const auto refuse = [&](std::string why) { return Reply{request.id, false, std::move(why)}; };
  if (draft.find(request.flow) == nullptr)
    return refuse("there is no flow " + text(request.flow) + "; `baton status` lists them");
  FlowRecord& record = draft.touch(request.flow);
  if (record.live())
    return refuse("agents of it are running; `baton stop " + text(record.id) + "` first");
  auto found = rebuilt(record, draft.documents, draft.now, draft.wall);
  if (!found && found.error().code == Errc::io)
    return pass_on(found);
  if (!found)
    return refuse(found.error().message);
  const auto match = catalog_.match(found->path);
  if (const auto there = ports_.disk.read(found->path, setup_.load.max_bytes)) {
    draft.write_over(record, found->path, *there, found->text, found->why);
  } else {
    Intent fresh;
    fresh.kind = Intent::Kind::create;
    fresh.path = found->path;
    fresh.after = digest_of(found->text);
    fresh.bytes = found->text;
    fresh.flow = record.id;
    fresh.why = found->why;
    draft.plan_write(std::move(fresh));
  }
  draft.accept(record,
               AcceptedRow{found->path, record.id, match->kind->kind, match->part,
                           found->document->digest(), ++draft.arrival, "baton", true},
               found->document);
  const std::string done = found->path + " was rebuilt " + found->why;
  draft.event("recovered", record.id, done);
  return Reply{request.id, true, done};
}

}  // namespace baton
