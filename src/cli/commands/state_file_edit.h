// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes one state file for `baton set` and `baton send`: locked, checked against its schema,
// replaced in one step, and repeated when another process was faster.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/exit_code.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "io/files/lock_holders.h"
#include "workspace/context.h"

namespace baton {

/// One state file and what the configuration says about it.
class StateFileEdit {
 public:
  /// Uses the configuration of the running daemon, else that of the file. Works without a
  /// configuration, so that agents can always write their state. Errc::config: the configuration
  /// cannot be used. Errc::not_regular: a link leads to the file. Errc::not_found, denied, io.
  static Result<StateFileEdit> open(const std::string& named, const Places& given);

  /// Locks the file if it exists and can be locked. False: another process has it or is replacing
  /// it.
  bool lock() { return disk_->hold({name_}); }
  /// The process that holds the lock, for people; "" if unknown.
  std::string lock_holder() const { return lock_holder_text(shown_); }
  void unlock() { disk_->hold({}); }
  Result<FileBytes> read();
  Result<void> replace(const Digest& assumes, std::string_view text);
  /// Whether the file is as `replace` left it.
  bool is_ours(const FileBytes& now) const { return now.digest == written_; }
  /// As in Disk, but without needless waiting: an old version that no process has open is
  /// removed at once.
  bool keeps_old() { return disk_->keeps_old(Time{}); }
  std::vector<LateWrite> late_writes(Millis waited);
  void late_noted(const LateWrite& write) { disk_->late_noted(write); }
  /// The findings of a new text.
  Findings check(const std::string& text);
  /// `subject_key` of the file's rule; "" if it has none, or if no rule names the file.
  std::string subject_key() const;
  /// The path as the user gave it.
  const std::string& shown() const { return shown_; }

 private:
  StateFileEdit() = default;
  std::string shown_;
  std::string name_;
  std::string path_;
  Digest written_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Schemas> schemas_;
  LoadLimits load_;
  Catalog catalog_;
};

/// Waits for the lock, reads the file, asks `change` for the new text, checks and replaces it.
/// Repeats all this when a process without the lock was faster. An error of `change` ends it; parse
/// and changed mean that the file is not as expected (exit 1). Prints what went wrong.
ExitCode rewrite(StateFileEdit& file,
                 const std::function<Result<std::string>(const std::string& now)>& change);

}  // namespace baton
