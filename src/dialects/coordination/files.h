// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of a coordination folder: options, kinds and paths, and readers for members that
// several parts need.

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
  std::uint64_t max_spawns = 200;  ///< agents that one session may start
  Millis stall{30 * 60 * 1000};
  Millis archive_after = std::chrono::days(30);  ///< 0: never
  bool lenient = false;                          ///< aliases of words.h are allowed in files
};
/// Missing or invalid options get their defaults; the check of the configuration reports them.
Options options_of(const Json& given_options);

std::vector<FileKind> files(const Json& given_options);
/// The path of a file: `coordination/pm_state.json`.
std::string path_of(const Options& options, std::string_view kind);

/// The accepted document of a kind (the first, or the one with this part); nullptr without one.
const Accepted* find(const FlowState& docs, std::string_view kind, std::string_view part = "");
/// Its root value; null without one.
const Value& root(const FlowState& docs, std::string_view kind);

/// For `recover`: the last accepted versions of missing and rejected files. Leaves out inbox files,
/// because they belong to agents.
std::vector<Create> rebuild(const View& view);

/// Whether a member is a note for people and not a group.
bool is_metadata(std::string_view key);

/// Calls `look` with each text of a list and the pointer to it. `pointer` leads to the object.
template <class Look>
void each_text(const Value& object, const std::string& pointer, std::string_view list,
               const Look& look) {
  std::size_t index = 0;
  for (const std::string& text : texts_of(object, list))
    look(text, pointer + "/" + std::string(list) + "/" + std::to_string(index++));
}
/// A status, role or decision with its alias replaced.
std::optional<std::string_view> word_of(const Value& object, std::string_view name);

/// A text that identifies a message of a mailbox. The id alone is not enough: agents make it from
/// the time in seconds, so two messages may share it.
std::string message_key(const Value& message);
std::string archive_path(const Options& options, std::string_view mailbox);

/// The messages of a mailbox for a group, oldest first: archived ones, then those of the mailbox. A
/// message in both counts once.
struct Message {
  std::size_t index = 0;  ///< index in the mailbox
  const Value* value = nullptr;
  bool archived = false;
};
std::vector<Message> messages(const FlowState& docs, std::size_t mailbox, std::string_view group);

}  // namespace baton::coordination
