#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// For what a process holds a root: to serve it, or to act once where nobody serves it.
enum class LockRole { daemon, command };

/// That this process, and no other, acts on a root: an exclusive flock on the root's folder and on
/// `lock` in its state folder. Held until destroyed; not inherited by started programs.
class RootLock {
 public:
  /// See `lock_root`.
  static Result<RootLock> take(const std::string& root, const std::string& state_folder,
                               LockRole role);

  /// The root's folder is not the root any more: whoever it belongs to now may lock it. The state
  /// folder stays locked.
  void let_root_go();
  /// Locks the folder that the root's path leads to now, at once or not at all, and returns it.
  /// After an error no folder is locked. Errc::served, not_found, denied, busy, locked, io.
  Result<Fd> take_root(const std::string& root);

 private:
  RootLock(Fd root, Fd state) : root_(std::move(root)), state_(std::move(state)) {}
  Fd root_;  ///< none for a root on a network file system: flock on a folder does not work there
  Fd state_;
};

/// Tries for two seconds. Errc::served: a daemon, or somebody unknown, has it; locked: a command
/// has it, whose end may be waited for. Both name the process. Errc::busy: nothing can be locked at
/// present. Errc::not_found, denied, no_space, io.
Result<RootLock> lock_root(const std::string& root, const std::string& state_folder,
                           LockRole role = LockRole::daemon);

/// Whether a daemon holds the lock of this state folder, not a command. False when that cannot be
/// found out.
bool daemon_lives(const std::string& state_folder);

/// The daemon that holds the root's folder locked, wherever its state lies; 0: none does, or that
/// cannot be found out.
std::int64_t holder_of_root(const std::string& root);

/// What `lock` says about its holder, alive or not; `pid` 0 when it says nothing.
struct LockHolder {
  std::int64_t pid = 0;
  std::string since;  ///< ISO time
  std::string root;   ///< real path; "" when an older baton has signed
  LockRole role = LockRole::daemon;
};
LockHolder lock_holder(const std::string& state_folder);

}  // namespace baton
