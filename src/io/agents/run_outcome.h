#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "core/event.h"
#include "core/run.h"
#include "io/agents/run_directory.h"
#include "io/agents/run_end.h"
#include "io/files/fd.h"

namespace baton {

/// Why a run was interrupted whose machine has been down since.
inline constexpr const char* kOtherBoot = "other_boot";

/// An end of which nothing more is known, at this moment.
RunEnd plain_end(const RunId& run, Outcome outcome, std::string reason);

/// What exit.json says; nothing when there is none. A file that is damaged tells at least that it
/// ended. One that cannot be read at present tells nothing: to take it for damaged would start an
/// attempt more of what may have ended well.
Result<std::optional<RunEnd>> recorded_end(const Fd& directory, const RunId& run, bool stop_wanted);

/// How a run ended that lives by the journal, for a reader while no daemon is there to record it.
/// Nothing while it lives, or when it cannot be told. Changes nothing and holds no lock.
std::optional<RunEnd> unrecorded_end(const Run& run);

/// What the folder of a run says once its shim is known, or thought, to be gone.
struct RunOutcome {
  enum class Kind {
    ended,   ///< `end` says how
    locked,  ///< a shim or a sweeper lives, or may live
    sweep,   ///< it was claimed and has left no word: what of it lives must be ended
    retry,   ///< it cannot be told now
  } kind = Kind::retry;
  RunEnd end;
  std::optional<Fd> directory;  ///< with `sweep`, like `lock`: held until it is destroyed
  std::optional<Fd> lock;
};
/// Nothing is said to have ended, or never to have run, while a process lives that carries the
/// run's id: its tree is ended first, if need be from a directory made anew. `shim_gone`: its shim,
/// or its last sweeper, was seen to end, so nobody can have the lock by right. Without that, a lock
/// is the agent's where its processes are seen and no shim and no sweeper is.
RunOutcome outcome_by_folder(const RunFolder& folder, const RunId& run, bool stop_wanted,
                             bool shim_gone);

/// As above, of a run whose machine has been down since: `ended` as its record says, or as
/// kOtherBoot, and `retry`.
RunOutcome outcome_of_other_boot(const std::string& path, const RunId& run, bool stop_wanted);

/// Whether a process lives that carries the run's id. An agent can do what it likes to its folder,
/// but not to what its processes were started with.
bool lives(const RunId& run);

/// Whether both are of one boot. Without one of the two nobody can say.
std::optional<bool> same_boot(const std::string& one, const std::string& other);

}  // namespace baton
