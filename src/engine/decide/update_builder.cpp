// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/update_builder.h"

#include <utility>

#include "base/gzip.h"
#include "base/json/json.h"

namespace baton {
namespace {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

}  // namespace

UpdateBuilder::Applied UpdateBuilder::apply(FlowRecord& record, FlowState& docs,
                                            const std::vector<Update>& updates, Draft& draft) {
  Applied all;
  for (const Update& update : updates) {
    auto applied = apply_one(record, docs, update, draft);
    if (applied)
      ++all.made;
    else if (!all.refused)
      all.refused = std::move(applied.error());
  }
  return all;
}

UpdateBuilder::Applied UpdateBuilder::tried(const FlowRecord& record, const FlowState& docs,
                                            const std::vector<Update>& updates,
                                            const Draft& draft) {
  Draft trial = draft.trial(record.id);
  FlowState copies = docs;
  return apply(trial.touch(record.id), copies, updates, trial);
}

std::string UpdateBuilder::describe_refusal(const Error& refused) {
  return "a write of baton's own was refused: " + describe(refused);
}

Result<void> UpdateBuilder::put(FlowRecord& record, FlowState& docs, const std::string& path,
                                std::string text, Draft& draft) {
  const auto match = catalog_.match(path);
  const bool own = match && match->flow == record.id;
  if (!own && record.accepted.contains(path))
    return fail(Errc::config, "it is no file of this flow any more, by the configuration", path);
  if (!own || !match->kind->kept)
    return {};  // baton never reads such a file back: a log, an archive
  DocumentCheck checked = check_document(*match, path, std::move(text), schemas_, setup_.load);
  if (!checked.accepted())
    return fail(Errc::schema,
                checked.findings.empty() ? "not acceptable" : checked.findings.front().message,
                path);
  const AcceptedRow row{path,
                        record.id,
                        match->kind->kind,
                        match->part,
                        checked.document->digest(),
                        ++draft.arrival,
                        "baton",
                        true};
  docs[path] = Accepted{checked.document, row.kind, row.part, row.arrival, row.writer, true};
  draft.accept(record, row, checked.document);
  return {};
}

namespace {

Intent intent_of(Intent::Kind kind, const FlowRecord& record, const std::string& path,
                 std::string bytes, const std::string& why) {
  Intent intent;
  intent.kind = kind;
  intent.path = path;
  if (kind != Intent::Kind::append)
    intent.after = digest_of(bytes);
  intent.bytes = std::move(bytes);
  intent.flow = record.id;
  intent.why = why;
  return intent;
}

const Document* document_at(const FlowState& docs, const std::string& path) {
  const auto found = docs.find(path);
  return found == docs.end() ? nullptr : found->second.document.get();
}

}  // namespace

Result<void> UpdateBuilder::replace(FlowRecord& record, FlowState& docs, const Replace& update,
                                    Draft& draft) {
  const Document* const now = document_at(docs, update.path);
  if (now == nullptr || now->digest() != update.assumes)
    return fail(Errc::changed, "the file is not what the update assumes", update.path);
  if (now->text() == update.text)
    return {};
  if (auto done = put(record, docs, update.path, update.text, draft); !done)
    return done;
  Intent intent = intent_of(Intent::Kind::replace, record, update.path, update.text, update.why);
  intent.assumes = update.assumes;
  draft.plan_write(std::move(intent));
  return {};
}

Result<void> UpdateBuilder::set(FlowRecord& record, FlowState& docs, const SetMembers& update,
                                Draft& draft) {
  const Document* const now = document_at(docs, update.path);
  if (now == nullptr)
    return fail(Errc::changed, "there is no such document", update.path);
  auto text = json::splice(now->text(), update.edits);
  if (!text)
    return pass_on(text);
  return replace(record, docs, Replace{update.path, update.assumes, std::move(*text), update.why},
                 draft);
}

Result<void> UpdateBuilder::append(FlowRecord& record, FlowState& docs, const Append& update,
                                   Draft& draft) {
  const Document* const now = document_at(docs, update.path);
  const std::string before = now == nullptr ? std::string() : now->text();
  if (auto done = put(record, docs, update.path, before + update.text, draft); !done)
    return done;
  Intent intent = intent_of(Intent::Kind::append, record, update.path, update.text, update.why);
  intent.assumes_bytes = update.assumes_bytes;
  if (const auto match = catalog_.match(update.path))
    intent.rotate_above = match->kind->rotate_above_bytes;
  draft.plan_write(std::move(intent));
  return {};
}

Result<void> UpdateBuilder::create(FlowRecord& record, FlowState& docs, const Create& update,
                                   Draft& draft) {
  if (const auto there = docs.find(update.path); there != docs.end() && there->second.present)
    return fail(Errc::changed, "the file exists already", update.path);
  if (auto done = put(record, docs, update.path, update.text, draft); !done)
    return done;
  Intent intent = intent_of(Intent::Kind::create, record, update.path, update.text, update.why);
  intent.vital = update.vital;
  draft.plan_write(std::move(intent));
  return {};
}

void UpdateBuilder::back_up(const FlowRecord& record, const Backup& update, Draft& draft) const {
  if (setup_.rehearsal)
    return;
  const Catalog::Entry& entry = *catalog_.entry(record.id.dialect);
  auto bytes = gzip(update.text);
  if (!bytes)
    return draft.event("not_written", record.id,
                       update.path + " (" + update.why + "): " + describe(bytes.error()));
  const bool plain = entry.dialect->backups(entry.options).filter.empty();
  Intent intent = intent_of(plain ? Intent::Kind::create : Intent::Kind::backup, record,
                            update.path, *std::move(bytes), update.why);
  intent.vital = false;
  draft.plan_write(std::move(intent));
}

Result<void> UpdateBuilder::apply_one(FlowRecord& record, FlowState& docs, const Update& update,
                                      Draft& draft) {
  return std::visit(Overload{
                        [&](const SetMembers& some) { return set(record, docs, some, draft); },
                        [&](const Replace& whole) { return replace(record, docs, whole, draft); },
                        [&](const Append& lines) { return append(record, docs, lines, draft); },
                        [&](const Create& fresh) { return create(record, docs, fresh, draft); },
                        [&](const Move& moved) { return move(record, docs, moved, draft); },
                        [&](const Backup& copy) {
                          back_up(record, copy, draft);
                          return Result<void>();
                        },
                    },
                    update);
}

Result<void> UpdateBuilder::move(FlowRecord& record, FlowState& docs, const Move& update,
                                 Draft& draft) {
  Intent intent;
  intent.kind = Intent::Kind::move;
  intent.path = update.from;
  intent.assumes = update.assumes;
  intent.after = update.assumes;
  intent.to = update.to;
  intent.flow = record.id;
  intent.why = update.why;
  draft.plan_write(std::move(intent));
  // The dialect may move a rejected version out of the way, with or without an accepted one.
  const auto bad = record.rejected.find(update.from);
  const bool as_rejected = bad != record.rejected.end() && bad->second.digest == update.assumes;
  if (bad != record.rejected.end()) {
    record.rejected.erase(bad);
    draft.commit.no_longer_rejected.push_back(update.from);
  }
  const auto found = docs.find(update.from);
  if (found == docs.end())
    return {};
  if (as_rejected) {
    docs.erase(found);
    draft.move_away(record, update.from);
    return {};
  }
  std::string text = found->second.document->text();
  docs.erase(found);
  draft.move_away(record, update.from);
  return put(record, docs, update.to, std::move(text), draft);
}

}  // namespace baton
