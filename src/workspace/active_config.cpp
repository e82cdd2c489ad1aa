// SPDX-License-Identifier: Apache-2.0

// Finds the running daemon and its configuration, and says how the file differs from it. The daemon
// keeps a copy of its configuration in its state folder (workspace/daemon_status.h).

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>
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

/// Whether root or this user owns the path. Another user could make this user run programs by a
/// configuration.
bool trusted_owner(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid());
}

}  // namespace

/// The running daemon and its state folder. It serves one of the roots, or uses the configuration
/// file of this context.
std::optional<std::pair<std::string, DaemonStatus>> Context::daemon() const {
  std::vector<std::string> roots{root_};
  if (!root_is_named())
    for (const std::string& each : config_.roots)
      roots.push_back(real_path(absolute(each, folder_)).value_or(""));
  const auto parents = state_parents();
  for (const std::string& root : roots)
    if (const auto folder = find_state_folder(root, parents))
      if (auto status = daemon_status(*folder))
        return std::pair(*folder, *std::move(status));
  // The daemon may still serve roots that the file no longer names.
  const std::string file = real_path(file_).value_or("");
  if (!root_is_named() && !file.empty() && (!config_.roots.empty() || configuration_.empty()))
    for (const auto& [folder, status] : daemon_statuses(parents))
      if (status.configuration == file)
        return std::pair(folder, status);
  return std::nullopt;
}

bool Context::configuration_is_named() const {
  return !places_.config.empty() || (!root_is_named() && !variable(kConfigurationVariable).empty());
}

Result<void> Context::take_copy(const std::string& state_folder, const DaemonStatus& status) {
  if (status.configuration.empty()) {
    config_ = Config{};
    warnings_.clear();
    configuration_.clear();
    folder_ = root_;
  } else {
    auto copy = read_configuration_copy(state_folder, status.configuration_digest);
    if (!copy)
      return pass_on(copy);
    auto faults = faults_;
    auto taken = take(*copy, Format::json, status.configuration, status.configuration);
    faults_ = std::move(faults);
    if (!taken)
      return taken;
  }
  configuration_digest_ = status.configuration_digest;
  foreign_ = !trusted_owner(state_folder);
  return {};
}

Result<void> Context::follow_daemon() {
  constexpr std::chrono::milliseconds kTurn{50};
  constexpr int kTurns = 10;
  for (int turn = 0;; ++turn) {
    const auto found = daemon();
    // A daemon that has just started has written no status yet.
    if (!found || found->second.lock_only || found->second.root.empty())
      return {};
    const auto& [folder, status] = *found;
    const std::string file = real_path(file_).value_or("");
    if (configuration_is_named() && status.configuration != file)
      return {};
    const bool same = status.configuration == file && status.configuration_digest == file_digest_;
    if (same && !configuration_.empty())
      return {};
    const auto taken = take_copy(folder, status);
    if (taken) {
      follows_ = !same;
      // The file may name another `state_dir:` by now. The daemon uses it only after a restart.
      config_.state_dir = fs::path(folder).parent_path().string();
      return {};
    }
    // A reload writes the copy first and the status after it, so they may differ for a moment.
    if (taken.error().code != Errc::changed || turn == kTurns)
      return fail(Errc::denied,
                  "the configuration that the daemon (process " + std::to_string(status.pid) +
                      ") uses cannot be seen here: " + taken.error().message +
                      "; `baton reload` writes this copy anew, and only the daemon's user can "
                      "read it",
                  taken.error().where);
    std::this_thread::sleep_for(kTurn);
  }
}

void Context::add_served(std::vector<std::string>& roots) const {
  const auto has = [&](const std::string& root) {
    return std::find(roots.begin(), roots.end(), root) != roots.end();
  };
  const DaemonStatuses all = daemon_statuses(state_parents());
  std::set<std::int64_t> daemons;
  for (const auto& [folder, status] : all)
    if (has(status.root))
      daemons.insert(status.pid);
  const std::string own =
      configuration_.empty() ? real_path(broken_configuration_).value_or("") : configuration_;
  for (const auto& [folder, status] : all)
    if (!status.root.empty() && daemons.contains(status.pid) && status.configuration == own &&
        !has(status.root))
      roots.push_back(status.root);
}

/// Compares the daemon with its own file when the command has found no file. The daemon's file may
/// lie elsewhere, for example if `baton run --config` named it.
Context::Difference Context::difference_elsewhere(const DaemonStatus& status) {
  if (status.configuration.empty())
    return {};
  if (std::error_code error; !fs::exists(status.configuration, error))
    return {"unusable", "the configuration " + printable(status.configuration) +
                            " is not there any more; the daemon goes on with what it read"};
  const auto bytes = read_file(status.configuration, kMaxConfigurationBytes);
  if (!bytes || status.configuration_digest.empty() ||
      hex(digest_of(*bytes)) == status.configuration_digest)
    return {};
  return {"changed", printable(status.configuration) +
                         " was changed after the daemon read it; `baton reload` has it read"};
}

Context::Difference Context::difference() const {
  const auto found = daemon();
  const std::string shown = printable(file_);
  if (!found)
    return broken_configuration_.empty()
               ? Difference{}
               : Difference{"unusable", "the configuration " + shown +
                                            " cannot be used; `baton doctor` says why"};
  const DaemonStatus& status = found->second;
  if (status.lock_only || status.root.empty())
    return {};
  if (file_.empty())
    return difference_elsewhere(status);
  const std::string daemon = "the daemon (process " + std::to_string(status.pid) + ")";
  if (status.configuration != real_path(file_).value_or(""))
    return {"other", status.configuration.empty()
                         ? daemon + " uses no configuration, " + shown +
                               " was not there when it began; `baton reload` has it read"
                         : daemon + " uses " + printable(status.configuration) + ", not " + shown};
  const bool unreadable =
      file_digest_.empty() && access(file_.c_str(), R_OK) != 0 && errno == EACCES;
  if (unreadable)
    return {"unusable", "the configuration " + shown + " cannot be read by this user; what " +
                            daemon + " makes of the files is not known here"};
  if (!broken_configuration_.empty() || file_digest_.empty())
    return {"unusable", "the configuration " + shown +
                            " cannot be used; the daemon goes on with the last good one"};
  if (status.configuration_digest == file_digest_ || status.configuration_digest.empty())
    return {};
  return {"changed", shown + " was changed after the daemon read it; `baton reload` has it read" +
                         (follows_ ? "" : ". The output follows the file as it is now")};
}

}  // namespace baton
