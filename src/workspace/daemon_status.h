#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "config/setup.h"
#include "io/files/fd.h"
#include "io/files/root.h"
#include "io/system/state_folder.h"
#include "workspace/rule_prompts.h"

namespace baton {

/// How a daemon serves a root, as it leaves word in `daemon.json` of the state folder.
struct DaemonStatus {
  std::int64_t pid = 0;
  std::string root;                  ///< real path, as it was when the daemon took it up
  std::string configuration;         ///< real path; "" when it has none
  std::string configuration_digest;  ///< of its text as the daemon read it
  int configuration_fd = -1;         ///< the daemon's descriptor of that text; -1: none
  std::string since;                 ///< ISO time
  std::string watching;              ///< for people: inotify or what is polled, and why
  bool polls = false;
  bool unsaid = false;  ///< it has left no word yet: only what it has signed its lock with is known
  std::int64_t root_inode = 0;  ///< of the root, as it was last when there was something in it
  bool disk_full = false;       ///< the journal's disk: agents are looked after, none is started
  DaemonState said;
  /// Of its configuration (workspace/rule_prompts.h). Nothing: it does not say.
  std::optional<PromptFaults> prompt_faults;
  bool operator==(const DaemonStatus&) const = default;
};

/// What the living daemon of a state folder says; nothing when none lives. While it starts, or
/// where no room is for its word, only what it has signed its lock with (`unsaid`): pid, root
/// and since.
std::optional<DaemonStatus> daemon_status(const std::string& state_folder);

/// What the last daemon of a state folder has said; nothing when one lives, or none ever did.
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

Result<void> write_daemon_status(const std::string& state_folder, const DaemonStatus& word);

// A daemon keeps the text of the configuration it goes by, for the file may be changed or broken
// meanwhile. It keeps it in memory, as an open file: there may be secrets in it, and none of them
// belongs into the state folder.

/// A file in memory with that text, for the daemon to hold as long as it goes by it.
Result<Fd> keep_configuration(std::string_view text);

/// The text a daemon goes by. Errc::changed: it is not the one the word is about; denied: it is not
/// for this user; not_found, io.
Result<std::string> configuration_in_force(const DaemonStatus& word);

}  // namespace baton
