#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/snapshot.h"

namespace baton::fsm_loop {

/// The kinds of files below `path` of the options (`.loops`).
std::vector<FileKind> files(const Json& options);

/// What the file's name says of its loop; empty where it does not fit the kind's pattern.
std::string stem_of(const Json& options, std::string_view kind, std::string_view path);

/// `baton start NAME`: a new run of the loop, with the state file it lives by. What the run before
/// left is put into the history. Arguments: `set` (an object, laid over the context), `input`,
/// `max_steps`.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// What a command may have filled in besides.
inline constexpr std::array kPlaceholders = {std::string_view("iteration"),
                                             std::string_view("loop"), std::string_view("model"),
                                             std::string_view("state")};

/// The rules that no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

Decision decide(const View& view);
std::vector<std::string> reads(const View& view);
Brief brief(const View& view, const Desired& desired);
std::vector<Create> rebuild(const View& view);
Admission admit(const View& view, const Change& change);

inline constexpr std::array kVerbs = {std::string_view("resume"), std::string_view("stop")};

/// Whether a process is known to live, known to be dead, or nothing is known of it.
enum class Owner { unknown, alive, dead };
/// The owner of a loop that another program runs: by its `.pid` file, else by the pid in its lock,
/// else in its state.
Owner owner_of(const Scene& scene);
/// Whether the loop's lock names a living process that is not this daemon.
bool lock_of_another(const Scene& scene);

/// Why nothing is done for it, for people; empty while baton runs it.
std::string standing(Scene& scene);

/// Deals with the requests that are the loop's own: stop, resume. Each once.
void answer(Scene& scene, Machine& machine, Decision& decision);

/// The scope of a loop while it runs. It is claimed with its first action, which waits until no
/// other loop of this root has a part of it; from then on the loop itself holds it, and its lock
/// file says so to other programs. When the loop has ended, the file goes into the history.
void claim(Scene& scene, Decision& decision);

/// What the lock of another program that lives claims: baton's own loops keep clear of it.
std::vector<Claim> claims_of_another(const Scene& scene);

/// A path of a scope as an absolute one, `.` and `..` worked out; "" is the root itself.
std::string absolute_scope(std::string_view root, std::string_view path);

}  // namespace baton::fsm_loop
