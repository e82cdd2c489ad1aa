// SPDX-License-Identifier: Apache-2.0
#pragma once

// Performs baton's own writes after they are in the journal, and tries again what fails. A write is
// in one of these states:
//
//   - waiting: it found no space or was refused. It is tried again, and later writes of the path
//     wait behind it.
//   - overtaken: it waits, but the file is no longer what it assumed, so it can only give way.
//   - given up: it gave way. It stays open in the journal until a step has looked at the file.
//   - done: it was made, or nothing depends on it. The next transaction closes it.
//   - barred: its file belongs to no dialect or rule in force. It stays open, and is not tried.
//
// The journal may have been exchanged or forged, so a write from it is made only where a dialect
// writes (Catalog::may_write). If no version in force depends on a barred write, it is dropped.
//
// A write gives way only if the file is not what the write assumed. write_settlement.h finds out
// what became of a write before a crash.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/catalog.h"
#include "core/ports.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The writes that the journal holds as intents.
class PendingWrites {
 public:
  explicit PendingWrites(Disk& disk) : disk_(disk) {}

  /// Takes the writes out of the list that lead to files of no dialect or rule in force, and bars
  /// or drops them. Returns them.
  std::vector<Intent> bar(std::vector<Intent>& intents, const Catalog& catalog,
                          const FlowRecords& records);
  /// Settles the writes that the last daemon left open. Returns the paths to look at.
  std::set<std::string> recover(const std::vector<Intent>& intents, std::size_t max_bytes);
  /// Gives a write to the flow that its file belongs to by the configuration in force.
  static void assign(Intent& write, const Catalog& catalog);
  void assign_all(const Catalog& catalog);
  /// For a rehearsal, which makes no writes: the paths of open writes count as awaited, so baton
  /// takes their files to be as the journal has them.
  void suppose(const std::vector<Intent>& intents, std::size_t max_bytes);

  const std::vector<Intent>& supposed() const { return supposed_; }

  struct Performed {
    std::set<std::string> paths;  ///< paths to look at: a write of them was tried
    std::set<FlowId> unfit;       ///< flows with a write that was not made
    std::set<FlowId> again;       ///< flows whose files are not what a write assumed
    std::vector<std::pair<Intent, Error>> missed;  ///< writes that are not vital and failed
    bool news = false;  ///< some write was tried, so the next step has something to record
  };
  /// Performs the waiting writes that are due, then `writes`. The intents of `writes` are
  /// committed.
  Performed perform(const std::vector<Intent>& writes, Time now, std::size_t max_bytes);

  /// Whether a write of this path, or a move to it, waits.
  bool awaits(const std::string& path) const;
  /// Finds out whether somebody changed the file while writes of it wait. If so, they are overtaken
  /// and give way with the next `perform`, even before they are due. Returns the version that the
  /// first of them assumed if the file may be looked at already. `gave_way` will then return it,
  /// too.
  std::optional<Digest> meet(const std::string& path, std::size_t max_bytes);
  /// The hold of a flow with a waiting write, or with a given-up write that no step has `seen`. The
  /// first such write counts.
  std::optional<Hold> hold(const FlowRecord& record, const Dialect* dialect) const;
  /// The flows with such a write.
  std::set<FlowId> flows() const;
  bool empty() const { return waiting_.empty(); }
  /// No write waits, and none gave way to a version that no step has looked at.
  bool settled() const { return waiting_.empty() && given_up_.empty(); }
  /// Whether some waiting write will be made without a person's help.
  bool passing() const;
  /// When to call `perform` again.
  std::optional<Time> wake() const;
  /// Drops the writes of a flow that the journal has forgotten.
  void forget(const FlowId& flow);

  /// The paths of given-up writes, until `seen`. The last accepted version of such a file has never
  /// stood in the file. Each path comes with the version that the first of its writes assumed. The
  /// writes stay open in the journal until then, because the next daemon has to know.
  std::map<std::string, Digest> gave_way() const;
  /// The paths of given-up and overtaken writes that the step has looked at. A file may belong to
  /// no flow any more while the flow of the write still has its version in force. Such a file is
  /// left out, because that version has never stood in the file.
  std::set<std::string> looked_at(const Draft& step, const Catalog& catalog) const;
  /// Ids of the given-up writes of a path. They are done after the commit of a step that has looked
  /// at the file.
  std::vector<std::uint64_t> given_up(const std::string& path) const;
  /// A step that has looked at the file is committed. False: no write of the path was given up.
  bool seen(const std::string& path);

  /// Ids of writes that are done, for the next transaction. Call `noted` after its commit.
  const std::vector<std::uint64_t>& done() const { return done_; }
  void noted() { done_.clear(); }

 private:
  struct Waiting {
    Intent write;
    std::string why;
    /// Not 0: the write may have been made by an earlier daemon, or made but not synced. `settle`
    /// finds out first; this is its limit of bytes.
    std::size_t to_settle = 0;
    bool refused = false;  ///< the system refuses the write, so a person has to act
    Millis pause{0};
    Time due{};              ///< not tried before
    bool overtaken = false;  ///< somebody changed the file: the write can only give way
    bool seen = false;       ///< a step has looked at the changed file
    bool barred = false;     ///< see above; such a write is also refused
  };
  struct GivenUp {
    Digest base;
    std::vector<Intent> writes;
    bool news = false;  ///< some write had a version that has never stood in the file
  };
  Result<void> make(Waiting& waiting);
  void give_up(const Waiting& waiting);
  void give_up(const Intent& write);
  std::optional<Hold> hold_given_up(const FlowRecord& record, const Dialect* dialect) const;
  /// The write was made.
  void end(const Intent& write);
  /// The given-up writes of the path are done: no step has to look at the file for them.
  void drop(const std::string& path);
  std::set<FlowId> overtaken(const std::string& path) const;
  static void put_off(Waiting& waiting, const Error& error, Time now, std::size_t max_bytes);
  Disk& disk_;
  std::vector<Waiting> waiting_;
  std::vector<Intent> supposed_;
  std::vector<std::uint64_t> done_;
  std::map<std::string, GivenUp> given_up_;
};

}  // namespace baton
