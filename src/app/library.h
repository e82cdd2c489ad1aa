#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "app/book.h"
#include "app/judge.h"
#include "base/document.h"
#include "core/ports.h"

namespace baton {

/// The parsed documents of flows, loaded from the journal's accepted bytes when a flow is looked
/// at. A parsed document costs about twenty times its text, so only what was used last is kept.
class Library {
 public:
  /// `keep_all`: nothing is ever dropped, for the journal is not written (a rehearsal).
  Library(Journal& journal, LoadLimits limits, bool keep_all)
      : journal_(journal), limits_(limits), keep_all_(keep_all) {}

  using Documents = std::map<std::string, std::shared_ptr<const Document>>;
  /// The documents of a flow as its book lists them, those in `fresh` (by path, not yet journalled)
  /// taken from there. A copy; documents are shared. Errc::io.
  Result<FlowState> open(const FlowBook& book, const Catalog::Entry& entry, const Documents& fresh);
  /// Remembers the documents of a flow after a step.
  void keep(const FlowId& flow, FlowState docs);
  void drop(const FlowId& flow);

 private:
  struct Shelf {
    FlowState docs;
    std::uint64_t used = 0;
    std::size_t bytes = 0;
  };
  void trim();
  Journal& journal_;
  LoadLimits limits_;
  bool keep_all_;
  std::map<FlowId, Shelf> shelves_;
  std::uint64_t clock_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace baton
