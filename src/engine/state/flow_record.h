// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the engine remembers of each flow (`FlowRecord`), and one step under construction (`Draft`).
// A record has the journal's rows of the flow and what was last decided from them.
// A step changes copies in a draft. Only after the commit does `Draft::publish` put them in place
// of the records, so a failed commit changes nothing.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/catalog.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/ports.h"
#include "engine/state/notified_state.h"

namespace baton {

/// The flow record: what the engine remembers of one flow.
struct FlowRecord {
  FlowId id;
  std::map<std::string, AcceptedRow> accepted;  ///< by path
  std::uint64_t accepted_bytes = 0;  ///< of all rows in `accepted`, also of files that are gone
  std::map<std::string, RejectedRow> rejected;  ///< by path
  std::map<Subject, StageState> stages;
  std::map<Subject, std::map<Word, std::uint64_t>> entries;
  Json memo;
  /// Live runs, runs of present generations and runs of the last hour, in the order of their
  /// starts.
  std::vector<Run> runs;
  ControlRow control;
  NotifiedState notified;
  FlowOrigin origin;
  FlowLogs logs;
  Time last_activity{};

  // Derived from the members above; computed again after a restart.
  Decision decision;
  std::map<std::string, Findings> conflicts;  ///< rules across documents that are broken, by path
  /// The rate breaker holds the flow until then. It is not in the journal, because a new daemon
  /// counts from zero.
  Time calm_at{};
  /// In a rehearsal: a message about a file whose present version the running daemon has not
  /// accepted; "" if there is no such file.
  std::string unseen;
  std::optional<Hold> held;            ///< why the flow may start nothing at all
  std::vector<Hold> holds;             ///< of the last decision and the last plan
  std::map<Key, std::string> refused;  ///< becomes View::refused
  bool waiting = false;

  std::vector<Run>::iterator run(const RunId& wanted);
  std::vector<Run>::const_iterator run(const RunId& wanted) const;
  bool live() const;
};

using FlowRecords = std::map<FlowId, FlowRecord>;

/// A file of a flow.
struct FlowFile {
  FlowId flow;
  std::string path;
  auto operator<=>(const FlowFile&) const = default;
};

/// Control reasons that a new configuration causes; see engine/intake/moved_files.h.
inline constexpr std::string_view kMoved = "moved";
inline constexpr std::string_view kLeft = "left";
/// Control reason of a flow that baton paused because a writer keeps breaking the rules.
inline constexpr std::string_view kWriteConflict = "write_conflict";
bool has_no_file(const FlowRecord& record);
/// Whether all files of the flow belong to other flows by now.
bool is_left(const FlowRecord& record);

struct FlowIndex;  // engine/state/flow_index.h

/// The flow records as the journal has them.
FlowRecords records_of(const Ledger& ledger);

/// Moves times that lie after `now` back, all by the same amount, so that the newest is `now`. Such
/// times come from a clock that was set back since. Without this, everything that counts from them
/// would wait that much longer. Returns the changed rows.
Commit set_back(Ledger& ledger, Time now);

/// After a reboot the processes that earlier runs left are gone: marks such runs as looked after.
/// `boot` is the id of the present boot. Returns the changed rows.
Commit let_go(Ledger& ledger, const std::string& boot);

/// Drops ended runs that no decision needs any more. Such a run is of an earlier generation, or its
/// subject has been gone for longer than kRemembered. Runs of agents in the last hour stay, because
/// they count for the hourly limits. So do runs that left processes. Also shortens the output kept
/// of old runs.
void forget_old_runs(FlowRecord& record, Time now);

/// One step under construction: copies of the records it touches, and the transaction for the
/// journal. Nothing outside changes before the commit; then call `publish`.
class Draft {
 public:
  Draft(const FlowRecords& records, Arrival last_arrival, std::uint64_t last_intent, Time at,
        Time wall_at)
      : now(at), wall(wall_at), arrival(last_arrival), intent(last_intent), records_(records) {}

  /// The record as this step has it; nullptr if there is none or the step forgets the flow.
  const FlowRecord* find(const FlowId& flow) const;
  /// The record before this step; nullptr if there was none.
  const FlowRecord* before(const FlowId& flow) const;
  /// The copy of the record to change. For an unknown flow it is empty.
  FlowRecord& touch(const FlowId& flow);
  const std::map<FlowId, FlowRecord>& touched() const { return touched_; }
  /// Puts the touched records in place, removes the forgotten ones, and updates the index.
  void publish(FlowRecords& records, FlowIndex& flow_index);
  /// A draft of the same step with one flow only, to try something that may be refused.
  Draft trial(const FlowId& flow) const;

