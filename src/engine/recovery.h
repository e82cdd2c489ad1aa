#pragma once

#include <string>
#include <vector>

#include "config/setup.h"
#include "core/catalog.h"
#include "core/event.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/state/flow_record.h"

namespace baton {

/// A main document that was rebuilt, and may stand where the lost one stood.
struct Rebuilt {
  std::string path;
  std::string text;
  std::string why;  ///< from what
  std::shared_ptr<const Document> document;
};

/// The request `recover`: a flow's main document that is gone or damaged is rebuilt by its dialect
/// from what is left.
class Recovery {
 public:
  struct Ports {
    Disk& disk;
    DocumentStore& documents;
    Schemas& schemas;
  };
  Recovery(Ports ports, const Catalog& catalog, const Setup& setup)
      : ports_(ports), catalog_(catalog), setup_(setup) {}

  /// What would be written; nothing is. Errc::usage: why there is nothing to rebuild, or not yet.
  /// Errc::io: the journal cannot give what it holds.
  Result<Rebuilt> rebuilt(const FlowRecord& record, const DocumentStore::Documents& fresh, Time now,
                          Time wall);
  /// Plans to write it. Errc::io as above; everything else is in the reply.
  Result<Reply> perform(const Request& request, Draft& draft);

 private:
  Result<void> needed(const std::string& path, const FlowRecord& record);
  std::string add_backups(const FlowId& flow, const Catalog::Entry& entry, FlowState& docs);
  Result<std::string> backup(const BackupPlan& plan, const std::string& path) const;

  Ports ports_;
  const Catalog& catalog_;
  const Setup& setup_;
};

}  // namespace baton
