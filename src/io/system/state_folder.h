#pragma once

// Finds or creates the state folder of a root: the folder with its journal, runs and requests. It
// is outside the root, because agents can write there. Its parent comes from an option, the
// configuration, the environment or the usual places, in this order.

#include <string>
#include <string_view>
#include <vector>

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

/// For writers: creates the folder (mode 0750) below the first usable parent. Errc::config when the
/// parent is inside one of `roots`, where agents can write. Errc::denied when no parent is usable
/// or the folder belongs to another user.
Result<std::string> make_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents,
                                      const std::vector<std::string>& roots);

/// For readers: of the existing state folders the one with a living daemon, else the first.
/// Errc::not_found. Errc::denied: a daemon serves the root, but its state folder is in none of the
/// parents or not readable.
Result<std::string> find_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents);

}  // namespace baton
