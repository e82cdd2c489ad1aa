#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/effect.h"
#include "dialects/coordination/scene.h"

namespace baton::coordination {

/// One entry of orchestrator_state.decisions_log.
struct LogEntry {
  std::uint64_t number = 0;
  std::string decision;
  std::string reasoning;
};

/// What baton writes into the folder in one round. Group edits become one write of group_status.
struct Writes {
  std::vector<LogEntry> log;
  /// Numbers of starts that never happened, each as it is when those before it are out of the log.
  std::vector<std::uint64_t> taken_back;
  std::string why;  ///< of the group edits

  /// Sets members of a group's entry; creates the entry where there is none.
  void set(const Scene& scene, const Group& group,
           const std::vector<std::pair<std::string_view, Json>>& members);
  /// Exchanges a group's whole entry; null removes it.
  void put(const std::string& id, const Json& entry);
  void because(const std::string& reason);
  /// Something of the group is written in this round: what the documents say of it is not true any
  /// more, and it is decided about in the next one.
  bool touched(const std::string& id) const { return touched_.contains(id); }
  /// The write of group_status, if there is anything to write and a file to write to.
  std::vector<Update> updates(const Scene& scene) const;

 private:
  std::vector<json::Edit> group_edits_;
  std::vector<std::string> created_;
  std::set<std::string> touched_;
};

}  // namespace baton::coordination
