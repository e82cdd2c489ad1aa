// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/tree_scan.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

/// Adds the known files that are not there any more.
void add_missing(const FlowRecords& records, const std::set<std::string>& present,
                 std::set<std::string>& paths) {
  for (const auto& [flow, record] : records) {
    for (const auto& [path, row] : record.accepted)
      if (row.present && !present.contains(path))
        paths.insert(path);
    for (const auto& [path, row] : record.rejected)
      if (!present.contains(path) && flow != FlowId{})
        paths.insert(path);
    for (const std::string& path : record.notified.ignored)
      if (!present.contains(path))
        paths.insert(path);
  }
}

}  // namespace

bool passed_over(const FlowRecord* root, const std::string& path) {
  return root != nullptr && root->notified.ignored.contains(path);
}

TreeScan::TreeScan(Disk& disk, const Catalog& catalog)
    : disk_(disk), catalog_(catalog), folders_(folders_to_list(catalog)) {}

Result<void> TreeScan::list(const PatternFolder& folder, const FlowRecord* root, bool all,
                            std::set<std::string>& present, std::set<std::string>& paths,
                            UnreadableFolders::Folders& closed) {
  const auto entries = disk_.list(folder.folder, folder.depth);
  if (!entries)
    return tl::unexpected(entries.error());
  for (const FileEntry& entry : *entries) {
    const auto match = catalog_.match(entry.path);
    if (!match && !entry.closed.empty() && catalog_.leads_on(entry.path))
      closed.emplace(entry.path, Error{Errc::not_regular, entry.closed, entry.path});
    // Look at a folder only if it stands where a file should be.
    if (match ? !match->kind->kept : entry.folder)
      continue;
    present.insert(entry.path);
    const bool passes = match ? match->copy.has_value() : !catalog_.ignored(entry.path).empty();
    if (passes)
      (passing_.contains(entry.path) ? staying_ : newcomers_).insert(entry.path);
    const bool unreported =
        !passed_over(root, entry.path) &&
        (passes ? staying_.contains(entry.path) : !match && !unfit_name(entry.path).empty());
    if (unreported || (match && (all || changed(entry))))
      paths.insert(entry.path);
  }
  return {};
}

Result<std::set<std::string>> TreeScan::paths(const FlowRecords& records, bool all) {
  std::set<std::string> paths;
  std::set<std::string> present;
  UnreadableFolders::Folders closed;
  const auto record = records.find(FlowId{});
  const FlowRecord* const root = record == records.end() ? nullptr : &record->second;
  passing_.merge(newcomers_);
  newcomers_.clear();
  staying_.clear();
  for (const PatternFolder& folder : folders_) {
    const auto listed = list(folder, root, all, present, paths, closed);
    const bool away = !listed && listed.error().code == Errc::away;
    if (away || (!listed && listed.error().code == Errc::busy)) {
      closed_.also(away ? "" : folder.folder, listed.error());
      return tl::unexpected(listed.error());
    }
    if (!listed)
      closed.emplace(folder.folder, listed.error());
  }
  closed_.found(std::move(closed));
  std::erase_if(passing_, [&](const std::string& path) { return !present.contains(path); });
  add_missing(records, present, paths);
  paths.merge(closed_.hidden(catalog_));
  return paths;
}

bool TreeScan::reopens(const std::string& path) const {
  return closed_.hold(path) ||
         std::any_of(folders_.begin(), folders_.end(), [&](const PatternFolder& one) {
           return one.folder.starts_with(path) &&
                  (one.folder.size() == path.size() || one.folder[path.size()] == '/');
         });
}

bool TreeScan::changed(const FileEntry& entry) const {
  const auto seen = stamps_.find(entry.path);
  return entry.stamp == 0 || seen == stamps_.end() || seen->second != entry.stamp;
}

std::set<std::string> TreeScan::created(const FlowRecord& record) const {
  std::set<std::string> paths;
  const Catalog::Entry* const entry = catalog_.entry(record.id.dialect);
  if (entry == nullptr)
    return paths;
  std::set<std::pair<std::string, unsigned>> looked;
  for (const FileKind& kind : entry->kinds) {
    const PatternFolder folder = pattern_folder(kind.pattern);
    if (kind.flow != record.id.name || !kind.kept ||
        !looked.emplace(folder.folder, folder.depth).second)
      continue;
    const auto entries = disk_.list(folder.folder, folder.depth);
    if (!entries)
      continue;  // The next scan finds it.
    for (const FileEntry& file : *entries)
      if (const auto match = catalog_.match(file.path); match && match->flow == record.id &&
                                                        match->kind->kept &&
                                                        !record.accepted.contains(file.path))
        paths.insert(file.path);
  }
  return paths;
}

bool TreeScan::stays(const std::string& path) const {
  const auto match = catalog_.match(path);
  return staying_.contains(path) || (match ? !match->copy : catalog_.ignored(path).empty());
}

std::string TreeScan::unfit_name(const std::string& path) const {
  if (const std::string other = catalog_.known_other(path); !other.empty())
    return printable(path, 200) + " is " + other + ": known, and left alone";
  if (const std::string why = catalog_.ignored(path); !why.empty())
    return printable(path, 200) + " is " + why + ": no state file";
  const std::string unfit = catalog_.unfit(path);
  return unfit.empty() ? unfit : printable(path, 200) + " " + unfit;
}

}  // namespace baton
