// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/snapshot.h"

namespace baton::fsm_loop {

// The functions that make the dialect. Each is pure: it reads the documents of one loop and returns
// what to do. snapshot.cpp finds and reads the files, and decide.cpp decides, admits and rebuilds.
// create.cpp starts a run, control.cpp answers `stop` and `resume`, standing.cpp says how a loop
// stands, and scope.cpp claims the scope.
// machine.h executes a loop.

/// The kinds of files below `path` of the options (`.loops`).
std::vector<FileKind> files(const Json& options);
/// The files of earlier runs of a loop.
std::vector<std::string> own_files(const Json& options);

/// The name of the loop in a file name. Empty if the file name does not fit the pattern of its
/// kind.
std::string stem_of(const Json& options, std::string_view kind, std::string_view path);

/// `baton start NAME`: writes the state file of a new run and moves the files of the last run to
/// the history. Arguments: `set` (an object, merged into the context), `input`, `max_steps`.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The placeholders that this dialect adds for the command of a role.
inline constexpr std::array kPlaceholders = {std::string_view("iteration"),
                                             std::string_view("loop"), std::string_view("model"),
                                             std::string_view("state")};

/// The rules that no schema can state. The format page lists them by id.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);

Decision decide(const View& view);
std::vector<std::string> reads(const View& view);
Brief brief(const View& view, const Desired& desired);
std::vector<Create> rebuild(const View& view);
Admission admit(const View& view, const Change& change);

inline constexpr std::array kVerbs = {std::string_view("resume"), std::string_view("stop")};

/// Whether the process that runs a loop is alive. `unknown`: no file names a process.
enum class Owner { unknown, alive, dead };
/// The owner of a loop that another program runs: the process in the lock if it lives. Else the
/// process in the `.pid` file, in the lock or in the state, in this order.
Owner owner_of(const Snapshot& snapshot);
/// Whether the loop's lock names a living process other than this daemon.
bool other_program_holds_lock(const Snapshot& snapshot);

/// The process that owner_of looks at; nothing: no file names one.
std::optional<std::int64_t> owning_pid(const Snapshot& snapshot);

/// Why `baton resume` takes over another program's loop only with `--redo`: its files do not say
/// where it stands. Empty: they do.
std::string lost_progress(const Snapshot& snapshot);

/// How the loop stands, with the causes of conditions.h. The default while baton runs it.
Standing standing_of(Snapshot& snapshot);
/// What is wrong with the state file of a loop that baton runs; nothing: it is there and valid.
std::optional<Standing> trouble_of(const Snapshot& snapshot);
/// The steps of a loop that baton runs, of those that it may make.
std::optional<Progress> progress_of(Snapshot& snapshot);

/// Answers the requests `stop` and `resume`, each once.
void answer(Snapshot& snapshot, Machine& machine, Decision& decision);

/// Claims the scope of a running loop. The first action carries the claims: it waits until no other
/// loop of this root holds a part of the scope. From then on the loop holds the claims, and its
/// lock file shows them to other programs. When the loop has ended, its lock moves to the history.
void claim(Snapshot& snapshot, Decision& decision);

/// The claims in the lock of another living program. baton's own loops keep clear of them.
std::vector<Claim> claims_of_other_program(const Snapshot& snapshot);

/// The absolute path of a scope, without `.` and `..`. "" is the root itself.
std::string absolute_scope(std::string_view root, std::string_view path);

}  // namespace baton::fsm_loop
