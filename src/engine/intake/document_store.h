// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads the accepted documents of flows from the journal and keeps the parsed ones that were used
// last. A parsed document takes about twenty times the memory of its text, so it cannot keep all.
// It never reads the files of the root: what is in force is in the journal. It also says what kind
// a document has by the configuration in force.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/json/document.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What an accepted document is by the configuration in force. It may have had another kind when it
/// was accepted.
struct KindNow {
  /// False: the flow has no such document by the configuration any more, so its dialect does not
  /// see it. The journal keeps the row.
  bool in_force = true;
  const FileKind* kind = nullptr;  ///< in the entry; nullptr: the kind no longer exists
  std::string part;
};
KindNow kind_now(const Catalog::Entry& entry, const FlowRecord& record, const AcceptedRow& row);

/// The parsed documents of all flows of a root, loaded when they are needed.
class DocumentStore {
 public:
  /// `keep_all`: never drops a document. A rehearsal needs that, because it writes no journal from
  /// which a document could be loaded again.
  DocumentStore(Journal& journal, LoadLimits limits, bool keep_all);

  using Documents = std::map<std::string, std::shared_ptr<const Document>>;
  /// The documents of a flow as its record lists them. Those in `fresh` (by path) are not in the
  /// journal yet and come from there. The result is a copy that shares the documents.
  /// Errc::io: the journal cannot be read. Errc::parse with the path: the journal has no usable
  /// copy of that file. This concerns only this flow.
  Result<FlowState> open(const FlowRecord& record, const Catalog::Entry& entry,
                         const Documents& fresh);
  /// One document, even if it is not in force. Errors as for `open`.
  Result<std::shared_ptr<const Document>> document(const FlowRecord& record, const AcceptedRow& row,
                                                   const Catalog::Entry& entry,
                                                   const Documents& fresh);
  /// As Journal::was_accepted.
  Result<bool> was_accepted(const std::string& path, const Digest& digest) {
    return journal_.was_accepted(path, digest);
  }
  /// Keeps the documents of a flow in memory after a decision.
  void keep(const FlowId& flow, FlowState docs);
  void drop(const FlowId& flow);

 private:
  /// The documents of the flows used last, within a budget of bytes of text.
  class Shelves {
   public:
    explicit Shelves(std::size_t budget) : budget_(budget) {}
    const Accepted* find(const FlowId& flow, const std::string& path) const;
    void keep(const FlowId& flow, FlowState docs);
    void drop(const FlowId& flow);

   private:
    struct Shelf {
      FlowState docs;
      std::uint64_t used = 0;
      std::size_t bytes = 0;
    };
    std::size_t budget_;
    std::map<FlowId, Shelf> shelves_;
    std::map<std::uint64_t, FlowId> by_use_;
    std::uint64_t clock_ = 0;
    std::size_t bytes_ = 0;
  };

  /// The document without a look into the journal; nullptr if it is not in memory.
  std::shared_ptr<const Document> at_hand(const FlowId& flow, const AcceptedRow& row,
                                          const Documents& fresh) const;

  Journal& journal_;
  LoadLimits limits_;
  Shelves light_;
  /// YAML has its own budget, because it takes a hundred times as long to parse and changes least.
  Shelves heavy_;
};

}  // namespace baton
