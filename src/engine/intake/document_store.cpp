// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/document_store.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace baton {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLightBytes = 128U << 10U;
constexpr std::size_t kHeavyBytes = 1U << 20U;

/// How to parse the journal's copy of a file. The path decides before the kind, by the patterns and
/// then by its extension. The kind alone is not enough: a rule may have files of several formats,
/// and it may have changed or gone since.
Format format_of(const Catalog::Entry& entry, const AcceptedRow& row) {
  const std::string& path = row.path;
  for (const FileKind& kind : entry.kinds)
    if (match_pattern(kind.pattern, path, kind.names))
      return kind.format;
  if (path.ends_with(".yaml") || path.ends_with(".yml"))
    return Format::yaml;
  if (path.ends_with(".jsonl"))
    return Format::jsonl;
  const auto found = std::find_if(entry.kinds.begin(), entry.kinds.end(),
                                  [&](const FileKind& kind) { return kind.kind == row.kind; });
  return path.ends_with(".json") || found == entry.kinds.end() ? Format::json : found->format;
}

std::optional<Catalog::Match> match_of(const Catalog::Entry& entry, const FlowId& flow,
                                       const std::string& path) {
  auto match = Catalog::match_in(entry, path);
  return match && match->flow == flow ? match : std::nullopt;
}

/// Whether some rule in force still makes flows of this name. If none does, the documents of the
/// flow stay as they are.
bool is_looked_for(const Catalog::Entry& entry, const FlowId& flow) {
  return std::any_of(entry.kinds.begin(), entry.kinds.end(), [&](const FileKind& kind) {
    return match_pattern(kind.flow, flow.name, kind.names).has_value();
  });
}

}  // namespace

KindNow kind_now(const Catalog::Entry& entry, const FlowRecord& record, const AcceptedRow& row) {
  if (const auto match = match_of(entry, record.id, row.path))
    return {true, match->kind, match->part};
  const auto kind = std::find_if(entry.kinds.begin(), entry.kinds.end(),
                                 [&](const FileKind& each) { return each.kind == row.kind; });
  const bool known = kind != entry.kinds.end();
  KindNow as_it_was{true, known ? &*kind : nullptr, row.part};
  if (!is_looked_for(entry, record.id))
    return as_it_was;
  // New patterns may be a slip that is corrected soon. So a document stays in force until another
  // document takes its place. If its kind has several patterns, the other document may belong to
  // another pattern, so a document that is present stays, too.
  const bool one_pattern =
      std::count_if(entry.kinds.begin(), entry.kinds.end(),
                    [&](const FileKind& each) { return each.kind == row.kind; }) == 1;
  const bool replaced =
      std::any_of(record.accepted.begin(), record.accepted.end(), [&](const auto& other) {
        const auto match = match_of(entry, record.id, other.first);
        return match && match->kind->kind == row.kind && match->part == row.part;
      });
  if (known && (!replaced || (row.present && !one_pattern)))
    return as_it_was;
  return {false, nullptr, {}};
}

DocumentStore::DocumentStore(Journal& journal, LoadLimits limits, bool keep_all)
    : journal_(journal),
      limits_(limits),
      light_(keep_all ? kNoLimit : kLightBytes),
      heavy_(keep_all ? kNoLimit : kHeavyBytes) {}

std::shared_ptr<const Document> DocumentStore::at_hand(const FlowId& flow, const AcceptedRow& row,
                                                       const Documents& fresh) const {
  const auto given = fresh.find(row.path);
  if (given != fresh.end() && given->second->digest() == row.digest)
    return given->second;
  for (const Shelves* const shelves : {&light_, &heavy_})
    if (const Accepted* const known = shelves->find(flow, row.path);
        known != nullptr && known->document->digest() == row.digest)
      return known->document;
  return nullptr;
}

Result<std::shared_ptr<const Document>> DocumentStore::document(const FlowRecord& record,
                                                                const AcceptedRow& row,
                                                                const Catalog::Entry& entry,
                                                                const Documents& fresh) {
  if (auto known = at_hand(record.id, row, fresh); known != nullptr)
    return known;
  auto bytes = journal_.bytes(row.path);
  if (!bytes && bytes.error().code != Errc::not_found)
    return pass_on(bytes);
  // The journal may have another version than the record. It must not pass as the accepted one.
  if (!bytes || digest_of(*bytes) != row.digest)
    return fail(Errc::parse, "what was accepted of it last is not in the journal", row.path);
  auto document = load_document(std::move(*bytes), format_of(entry, row), limits_);
  if (!document)
    return fail(Errc::parse, "what was accepted of it last cannot be read any more", row.path);
  return std::move(*document);
}

Result<FlowState> DocumentStore::open(const FlowRecord& record, const Catalog::Entry& entry,
                                      const Documents& fresh) {
  FlowState docs;
  for (const auto& [path, row] : record.accepted) {
    const KindNow now = kind_now(entry, record, row);
    if (!now.in_force)
      continue;
    Accepted accepted{nullptr,    now.kind == nullptr ? row.kind : now.kind->kind,
                      now.part,   row.arrival,
                      row.writer, row.present,
                      {}};
    if (const auto newer = record.rejected.find(path); newer != record.rejected.end())
      accepted.rejected = newer->second.findings;
    auto known = document(record, row, entry, fresh);
    if (!known)
      return pass_on(known);
    accepted.document = *std::move(known);
    docs.emplace(path, std::move(accepted));
  }
  return docs;
}

void DocumentStore::keep(const FlowId& flow, FlowState docs) {
  FlowState heavy;
  for (auto at = docs.begin(); at != docs.end();) {
    const auto next = std::next(at);
    if (at->second.document->format() == Format::yaml)
      heavy.insert(docs.extract(at));
    at = next;
  }
  light_.keep(flow, std::move(docs));
  heavy_.keep(flow, std::move(heavy));
}

void DocumentStore::drop(const FlowId& flow) {
  light_.drop(flow);
  heavy_.drop(flow);
}

const Accepted* DocumentStore::Shelves::find(const FlowId& flow, const std::string& path) const {
  const auto shelf = shelves_.find(flow);
  if (shelf == shelves_.end())
    return nullptr;
  const auto found = shelf->second.docs.find(path);
  return found == shelf->second.docs.end() ? nullptr : &found->second;
}

void DocumentStore::Shelves::keep(const FlowId& flow, FlowState docs) {
  drop(flow);
  if (docs.empty())
    return;
  Shelf shelf{std::move(docs), ++clock_, 0};
  for (const auto& [path, accepted] : shelf.docs)
    shelf.bytes += accepted.document->text().size();
  bytes_ += shelf.bytes;
  by_use_.emplace(shelf.used, flow);
  shelves_.emplace(flow, std::move(shelf));
  while (bytes_ > budget_ && !by_use_.empty())
    drop(FlowId(by_use_.begin()->second));
}

void DocumentStore::Shelves::drop(const FlowId& flow) {
  const auto found = shelves_.find(flow);
  if (found == shelves_.end())
    return;
  bytes_ -= found->second.bytes;
  by_use_.erase(found->second.used);
  shelves_.erase(found);
}

}  // namespace baton
