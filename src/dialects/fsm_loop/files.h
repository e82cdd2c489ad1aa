#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::fsm_loop {

/// Where the files of one loop lie, relative to the root.
class Places {
 public:
  explicit Places(const View& view);

  /// `.loops`, or what `path` of the options says.
  const std::string& folder() const { return folder_; }
  std::string state() const { return running_ + ".state.json"; }
  std::string events() const { return running_ + ".events.jsonl"; }
  std::string lock() const { return running_ + ".lock"; }
  /// Who runs it, in one number; of other programs only.
  std::string pid() const { return running_ + ".pid"; }
  /// Where the definition may stand, best first: of the loop itself, then of the one it is an
  /// instance of.
  std::vector<std::string> definitions() const;
  /// Where what an ended run left is kept; `started_at` is that of the run, `last` the folder used
  /// for the run before it (two runs may begin within a second).
  std::string archive(std::string_view started_at, std::string_view last) const;

 private:
  std::string folder_;
  std::string name_;
  std::string running_;
};

/// `fix-types` of `fix-types-20260817T213505`, as later versions name each run by itself; empty for
/// all other names.
std::string_view loop_of_instance(std::string_view stem);

/// `2026-01-15T14:30:00.123000Z`, as the state and event files spell times.
std::string stamp(Time time);

}  // namespace baton::fsm_loop
