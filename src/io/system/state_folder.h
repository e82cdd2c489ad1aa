// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds or creates the state folder of a root: the folder with its journal, runs and requests. It
// is outside the root, because agents can write there. Its parent comes from an option, the
// configuration, the environment or the usual places, in this order.
//
// Who can write a state folder, or exchange it, decides what baton starts. So no other user may be
// able to write it or a folder above it, and root uses only state folders that are root's.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace baton {

/// A folder in which state folders may be. A parent that was asked for is used or refused. A usual
/// place is skipped when it cannot be used.
struct StateParent {
  std::string path;
  bool asked_for = false;
  bool named = false;  ///< by --state-dir
  bool operator==(const StateParent&) const = default;
};

/// The possible parents in order: `option` (--state-dir), `configured` (state_dir:),
/// $BATON_STATE_DIR, $STATE_DIRECTORY, /var/lib/baton, $XDG_STATE_HOME/baton, ~/.local/state/baton.
/// Leaves out empty ones.
std::vector<StateParent> state_parents(const std::string& option, const std::string& configured);

/// Set in the environment of an agent: the parent of the state folder of $BATON_ROOT. It comes
/// before all other places but --state-dir. Another root is looked up there only if its daemon
/// lives.
inline constexpr const char* kRootStateVariable = "BATON_ROOT_STATE";

/// The name of a root's state folder: the last name of the real path, and 16 digits of its digest.
std::string state_name(std::string_view real_root);

/// An absolute path without links. The part that does not exist is appended as written.
/// Errc::not_found, denied, io.
Result<std::string> real_path(const std::string& path);

/// For writers: creates the folder (mode 0750) below the first usable parent. Creates the parent,
/// too, if it is missing: with the mode 0700, whatever the umask is. Errc::config when the parent
/// is inside one of `roots`, where agents can write. Errc::denied when no parent is usable, or the
/// folder or one above it belongs to another user or can be written by others.
Result<std::string> make_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents,
                                      const std::vector<std::string>& roots);

/// For readers: of the existing state folders the one with a living daemon, else the first.
/// Errc::not_found. Errc::denied: a daemon serves the root, but its state folder is in none of the
/// parents or not readable. Also if this process is root's, and the only state folder is not.
Result<std::string> find_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents);

/// Whether this process may use what lies in a state folder. Only root may not use all that it can
/// open: for root, the folder and all above it must be root's. Errc::denied says what was found,
/// and which command is right. Opens nothing.
Result<void> check_usable(const std::string& state_folder);

/// A state folder that belongs to another user.
struct OtherState {
  uid_t owner = 0;
  std::string path;
};
/// For root, before anything of a state folder is opened: the state of these roots, if it belongs
/// to another user. Nothing if root has state of its own for one of them, or there is no state yet.
std::optional<OtherState> state_of_other(const std::vector<std::string>& roots,
                                         const std::vector<StateParent>& parents);
/// Errc::denied: whose it is, and the command that is right.
tl::unexpected<Error> refused(const OtherState& other);

}  // namespace baton
