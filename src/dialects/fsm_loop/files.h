#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::fsm_loop {

// Where the files of one loop are, relative to the root, and how names and times in them are
// spelled.

/// Where the files of one loop lie, relative to the root.
class Paths {
 public:
  explicit Paths(const View& view);

  /// `.loops`, or `path` of the options.
  const std::string& folder() const { return folder_; }
  std::string state() const { return running_ + ".state.json"; }
  std::string events() const { return running_ + ".events.jsonl"; }
  std::string lock() const { return running_ + ".lock"; }
  /// Other programs write the number of the process that runs the loop there.
  std::string pid() const { return running_ + ".pid"; }
  /// Paths where the definition may be, best first: the loop's own, then that of the loop it is an
  /// instance of.
  std::vector<std::string> definitions() const;
  /// The folder for the files of a run that has ended. `started_at` is that of the run. `last` is
  /// the folder of the run before it: two runs may start within one second.
  std::string archive(std::string_view started_at, std::string_view last) const;

 private:
  std::string folder_;
  std::string name_;
  std::string running_;
};

/// `fix-types` of `fix-types-20260817T213505`: later versions of the original name each run so.
/// Empty for other names.
std::string_view loop_of_instance(std::string_view stem);

/// A time as the state and event files spell it: `2026-01-15T14:30:00.123000Z`.
std::string stamp(Time time);

}  // namespace baton::fsm_loop
