#pragma once

#include "base/result.h"
#include "core/ports.h"

namespace baton {

/// Performs one journalled write. Errc::changed: the file is no longer what the write assumed,
/// nothing was written.
Result<void> perform(Disk& disk, const Intent& write);

/// What became of a write that was journalled before a crash.
enum class Settled {
  done,       ///< the file is as the write leaves it
  redo,       ///< the file still is what the write assumed
  abandoned,  ///< it is neither: decide again
  missing,    ///< it is not there; whether that is so because the root is away, `perform` says
};
/// Of an append that was torn the rest is left in `write`: what stands there is not said twice. The
/// error with which the file cannot be read: nobody knows.
Result<Settled> settle(Disk& disk, Intent& write, std::size_t max_bytes);

/// Syncs what such a write has left where it is done. Errors of Disk::make_last, or why it cannot
/// be read.
Result<void> make_last(Disk& disk, const Intent& write, std::size_t max_bytes);

}  // namespace baton
