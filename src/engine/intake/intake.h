#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/intake/tree_scan.h"
#include "engine/intake/unsettled_files.h"
#include "engine/state/flow_record.h"
#include "engine/state/rate_breaker.h"

namespace baton {

/// From a path that may have changed to an accepted document, or to a finding: steps 1 to 5 of the
/// one path. Keeps only what makes looking patient: which files are being written right now.
class Intake {
 public:
  struct Ports {
    Disk& disk;
    DocumentStore& documents;
    Schemas& schemas;
  };
  Intake(Ports ports, const Catalog& catalog, const Environment& environment, LoadLimits limits);

  TreeScan& scan() { return scan_; }
  const TreeScan& scan() const { return scan_; }

  /// Looks at one path. Errc::io when the journal cannot give what it holds: nothing may be relied
  /// on.
  Result<void> look(const std::string& path, Draft& draft, const std::vector<Request>& requests);

  /// The root was away when a file was read: it is left as it was, and all of the root is to be
  /// looked at when it is back. Said once.
  std::optional<Error> away() { return std::exchange(away_, {}); }

  /// Waits for nothing of this path any more: whoever says so looks at it when it is time.
  void leave(const std::string& path) { unsettled_.settled(path); }

  /// Deals with a version that was written into a file baton had already exchanged: it is merged as
  /// the dialect says; where there is no such rule it is kept in the journal, and said. False: not
  /// yet, for the file is being written.
  Result<bool> late(const LateWrite& write, Draft& draft, const std::vector<Request>& requests);

  /// The step became true: what it changed counts. A step that is repeated, because the disk is
  /// full, counts once.
  void committed(const Draft& draft) {
    rate_breaker_.committed(draft, catalog_);
    compared_.insert(draft.compared.begin(), draft.compared.end());
  }
  /// Another configuration makes no look at a file the first one of this daemon.
  void follow(const Intake& former) { compared_ = former.compared_; }

  /// Paths to be looked at again by now: files that did not parse yet, or could not be read.
  std::vector<std::string> due(Time now) const { return unsettled_.due(now); }
  std::optional<Time> wake() const { return unsettled_.wake(); }
  bool unsettled() const { return !unsettled_.empty(); }
  /// A file could not be read for some time: descriptors or memory have run out.
  bool starved() const { return starved_; }
  /// Whether a file of the flow is among those that are looked at again.
  bool unsettled(const FlowId& flow) const { return unsettled_.waits(flow); }
  /// All those files, by their flows, for which nothing of the flow is started.
  std::map<FlowId, std::vector<std::string>> being_written(Time now) {
    return unsettled_.paths(now);
  }

 private:
  /// Says that once, as long as the file is there.
  void ignore(const std::string& path, Draft& draft);
  /// The verdict on a version that follows on the one accepted last.
  Result<DocumentCheck> check_after(const Catalog::Match& match, const std::string& path,
                                    std::string text, const Draft& draft);
  void not_read(const Catalog::Match& match, const std::string& path, const Error& error,
                Draft& draft);
  void gone(const Catalog::Match& match, const std::string& path, Draft& draft);
  void same(const Catalog::Match& match, const std::string& path, Draft& draft);
  void reject(const Catalog::Match& match, const std::string& path, const Digest& digest,
              const Findings& findings, Draft& draft);
  Result<Admission> ask(const Catalog::Match& match, const std::string& path, const Document& after,
                        std::optional<Unseen> unseen, Draft& draft,
                        const std::vector<Request>& requests);
  Result<void> admit(const Catalog::Match& match, const std::string& path, const FileBytes& bytes,
                     const DocumentCheck& checked, Draft& draft,
                     const std::vector<Request>& requests);
  void accept(const Catalog::Match& match, const std::string& path,
              const std::shared_ptr<const Document>& document, const RunId& writer, Draft& draft);
  Result<bool> merge_late(const Catalog::Match& match, const LateWrite& write,
                          const DocumentCheck& checked, Draft& draft,
                          const std::vector<Request>& requests);
  Result<void> restore(const Catalog::Match& match, const std::string& path, const FileBytes& bytes,
                       const Admission& admission, Draft& draft);
  /// The rate breaker: too many versions of one file within its window hold the flow.
  void count_change(const Catalog::Match& match, const std::string& path, FlowRecord& record,
                    Draft& draft);
  /// A file that was gone is there again, though not as it can be used.
  static void note_presence(const FlowId& flow, const std::string& path, Draft& draft);
  /// A file that is gone, or as it was accepted last: whether a version of it was rejected.
  static bool no_longer_rejected(const FlowId& flow, const std::string& path, Draft& draft);
  /// The version the flow has accepted last. nullptr: there is none, or it cannot be read.
  Result<std::shared_ptr<const Document>> before(const Catalog::Match& match,
                                                 const std::string& path, const Draft& draft);

  Ports ports_;
  const Catalog& catalog_;
  const Environment& environment_;
  LoadLimits limits_;
  TreeScan scan_;
  UnsettledFiles unsettled_;
  bool starved_ = false;
  std::optional<Error> away_;
  std::set<std::string> compared_;  ///< files that were compared with what is in force
  RateBreaker rate_breaker_;
};

}  // namespace baton
