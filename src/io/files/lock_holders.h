// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who holds a flock, and whether that user could serve a root at all.
//
// Problem: everybody who can read a folder can lock it. A lock on a root means "another daemon
// serves it" only if its holder could be such a daemon. Way: /proc/locks names the process,
// /proc/PID/status its user and groups. Limits: a holder that has ended, is in another container or
// is hidden (the mount option hidepid) stays unknown, as on file systems whose numbers /proc/locks
// does not show.

#include <cstdint>
#include <string>

#include <sys/stat.h>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// In the order of their weight: where several processes share a lock, the gravest counts.
enum class LockStanding {
  none,       ///< no process is listed
  stranger,   ///< cannot write the root, is neither its owner nor root
  unknown,    ///< cannot be determined
  may_serve,  ///< root, the owner of the root, our own user, or a user who can write the root
};

struct LockVerdict {
  LockStanding standing = LockStanding::none;
  std::int64_t pid = 0;  ///< 0: unknown
  std::string who;       ///< "process 12 of user 1000 (alice), `flock -x /srv/project`"
};

/// Judges who holds a flock on the file that `info` describes, as a user of the root `root`.
LockVerdict judge_lock(const struct stat& info, int root);

/// Who holds a flock on the file, for people; "" if unknown.
std::string lock_holder_text(const std::string& path);

/// The lock of a root whose folder a stranger has locked: `.baton.lock` in it, of our own user and
/// with mode 0600, so that no stranger can lock it. Removed when destroyed.
class LockFile {
 public:
  static constexpr const char* kName = ".baton.lock";

  /// Makes and locks the file in the folder. Errc::served: another daemon holds it. Errc::busy:
  /// what has its name is not ours, or its holder is unknown. Errc::denied, no_space, io.
  static Result<LockFile> take(int folder, const std::string& root);
  /// The same, but first leaves the file for two seconds without a lock. If somebody removed the
  /// file of a daemon, that daemon locks the new one meanwhile.
  static Result<LockFile> take_after_others(int folder, const std::string& root);

  LockFile() = default;
  LockFile(LockFile&&) noexcept = default;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile() { remove(); }

  bool held() const { return static_cast<bool>(file_); }
  /// The folder that has the file; -1: none.
  int folder() const { return folder_.get(); }
  /// Whether the name still leads to the file that is locked. Anybody who may write the root can
  /// remove it.
  bool in_place() const;

 private:
  void remove();
  Fd folder_;
  Fd file_;
};

/// Errc::served or busy if another process has locked `.baton.lock` in this folder.
Result<void> check_lock_file(int folder, const std::string& root);

}  // namespace baton
