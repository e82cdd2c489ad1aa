#include "app/library.h"

#include <algorithm>
#include <utility>

namespace baton {
namespace {

constexpr std::size_t kMaxTextBytes = 128U << 10U;

Format format_of(const Catalog::Entry& entry, const std::string& kind) {
  const auto found = std::find_if(entry.kinds.begin(), entry.kinds.end(),
                                  [&](const FileKind& k) { return k.kind == kind; });
  return found == entry.kinds.end() ? Format::json : found->format;
}

}  // namespace

Result<FlowState> Library::open(const FlowBook& book, const Catalog::Entry& entry,
                                const Documents& fresh) {
  const auto shelf = shelves_.find(book.id);
  FlowState docs;
  for (const auto& [path, row] : book.accepted) {
    Accepted accepted{nullptr, row.kind, row.part, row.arrival, row.writer, row.present, {}};
    if (const auto newer = book.rejected.find(path); newer != book.rejected.end())
      accepted.rejected = newer->second.findings;
    if (const auto given = fresh.find(path);
        given != fresh.end() && given->second->digest() == row.digest) {
      accepted.document = given->second;
    } else if (shelf != shelves_.end()) {
      const auto known = shelf->second.docs.find(path);
      if (known != shelf->second.docs.end() && known->second.document->digest() == row.digest)
        accepted.document = known->second.document;
    }
    if (accepted.document == nullptr) {
      auto bytes = journal_.bytes(path);
      if (!bytes)
        return pass_on(bytes);
      auto document = load_document(std::move(*bytes), format_of(entry, row.kind), limits_);
      if (!document)
        return fail(Errc::io, "the journal's copy cannot be read any more", path);
      accepted.document = std::move(*document);
    }
    docs.emplace(path, std::move(accepted));
  }
  return docs;
}

void Library::keep(const FlowId& flow, FlowState docs) {
  drop(flow);
  Shelf shelf{std::move(docs), ++clock_, 0};
  for (const auto& [path, accepted] : shelf.docs)
    shelf.bytes += accepted.document->text().size();
  bytes_ += shelf.bytes;
  shelves_.emplace(flow, std::move(shelf));
  trim();
}

void Library::drop(const FlowId& flow) {
  const auto found = shelves_.find(flow);
  if (found == shelves_.end())
    return;
  bytes_ -= found->second.bytes;
  shelves_.erase(found);
}

void Library::trim() {
  while (!keep_all_ && bytes_ > kMaxTextBytes && !shelves_.empty()) {
    const auto oldest = std::min_element(
        shelves_.begin(), shelves_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    bytes_ -= oldest->second.bytes;
    shelves_.erase(oldest);
  }
}

}  // namespace baton
