// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that make the dialect `ccw_loop`. Each is pure: it reads the documents of one loop
// and returns what to do. `core/dialect.h` says when the engine calls each of them.
// One file per job: files, snapshot, memo, check, admit, next_action, decide, standing, control,
// create, rebuild, brief. loop.h reads the master state.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

std::vector<FileKind> files(const Json& options);
/// Where the files of forgotten loops go.
std::vector<std::string> own_files(const Json& options);

/// The loop that the last part of a path names: `x/loop-v2-a.json` → `loop-v2-a`. Nothing for any
/// other name.
std::optional<std::string_view> loop_of_name(std::string_view path);

/// The rules that no schema can state; their IDs are on the format page.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);

/// Whether updated_at is more than an hour ahead of the clock (S12).
bool ahead(const Value& root, Time wall);

/// One subject, `main`. Its stage is the status.
Stages stages(const View& view);
Decision decide(const View& view);

/// The values for the prompt of a start (schemas/ccw_loop/prompts), and for commands.
Brief brief(const View& view, const Desired& desired);

/// The rules between two versions of a master state (T rules of the format page). baton and the
/// executor both write the whole file from their own copies. So baton corrects what is outdated in
/// a new version and keeps what is new.
Admission admit(const View& view, const Change& change);

/// Verbs that the loop handles itself. A request that it does not answer goes to the engine.
inline constexpr std::array kVerbs = {std::string_view("start"),  std::string_view("pause"),
                                      std::string_view("resume"), std::string_view("stop"),
                                      std::string_view("retry"),  std::string_view("answer"),
                                      std::string_view("forget")};

/// How a loop that is not running stands, with the causes of conditions.h; nothing: it runs.
std::optional<Standing> standing_of(const Snapshot& snapshot);
/// The same for a loop whose master state was never accepted.
Standing standing_without_state(const View& view);
/// Its iterations, of those that it may make.
std::optional<Progress> progress_of(const Loop& loop);

/// Answers the requests of this flow: status changes go to `writes`, replies to `decision`.
void answer(Snapshot& snapshot, Writes& writes, Decision& decision);

/// Checks the arguments of `start` and `create`. Errc::usage names the first one that is unknown or
/// wrong.
Result<void> check_request(const Request& request);

/// The files of a new loop, with the status `created`. Errc::usage: the loop exists, the arguments
/// or the id are wrong, or the request is a `start` of a loop that does not exist.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// An id for a new loop: the time in UTC and eight digits of a digest of the seed.
std::string fresh_id(Time wall, std::string_view seed);

/// Versions of a lost master state, best first: the last accepted one, the backup, one made from
/// the progress files. None of them has the status `running`, so that baton starts nothing before a
/// person resumes the loop. The format page says which fields each source knows.
std::vector<Create> rebuild(const View& view);

/// `skill_state` made from the progress files alone. Null if there are none.
Json rebuilt_skill(const FlowState& docs, bool interactive);

/// With the option `tee_debug`: the debug records that the newest run has printed and debug.log
/// lacks (C-27). Searches the output once, after the run has ended.
std::optional<Append> debug_log_lines(Snapshot& snapshot);

}  // namespace baton::ccw_loop
