#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/ports.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

/// Where runs keep their files, and for whom they are readable.
struct RunFolder {
  std::string path;               ///< absolute; made when missing
  std::optional<unsigned> group;  ///< instead of the process's own, where it may be given
};

/// The folder of all runs in a state folder. A run's own is called by its id in it, wherever the
/// state folder has been moved or copied to; nothing else says where it lies.
std::string runs_folder(const std::string& state_folder);

/// A fresh one.
RunId make_run_id();

/// What the shim reads: see the launch in shim/protocol.h. Placeholders are filled in and the run's
/// own variables added. Errc::usage for what no process can be given.
Result<std::string> launch_text(const Launch& launch, const RunId& run,
                                const std::string& directory, const std::string& cgroup);

/// Replaces `${run_id}`, `${run_dir}` and `${prompt_file}`; other text stays as it is.
std::string fill_in(std::string_view text, const RunId& run, const std::string& directory);

/// A directory that is to be a run's. It lies apart (`.spare` in the folder of the runs), so that
/// whatever is left of it after a crash is nobody's.
struct SpareDirectory {
  Fd directory;
  Fd prompt;
  std::string path;
};

/// Makes one with `lock` and an empty `prompt` in it. After an error there is none.
/// Errc::no_space, busy, io, denied.
Result<SpareDirectory> make_spare_directory(const RunFolder& folder, const RunId& run);

/// Writes the claim that its shim will make, so that a disk without room for it is noticed here.
Result<void> write_claim(const RunFolder& folder, const SpareDirectory& spare,
                         const ProcessIdentity& shim, const std::string& boot_id);

/// Gives it its prompt and its place among the runs, and returns that. Errc::not_found when
/// somebody has removed it.
Result<std::string> take_up_directory(const RunFolder& folder, const RunId& run,
                                      const SpareDirectory& spare, std::string_view prompt);

/// Removes what a daemon that was killed has left. Only for the one who has the root's lock.
Result<void> remove_spare_directories(const RunFolder& folder);

/// Errc::not_found, also when something else stands there.
Result<Fd> open_run_directory(const std::string& path);

/// Makes the directory of a run whose own is gone, so that there is one to end what is left of it
/// from. What else stands there is moved aside.
Result<Fd> remake_run_directory(const RunFolder& folder, const RunId& run);

/// Takes the run's lock; nothing when somebody holds it. A lock file that was removed is made anew.
/// Errc::not_regular, denied: something else stands there.
Result<std::optional<Fd>> take_run_lock(const Fd& directory);

/// Whether this process can see who holds the run's lock: a shim in another container cannot be
/// seen.
bool lock_holder_seen(const Fd& directory);

/// Moves aside what stands in the lock's place, so that it can be had anew.
Result<void> put_lock_aside(const Fd& directory);

/// Whether the run was claimed: then its attempt is never started again. A claim is a second name
/// of the one that was written ahead; where neither is left, somebody has removed it.
Result<bool> claimed(const Fd& directory);

/// Whether it has the form of the ids that runs are given.
bool is_run_id(std::string_view name);

/// The run of which the claim in it, or else exit.json, says that it is its own; "" when neither
/// does.
std::string run_named_in(const Fd& directory);

/// The process that made the claim. Nothing when it is gone, or cannot be told from another one.
std::optional<std::int64_t> living_shim(const Fd& directory, const RunId& run);

/// The text of exit.json. Errc::not_found.
Result<std::string> exit_text(const Fd& directory);

/// One of the agent's two streams, as the shim has kept it.
struct Output {
  const char* log;
  const char* tail;       ///< the end of what was dropped
  std::uint64_t bytes;    ///< that came
  std::uint64_t dropped;  ///< of those
};
/// The last of it as Run::output has it, kTailBytes at most; "" when it cannot be read.
std::string output_tail(const Fd& directory, const Output& output, std::size_t most_bytes);

/// Time of the last output; nothing when there was none.
std::optional<Time> last_output_in(const std::string& path);

/// Removes a run's directory and everything in it; links are removed, not followed, and nothing on
/// another file system is touched. One that is gone is no error. To be called only for runs that
/// have ended, or were never committed.
Result<void> remove_run_directory(const std::string& path);

}  // namespace baton
