// SPDX-License-Identifier: Apache-2.0
#include "io/system/backup_prune.h"

#include <cerrno>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include "io/files/folder.h"
#include "io/files/root.h"
#include "io/files/safe_open.h"

namespace baton {
namespace {

using FoundBackups = std::map<std::string, std::multimap<Time, std::string>>;

Result<FoundBackups> found(int root, const BackupPlan& plan) {
  FoundBackups all;
  const auto hole = plan.folder.find("/{flow}");
  const std::string above = plan.folder.substr(0, hole);
  const auto done =
      walk_files(root, above, 2, {[&](const std::string& path) {
                   const SplitPath split = split_path(path);
                   const std::string flow = split_path(split_path(split.folder).folder).name;
                   const auto time = backup_time(split.name);
                   if (time && !flow.empty() && split.folder == backup_folder(plan, flow))
                     all[split.folder].emplace(*time, split.name);
                 }});
  if (!done)
    return tl::unexpected(done.error());
  return all;
}

}  // namespace

Result<std::size_t> prune_backups(const std::string& root, const BackupPlan& plan, Time now) {
  std::size_t removed = 0;
  if (plan.folder.empty() || plan.keep <= Millis(0))
    return removed;
  auto top = open_folder(root);
  if (!top)
    return pass_on(top);
  auto all = found(top->get(), plan);
  if (!all)
    return pass_on(all);
  for (const auto& [folder, files] : *all) {
    auto open = safe_open(top->get(), folder, O_RDONLY | O_DIRECTORY);
    if (!open)
      return pass_on(open);
    for (auto file = files.begin(); std::next(file) != files.end() && file->first + plan.keep < now;
         ++file) {
      if (unlinkat(open->get(), file->second.c_str(), 0) != 0 && errno != ENOENT)
        return system_error(errno, "cannot be removed", folder + "/" + file->second);
      ++removed;
    }
  }
  return removed;
}

}  // namespace baton
