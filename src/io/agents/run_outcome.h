// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides how a run ended when its shim is gone: from exit.json, the claim, the lock and the living
// processes. A run is never declared ended, or never started, while one of its processes lives.

#include <optional>
#include <string>

#include "base/result.h"
#include "core/event.h"
#include "core/run.h"
#include "io/agents/run_directory.h"
#include "io/agents/run_end.h"
#include "io/files/fd.h"

namespace baton {

/// The reason of a run that was interrupted by a restart of the machine.
inline constexpr const char* kOtherBoot = "other_boot";

/// An end at this moment without further facts.
RunEnd plain_end(const RunId& run, Outcome outcome, std::string reason);

/// The end in exit.json; nothing when there is none. A damaged file still proves an end. An error
/// when it cannot be read now: to call that damaged would start another attempt although this one
/// may have succeeded.
Result<std::optional<RunEnd>> recorded_end(const Fd& directory, const RunId& run, bool stop_wanted);

/// For readers without a daemon: how a run ended that the journal lists as living. Nothing while it
/// lives or when this is unknown. Changes nothing and holds no lock.
std::optional<RunEnd> unrecorded_end(const Run& run);

/// What the folder of a run says after its shim has ended, or seems to have.
struct RunOutcome {
  enum class Kind {
    ended,   ///< see `end`
    locked,  ///< a shim or a sweeper lives, or may live
    sweep,   ///< claimed, without a record to trust: its living processes must be ended
    retry,   ///< unknown at the moment
  } kind = Kind::retry;
  RunEnd end;
  std::optional<Fd> directory;  ///< with `sweep`; like `lock`, held until destroyed
  std::optional<Fd> lock;
};
/// How far exit.json can be trusted. The agent runs as the same user and can write this file too,
/// so only what baton has seen of the shim proves it.
enum class RecordTrust {
  proved,    ///< the shim was seen to exit with `recorded`
  unproved,  ///< nobody saw how the shim ended: its run was adopted
  refuted,   ///< the shim was killed, or processes of the run outlived it
  swept,     ///< a sweeper was seen to exit with `recorded`: exit.json is its record
};

/// What baton knows of the shim of a run besides the folder.
struct ShimEnd {
  /// baton has seen the shim or its last sweeper end, so no shim can hold the lock. Otherwise the
  /// lock counts as the agent's if its processes are visible and neither shim nor sweeper is.
  bool gone = false;
  RecordTrust trust = RecordTrust::unproved;
  std::string cgroup;  ///< of the run, whether it exists or not; may be ""
};

/// While a process carries the run's id, the outcome is `sweep`, if necessary in a directory that
/// is created again. An unproved record counts only if nothing of the run lives.
RunOutcome outcome_by_folder(const RunFolder& folder, const RunId& run, bool stop_wanted,
                             const ShimEnd& shim);

/// The same after a restart of the machine: `ended` as exit.json says or with kOtherBoot, or
/// `retry`.
RunOutcome outcome_of_other_boot(const std::string& path, const RunId& run, bool stop_wanted);

/// Whether a living process carries the run's id in its environment. An agent can change its
/// folder, but not the environment with which its processes were started.
bool has_living_process(const RunId& run);

/// Whether both are the same boot. Nothing when one of them is unknown.
std::optional<bool> same_boot(const std::string& one, const std::string& other);

}  // namespace baton
