#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// A folder in which state folders may lie. One that somebody asked for is used or refused; the
/// usual ones are passed over when they cannot be used.
struct StateParent {
  std::string path;
  bool asked_for = false;
  bool named = false;  ///< by --state-dir
  bool operator==(const StateParent&) const = default;
};

/// The list of ARCHITECTURE.md section 5: `option` (--state-dir), `configured` (state_dir:), then
/// $BATON_STATE_DIR, $STATE_DIRECTORY, /var/lib/baton, $XDG_STATE_HOME/baton, ~/.local/state/baton.
/// Empty ones are left out.
std::vector<StateParent> state_parents(const std::string& option, const std::string& configured);

/// In the environment of an agent: where the state of $BATON_ROOT lies, whatever else is said. Of
/// other roots only what is served there is found there.
inline constexpr const char* kRootStateVariable = "BATON_ROOT_STATE";

/// The name of a root's state folder: last name of the real path and 16 digits of its digest.
std::string state_name(std::string_view real_root);

/// An absolute path without links. What does not exist yet is appended as it is written.
/// Errc::not_found, denied, io.
Result<std::string> real_path(const std::string& path);

/// For a daemon, and for commands that act at once: makes the folder (0750) below the first parent
/// that can be used. Errc::config when the parent lies inside one of `roots` (trees that agents
/// write), denied when none can be used or the folder belongs to somebody else.
Result<std::string> make_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents,
                                      const std::vector<std::string>& roots);

/// For reading commands: of those that exist the one whose daemon lives, else the first.
/// Errc::not_found; denied: a daemon serves the root, and its state lies in none of them, or where
/// this user may not look.
Result<std::string> find_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents);

}  // namespace baton
