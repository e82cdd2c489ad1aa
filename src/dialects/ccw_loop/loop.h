// SPDX-License-Identifier: Apache-2.0
#pragma once

// The master state and the options of the dialect as types.

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

/// The item with this `id`; nullptr: none.
const Value* item_of(Value::ConstArray items, std::string_view id);
/// How many items have this `status`.
std::int64_t count_status(Value::ConstArray items, std::string_view status);

/// The work in `skill_state`. The numbers come from the lists, because the counters in the file may
/// be wrong.
struct Work {
  std::int64_t total = 0;
  std::int64_t pending = 0;
  std::int64_t in_progress = 0;
  std::int64_t completed = 0;
  // One writer wrote these times, so they can be compared.
  std::optional<Time> developed;
  std::optional<Time> debugged;
  std::optional<Time> validated;
  bool passed = false;     ///< `passed` is true and there are no failed tests (S9)
  bool no_tests = false;   ///< the last validation ran no test
  bool confirmed = false;  ///< the list says that confirmed_hypothesis is confirmed (S8)
  bool undecided = false;  ///< every hypothesis is rejected or has no evidence, or there is none

  std::int64_t open() const { return pending + in_progress; }
};

/// The master state. Lives as long as the document.
struct Loop {
  const Accepted* file = nullptr;
  std::string path;
  const Value* root = nullptr;   ///< nullptr: there is no master state
  const Value* skill = nullptr;  ///< nullptr: absent or null
  Status status = Status::created;
  std::int64_t iteration = 0;
  double max_iterations = 0;
  std::optional<Action> last_action;  ///< from skill_state
  Work work;

  std::string text(std::string_view name) const { return text_of(*root, name); }
  /// The loop has failed, and not because a person stopped it.
  bool broken() const;
  /// "iteration 2 of 10, 1 of 3 tasks done, validation not passed"
  std::string summary() const;
};
/// The loop of a flow; `root` is nullptr if it has no master state.
Loop loop_of(const FlowState& docs);
/// Reads a master state; `file` and `path` stay empty.
Loop loop_of(const Value& root);

/// Members that only a person changes.
inline constexpr std::array<std::string_view, 6> kMetadata = {
    "title", "description", "max_iterations", "tags", "priority", "notes"};

/// The digest of one of these members with its name. Absent and null are the same.
std::string metadata_digest(const Value& root, std::string_view name);
/// The digest of `skill_state`. Absent and null are the same.
std::string skill_digest(const Value& root);

/// run: one executor works until it exits. action: one process per action.
enum class Granularity { run, action };
/// Reaction to max_iterations. complete: one more action for the summary, then failed.
enum class AtLimit { complete, fail, pause, ignore };
/// Reaction to a validation that ran no test.
enum class NoTests { pause, pass, fail };

/// The options (schemas/ccw_loop/options.schema.json), defaults filled in.
struct Options {
  std::string path = ".workflow/.loop";
  Granularity granularity = Granularity::run;
  Millis pause_grace{60'000};
  AtLimit on_max_iterations = AtLimit::complete;
  NoTests no_tests = NoTests::pause;
  std::uint32_t max_debug = 5;  ///< debug actions in a row
  bool tee_debug = false;       ///< look for records for debug.log in the output of executors
  bool interactive = false;     ///< mode of loops that do not set it
};
/// Invalid options count as absent; the check of the configuration reports them.
Options options_of(const Json& given_options);

}  // namespace baton::ccw_loop
