#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/unreadable_folders.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Whether it was said of a path that it is passed over. `root`: the root's own book, nullptr where
/// nothing was said.
bool passed_over(const FlowRecord* root, const std::string& path);

/// Which paths are worth a look: what lies in the folders of a catalog, compared with what was read
/// last.
class TreeScan {
 public:
  TreeScan(Disk& disk, const Catalog& catalog);

  /// All paths of all folders that belong to a dialect, and those that were accepted and are gone.
  /// Only what differs from what was last read, unless `all`. A folder that cannot be listed keeps
  /// no other from being scanned (`closed`). Errc::busy, away: nothing is known, look again later;
  /// the folder that was asked, or the root, is closed until then.
  Result<std::set<std::string>> paths(const FlowRecords& records, bool all);
  /// What was last listed in vain.
  const UnreadableFolders& closed() const { return closed_; }
  /// Whether word of a path means that a scan may find more or less folders that can be listed.
  bool reopens(const std::string& path) const;
  /// Paths of files of a flow that are there and were never accepted. Only of flows that have
  /// folders of their own: one with a thousand flows in it is left to `paths`.
  std::set<std::string> created(const FlowRecord& record) const;

  /// A file was read in this version.
  void read(const std::string& path, Stamp stamp) { stamps_[path] = stamp; }
  /// It could not be read.
  void forget(const std::string& path) { stamps_.erase(path); }

  /// Why a file that lies where state files lie cannot be one; empty when nobody would think so.
  std::string unfit_name(const std::string& path) const;

 private:
  /// Adds the files of one folder that are there, and those of them to be looked at.
  Result<void> list(const PatternFolder& folder, const FlowRecord* root, bool all,
                    std::set<std::string>& present, std::set<std::string>& paths,
                    UnreadableFolders::Folders& closed) const;
  /// Differs from what was last read.
  bool changed(const FileEntry& entry) const;

  Disk& disk_;
  const Catalog& catalog_;
  std::vector<PatternFolder> folders_;  ///< of all patterns
  std::map<std::string, Stamp> stamps_;
  UnreadableFolders closed_;
};

}  // namespace baton
