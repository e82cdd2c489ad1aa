// SPDX-License-Identifier: Apache-2.0
#pragma once

// The daemon status and the copy of the configuration: two files that a daemon writes into the
// state folder of a root, for other commands.
//
// `daemon.json` is the status of the daemon (DaemonStatus). It counts only while the daemon holds
// the lock of the root.
//
// `configuration.json` is a copy of the configuration that the daemon uses, because the real file
// may change or break meanwhile. Only the daemon's user can read the copy, and it has no values of
// `env: set:`. It holds the digest of the real text. The status names that digest too, and the copy
// counts only if both are equal. The daemon never reads the copy.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "config/setup.h"
#include "core/condition.h"
#include "io/files/root.h"
#include "io/system/state_folder.h"
#include "workspace/rule_prompts.h"

namespace baton {

/// What keeps a root from working, for `baton status --check`.
struct RootTrouble {
  Reason reason = Reason::cannot_start;  ///< or journal_locked, root_away, disk_full
  std::string why;
  Time since{};  ///< since when it is for this reason, as far as this daemon knows
  bool operator==(const RootTrouble&) const = default;
};

/// What the daemon says about one root.
struct DaemonStatus {
  std::int64_t pid = 0;
  std::string root;                  ///< real path when the daemon began to serve the root
  std::string configuration;         ///< real path; "" if the daemon has no configuration
  std::string configuration_digest;  ///< digest of the text that the daemon read
  std::string since;                 ///< ISO time
  std::string watching;              ///< for people: inotify or what is polled, and why
  bool polls = false;
  bool lock_only = false;       ///< the daemon has written no status yet; only its lock is known
  std::int64_t root_inode = 0;  ///< inode of the last root folder that had files in it
  bool disk_full = false;       ///< the disk of the journal is full, so the daemon starts nothing
  std::optional<RootTrouble> trouble;  ///< nothing: the root is served as usual
  DaemonState state;
  /// Prompts that the daemon cannot use (workspace/rule_prompts.h). Nothing: unknown.
  std::optional<PromptFaults> prompt_faults;
  std::string metrics_fault;  ///< why the file of `metrics:` cannot be written; "": it can
  bool operator==(const DaemonStatus&) const = default;
};

/// The status of the running daemon of a state folder; nothing if none runs. While the daemon
/// starts, or if it cannot write its status, only pid, root and since are set (`lock_only`).
std::optional<DaemonStatus> daemon_status(const std::string& state_folder);

/// The status that the last daemon of a state folder wrote. Nothing if a daemon runs, or if no
/// daemon ever ran.
std::optional<DaemonStatus> last_daemon_status(const std::string& state_folder);

/// Tells `root` the inode of the last root folder that had files in it, as the last or the running
/// daemon noted it. An empty folder with another inode may be a mount point without its volume.
void remember_last_root(const std::string& state_folder, RootFolder& root);

/// Statuses with the state folder of each.
using DaemonStatuses = std::vector<std::pair<std::string, DaemonStatus>>;
/// The statuses of running daemons whose state folders lie in these parents, one per root. Leaves
/// out state folders that this user cannot read.
DaemonStatuses daemon_statuses(const std::vector<StateParent>& parents);
/// The same for daemons that have ended.
DaemonStatuses last_daemon_statuses(const std::vector<StateParent>& parents);

Result<void> write_daemon_status(const std::string& state_folder, const DaemonStatus& status);

/// `text` is that of the configuration; "" if there is none.
Result<void> write_configuration_copy(const std::string& state_folder, const std::string& digest,
                                      const std::string& text);

/// The copy as JSON. Errc::changed: the copy has another digest; denied, not_found, io: it cannot
/// be read.
Result<std::string> read_configuration_copy(const std::string& state_folder,
                                            const std::string& digest);

}  // namespace baton
