// SPDX-License-Identifier: Apache-2.0

// What `baton doctor` says about who can change what baton starts.
//
// Problem: a prompt, a schema or a script decides what an agent does, as baton.yaml decides what is
// started. Way: an error for what another user can write, because `baton run` refuses it; one
// warning for all that agents can write, because that is usual where a person works alone.
// Limits: other users are judged by the rights of files, not by what root lets them do.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/doctor.h"
#include "io/files/path_trust.h"
#include "io/system/state_folder.h"
#include "workspace/configuration_file.h"
#include "workspace/deciding_files.h"
#include "workspace/environment.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 4;

/// The first few, and how many there are more.
std::string some_of(std::vector<std::string> all, const std::string& separator) {
  const std::size_t number = all.size();
  all.resize(std::min(number, kMostNamed));
  return join(all, separator) +
         (number > kMostNamed ? separator + "and " + std::to_string(number - kMostNamed) + " more"
                              : "");
}

/// How the user that runs the agents can change the file; "" if it cannot.
std::string writable(const std::string& path) {
  const std::string place = writable_place(path);
  if (place.empty())
    return {};
  struct stat info {};
  const bool itself = lstat(place.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
  return itself
             ? path + " can be written by the user that runs the agents"
             : path + " can be exchanged by the user that runs the agents, who can write " + place;
}

/// Where root keeps the configuration, so that baton finds it there.
std::string place_of_root(const Context& context) {
  return context.config().roots.empty() ? instance_configuration(context.root())
                                        : "/etc/baton/config.yaml";
}

bool all_are_other_users(const Setup& setup) {
  return !setup.agents.empty() &&
         std::all_of(setup.agents.begin(), setup.agents.end(),
                     [](const auto& each) { return each.second.user.has_value(); });
}

/// Warns once of all that agents can change.
void examine_writable(const Context& context, const Setup& setup, Diagnoses& all) {
  // For root, all is writable; there is a warning of its own for it.
  if (geteuid() == 0 || all_are_other_users(setup))
    return;
  std::vector<std::string> paths{context.configuration()};
  for (const auto& [role, spec] : setup.agents)
    if (!spec.problem && std::find(paths.begin(), paths.end(), spec.argv.front()) == paths.end())
      paths.push_back(spec.argv.front());
  for (const DecidingFile& file : deciding_files(context, setup))
    paths.push_back(file.path);
  std::vector<std::string> found;
  for (const std::string& path : paths)
    if (std::string how = writable(path); !how.empty())
      found.push_back(std::move(how));
  if (found.empty())
    return;
  const std::string place = place_of_root(context);
  all.push_back({Diagnosis::Level::warning, "configuration",
                 "agents can change what baton starts: " + some_of(std::move(found), "; "),
                 "no fault if your agents may do all that you may. Otherwise give it to root, in "
                 "folders that "
                 "only root can write: `sudo install -D -m 644 " +
                     shell_word(context.configuration()) + " " + shell_word(place) +
                     "`, with its prompts, schemas and scripts beside it; then remove it here"});
}

bool everybody_can_enter(const fs::path& folder) {
  struct stat info {};
  for (fs::path at = folder;; at = at.parent_path()) {
    if (stat(at.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0)
      return false;
    if (at == at.parent_path())
      return true;
  }
}

bool everybody_can_write(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && !S_ISLNK(info.st_mode) &&
         (info.st_mode & S_IWOTH) != 0 && everybody_can_enter(path.parent_path());
}

}  // namespace

void examine_trust(const Context& context, const Setup& setup, Diagnoses& all) {
  const auto shim = find_shim(own_path());
  const auto state = context.state_folder();
  for (const ForeignFile& file :
       foreign_files(context, setup, shim.value_or(""), state.value_or("")))
    all.push_back({Diagnosis::Level::error, "trust", file.path + ": " + file.why,
                   "`baton run` and `baton reload` refuse this configuration until then"});
  examine_writable(context, setup, all);
  const std::string home = variable("HOME");
  if (state && !home.empty() && real_path(home).value_or("") == fs::path(*state).parent_path())
    all.push_back({Diagnosis::Level::warning, "state",
                   "the state folders lie in " + home +
                       ", the home of the agents: an agent that cleans up there takes the journal",
                   "give the user another home, for example with `usermod --home "
                   "/var/lib/baton-home`"});
}

void examine_open_files(const Context& context, const FlowRecords& records, Diagnoses& all) {
  const fs::path root = context.root();
  std::set<std::string> open;
  if (everybody_can_write(root))
    open.insert(root.string());
  for (const auto& [flow, record] : records)
    for (const auto& [path, row] : record.accepted)
      if (row.present)
        for (const fs::path& each : {root / path, (root / path).parent_path()})
          if (everybody_can_write(each))
            open.insert(each.string());
  if (open.empty())
    return;
  std::vector<std::string> quoted;
  for (const std::string& path : open)
    if (quoted.size() < kMostNamed)
      quoted.push_back(shell_word(path));
  all.push_back({Diagnosis::Level::warning, "root",
                 some_of({open.begin(), open.end()}, ", ") +
                     " can be written by everybody, so every user of this machine can start agents",
                 "`chmod o-w " + join(quoted, " ") + "`"});
}

}  // namespace baton
