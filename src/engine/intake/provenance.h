// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a version of a file comes from, as far as that decides whether it counts: it is a copy of
// another file, or git put an earlier version back. The names of copies are in
// core/ignored_names.h.

#include <optional>
#include <string>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_store.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What git has to do with a version of a known file.
enum class Reverted {
  no,
  wait,    ///< git is still at work
  yes,     ///< git put back an earlier version
  undone,  ///< the version that stood there before git put back an earlier one is there again
};

/// Asks the disk and the journal. It changes nothing but the draft. Errors are those of the
/// journal.
class Provenance {
 public:
  Provenance(Disk& disk, DocumentStore& documents, std::size_t max_bytes, bool act_on_reverted)
      : disk_(disk),
        documents_(documents),
        max_bytes_(max_bytes),
        act_on_reverted_(act_on_reverted) {}

  /// Whether the file is ignored as a copy of another one.
  Result<bool> is_copy(const Catalog::Match& match, const std::string& path, const Digest& digest,
                       const Draft& draft);
  /// The same for a log, of which only the end is compared.
  Result<bool> is_copy_of_log(const Catalog::Match& match, const std::string& path,
                              const FileBytes& there, const Draft& draft);
  /// Reverted::wait only with `may_wait`.
  Result<Reverted> reverted(const Catalog::Match& match, const std::string& path,
                            const Digest& digest, const Draft& draft, bool may_wait);
  /// Notes that the file is, or is no longer, in a version that git put back.
  static void note_reverted(const FlowId& flow, const std::string& path, Reverted reverted,
                            Draft& draft);

 private:
  Disk& disk_;
  DocumentStore& documents_;
  std::size_t max_bytes_;
  bool act_on_reverted_;
};

}  // namespace baton
