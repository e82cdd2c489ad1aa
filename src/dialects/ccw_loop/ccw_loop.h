#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

// The functions that make the dialect. Each is pure: it reads the documents of one loop and returns
// what to do. One file per job: files, snapshot, memo, check, admit, next_action, decide, control,
// create, rebuild, brief. loop.h reads the master state.

std::vector<FileKind> files(const Json& options);

/// The loop that the last part of a path names: `x/loop-v2-a.json` → `loop-v2-a`. Nothing for any
/// other name.
std::optional<std::string_view> loop_of_name(std::string_view path);

/// The rules that no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

/// Whether updated_at is more than an hour ahead of the clock (S12).
bool ahead(const Value& root, Time wall);
/// The part of S12 that needs the clock.
std::map<std::string, Findings> check_clock(const FlowState& docs, Time wall);

/// One subject, `main`. Its stage is the status.
Stages stages(const View& view);
Decision decide(const View& view);

/// The values for the prompt of a start (schemas/ccw_loop/prompts), and for commands.
Brief brief(const View& view, const Desired& desired);

/// The rules between two versions of a master state (T rules of the format page). baton and the
/// executor both write the whole file from their own copies. What is outdated in a version is
/// corrected, and what is new is kept.
Admission admit(const View& view, const Change& change);

/// Verbs that the loop handles itself. A request that it does not answer goes to the engine.
inline constexpr std::array kVerbs = {std::string_view("start"),  std::string_view("pause"),
                                      std::string_view("resume"), std::string_view("stop"),
                                      std::string_view("retry"),  std::string_view("answer"),
                                      std::string_view("forget")};

/// Answers the requests of this flow: status changes go to `writes`, replies to `decision`.
void answer(Snapshot& snapshot, Writes& writes, Decision& decision);

/// Checks the arguments of `start` and `create`. Errc::usage names an unknown one.
Result<void> check_request(const Request& request);

Result<std::vector<Update>> create(const Request& request, const View& view);

/// An id for a new loop: the time in UTC and eight digits of a digest of the seed.
std::string fresh_id(Time wall, std::string_view seed);

/// Versions of a lost master state, best first: the last accepted one, the backup, one made from
/// the progress files. None is running. The format page says which fields each source knows.
std::vector<Create> rebuild(const View& view);

/// `skill_state` from the progress files alone. Null when there are none.
Json rebuilt_skill(const FlowState& docs, bool interactive);

/// With `tee_debug`, once per run that has ended: the lines it printed that are records for
/// debug.log and are not in it yet (C-27).
std::optional<Append> debug_log_lines(Snapshot& snapshot);

}  // namespace baton::ccw_loop
