#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/time.h"
#include "core/dialect.h"
#include "dialects/ccw_loop/words.h"
#include "dialects/kinds.h"

namespace baton::ccw_loop {

/// A member that is a list; an empty one where there is none.
const Value& list(const Value& object, std::string_view name);
/// The item whose `id` is this; nullptr when there is none.
const Value* item_of(const Value& items, std::string_view id);
std::int64_t count(const Value& items, std::string_view member, std::string_view word);
/// The member, or null.
const Value& member(const Value& object, std::string_view name);

/// What `skill_state` says about the work. The lists count, not the counters beside them.
struct Work {
  std::int64_t total = 0;
  std::int64_t pending = 0;
  std::int64_t in_progress = 0;
  std::int64_t completed = 0;
  /// When each kind of work was done last. One writer's times, so they may be compared.
  std::optional<Time> developed;
  std::optional<Time> debugged;
  std::optional<Time> validated;
  bool passed = false;     ///< and no failed test is named (S9)
  bool no_tests = false;   ///< the last validation ran none
  bool confirmed = false;  ///< a hypothesis is, and the list says so too (S8)
  bool undecided = false;  ///< every hypothesis is rejected or without evidence

  std::int64_t open() const { return pending + in_progress; }
};

/// The master state, read once. Lives as long as the document.
struct Loop {
  const Accepted* file = nullptr;
  std::string path;
  const Value* root = nullptr;   ///< nullptr: there is none
  const Value* skill = nullptr;  ///< nullptr: absent or null
  Status status = Status::created;
  std::int64_t iteration = 0;
  double max_iterations = 0;
  std::optional<Action> last_action;  ///< as skill_state says
  Work work;

  std::string text(std::string_view name) const { return text_of(*root, name); }
  /// failed, and nobody asked for that.
  bool broken() const;
  /// "iteration 2 of 10, 1 of 3 tasks done, validation not passed"
  std::string summary() const;
};
/// The loop of a flow's documents.
Loop loop_of(const FlowState& docs);
/// Reads members out of a master state; `file` and `path` stay empty.
Loop loop_of(const Value& root);

/// What only a person changes; an executor carries it along.
inline constexpr std::array<std::string_view, 6> kMetadata = {
    "title", "description", "max_iterations", "tags", "priority", "notes"};

/// The digest of one of these members and its name, the same for absent and null.
std::string metadata_digest(const Value& root, std::string_view name);
/// The digest of `skill_state`, the same for absent and null.
std::string skill_digest(const Value& root);

}  // namespace baton::ccw_loop
