// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces a file that other processes write too, without losing what they write.
//
// baton writes the new version beside the old one, locks both (flock), and lets them change places
// in one step. A writer that does not lock may come in between. So baton compares the old version
// with the expected one and puts it back if it differs. `DisplacedFiles` (displaced_files.h) deals
// with writers that still have the old file open.

#include <chrono>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/digest.h"
#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// Limits the time that one owner waits for locks: 250 ms at once, refilled by one twentieth of the
/// time that passes. So a process that keeps a thousand files locked cannot block baton.
class LockBudget {
 public:
  /// Errc::busy when another process keeps the lock.
  Result<void> lock(int fd, const std::string& where);

 private:
  /// the time at which the full budget is available again
  std::chrono::steady_clock::time_point full_at_;
};

/// Opens a regular file with `flags` and locks it. The name leads to the locked file on return.
/// Errc::busy when another process keeps the lock, changed when the file is replaced again and
/// again.
Result<Fd> open_locked(int folder, const std::string& name, int flags, const std::string& where,
                       LockBudget& budget);

/// Whether the name leads to the open file `fd`.
bool name_leads_to(int folder, const std::string& name, int fd);

/// A complete, synced and locked file under a temporary name.
struct TemporaryFile {
  std::string name;
  Fd fd;
};
/// `like`: the file whose mode, owner, group and access list the new one gets; -1 for the defaults.
Result<TemporaryFile> write_temporary(int folder, const std::string& name, std::string_view bytes,
                                      int like, const std::string& where);

/// Moves a file without overwriting another one, also on file systems that have no such call.
/// Errc::changed when `to` exists.
Result<void> move_new(int from_folder, const std::string& from, int to_folder,
                      const std::string& to, const std::string& where);

struct Replacement {
  std::string where;  ///< for messages
  Digest assumes;
  std::string_view bytes;
  bool can_exchange = true;  ///< false: take the way for file systems that cannot exchange files
};

/// Replaces `name`. `held` is a file that the caller has locked already, or -1. Returns the name of
/// the old version: a `displaced_name`, or a temporary name if that would be too long. Empty when
/// the old version could not be kept. Errc::changed: see Disk::replace.
Result<std::string> exchange(int folder, const std::string& name, const Replacement& replacement,
                             LockBudget& budget, int held = -1);

}  // namespace baton
