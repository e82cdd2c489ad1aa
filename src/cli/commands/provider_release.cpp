// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/provider_release.h"

#include <algorithm>
#include <set>
#include <string>

#include "io/journal/daemon_db.h"

namespace baton {

Result<std::vector<std::string>> shared_state_folders(const Context& context) {
  std::set<std::string> parents;
  std::vector<std::string> folders;
  for (const Context& on_root : context.each()) {
    const auto folder = on_root.state_folder();
    if (!folder && folder.error().code == Errc::not_found)
      continue;
    if (!folder)
      return tl::unexpected<Error>(folder.error());
    if (parents.insert(folder->substr(0, folder->rfind('/'))).second)
      folders.push_back(*folder);
  }
  return folders;
}

Result<std::vector<Parked>> parked_providers(const Context& context) {
  const auto folders = shared_state_folders(context);
  if (!folders)
    return tl::unexpected<Error>(folders.error());
  std::vector<Parked> all;
  for (const std::string& folder : *folders) {
    auto rows = make_providers(folder, true)->parked();
    if (!rows)
      return rows;
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

Result<std::size_t> release_providers(const Context& context,
                                      const std::function<bool(const Parked&)>& wanted) {
  const auto folders = shared_state_folders(context);
  if (!folders)
    return tl::unexpected<Error>(folders.error());
  std::size_t released = 0;
  for (const std::string& folder : *folders) {
    const auto providers = make_providers(folder, false);
    auto rows = providers->parked();
    if (!rows)
      return pass_on(rows);
    for (const Parked& row : *rows)
      if (wanted(row)) {
        if (auto done = providers->release(row); !done)
          return pass_on(done);
        ++released;
      }
  }
  return released;
}

}  // namespace baton
