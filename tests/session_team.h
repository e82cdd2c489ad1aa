// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agents of a coordination session in a seeded world, good and bad ones.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "random.h"
#include "world.h"

namespace baton::testing {

inline const std::string plan_path = "coordination/pm_state.json";
inline const std::string status_path = "coordination/group_status.json";
inline const std::string state_path = "coordination/orchestrator_state.json";

/// Up to four of them write the same file as a whole, from copies they read at some time before.
/// They hand on by status, by message, by both, or by an inbox file; they tear files, forge the
/// sender of a message, change what is not theirs, jump with counters, approve themselves, plan
/// nonsense, split groups, fail, or leave without a word.
class Team {
 public:
  using Shim = FakeAgents::Shim;
  Team(World& world, Random& random) : world_(world), random_(random) {}

  /// Reads at first, writes later, and ends at last.
  void work(Shim& shim, bool well);

  /// How a group was handed on, when it was by other means than its status.
  struct HandedOn {
    std::string group;
    std::string status;  ///< what it says
    std::string how;
  };
  /// What `work(shim, true)` has just said without writing the status.
  std::optional<HandedOn> take_handed_on() { return std::exchange(handed_on_, std::nullopt); }
  /// The completion word was said at least once.
  bool said_word() const { return said_word_; }
  std::size_t most_writers() const { return most_writers_; }

  /// As it stands, or as it was when it was last accepted.
  Json read(const std::string& path) const;
  Json accepted(const std::string& path) const;

 private:
  enum class Channel { status, message, both, input_queue };

  void manage(Shim& shim, bool well, RunEnd& end);
  void remove_unplanned(const Json& plan);
  void split(const std::string& group, Json& plan);
  void spoil(Json& plan);
  void hand_on(Shim& shim, bool well);
  Json develop(Json entry, bool well);
  Json test(Json entry, bool well);
  Json review(Json entry, const std::string& why, bool well);
  Json worked(const Shim& shim, Json entry, bool well);
  void misbehave(const std::string& group, Json& entry);
  void send(const Shim& shim, const Json& entry, bool well);
  void forge(const Shim& shim, Json& copy);
  void meddle();
  void write(const std::string& path, const Json& doc, bool well);
  std::string message_id();

  World& world_;
  Random& random_;
  std::map<RunId, std::map<std::string, std::string>> copies_;
  std::string old_state_;
  std::optional<HandedOn> handed_on_;
  std::uint64_t work_ = 0;
  std::size_t most_writers_ = 0;
  bool said_word_ = false;
};

/// What BATON_PURPOSE tells the agent.
std::string purpose_of(const FakeAgents::Shim& shim);
/// A list member with one item more.
Json list_with(const Value& entry, std::string_view name, const Json& item);

}  // namespace baton::testing
