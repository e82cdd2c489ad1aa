#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/kinds.h"

namespace baton::coordination {

/// The options of the dialect (schemas/coordination/options.schema.json), defaults filled in.
struct Options {
  std::string path = "coordination";
  std::uint32_t max_developers = 4;
  bool qa = true;
  bool reviews = true;
  bool advance_by_manager = false;  ///< phase_advance: pm
  std::string completion_word = "BAZINGA";
  std::uint64_t max_spawns = 200;  ///< of one session
  Millis stall{30 * 60 * 1000};
  Millis archive_after = std::chrono::days(30);  ///< 0: never
  bool lenient = false;                          ///< aliases of words.h are allowed in files
};
/// Options that are missing or make no sense are as by default; the configuration's own check says
/// what is wrong.
Options options_of(const Json& given_options);

std::vector<FileKind> files(const Json& given_options);
/// The path of a file below the root: `coordination/pm_state.json`.
std::string path_of(const Options& options, std::string_view kind);

/// The accepted document of a kind (the first one); nullptr when there is none.
const Accepted* find(const FlowState& docs, std::string_view kind);
/// Its root value; nullptr when there is none.
const Value* root(const FlowState& docs, std::string_view kind);

/// For `recover`: the files that are gone, or stand there rejected, as they were accepted last.
/// Inbox files are their agents' and not missed.
std::vector<Create> rebuild(const View& view);

/// Members that are notes for people and no group.
bool metadata(std::string_view key);

/// A member that is a list of texts; anything else in it is left out.
std::vector<std::string> texts(const Value& object, std::string_view name);
/// A member that is an array; empty when it is none.
std::vector<const Value*> items(const Value& object, std::string_view name);
/// A status, role or decision as baton knows it, whichever of its words stands there.
std::optional<std::string_view> word_of(const Value& object, std::string_view name);

/// What tells messages of one mailbox apart: ids have the resolution of a second and may collide.
std::string message_key(const Value& message);
/// The archive of a mailbox; nullptr when there is none.
const Accepted* archive_of(const FlowState& docs, std::string_view mailbox);
std::string archive_path(const Options& options, std::string_view mailbox);

/// The messages of a mailbox that concern a group, oldest first: archived ones, then those of the
/// mailbox itself. One that is in both counts once.
struct Message {
  std::size_t index = 0;  ///< within the mailbox
  const Value* value = nullptr;
  bool archived = false;
};
std::vector<Message> messages(const FlowState& docs, std::size_t mailbox, std::string_view group);

}  // namespace baton::coordination
