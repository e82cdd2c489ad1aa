#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "workspace/context.h"
#include "workspace/exit_code.h"

namespace baton {

/// One file that agents write, and what is known about it.
class StateFileEdit {
 public:
  /// What the configuration says about the file counts: the one a living daemon goes by, else the
  /// one that is found. Having none does not stop an agent from writing its state. Errc::config:
  /// there is one that cannot be used; not_regular: a link leads to the file; not_found, denied,
  /// io.
  static Result<StateFileEdit> open(const std::string& named, const Places& given);

  /// Locks the file for what follows, as far as it is there and can be locked. False: somebody else
  /// has it, or is replacing it.
  bool lock() { return disk_->hold({name_}); }
  void unlock() { disk_->hold({}); }
  Result<FileBytes> read();
  Result<void> replace(const Digest& assumes, std::string_view text);
  /// Whether the file is as `replace` left it.
  bool is_ours(const FileBytes& now) const { return now.digest == written_; }
  /// As of Disk, but nobody waits who need not: a version that nobody holds is settled at once, one
  /// of which that cannot be told when its writer has had his time.
  bool keeps_old() { return disk_->keeps_old(Time{}); }
  std::vector<LateWrite> late_writes(Millis waited);
  void late_noted(const LateWrite& write) { disk_->late_noted(write); }
  /// The findings of a new text.
  Findings check(const std::string& text);
  /// As it was named.
  const std::string& shown() const { return shown_; }

 private:
  StateFileEdit() = default;
  std::string shown_;
  std::string name_;
  std::string path_;
  Digest written_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Schemas> schemas_;
  Catalog catalog_;
};

/// Waits its turn, reads the file, asks for its new text, checks that, and replaces the file; when
/// somebody who takes no turns was faster, all of it again. An error of `change` ends it: parse and
/// changed mean that the file is not as asked for (exit 1). What went wrong is told.
ExitCode rewrite(StateFileEdit& file,
                 const std::function<Result<std::string>(const std::string& now)>& change);

}  // namespace baton
