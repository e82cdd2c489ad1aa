// What a context has to do with the daemon that lives: which one it is, what that goes by, and how
// the file differs from it.

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/lock.h"
#include "io/system/state_folder.h"
#include "workspace/configuration_file.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/output.h"

namespace baton {

namespace fs = std::filesystem;

namespace {

/// Of a user who could not change what this one runs either.
bool trusted_owner(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid());
}

bool is_foreign_to_us(const std::string& state_folder, std::int64_t pid) {
  return !trusted_owner(state_folder) || !trusted_owner("/proc/" + std::to_string(pid));
}

}  // namespace

/// The living daemon this context is about, by its state folder.
std::optional<std::pair<std::string, DaemonStatus>> Context::daemon() const {
  std::vector<std::string> roots{root_};
  if (!root_is_named())
    for (const std::string& each : config_.roots)
      roots.push_back(real_path(absolute(each, folder_)).value_or(""));
  const auto parents = state_parents();
  for (const std::string& root : roots)
    if (const auto folder = find_state_folder(root, parents))
      if (auto word = daemon_status(*folder))
        return std::pair(*folder, *std::move(word));
  // It may serve what the file names no more.
  const std::string file = real_path(file_).value_or("");
  if (!root_is_named() && !file.empty() && (!config_.roots.empty() || configuration_.empty()))
    for (const auto& [folder, word] : daemon_statuses(parents))
      if (word.configuration == file)
        return std::pair(folder, word);
  return std::nullopt;
}

bool Context::configuration_is_named() const {
  return !places_.config.empty() || (!root_is_named() && !variable(kConfigurationVariable).empty());
}

void Context::follow_daemon() {
  const auto found = daemon();
  // One that has left no word yet, or was of another version.
  if (!found || found->second.unsaid || found->second.root.empty())
    return;
  const auto& [folder, word] = *found;
  const std::string file = real_path(file_).value_or("");
  if (configuration_is_named() && word.configuration != file)
    return;
  std::vector<std::string> named;
  for (const std::string& each : config_.roots)
    named.push_back(absolute(each, folder_));
  if (word.configuration == file && word.configuration_digest == file_digest_ &&
      !configuration_.empty())
    return;
  if (word.configuration.empty()) {
    config_ = Config{};
    warnings_.clear();
    configuration_.clear();
    folder_ = root_;
  } else {
    auto text = configuration_in_force(word);
    auto faults = faults_;
    const bool taken = text && take(*std::move(text), word.configuration, word.configuration);
    faults_ = std::move(faults);
    if (!taken)
      return;
  }
  foreign_ = is_foreign_to_us(folder, word.pid);
  daemon_pid_ = word.pid;
  goes_by_file_ = word.configuration == file && word.configuration_digest == file_digest_;
  follows_ = !goes_by_file_;
  for (const std::string& each : config_.roots)
    std::erase(named, absolute(each, folder_));
  roots_of_file_ = std::move(named);
  // Where the daemon was found, wherever its state would lie after a restart.
  config_.state_dir = fs::path(folder).parent_path().string();
}

/// What a configuration of others names is theirs where their daemon serves it.
void Context::leave_to_others(std::vector<std::string>& roots) const {
  if (!foreign_)
    return;
  std::erase_if(roots, [this](const std::string& each) {
    const auto state = find_state_folder(each, state_parents());
    const bool theirs = each != root_ &&
                        (!state || !daemon_lives(*state) || lock_holder(*state).pid != daemon_pid_);
    if (theirs)
      warn_once(printable(each) +
                ": only the configuration of another user names it, and his daemon does not serve "
                "it; it is left out, unless it is named with --root");
    return theirs;
  });
}

void Context::add_served(std::vector<std::string>& roots) const {
  const auto has = [&](const std::string& root) {
    return std::find(roots.begin(), roots.end(), root) != roots.end();
  };
  const DaemonStatuses all = daemon_statuses(state_parents());
  std::set<std::int64_t> daemons;
  for (const auto& [folder, word] : all)
    if (has(word.root))
      daemons.insert(word.pid);
  const std::string own =
      configuration_.empty() ? real_path(broken_configuration_).value_or("") : configuration_;
  for (const auto& [folder, word] : all)
    if (!word.root.empty() && daemons.contains(word.pid) && word.configuration == own &&
        !has(word.root))
      roots.push_back(word.root);
}

/// Without a file here what the daemon goes by may lie elsewhere, as one named by --config does.
Context::Unlike Context::unlike_elsewhere(const DaemonStatus& word) {
  if (word.configuration.empty())
    return {};
  if (std::error_code error; !fs::exists(word.configuration, error))
    return {"unusable", "the configuration " + printable(word.configuration) +
                            " is not there any more; the daemon goes on with what it read"};
  const auto bytes = read_file(word.configuration, kMaxConfigurationBytes);
  if (!bytes || word.configuration_digest.empty() ||
      hex(digest_of(*bytes)) == word.configuration_digest)
    return {};
  return {"changed", printable(word.configuration) +
                         " was changed after the daemon read it; `baton reload` has it read"};
}

Context::Unlike Context::unlike() const {
  const auto found = daemon();
  const std::string shown = printable(file_);
  if (!found)
    return broken_configuration_.empty()
               ? Unlike{}
               : Unlike{"unusable",
                        "the configuration " + shown + " cannot be used; `baton doctor` says why"};
  const DaemonStatus& word = found->second;
  if (word.unsaid || word.root.empty())
    return {};
  if (file_.empty())
    return unlike_elsewhere(word);
  const std::string daemon = "the daemon (process " + std::to_string(word.pid) + ")";
  if (word.configuration != real_path(file_).value_or(""))
    return {"other",
            word.configuration.empty()
                ? daemon + " goes by no configuration, " + shown +
                      " was not there when it began; `baton reload` has it read"
                : daemon + " goes by " + printable(word.configuration) + ", not by " + shown};
  if (file_digest_.empty() && access(file_.c_str(), R_OK) != 0 && errno == EACCES)
    return {"unusable", "the configuration " + shown + " cannot be read by this user; what " +
                            daemon + " makes of the files is not known here"};
  if (!broken_configuration_.empty() || file_digest_.empty())
    return {"unusable", "the configuration " + shown +
                            " cannot be used; the daemon goes on with the last good one"};
  if (word.configuration_digest == file_digest_ || word.configuration_digest.empty())
    return {};
  return {"changed", shown + " was changed after the daemon read it; `baton reload` has it read" +
                         (follows_ ? "" : ". What is said here is by the file as it stands")};
}

}  // namespace baton
