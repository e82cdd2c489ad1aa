#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dialect.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/memo.h"

namespace baton::ccw_loop {

/// What the runs say about the executor's work in the present stage.
struct Job {
  std::uint64_t generation = 0;
  std::uint32_t turn = 0;               ///< the turn that is due: the first not ended well
  std::uint32_t failures = 0;           ///< failed attempts of that turn
  bool exhausted = false;               ///< no further attempt is allowed
  std::uint32_t debugged_in_a_row = 0;  ///< of the turns that ended well, from the last one back
  const Run* last = nullptr;            ///< the newest attempt of any turn that has ended
  std::optional<Action> done;           ///< what the last turn that ended well was for
  bool completing = false;              ///< a turn for `complete` has ended well

  /// Names the turn among all of the flow: "3/1".
  std::string key() const { return std::to_string(generation) + "/" + std::to_string(turn); }
};

/// A view, read once: options, memory and loop. Lives as long as the view.
struct Scene {
  explicit Scene(const View& given);

  const View& view;
  Options options;
  Memo memo;
  Loop loop;
  Job job;

  /// The executor that lives, whatever it was started for; nullptr when there is none.
  const Run* live() const;
  /// When the loop entered its present status, on baton's clock.
  Time since() const;
  bool interactive() const;
  /// A digest of what an executor changes by working. Where baton counts the iterations itself,
  /// they do not belong to it.
  std::string work_digest() const;
};

/// The run ended badly. A forgiven one did so, too, but does not count as an attempt.
bool failed(const Run& run);
/// "exit_1", "timed_out"
std::string how_it_ended(const Run& run);

/// What baton writes into the master state in one round; becomes one update.
class Writes {
 public:
  void set(std::string_view name, const Json& value);
  void clear(std::string_view name);  ///< removes a member, if it is there
  void add_error(const Json& error);
  void because(const std::string& why);
  /// A new control word and what goes with it: `failed` with a reason, and the moment of an end.
  void status(const Scene& scene, Status status, const std::string& failure_reason = "");
  std::vector<Update> updates(const Scene& scene) const;

 private:
  std::vector<json::Edit> edits_;
  std::string why_;
};

/// A moment as it is written into files.
std::string stamp(Time wall);
/// The digits of a stamp, for names: `20260122T100000`.
std::string compact(std::string_view stamp);

}  // namespace baton::ccw_loop
