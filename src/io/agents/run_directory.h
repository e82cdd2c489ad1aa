// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder of a run: its prompt, logs, lock, claim and exit.json (shim/protocol.h specifies
// them). The claim decides whether the run was started; the lock tells whether its shim lives. The
// agent can write in this folder, so nothing here trusts a file without checking it. Everything is
// opened beneath the folder of the runs. No link is followed, also not in its own place.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/ports.h"
#include "io/files/fd.h"
#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {

/// The file with the order in which both logs were written, and how many lines of it count.
inline constexpr const char* kOrderOfLogs = shim::kOrderFile;
inline constexpr std::uint32_t kMostOrderLines = shim::kOrderLines;

/// Where the folders of runs are, and which group may read them.
struct RunFolder {
  std::string path;  ///< absolute; created if missing
  /// used instead of the group of this process, if this user may use it
  std::optional<unsigned> group;
};

/// The folder of all runs in a state folder. The name of a run's folder is its id. No other path is
/// stored, so that a state folder can be moved or copied.
std::string runs_folder(const std::string& state_folder);

/// Opens that folder. Errc::not_regular: it is a symbolic link. Errc::not_found, denied, io.
Result<Fd> open_runs_folder(const std::string& path);

/// Makes a new random id.
RunId make_run_id();

/// The text of the launch file for the shim (shim/protocol.h), with placeholders filled in and the
/// run's own variables added. Errc::usage for arguments that no process can be given.
Result<std::string> launch_text(const Launch& launch, const RunId& run,
                                const std::string& directory, const std::string& cgroup);

/// Replaces `${run_id}`, `${run_uuid}`, `${run_dir}` and `${prompt_file}`. `$${` becomes `${`.
/// Other text stays.
std::string fill_in(std::string_view text, const RunId& run, const std::string& directory,
                    const std::string& prompt_file);

/// A directory that will become the directory of a run. It lies apart (`.spare` in the folder of
/// the runs), so that a crash leaves nothing among the runs.
struct SpareDirectory {
  Fd directory;
  std::string path;
};

/// Creates one with `lock`. After an error there is none. Errc::no_space,
/// busy, io, denied.
Result<SpareDirectory> make_spare_directory(const RunFolder& folder, const RunId& run);

/// Writes the claim that the shim will make, so that a full disk is noticed before the start.
Result<void> write_claim(const RunFolder& folder, const SpareDirectory& spare,
                         const ProcessIdentity& shim, const std::string& boot_id);

/// Moves the directory to its place among the runs, and returns its path. Errc::not_found when it
/// was removed.
Result<std::string> move_into_place(const RunFolder& folder, const RunId& run,
                                    const SpareDirectory& spare);

/// Writes the prompt into a directory that is in its place: a copy for people, which the agent does
/// not read. Moves aside what another process has put there while the directory was a spare.
Result<void> write_prompt(const RunFolder& folder, const SpareDirectory& spare,
                          std::string_view prompt);

/// Removes directories that a killed daemon left. Only the holder of the root's lock may call this.
Result<void> remove_spare_directories(const RunFolder& folder);

/// Errc::not_found, also when it is not a directory. Errc::not_regular: the folder of the runs is a
/// symbolic link.
Result<Fd> open_run_directory(const std::string& path);

/// Creates the directory of a run again after it was removed, so that a sweeper can work in it.
/// Moves anything else at that path aside.
Result<Fd> remake_run_directory(const RunFolder& folder, const RunId& run);

/// Takes the run's lock; nothing when another process holds it. Creates a missing lock file.
/// Errc::not_regular, denied: something else has its name.
Result<std::optional<Fd>> take_run_lock(const Fd& directory);

/// Whether this process can see the holder of the run's lock. It cannot see a shim in another
/// container.
bool lock_holder_seen(const Fd& directory);

/// Moves anything that is not a lock file away from the lock's name, so that the lock can be
/// created.
Result<void> move_lock_aside(const Fd& directory);

/// Whether the run was claimed: then this attempt is never started again. The claim is a second
/// name (hard link) of the file that was written ahead. If both names are gone, somebody removed
/// them, and the run counts as claimed.
Result<bool> claimed(const Fd& directory);

/// Whether the name has the form of a run id.
bool is_run_id(std::string_view name);

/// The run that the claim, or else exit.json, names as its owner. "" when neither does.
std::string run_named_in(const Fd& directory);

/// The process that made the claim. Nothing when it is gone or cannot be identified.
std::optional<std::int64_t> living_shim(const Fd& directory, const RunId& run);

/// Whether the process that the shim started for the agent lives, as the record `agent` names it.
/// The agent can change this record, so it proves life but not death.
bool agent_lives(const Fd& directory);

/// Whether a process is in this cgroup v2 directory or below it. False when there is none.
bool is_populated(const std::string& cgroup);

/// The text of exit.json. Errc::not_found.
Result<std::string> exit_text(const Fd& directory);

/// The files of one of the agent's two output streams.
struct Output {
  const char* log;
  const char* tail;       ///< the last part of the dropped output
  std::uint64_t bytes;    ///< in all
  std::uint64_t dropped;  ///< how many of them are not in the log
};
/// The end of the output, at most `most_bytes`. "" when it cannot be read.
std::string output_tail(const Fd& directory, const Output& output, std::size_t most_bytes);
/// What the agent was told, at most 1 MiB. "" when it cannot be read.
std::string prompt_text(const Fd& directory);

/// The time of the last output; nothing when there was none.
std::optional<Time> last_output_in(const std::string& path);

/// Removes a run's directory with its content. Does not follow links, and touches no other file
/// system. A missing directory is no error. Errc::not_regular as for `open_run_directory`. Call it
/// only for runs that have ended or were never committed.
Result<void> remove_run_directory(const std::string& path);

}  // namespace baton
