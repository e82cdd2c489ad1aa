#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "config/setup.h"
#include "io/files/root.h"
#include "io/system/state_folder.h"
#include "workspace/rule_prompts.h"

namespace baton {

/// What a daemon says about a root, in `daemon.json` of the state folder.
struct DaemonStatus {
  std::int64_t pid = 0;
  std::string root;                  ///< real path, as it was when the daemon took it up
  std::string configuration;         ///< real path; "" when it has none
  std::string configuration_digest;  ///< of its text as the daemon read it
  std::string since;                 ///< ISO time
  std::string watching;              ///< for people: inotify or what is polled, and why
  bool polls = false;
  bool lock_only = false;       ///< it has not written its status yet: only its lock is known
  std::int64_t root_inode = 0;  ///< of the root, as it was last when there was something in it
  bool disk_full = false;       ///< the journal's disk: agents are looked after, none is started
  DaemonState state;
  /// Of its configuration (workspace/rule_prompts.h). Nothing: it does not say.
  std::optional<PromptFaults> prompt_faults;
  bool operator==(const DaemonStatus&) const = default;
};

/// The status of the running daemon of a state folder; nothing: none runs. While it starts, or
/// when the disk is full, only what its lock holds (`lock_only`): pid, root
/// and since.
std::optional<DaemonStatus> daemon_status(const std::string& state_folder);

/// The status that the last daemon of a state folder wrote. Nothing: one runs, or none ever did.
std::optional<DaemonStatus> last_daemon_status(const std::string& state_folder);

/// Has the root know in which folder the daemon before this one, or the one that lives, has found
/// something last: an empty one in its place may be a mount point without its volume.
void remember_last_root(const std::string& state_folder, RootFolder& root);

/// DaemonStatuses with the state folder they lie in.
using DaemonStatuses = std::vector<std::pair<std::string, DaemonStatus>>;
/// Of every living daemon and root whose state folder lies in one of these folders. Those that
/// cannot be read are left out.
DaemonStatuses daemon_statuses(const std::vector<StateParent>& parents);
/// The same of those that live no more.
DaemonStatuses last_daemon_statuses(const std::vector<StateParent>& parents);

Result<void> write_daemon_status(const std::string& state_folder, const DaemonStatus& status);

// The file of a configuration may be changed or broken while a daemon runs. For other commands the
// daemon therefore writes the configuration it uses to `configuration.json` of the state folder,
// for its own user alone and without the values of `env: set:`. With it stands the digest of the
// real text, which the daemon's status names, too: only where both are equal is the copy the
// daemon's configuration. The daemon never reads it.

/// `text`: of the configuration; "": there is none.
Result<void> write_configuration_copy(const std::string& state_folder, const std::string& digest,
                                      const std::string& text);

/// The copy as JSON. Errc::changed: it is of another configuration than the one with this digest;
/// denied, not_found, io: it cannot be read.
Result<std::string> read_configuration_copy(const std::string& state_folder,
                                            const std::string& digest);

}  // namespace baton
