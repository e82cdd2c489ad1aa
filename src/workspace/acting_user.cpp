// SPDX-License-Identifier: Apache-2.0
#include "workspace/acting_user.h"

#include <filesystem>
#include <optional>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/path_trust.h"
#include "io/system/acting_as.h"
#include "io/system/state_folder.h"
#include "workspace/configuration_file.h"
#include "workspace/environment.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

std::optional<uid_t> owner_at(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? std::optional(info.st_uid) : std::nullopt;
}

/// What the configuration says about places, if root trusts it.
ConfiguredPlaces places_in(const std::string& file, std::string& folder) {
  const auto real = file.empty() ? Result<std::string>(file) : real_path(file);
  const auto text = real && !real->empty() ? read_configuration(file) : Result<std::string>("");
  if (!real || !text)
    return {};
  folder = real->empty() ? "" : fs::path(*real).parent_path().string();
  return configured_places(*text).value_or(ConfiguredPlaces{});
}

std::optional<OtherState> other_state(const Places& places, const std::string& here) {
  if (geteuid() != 0)
    return std::nullopt;
  const auto root = real_path(places.root.empty() ? nearest_root(here) : places.root);
  if (!root)
    return std::nullopt;  // the command itself reports it
  std::string folder;
  const ConfiguredPlaces said = places_in(find_configuration(places, *root, here), folder);
  std::vector<std::string> roots{*root};
  if (places.root.empty())
    for (const std::string& each : said.roots)
      roots.push_back(absolute(each, folder));
  const std::string configured = said.state_dir.empty() ? "" : absolute(said.state_dir, folder);
  return state_of_other(roots, state_parents(places.state_dir, configured));
}

/// The folder of git's own files that a `.git` file names; "" if it names none.
std::string named_git_folder(const fs::path& file) {
  constexpr std::size_t kMost = 4096;
  constexpr std::string_view kWord = "gitdir: ";
  const auto text = read_file(file.string(), kMost);
  if (!text || !text->starts_with(kWord))
    return {};
  return absolute(std::string(trimmed(std::string_view(*text).substr(kWord.size()))),
                  file.parent_path().string());
}

/// What decides which programs git runs here, with all that could be exchanged on the way.
std::vector<fs::path> git_paths() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  std::vector<fs::path> paths;
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"})
    if (const std::string path = variable(name); !path.empty())
      paths.emplace_back(absolute(path, here.string()));
  for (fs::path folder = here;; folder = folder.parent_path()) {
    const fs::path git = folder / ".git";
    if (owner_at(git)) {
      paths.push_back(folder);
      paths.push_back(git);
      if (const std::string named = named_git_folder(git); !named.empty())
        paths.emplace_back(named);
      break;
    }
    if (folder == folder.parent_path())
      break;
  }
  paths.push_back(here);
  return paths;
}

}  // namespace

Result<void> act_as_owner_of_state(const Places& places, const std::string& here) {
  const auto other = other_state(places, here);
  return other ? continue_as(other->owner) : Result<void>();
}

Result<void> refuse_state_of_others(const Places& places) {
  std::error_code error;
  const auto other = other_state(places, fs::current_path(error).string());
  if (other)
    return refused(*other);
  return {};
}

Result<void> refuse_roots_of_others(const std::vector<std::string>& roots) {
  if (geteuid() != 0)
    return {};
  for (const std::string& root : roots)
    if (const auto owner = owner_at(root); owner && *owner != 0)
      return fail(Errc::denied,
                  "belongs to " + user_text(*owner) +
                      ", and root starts no agents in folders of other users; use `" +
                      command_as(*owner) + "`",
                  root);
  return {};
}

Result<void> act_as_owner_of_work_tree() {
  if (geteuid() != 0)
    return {};
  for (const fs::path& path : git_paths())
    if (const auto owner = owner_at(path); owner && *owner != 0)
      return continue_as(*owner);
  return {};
}

}  // namespace baton
