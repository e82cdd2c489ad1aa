// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes sure that only one process acts on a root: an exclusive flock on the root's folder and on
// the file `lock` in its state folder. The `lock` file also says who the holder is. Reading
// commands take no lock.
//
// Everybody who can read a root can lock its folder. The lock of a user who could not serve the
// root is passed over. `.baton.lock` in the root then takes its place (io/files/lock_holders.h),
// and each process looks at that file, too.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/files/fd.h"
#include "io/files/lock_holders.h"

namespace baton {

/// Why a process locks a root: to serve it, or to act once while no daemon serves it.
enum class LockRole { daemon, command };

/// The two locks of a root, held until destroyed. Started programs do not inherit them.
class RootLock {
 public:
  /// See `lock_root`.
  static Result<RootLock> take(const std::string& root, const std::string& state_folder,
                               LockRole role);

  /// Unlocks the root's folder after another folder took its place. The new folder goes to the
  /// process that locks it next. The state folder stays locked.
  void release_root();
  /// Locks the folder that the root's path leads to now, without waiting, and returns it. After an
  /// error no folder is locked. Errc::served, not_found, denied, busy, locked, io.
  Result<Fd> lock_root_folder(const std::string& root);
  /// Whether `.baton.lock` takes the place of the folder's own lock.
  bool beside() const { return root_.file.held(); }
  /// Call it once a second while `beside`. Takes the folder's own lock as soon as that is free, and
  /// locks `.baton.lock` again if somebody removed it. Returns what has changed, for people; "" if
  /// nothing has. Errc::served: another daemon has taken the place of the file that was removed.
  /// After other errors the lock is as before; try again.
  Result<std::string> keep(const std::string& root);
  /// Who has locked the root's folder without being able to serve the root; "" if nobody has.
  const std::string& stranger() const { return root_.stranger; }

 private:
  /// The lock of the root's folder. Neither has a lock on a network file system, where flock on a
  /// folder does not work.
  struct FolderLock {
    Fd folder;
    LockFile file;  ///< locked where a stranger has locked the folder
    std::string stranger;
  };
  static Result<FolderLock> lock_folder(const std::string& root, int& patience_ms);
  Result<std::string> lock_again(const std::string& root);
  static Result<FolderLock> lock_beside(const std::string& root, LockVerdict stranger);
  RootLock(FolderLock root, Fd state) : root_(std::move(root)), state_(std::move(state)) {}
  FolderLock root_;
  Fd state_;
};

/// Tries for two seconds. Errc::served: a daemon or an unknown process holds the root.
/// Errc::locked: a command holds it, and will end. Both name the process. Errc::busy: nothing can
/// be locked now, or nobody can say who holds the root. Errc::not_found, denied, no_space, io.
Result<RootLock> lock_root(const std::string& root, const std::string& state_folder,
                           LockRole role = LockRole::daemon);

/// Whether a daemon (not a command) holds the lock of this state folder. False when unknown.
bool daemon_lives(const std::string& state_folder);

/// The process of the daemon that holds the root's folder locked, wherever its state is. 0: none,
/// or unknown.
std::int64_t holder_of_root(const std::string& root);

/// What `lock` says about its holder, who may have ended. `pid` is 0 when it says nothing.
struct LockHolder {
  std::int64_t pid = 0;
  std::string since;  ///< ISO time
  std::string root;   ///< real path; "" when an older baton wrote it
  LockRole role = LockRole::daemon;
};
LockHolder lock_holder(const std::string& state_folder);

}  // namespace baton
