// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a path that may have changed to an accepted document or a finding: steps 1 to 4 of the one
// path in src/README.md. Intake reads, checks and admits one file at a time.
// It remembers only what a look needs: which files may still be being written, which versions it
// has read, and how often files change. What follows from a document is decided in engine/decide.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/intake/judged_texts.h"
#include "engine/intake/log_reader.h"
#include "engine/intake/provenance.h"
#include "engine/intake/renamed_files.h"
#include "engine/intake/size_ceiling.h"
#include "engine/intake/tree_scan.h"
#include "engine/intake/unsettled_files.h"
#include "engine/state/flow_record.h"
#include "engine/state/rate_breaker.h"

namespace baton {

/// How many bytes of text JudgedTexts keeps. The documents take up to twenty times as much memory.
inline constexpr std::size_t kJudgedBytes = 4U << 20U;

/// The probable writer: the flow's only live run, or "" if there is none or several. It is a guess,
/// because people and other programs write, too, and a file does not say who wrote it.
RunId only_writer(const FlowRecord& record);

/// Call `look` for each path, and `committed` after the commit of the step.
class Intake {
 public:
  struct Ports {
    Disk& disk;
    DocumentStore& documents;
    Schemas& schemas;
  };
  Intake(Ports ports, const Catalog& catalog, const Environment& environment, LoadLimits limits,
         const SizeLimits& sizes, bool act_on_reverted);

  TreeScan& scan() { return scan_; }
  const TreeScan& scan() const { return scan_; }

  /// Looks at one path. Errc::io: the journal cannot be read, so the state is unknown.
  Result<void> look(const std::string& path, Draft& draft, const std::vector<Request>& requests);

  /// The error if the root was unavailable when baton read a file. Such a file keeps its state, and
  /// baton looks at the whole root when it is back. The call clears the error.
  std::optional<Error> away() { return std::exchange(away_, {}); }

  /// Stops waiting for this path. The caller has another reason to look at it later.
  void leave(const std::string& path) { unsettled_.settled(path); }

  /// Handles a late write: another process wrote a version into a file that baton had already
  /// replaced. The dialect merges it. If the dialect has no rule for that, the journal keeps the
  /// version and an event says so. False: the file cannot be judged right now, so call again in the
  /// next step.
  Result<bool> late(const LateWrite& write, Draft& draft, const std::vector<Request>& requests);

  /// The step is committed: its changes count for the rate breaker. So a step that is repeated on a
  /// full disk counts once.
  void committed(const Draft& draft) {
    rate_breaker_.committed(draft, catalog_);
    compared_.insert(draft.compared.begin(), draft.compared.end());
    seen_renames_.committed(draft.renamed);
    for (const auto& [path, size] : draft.appended)
      appended_[path] = size;
  }
  /// Logs with lines that were not read yet, whose next line may be read by now.
  std::set<std::string> lines_due(const FlowRecords& records);
  /// No file is left to look at: what was kept for the next ones can go.
  void rest() { judged_.clear(); }
  /// Takes over from the former intake which files the daemon has looked at. Otherwise the next
  /// look at a file would count as its first one (Change::first_look).
  void follow(const Intake& former) {
    compared_ = former.compared_;
    appended_ = former.appended_;
    polled_ = former.polled_;
  }
  /// The name was seen to appear by a rename or link: the next look need not wait for its writer.
  void complete(const std::string& path) { complete_.insert(path); }
  /// Whether no event says when a file of this root is closed.
  void polled(bool polled) { polled_ = polled; }
  /// Whether new names have to stand before they count. A command that starts nothing takes files
  /// as they are.
  void patient(bool patient) { patient_ = patient; }
  /// Somebody was seen to rename a file.
  void renamed(const std::string& from, const std::string& to) { seen_renames_.add(from, to); }
  /// All files of the step were looked at: flows of renamed files take along what limits them.
  void take_along(const FlowIndex& flow_index, Draft& draft) {
    seen_renames_.keep_known(catalog_);
    baton::take_along(catalog_, flow_index, seen_renames_, draft);
  }

  /// Files that were left out because of their size, and have room now.
  std::set<std::string> fitting(const FlowRecords& records, std::uint64_t root_bytes) const {
    return size_ceiling_.fitting(records, root_bytes);
  }

  /// Paths to look at again now: files that did not parse yet or could not be read.
  std::vector<std::string> due(Time now) const { return unsettled_.due(now); }
  std::optional<Time> wake() const { return unsettled_.wake(); }
  bool unsettled() const { return !unsettled_.empty(); }
  /// A file could not be read for some time, because descriptors or memory have run out.
  bool starved() const { return starved_; }
  /// Whether baton waits for a file of this flow.
  bool unsettled(const FlowId& flow) const { return unsettled_.waits(flow); }
  /// The files that baton waits for, by flow. No agent of these flows starts before.
  std::map<FlowId, std::vector<std::string>> being_written(Time now) {
    return unsettled_.paths(now);
  }

