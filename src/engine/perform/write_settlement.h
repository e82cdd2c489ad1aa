// SPDX-License-Identifier: Apache-2.0
#pragma once

// Performs one journalled write, and finds out after a crash whether a write was made. It compares
// the file with the versions before and after the write.
// When to write, to try again or to give way is decided in pending_writes.h. How a file is replaced
// safely is the business of the `Disk` port.

#include "base/result.h"
#include "core/ports.h"

namespace baton {

/// Performs one journalled write. Errc::changed: the file is no longer what the write assumed, and
/// nothing was written.
Result<void> perform(Disk& disk, const Intent& write);

/// What became of a journalled write that may have been interrupted.
enum class Settled {
  done,       ///< the file is as the write leaves it
  redo,       ///< the file still is what the write assumed
  abandoned,  ///< the file is neither of these: decide again
  missing,    ///< the file is missing; `perform` finds out if the root is unavailable
};
/// Compares the file with the write. If only a part of an append was made, `write` keeps the rest,
/// so that no line is written twice. An error means that the file cannot be read, so the answer is
/// unknown.
Result<Settled> settle(Disk& disk, Intent& write, std::size_t max_bytes);

/// Syncs the file of a write that is `done`. Fails as Disk::make_last does, or if the file cannot
/// be read.
Result<void> make_last(Disk& disk, const Intent& write, std::size_t max_bytes);

}  // namespace baton
