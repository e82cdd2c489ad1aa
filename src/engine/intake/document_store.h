#pragma once

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

/// What an accepted document of a flow is by the patterns as they are now, whatever it was when it
/// was accepted.
struct KindNow {
  /// False: the configuration looks for it no more, and it counts for nothing. Its row is kept.
  bool in_force = true;
  const FileKind* kind = nullptr;  ///< of the entry; nullptr: one that there is no more
  std::string part;
};
KindNow kind_now(const Catalog::Entry& entry, const FlowRecord& record, const AcceptedRow& row);

/// The parsed documents of flows, loaded from the journal's accepted bytes when a flow is looked
/// at. A parsed document costs about twenty times its text, so only what was used last is kept.
class DocumentStore {
 public:
  /// `keep_all`: nothing is ever dropped, for the journal is not written (a rehearsal).
  DocumentStore(Journal& journal, LoadLimits limits, bool keep_all);

  using Documents = std::map<std::string, std::shared_ptr<const Document>>;
  /// The documents of a flow as its book lists them, those in `fresh` (by path, not yet journalled)
  /// taken from there. A copy; documents are shared. Errc::io; Errc::parse with the path: that copy
  /// of the journal cannot be read as the configuration is now, which concerns this flow only.
  Result<FlowState> open(const FlowRecord& record, const Catalog::Entry& entry,
                         const Documents& fresh);
  /// One of them, also where it is not in force. Errors as of `open`.
  Result<std::shared_ptr<const Document>> document(const FlowRecord& record, const AcceptedRow& row,
                                                   const Catalog::Entry& entry,
                                                   const Documents& fresh);
  /// Remembers the documents of a flow after a step.
  void keep(const FlowId& flow, FlowState docs);
  void drop(const FlowId& flow);

 private:
  /// What was used last of the documents of flows, within a budget for their text.
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

  /// Without the journal; nullptr when it is nowhere at hand.
  std::shared_ptr<const Document> at_hand(const FlowId& flow, const AcceptedRow& row,
                                          const Documents& fresh) const;

  Journal& journal_;
  LoadLimits limits_;
  Shelves light_;
  /// YAML, which takes a hundred times the time to read and is what changes least.
  Shelves heavy_;
};

}  // namespace baton
