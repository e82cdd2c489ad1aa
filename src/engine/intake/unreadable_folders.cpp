// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/unreadable_folders.h"

#include <algorithm>

#include "engine/intake/document_check.h"

namespace baton {
namespace {

/// Stands for the root in findings. No state file has this name.
constexpr std::string_view kRoot = ".";

std::string name_of(const std::string& folder) {
  return folder.empty() ? std::string(kRoot) : folder;
}

const char* what_then(const Error& error) {
  if (error.code == Errc::away)
    return "; until then what was accepted stays in force, and nothing is started";
  if (error.code == Errc::busy)
    return "; no new or removed file is noticed until it can be listed, tried again every second";
  return "; no file in it is looked at until it is a folder of this root that may be read, no link "
         "and no mount";
}

void tell_closed(const std::string& folder, const Error& error, Draft& draft) {
  const Digest digest = digest_of(error.message);
  if (const FlowRecord* const root = draft.find(FlowId{})) {
    const auto known = root->rejected.find(folder);
    if (known != root->rejected.end() && known->second.digest == digest)
      return;
  }
  Finding finding;
  finding.rule = "folder";
  finding.message = error.message + what_then(error);
  const RejectedRow row{folder, FlowId{}, digest, findings_json(folder, {finding}), draft.wall};
  draft.touch(FlowId{}).rejected[folder] = row;
  draft.commit.rejected.push_back(row);
  draft.event("rejected", {}, folder + ": " + finding.message);
}

}  // namespace

void UnreadableFolders::tell(Draft& draft) const {
  if (!folders_)
    return;
  std::set<std::string> closed;
  for (const auto& [folder, error] : *folders_) {
    closed.insert(name_of(folder));
    tell_closed(name_of(folder), error, draft);
  }
  const FlowRecord* const root = draft.find(FlowId{});
  if (root == nullptr)
    return;
  std::set<std::string> open;
  for (const auto& [folder, row] : root->rejected)
    if (!closed.contains(folder))
      open.insert(folder);
  for (const std::string& folder : open) {
    draft.touch(FlowId{}).rejected.erase(folder);
    draft.commit.no_longer_rejected.push_back(folder);
    draft.event("back", {}, folder + " can be listed again, or is gone");
  }
}

bool UnreadableFolders::hold(std::string_view path) const {
  return folders_ && std::any_of(folders_->begin(), folders_->end(), [&](const auto& row) {
           return row.first.empty() || path.starts_with(row.first + "/");
         });
}

std::set<std::string> UnreadableFolders::hidden(const Catalog& catalog) const {
  std::set<std::string> paths;
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (kind.kept && kind.pattern.find('{') == std::string::npos && hold(kind.pattern))
        paths.insert(kind.pattern);
  return paths;
}

bool UnreadableFolders::passing() const {
  return folders_ && std::any_of(folders_->begin(), folders_->end(),
                                 [](const auto& row) { return row.second.code == Errc::io; });
}

std::vector<PatternFolder> folders_to_list(const Catalog& catalog) {
  std::vector<PatternFolder> folders = catalog.folders();
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds) {
      const std::string folder = pattern_folder(kind.pattern).folder;
      if (kind.kept && std::none_of(folders.begin(), folders.end(),
                                    [&](const PatternFolder& one) { return one.folder == folder; }))
        folders.push_back({folder, 0});
    }
  return folders;
}

}  // namespace baton
