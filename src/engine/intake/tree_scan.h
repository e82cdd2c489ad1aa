// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the paths that need a look. It lists the folders of all patterns and compares each file
// with the version that baton read last. So it finds changes for which no event came.
// It reads no file; see intake.h. Folders that cannot be listed are in unreadable_folders.h.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/unreadable_folders.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Whether baton has reported that it ignores this path. `root`: the record of the root, or
/// nullptr.
bool passed_over(const FlowRecord* root, const std::string& path);

/// A scan of the folders of one catalog, with what baton read last.
class TreeScan {
 public:
  TreeScan(Disk& disk, const Catalog& catalog);

  /// The paths to look at: files that differ from what baton read last (with `all`, every file of a
  /// dialect), and known files that are gone. A folder that cannot be listed does not keep others
  /// from being scanned; see `closed`.
  /// Errc::busy, away: nothing is known, scan again later. Until then that folder, or the root, is
  /// closed.
  Result<std::set<std::string>> paths(const FlowRecords& records, bool all);
  /// The folders that the last scan could not list.
  const UnreadableFolders& closed() const { return closed_; }
  /// Whether a change of this path may have opened or closed a folder, so that a scan is needed.
  bool reopens(const std::string& path) const;
  /// Files of a flow that are there and were never accepted. Only of kinds whose flow has a fixed
  /// name: a folder with a thousand flows is left to `paths`.
  std::set<std::string> created(const FlowRecord& record) const;

  /// baton has read the file in this version.
  void read(const std::string& path, Stamp stamp) { stamps_[path] = stamp; }
  /// baton could not read the file.
  void forget(const std::string& path) { stamps_.erase(path); }

  /// Whether two scans have seen the file, so that it is more than a temporary file of a moment. A
  /// file whose name is unfit for other reasons stays in any case.
  bool stays(const std::string& path) const;
  /// Why a file that lies where state files lie is none of them; empty for all other files.
  std::string unfit_name(const std::string& path) const;

 private:
  /// Lists one folder. Adds its files to `present`, and those to look at to `paths`.
  Result<void> list(const PatternFolder& folder, const FlowRecord* root, bool all,
                    std::set<std::string>& present, std::set<std::string>& paths,
                    UnreadableFolders::Folders& closed);
  /// Whether the file differs from what baton read last.
  bool changed(const FileEntry& entry) const;

  Disk& disk_;
  const Catalog& catalog_;
  std::vector<PatternFolder> folders_;  ///< of all patterns
  std::map<std::string, Stamp> stamps_;
  /// Files with names of temporary files and copies: all that earlier scans have seen, those that
  /// the last scan has seen again, and those it has seen for the first time.
  std::set<std::string> passing_;
  std::set<std::string> staying_;
  std::set<std::string> newcomers_;
  UnreadableFolders closed_;
};

}  // namespace baton
