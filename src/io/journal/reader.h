// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the journal for commands that only look. Works while a daemon writes, after a crash, and
// for a group member who may not write in the folder.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pinned.h"
#include "base/result.h"
#include "core/event.h"
#include "core/ports.h"
#include "core/run.h"

namespace baton {

namespace sqlite {
class Database;
}

/// Which events to read. Events of the whole root have an empty FlowId.
struct EventQuery {
  std::optional<FlowId> flow;
  Arrival after = 0;          ///< only those with a higher `seq`
  std::optional<Time> since;  ///< only those at or after
  std::vector<Word> words;    ///< only those with one of these words; empty: all
  std::size_t limit = 10'000;
  bool newest = false;  ///< with more than `limit` events, the last ones instead of the first ones
};

/// Which runs to read.
struct RunQuery {
  std::optional<FlowId> flow;
  std::string id_prefix;
  std::size_t limit = 10'000;  ///< with more, the ones started last
};

/// What one run has used, without its output.
struct RunCost {
  FlowId flow;
  Role role;
  Role agent;  ///< empty: an action, or a run of an older baton
  Time started{};
  std::optional<Time> ended;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
};

/// A version of a file that baton overwrote.
struct ReplacedVersion {
  Time time{};
  std::string bytes;
};

class JournalReader : private Pinned {
 public:
  JournalReader(std::unique_ptr<sqlite::Database> db, std::string runs);
  ~JournalReader();

  /// From the next answer on, all answers show one moment, whatever a daemon writes meanwhile. End
  /// this soon, and before waiting or printing: the -wal grows until then.
  Result<void> begin_snapshot();
  /// Ends the snapshot. Does nothing without one.
  void end_snapshot();
  /// As Journal::load.
  Result<Ledger> ledger(Time now);
  /// The accepted bytes of a path. Errc::not_found.
  Result<std::string> bytes(const std::string& path);
  Result<bool> was_accepted(const std::string& path, const Digest& digest);
  /// In order of time.
  Result<std::vector<Event>> events(const EventQuery& query);
  /// In order of start.
  Result<std::vector<Run>> runs(const RunQuery& query);
  /// The run with this id, or with this unique beginning of an id. Errc::not_found. Errc::usage
  /// with the list when several match.
  Result<Run> run(const std::string& id_prefix);
  /// The runs that have run and had not ended before `since`, in order of start.
  Result<std::vector<RunCost>> costs(Time since);
  /// The number of runs that have not ended.
  Result<std::uint32_t> running();
  /// Oldest first.
  Result<std::vector<ReplacedVersion>> replaced(const std::string& path);
  /// Reads the whole file (for `doctor`) and returns the damage in SQLite's words; empty when there
  /// is none.
  Result<std::vector<std::string>> damage();

 private:
  std::unique_ptr<sqlite::Database> db_;
  std::string runs_;  ///< the folder of the runs
};

/// Errc::not_found: no journal, or an empty one. Errc::denied: this user may not read it.
/// Errc::newer: of a newer baton. Errc::io: damaged, an old copy, or of an older baton.
Result<std::unique_ptr<JournalReader>> read_journal(const std::string& state_folder);

}  // namespace baton
