#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "core/ports.h"
#include "core/run.h"

namespace baton {

namespace sqlite {
class Database;
}

/// Which events. Those of the whole root that belong to no flow have an empty FlowId.
struct EventQuery {
  std::optional<FlowId> flow;
  Arrival after = 0;          ///< only those with a higher `seq`
  std::optional<Time> since;  ///< only those at or after
  std::size_t limit = 10'000;
  bool newest = false;  ///< of more than `limit`: the last ones, else the first ones
};

/// Which runs.
struct RunQuery {
  std::optional<FlowId> flow;
  std::string id_prefix;
  std::size_t limit = 10'000;  ///< of more: the ones started last
};

/// A version of a file that a merge or a restore overwrote.
struct ReplacedVersion {
  Time time{};
  std::string bytes;
};

/// The journal for commands that look only. ConfiguredParts while a daemon writes, after its clean
/// end, after a crash, and for a member of the group who may not write in the folder.
class JournalReader {
 public:
  JournalReader(std::unique_ptr<sqlite::Database> db, std::string runs);
  ~JournalReader();
  JournalReader(const JournalReader&) = delete;
  JournalReader& operator=(const JournalReader&) = delete;
  JournalReader(JournalReader&&) = delete;
  JournalReader& operator=(JournalReader&&) = delete;

  /// From the next answer on, all are of one moment, whatever a daemon writes meanwhile. To be
  /// ended soon, and before anything is waited for or printed: the journal's log grows until then.
  Result<void> hold_still();
  /// Ends that. Harmless without it.
  void follow();
  /// As Journal::load.
  Result<Ledger> ledger(Time now);
  /// The accepted bytes of a path. Errc::not_found.
  Result<std::string> bytes(const std::string& path);
  /// In the order in which they happened.
  Result<std::vector<Event>> events(const EventQuery& query);
  /// In the order in which they were started.
  Result<std::vector<Run>> runs(const RunQuery& query);
  /// The run with this id or unique beginning of an id. Errc::not_found; Errc::usage with the list
  /// when several begin so.
  Result<Run> run(const std::string& id_prefix);
  /// How many runs have not ended.
  Result<std::uint32_t> running();
  /// Oldest first.
  Result<std::vector<ReplacedVersion>> replaced(const std::string& path);
  /// Reads the whole file (for `doctor`): what is damaged, in SQLite's words; empty when all is
  /// well.
  Result<std::vector<std::string>> damage();

 private:
  std::unique_ptr<sqlite::Database> db_;
  std::string runs_;  ///< the folder of the runs
};

/// Errc::not_found: there is no journal in this folder, or nothing was ever written into it.
/// Errc::denied: not readable for this user. Errc::io: damaged, older than it was, or of another
/// version of baton.
Result<std::unique_ptr<JournalReader>> read_journal(const std::string& state_folder);

}  // namespace baton
