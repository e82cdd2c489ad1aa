// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/memo.h"
#include "dialects/timestamps.h"

namespace baton::fsm_loop {

// Where the files of one loop are, and how their names and times are spelled.

/// Where the files of one loop lie, relative to the root.
class Paths {
 public:
  explicit Paths(const View& view);

  /// `.loops`, or `path` of the options.
  const std::string& folder() const { return folder_; }
  std::string state() const { return running_ + ".state.json"; }
  std::string events() const { return running_ + ".events.jsonl"; }
  std::string lock() const { return running_ + ".lock"; }
  /// Other programs write the number of the process that runs the loop into this file.
  std::string pid() const { return running_ + ".pid"; }
  /// The paths where the definition may be, best first. The paths of the loop itself come before
  /// those of the loop it is an instance of.
  std::vector<std::string> definitions() const;
  /// The folder for the files of a run that has ended and started at `started_at`. `last` is the
  /// folder of the run before, because two runs may start within one second.
  std::string archive(std::string_view started_at, std::string_view last) const;
  /// The folder in which the actions of a run keep their files, with a slash behind it:
  /// `.loops/runs/NAME-20260115T143000123/`. A run that has a name of its own keeps it.
  std::string run_folder(std::string_view started_at) const;

 private:
  std::string folder_;
  std::string name_;
  std::string running_;
};

/// The loop in the name of one of its runs: `fix-types` for `fix-types-20260817T213505`. Later
/// versions of the original give each run such a name. Empty for other names.
std::string_view loop_of_instance(std::string_view stem);

// The documents of one loop, read into structs once per decision. All code that decides about a
// loop starts here.

/// It must not outlive the view.
struct Snapshot {
  explicit Snapshot(const View& given);

  const View& view;
  Paths paths;
  const Accepted* state = nullptr;  ///< the state file; nullptr: none
  Memo memo;                        ///< `frames.front().record` is the state file
  bool signals_anywhere = false;    ///< option `signals: anywhere`

  /// Whether baton runs this loop. If not, another program runs it, or it was not started.
  bool owned() const { return state != nullptr && memo.owned; }
  Record& record() { return memo.frames.front().record; }
  /// A document whose file exists; nullptr if there is none.
  const Accepted* present(const std::string& path) const;
  /// The journal's stage of the loop; empty: none.
  Word stage() const;
  /// The path of the definition; empty: none.
  std::string definition() const;
  /// The first error of the definition file, with its position. Empty if baton accepted the file. A
  /// run in progress keeps the version from its start.
  std::string definition_fault() const;
  /// The definition, put together from all files that `reads` has asked for. None if it needs what
  /// the configuration does not give to loops (shell_access.h), or what baton does not carry out
  /// unless that is to be ignored.
  Loaded loaded(const std::string& path, bool ignore_unsupported) const;
  /// A run that has not ended, of any subject and role; nullptr if there is none.
  const Run* live() const;
  std::int64_t now_ms() const { return view.now.time_since_epoch().count(); }
  /// Like now_ms, but this clock stands still while the loop may not run. The timeout of a loop
  /// uses it.
  std::int64_t clock_ms() const { return memo.stopped_ms > 0 ? memo.stopped_ms : now_ms(); }
  /// Stops that clock while the loop waits for its scope or is paused.
  void keep_clock();
};

/// Why a loop does not begin or go on. There is no definition in `loaded`.
std::string why_not(const Loaded& loaded);

inline constexpr std::string_view kSubject = "main";
/// The subject of the agent that continues after a handoff.
inline constexpr std::string_view kHandoff = "handoff";

/// The stage of another program's loop: `interrupted`, or `owner_dead` if its process is gone.
/// Empty otherwise.
Word stage_of_other_program(const Snapshot& snapshot);

/// The stages of the flow. The stage of a running loop names what runs in the present entry of its
/// state.
Stages stages(const View& view);

}  // namespace baton::fsm_loop
