#pragma once

#include <optional>
#include <string>

#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/record.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

/// Where a loop stands that no journal knows: by its state file, and by the lines of its event file
/// that came after what the state says. An action whose end is recorded there is not repeated.
struct Retraced {
  Record record;
  std::string action;                  ///< of the present entry, as it was carried out
  std::optional<ActionResult> result;  ///< its end is recorded, and no way on from it
  std::optional<Verdict> verdict;      ///< and so is what it was judged to be
  std::string lost;                    ///< why it cannot be gone on from there; empty: it can
};

/// `events`: an array of lines, the last ones of the file; nullptr: there is none. A state of
/// another program is only looked beyond while it says running: at an end it was written last.
Retraced retrace(const Loop& loop, Record record, const Value* events);

}  // namespace baton::fsm_loop