 private:
  /// Reports once that baton ignores the file, as long as the file is there. A temporary file is
  /// reported only if it stays.
  void ignore(const std::string& path, Draft& draft);
  /// Adds to the ignored files; `why` follows its path.
  static void note_ignored(const std::string& path, const std::string& why, Draft& draft);
  /// Checks a version, also against the last accepted one.
  Result<DocumentCheck> check_after(const Catalog::Match& match, const std::string& path,
                                    const FileBytes& bytes, const Draft& draft);
  /// Warns once of a document that is almost too large.
  void note_size(const Catalog::Match& match, const std::string& path, std::size_t bytes,
                 Draft& draft);
  void not_read(const Catalog::Match& match, const std::string& path, const Error& error,
                Draft& draft);
  void gone(const Catalog::Match& match, const std::string& path, Draft& draft);
  void same(const Catalog::Match& match, const std::string& path, Draft& draft);
  void reject(const Catalog::Match& match, const std::string& path, const Digest& digest,
              const Findings& findings, Draft& draft);
  Result<Admission> ask(const Catalog::Match& match, const std::string& path, const Document& after,
                        std::optional<Unseen> unseen, Draft& draft,
                        const std::vector<Request>& requests);
  /// Reads at most one more line of a log, or with LogReading::last up to its last one.
  Result<void> look_at_log(const Catalog::Match& match, const std::string& path, Draft& draft);
  Result<std::optional<LogStep>> read_log(const Catalog::Match& match, const std::string& path,
                                          FileIdentity file, Draft& draft);
  Result<bool> read_rest(const Catalog::Match& match, const std::string& path, Draft& draft);
  std::optional<LogPosition> position_before_rename(const Catalog::Match& match, FileIdentity file,
                                                    Draft& draft);
  void note_changed(const FlowId& flow, const std::string& path, const std::string& why,
                    Draft& draft);
  void pass_repeated_lines(const Catalog::Match& match, const std::string& path, LogStep& step,
                           const Draft& draft);
  Result<void> take_line(const Catalog::Match& match, const std::string& path, LogStep& step,
                         std::uint64_t size_bytes, Draft& draft);
  void there_again(const Catalog::Match& match, const std::string& path, Draft& draft);
  /// Handles a file that cannot be read. True: it can be read.
  bool can_read(const Catalog::Match& match, const std::string& path,
                const std::optional<Error>& error, Draft& draft);
  static void no_longer_ignored(const std::string& path, Draft& draft);
  void ignore_copy(const Catalog::Match& match, const std::string& path, Draft& draft);
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
  /// Applies the rate breaker: too many versions of one file within its window hold the flow.
  void count_change(const Catalog::Match& match, const std::string& path, FlowRecord& record,
                    Draft& draft);
  /// Notes that a file that was gone is there again, in a version that baton cannot use.
  static void note_presence(const FlowId& flow, const std::string& path, Draft& draft);
  /// Drops the rejected version of a file that is gone or equals the accepted version again. False:
  /// the file had none.
  static bool no_longer_rejected(const FlowId& flow, const std::string& path, Draft& draft);
  /// The last accepted version. nullptr: there is none, or it can no longer be parsed.
  Result<std::shared_ptr<const Document>> before(const Catalog::Match& match,
                                                 const std::string& path, const Draft& draft);

  Ports ports_;
  const Catalog& catalog_;
  const Environment& environment_;
  LoadLimits limits_;
  Provenance provenance_;
  TreeScan scan_;
  UnsettledFiles unsettled_;
  JudgedTexts judged_{kJudgedBytes};
  bool starved_ = false;
  std::optional<Error> away_;
  std::set<std::string> compared_;  ///< files that this daemon compared with the version in force
  std::set<std::string> complete_;
  bool polled_ = false;
  bool patient_ = true;
  RateBreaker rate_breaker_;
  SeenRenames seen_renames_;
  SizeCeiling size_ceiling_;
  LogReader log_reader_;
  std::set<std::string> with_lines_;            ///< logs with lines that wait
  std::map<std::string, std::string> rotated_;  ///< logs, by the rotated file that is read
  /// By log: its size when it was last counted as changed. What was appended at once is one change.
  std::map<std::string, std::uint64_t> appended_;
  /// Ignored copies, by the file that they are a copy of.
  std::map<std::string, std::set<std::string>> copies_;
};

}  // namespace baton
