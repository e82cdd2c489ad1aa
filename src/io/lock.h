#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/fd.h"

namespace baton {

/// That this process, and no other, acts on a root: an exclusive flock on the root's folder and on
/// `lock` in its state folder. Held until destroyed; not inherited by started programs.
class RootLock {
 public:
  /// Tries for two seconds. Errc::served names the process that has it.
  static Result<RootLock> take(const std::string& root, const std::string& state_folder);

  /// The root's folder is not the root any more: whoever it belongs to now may lock it. The state
  /// folder stays locked.
  void let_root_go() { root_.reset(); }
  /// Locks the folder that the root's path leads to now, at once or not at all, and returns it.
  /// After an error no folder is locked. Errc::served, not_found, denied, busy, io.
  Result<Fd> take_root(const std::string& root);

 private:
  RootLock(Fd root, Fd state) : root_(std::move(root)), state_(std::move(state)) {}
  Fd root_;  ///< none for a root on a network file system: flock on a folder does not work there
  Fd state_;
};

/// Errc::served, not_found, denied, busy, io.
Result<RootLock> lock_root(const std::string& root, const std::string& state_folder);

/// Whether some process holds the lock of this state folder. False when that cannot be found out.
bool daemon_lives(const std::string& state_folder);

/// What `lock` says about its holder, alive or not; `pid` 0 when it says nothing.
struct LockHolder {
  std::int64_t pid = 0;
  std::string since;  ///< ISO time
};
LockHolder lock_holder(const std::string& state_folder);

}  // namespace baton
