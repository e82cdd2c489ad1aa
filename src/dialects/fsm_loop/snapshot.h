#pragma once

#include <string>

#include "core/dialect.h"
#include "dialects/fsm_loop/files.h"
#include "dialects/fsm_loop/library.h"
#include "dialects/fsm_loop/memo.h"

namespace baton::fsm_loop {

// The documents of one loop, read into types once per decision. Everything that decides about a
// loop starts from here.

/// Lives as long as the view that it was made from.
struct Snapshot {
  explicit Snapshot(const View& given);

  const View& view;
  Paths paths;
  const Accepted* state = nullptr;  ///< the state file; nullptr: none
  Memo memo;                        ///< `frames.front()` has what the state file says
  bool signals_anywhere = false;    ///< option `signals: anywhere`

  /// Whether baton runs this loop. If not, another program does, or nobody has started it.
  bool owned() const { return state != nullptr && memo.owned; }
  Record& record() { return memo.frames.front().record; }
  /// The path of the definition; empty: none.
  std::string definition() const;
  /// The first error of the definition as it is in the file, with its position. Empty when the file
  /// is accepted. (Runs that are under way keep the version that they started with.)
  std::string definition_fault() const;
  /// The definition, put together from all files that `reads` of the dialect has asked for.
  Loaded loaded(const std::string& path) const;
  /// A run that has not ended, whatever it was started for; nullptr: none.
  const Run* live() const;
  std::int64_t now_ms() const { return view.now.time_since_epoch().count(); }
  /// The same, but it stands still while the loop may not run. The timeout of a loop uses it.
  std::int64_t clock_ms() const { return memo.stopped_ms > 0 ? memo.stopped_ms : now_ms(); }
  /// Stops that clock while the loop waits for its scope or is paused.
  void keep_clock();
};

inline constexpr std::string_view kSubject = "main";
/// The subject of the agent that continues after a handoff.
inline constexpr std::string_view kHandoff = "handoff";

/// The stage of a loop of another program that was interrupted or whose owner is dead; else empty.
Word stage_of_other_program(const Snapshot& snapshot);

/// While a loop runs, its stage names what runs in the present entry of its state.
Stages stages(const View& view);

}  // namespace baton::fsm_loop
