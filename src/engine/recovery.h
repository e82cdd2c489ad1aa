// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rebuilds a flow's document that is gone or damaged, for the request `recover`. The dialect may
// propose candidates from backups and from what else is known; then come the last accepted versions
// of all its files. The first valid one wins.
// It does not replace a file whose present version is in force, and it rebuilds nothing while
// agents of the flow run. The write itself is planned in the draft like any other write.

#include <string>

#include "config/setup.h"
#include "core/catalog.h"
#include "core/event.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/state/flow_record.h"

namespace baton {

/// A rebuilt document. It is valid and may take the place of the lost one.
struct Rebuilt {
  std::string path;
  std::string text;
  std::string why;  ///< from what it was rebuilt, and which sources cannot be used
  std::shared_ptr<const Document> document;
};

/// Handles the request `recover` for one flow.
class Recovery {
 public:
  struct Ports {
    Disk& disk;
    DocumentStore& documents;
    Schemas& schemas;
  };
  Recovery(Ports ports, const Catalog& catalog, const Setup& setup)
      : ports_(ports), catalog_(catalog), setup_(setup) {}

  /// What `perform` would write; writes nothing. Errc::io: the journal cannot be read. Any other
  /// error says why baton cannot or need not rebuild the document.
  Result<Rebuilt> rebuilt(const FlowRecord& record, const DocumentStore::Documents& fresh, Time now,
                          Time wall);
  /// Plans the write. Errc::io as above; the reply names any other obstacle.
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
