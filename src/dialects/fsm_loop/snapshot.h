#pragma once

#include <string>

#include "core/dialect.h"
#include "dialects/fsm_loop/files.h"
#include "dialects/fsm_loop/library.h"
#include "dialects/fsm_loop/memo.h"

namespace baton::fsm_loop {

/// A view, read once. Lives as long as the view.
struct Scene {
  explicit Scene(const View& given);

  const View& view;
  Places places;
  const Accepted* state = nullptr;  ///< the state file
  Memo memo;                        ///< its lowest frame has what the state file says
  bool anywhere = false;            ///< option `signals: anywhere`

  /// Whether baton runs this loop. Else it is somebody else's, or was never begun.
  bool driven() const { return state != nullptr && memo.driven; }
  Record& record() { return memo.frames.front().record; }
  /// The definition's file; empty when there is none.
  std::string definition() const;
  /// What is wrong with that file as it stands, with its place; empty while no version of it was
  /// rejected. What was accepted before is for runs that began with it.
  std::string definition_fault() const;
  /// The definition put together from what was read; see `reads` of the dialect.
  Loaded loaded(const std::string& path) const;
  /// A run that has not ended, of whatever it was started for.
  const Run* live() const;
  std::int64_t now_ms() const { return view.now.time_since_epoch().count(); }
  /// The same, standing still while the loop is not let run: of that its timeout knows nothing.
  std::int64_t clock_ms() const { return memo.stopped_ms > 0 ? memo.stopped_ms : now_ms(); }
  /// Stops that clock where the loop waits for its scope or is paused, and lets it go on after.
  void keep_clock();
};

inline constexpr std::string_view kSubject = "main";
/// The subject of an agent that is to go on after a handoff.
inline constexpr std::string_view kHandoff = "handoff";

/// The stage of another program's loop that was interrupted or lost its owner; empty for all
/// others.
Word foreign_stage(const Scene& scene);

/// While a loop runs, its stage is a word for what runs in the present entry of its state.
Stages stages(const View& view);

}  // namespace baton::fsm_loop
