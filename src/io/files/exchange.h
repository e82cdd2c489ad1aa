#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/digest.h"
#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

// Replacing a file that others write as well.
//
// The new version is written beside the old one, both are locked (flock), and they change places in
// one step. Writers that do not lock may come in between; therefore what came out is compared with
// what was expected, and put back if it is something else. Writers that still hold the old file
// open are what `DisplacedFiles` (io/files/displaced_files.h) waits for.

/// How long its owner still waits for locks: a quarter of a second for all that he asks for at a
/// time, and a twentieth of the time that passes. Whoever holds a thousand files locked must not
/// keep him from everything else.
class LockPatience {
 public:
  /// Errc::busy when somebody keeps the lock.
  Result<void> lock(int fd, const std::string& where);

 private:
  std::chrono::steady_clock::time_point rested_;  ///< all of it is there again from then on
};

/// Opens a regular file for `flags` and locks it; what is locked is what the name leads to.
/// Errc::busy when somebody keeps the lock, changed when the file is replaced all the time.
Result<Fd> open_locked(int folder, const std::string& name, int flags, const std::string& where,
                       LockPatience& patience);

/// Whether the name leads to what `fd` is.
bool names(int folder, const std::string& name, int fd);

/// Bytes of a file on their way in: complete, synced, locked, under a temporary name.
struct Prewritten {
  std::string name;
  Fd fd;
};
/// `like`: the file whose mode, owner, group and access list it gets; -1 for the usual ones.
Result<Prewritten> prewrite(int folder, const std::string& name, std::string_view bytes, int like,
                            const std::string& where);

/// Moves without overwriting, also where the kernel's file system cannot. Errc::changed when `to`
/// exists.
Result<void> move_new(int from_folder, const std::string& from, int to_folder,
                      const std::string& to, const std::string& where);

struct Replacement {
  std::string where;  ///< for messages
  Digest assumes;
  std::string_view bytes;
  bool can_exchange = true;  ///< false: as on a file system that cannot
};

/// Replaces `name`. `held`: a file that the caller has locked, or -1; where `name` leads to it the
/// lock is not asked for again. Returns the name under which the old file lies now
/// (`displaced_name`, a temporary one where that would be too long), empty when it could not be
/// kept. Errc::changed: see Disk::replace.
Result<std::string> exchange(int folder, const std::string& name, const Replacement& replacement,
                             LockPatience& patience, int held = -1);

}  // namespace baton
