#pragma once

#include <cstdint>
#include <functional>
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

/// What the engine remembers of one flow: the journal's rows and what was last decided from them.
struct FlowRecord {
  FlowId id;
  std::map<std::string, AcceptedRow> accepted;  ///< by path
  std::map<std::string, RejectedRow> rejected;  ///< by path
  std::map<Subject, StageState> stages;
  std::map<Subject, std::map<Word, std::uint64_t>> entries;
  Json memo;
  /// Live ones, those of present generations, those of the last hour; in the order of their starts.
  std::vector<Run> runs;
  ControlRow control;
  NotifiedState notified;
  Time last_activity{};

  // Derived; computed anew after a restart.
  Decision decision;
  std::map<std::string, Findings> conflicts;  ///< rules across documents that are broken, by path
  /// The rate breaker is open until then. Not journalled: it is about now, and a daemon that is
  /// started anew counts anew.
  Time calm_at{};
  /// In a rehearsal: what is to be said of a file of which the living daemon knows another version;
  /// "": there is none.
  std::string unseen;
  std::optional<Hold> held;            ///< why the flow may start nothing at all
  std::vector<Hold> holds;             ///< of the last plan
  std::map<Key, std::string> refused;  ///< what View::refused is to say
  bool failed = false;
  bool waiting = false;

  std::vector<Run>::iterator run(const RunId& wanted);
  std::vector<Run>::const_iterator run(const RunId& wanted) const;
  bool live() const;
};

using FlowRecords = std::map<FlowId, FlowRecord>;

/// Reasons of a control that the configuration gave, see engine/intake/moved_files.h.
inline constexpr std::string_view kMoved = "moved";
inline constexpr std::string_view kLeft = "left";
bool has_no_file(const FlowRecord& record);
/// All its files are other flows' by now.
bool is_left(const FlowRecord& record);

/// The word by which flows of all dialects say that they have come to their end.
inline constexpr std::string_view kCompleted = "completed";

struct FlowIndex;  // engine/state/flow_index.h

/// The books as the journal has them.
FlowRecords records_of(const Ledger& ledger);

/// Times that lie ahead of `now` were told by a clock that has been set back since, and whatever
/// counts from them would wait for as long. They are moved back, all by as much, so that the newest
/// is now. Gives the rows that were moved.
Commit set_back(Ledger& ledger, Time now);

/// What was left of a run before the system was started anew, as `boot` says, is no more. Gives the
/// rows that differ now.
Commit let_go(Ledger& ledger, const std::string& boot);

/// Drops runs nobody asks for any more: ended, of a former generation or a subject that is gone for
/// longer than it is remembered, no agent's of the last hour, and nothing left of it.
void forget_old_runs(FlowRecord& record, Time now);

/// One step under construction: copies of the flows it touches and the transaction that makes them
/// true. Nothing outside changes until the transaction is committed; then `publish`.
class Draft {
 public:
  Draft(const FlowRecords& records, Arrival last_arrival, std::uint64_t last_intent, Time at,
        Time wall_at)
      : now(at), wall(wall_at), arrival(last_arrival), intent(last_intent), records_(records) {}

  const FlowRecord* find(const FlowId& flow) const;
  /// As it was before this step.
  const FlowRecord* before(const FlowId& flow) const;
  FlowRecord& touch(const FlowId& flow);
  const std::map<FlowId, FlowRecord>& touched() const { return touched_; }
  /// What is touched takes its place, and what is forgotten is gone; the tally of the books
  /// follows.
  void publish(FlowRecords& records, FlowIndex& flow_index);
  /// A draft of the same step with one flow only, to try something that may be refused.
  Draft trial(const FlowId& flow) const;

  void event(Word event, const FlowId& flow, std::string why, Subject subject = {}, Role role = {},
             RunId run = {});
  /// The answer to a request; the first one counts. Whether this is it.
  bool reply(const Reply& reply);
  /// Enters where a subject stands, as the book has it.
  void stage(const FlowRecord& record, const Subject& subject);
  /// Enters a dialect's memo, if it differs.
  void memo(FlowRecord& record, const Json& memo);
  /// Enters what was told of the flows of this step, where that differs.
  void tell();
  /// Drops a flow without live runs. What this step finds of it later belongs to a new flow of that
  /// name; journal and books drop first and enter then.
  void forget(const FlowId& flow);
  /// Enters the operator's control of a flow.
  void control(FlowRecord& record, Control control, Word reason, std::string why);
  /// Enters a run into the book and the transaction.
  void put(FlowRecord& record, const Run& run);
  /// Enters an accepted version; a later one of the same path in this step takes its place.
  void accept(FlowRecord& record, const AcceptedRow& row, std::shared_ptr<const Document> document);
  /// A file has no rejected version any more. Whether it had one.
  bool no_longer_rejected(FlowRecord& record, const std::string& path);
  /// Drops an accepted version, also one of this step: its file has another name from now on.
  void move_away(FlowRecord& record, const std::string& path);
  /// Plans to write `text` over what stands in the file now; the journal keeps what it replaces.
  /// (`restore`: with what was accepted of it last).
  void write_over(const FlowRecord& record, const std::string& path, const FileBytes& now_there,
                  const std::string& text, const std::string& why,
                  Intent::Kind kind = Intent::Kind::replace);
  /// Plans a write; joins it with one of the same path that is planned already.
  void plan_write(Intent write);

  const Time now;
  const Time wall;
  Arrival arrival;
  std::uint64_t intent;
  Commit commit;
  std::vector<Intent> writes;  ///< at most one that replaces or creates a path, in order
  std::map<std::string, std::shared_ptr<const Document>> documents;  ///< accepted in this step
  std::set<std::string> presence;  ///< paths whose `present` changed
  /// Paths that were found as they were accepted last, and those of which nothing ever is.
  std::set<std::string> as_accepted;
  std::set<FlowId> decide;                 ///< flows whose decision may differ now
  std::set<FlowId> forgotten;              ///< by `forget`
  std::vector<std::string> changed;        ///< paths accepted in this step, for the rate breaker
  std::vector<std::string> restored;       ///< paths put back in this step
  std::map<std::string, Digest> gave_way;  ///< see PendingWrites::gave_way
  std::set<std::string> looked_at;         ///< see PendingWrites::looked_at
  std::set<std::string> compared;          ///< paths that were compared with what is in force

 private:
  const FlowRecords& records_;
  std::map<FlowId, FlowRecord> touched_;
  /// Where the rows of `commit.stages` are.
  std::map<FlowId, std::map<Subject, std::size_t>> staged_;
};

}  // namespace baton