  void event(Word event, const FlowId& flow, std::string why, Subject subject = {}, Role role = {},
             RunId run = {});
  /// Answers a request. Only the first answer counts; false: there was one before.
  bool reply(const Reply& reply);
  /// Adds the stage of a subject to the transaction, as the record has it.
  void stage(const FlowRecord& record, const Subject& subject);
  /// Sets the dialect's memo if it differs.
  void memo(FlowRecord& record, const Json& memo);
  /// Adds to the transaction which notifications were sent and where files come from, for the
  /// touched flows where that changed.
  void tell();
  /// The file of the path has this identity (0: unknown). `anew`: it was gone before.
  void identify(const FlowId& flow, const std::string& path, FileIdentity identity, bool anew);
  /// Drops a flow without live runs. What this step finds of it afterwards belongs to a new flow of
  /// the same name, because journal and `publish` drop first and add then.
  void forget(const FlowId& flow);
  /// Sets the operator's control of a flow. A flow that has lost its files (kLeft) only gets `stop`
  /// or `idle`.
  void control(FlowRecord& record, Control control, Word reason, std::string why);
  /// Enters a run into the record and the transaction.
  void put(FlowRecord& record, const Run& run);
  /// Enters an accepted version. A later version of the same path in this step replaces it.
  void accept(FlowRecord& record, const AcceptedRow& row, std::shared_ptr<const Document> document);
  /// Drops the rejected version of a file. False: it had none.
  bool no_longer_rejected(FlowRecord& record, const std::string& path);
  /// Drops an accepted version, even one of this step: its file has another name or another flow
  /// from now on.
  void move_away(FlowRecord& record, const std::string& path);
  /// Plans to write `text` over what stands in the file now. The journal keeps the replaced bytes.
  /// `restore`: `text` is the last accepted version.
  void write_over(const FlowRecord& record, const std::string& path, const FileBytes& now_there,
                  const std::string& text, const std::string& why,
                  Intent::Kind kind = Intent::Kind::replace);
  /// Plans a write. Joins it with an earlier write of the same path in this step where possible.
  void plan_write(Intent write);

  const Time now;
  const Time wall;
  Arrival arrival;
  std::uint64_t intent;
  Commit commit;
  std::vector<Intent> writes;  ///< at most one that replaces or creates a path, in order
  std::map<std::string, std::shared_ptr<const Document>> documents;  ///< accepted in this step
  std::set<std::string> presence;  ///< paths whose `present` changed
  /// Paths whose file equals the last accepted version, and paths that baton never accepts.
  std::set<std::string> as_accepted;
  std::set<FlowId> decide;           ///< flows whose decision may differ now
  std::set<FlowId> forgotten;        ///< by `forget`
  std::vector<std::string> changed;  ///< paths accepted in this step, for the rate breaker
  std::map<std::string, std::uint64_t> appended;  ///< logs in `changed`, and their sizes
  std::vector<std::string> restored;              ///< paths put back in this step
  std::map<std::string, Digest> gave_way;         ///< see PendingWrites::gave_way
  std::set<std::string> looked_at;                ///< see PendingWrites::looked_at
  std::set<std::string> compared;                 ///< paths compared with the version in force
  std::set<FlowFile> identified;                  ///< names that have another file than before
  /// Names that are gone or have another file now, with the file that they had.
  std::set<std::pair<FlowFile, FileIdentity>> let_go;
  std::set<std::string> renamed;  ///< see SeenRenames
  /// FlowIndex::files as it was before this step; nullptr: unknown.
  const std::map<FileIdentity, std::set<FlowFile>>* names = nullptr;
  std::uint64_t accepted_bytes = 0;  ///< of all flows; the caller sets it at the begin of the step
  bool has_more_room = false;        ///< some flow has less accepted bytes than before

 private:
  const FlowRecords& records_;
  void resize(FlowRecord& record, std::uint64_t before, std::uint64_t after);

  std::map<FlowId, FlowRecord> touched_;
  /// The index of each row in `commit.stages`.
  std::map<FlowId, std::map<Subject, std::size_t>> staged_;
};

}  // namespace baton
