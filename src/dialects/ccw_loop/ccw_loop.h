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

std::vector<FileKind> files(const Json& options);

/// The loop that a path names, by its last segment alone: `x/loop-v2-a.json` → `loop-v2-a`. Nothing
/// for any other name.
std::optional<std::string_view> loop_of_name(std::string_view path);

/// The rules no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

/// Whether updated_at is further ahead than clocks are wrong by accident (S12).
bool ahead(const Value& root, Time wall);
/// S12 as far as it asks the clock.
std::map<std::string, Findings> check_clock(const FlowState& docs, Time wall);

/// One subject, `main`, whose stage is the status.
Stages stages(const View& view);
Decision decide(const View& view);

/// The rules between two versions of a master state (T rules of the format page). Both sides write
/// the whole file from copies of their own; what is old in a version is put right, what is new
/// kept.
Admission admit(const View& view, const Change& change);

/// What a loop does itself with these; what it leaves unanswered is the engine's.
inline constexpr std::array kVerbs = {std::string_view("start"),  std::string_view("pause"),
                                      std::string_view("resume"), std::string_view("stop"),
                                      std::string_view("retry"),  std::string_view("answer"),
                                      std::string_view("forget")};

/// Deals with the requests of this flow: control words into `writes`, replies into `decision`.
void answer(Scene& scene, Writes& writes, Decision& decision);

/// `create`: a new loop, which waits for its start. The flow's name is its id.
/// Whether `start` and `create` know what they were given; Errc::usage names what they do not.
Result<void> check_request(const Request& request);

Result<std::vector<Update>> create(const Request& request, const View& view);

/// An id for a new loop: the time in UTC and eight digits made of the seed.
std::string fresh_id(Time wall, std::string_view seed);

/// The master state as it can be rebuilt, best first: from the last accepted version, from the
/// backup, from the progress files. Never one that runs. Which fields each source knows is on the
/// format page.
std::vector<Create> rebuild(const View& view);

/// `skill_state` from the progress files alone. Null when there are none.
Json rebuilt_skill(const FlowState& docs, bool interactive);

/// With `tee_debug`, once for each executor that has ended: the records for debug.log among the
/// lines it printed that do not stand there yet (C-27).
std::optional<Append> tee(Scene& scene);

}  // namespace baton::ccw_loop
