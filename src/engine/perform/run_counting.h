// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the rows of this root's runs that caps count (core/caps.h) in step with the journal: a row
// is there before the journal begins the run and has its end before the journal ends it. After a
// crash the rows without end are settled by the journal. Rows that are missing, because somebody
// has removed the file, are entered from the journal again.

#include <cstdint>
#include <optional>

#include "config/setup.h"
#include "core/ports.h"
#include "engine/perform/starter.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The run as a row. Nothing: a run that never ran has none.
std::optional<CountedRun> counted_run(const Run& run, const Setup& setup);

class RunCounting {
 public:
  RunCounting(Spending& spending, Journal& journal) : spending_(spending), journal_(journal) {}

  /// Enters the ends of the draft, and settles what the last daemon left. Returns all rows, valid
  /// until the next call. An error: the sums are unknown, so nothing may start.
  Result<const Counted*> take(Draft& draft, const Setup& setup);
  /// Adds the rows of runs that the draft begins. Call it before the commit. An error: none of them
  /// may begin.
  Result<void> begin(const Draft& draft, const Prepares& prepared, const Setup& setup);
  /// Enters ends, and costs that a dialect has read, into the rows. Call it before the commit.
  void end(const Draft& draft, const Setup& setup);
  /// The commit has failed: these runs did not begin.
  void drop(const Prepares& prepared);

 private:
  Result<void> settle(Draft& draft, const Setup& setup);

  Spending& spending_;
  Journal& journal_;
  std::optional<std::uint64_t> settled_;  ///< the number of the file that was settled
};

}  // namespace baton
