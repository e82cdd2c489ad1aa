#pragma once

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

/// The writes the journal holds as intents. One that finds no room on the disk, or that the system
/// refuses, waits here and is tried again, and with it waits every later one of the same path; the
/// others are performed once and then noted as done with the next transaction. Only a file that is
/// not what the write assumed makes it give way.
class PendingWrites {
 public:
  explicit PendingWrites(Disk& disk) : disk_(disk) {}

  /// Settles what was open when the last daemon ended. The paths to be looked at.
  std::set<std::string> recover(const std::vector<Intent>& intents, std::size_t max_bytes);
  /// A write goes with its file: it is the one's which has that by the configuration now.
  static void assign(Intent& write, const Catalog& catalog);
  void assign_all(const Catalog& catalog);
  /// For a rehearsal, which makes none: the paths of those that are still to be made are awaited,
  /// so that their files are taken to be as the journal has them.
  void suppose(const std::vector<Intent>& intents, std::size_t max_bytes);

  const std::vector<Intent>& supposed() const { return supposed_; }

  struct Performed {
    std::set<std::string> paths;  ///< to be looked at: written, or to be written
    std::set<FlowId> unfit;       ///< flows with a write that was not made
    std::set<FlowId> again;       ///< those of them whose files are not what the write assumed
    std::vector<std::pair<Intent, Error>> missed;  ///< writes that are not vital and failed
    bool news = false;  ///< some write is done, dropped or put off, which is to be noted and told
  };
  /// Performs what waits and is to be tried again by now, and then `writes`, whose intents are
  /// committed.
  Performed perform(const std::vector<Intent>& writes, Time now, std::size_t max_bytes);

  /// A write of (or to) this path waits.
  bool awaits(const std::string& path) const;
  /// Whether the file has been changed, so that the writes of it that wait can only give way: they
  /// do so with the next `perform`, however long they were put off. What the first of them assumed,
  /// if the file may be looked at already; it is `gave_way` then.
  std::optional<Digest> meet(const std::string& path, std::size_t max_bytes);
  /// Why a flow is held that has a write which waits, or gave way and is not `seen`; of the first.
  std::optional<Hold> hold(const FlowRecord& record, const Dialect* dialect) const;
  /// The flows of which some does.
  std::set<FlowId> flows() const;
  bool empty() const { return waiting_.empty(); }
  /// None waits, and none gave way to a version that was not looked at yet.
  bool settled() const { return waiting_.empty() && given_up_.empty(); }
  /// Some write will be made without anybody's doing.
  bool passing() const;
  /// When to try again.
  std::optional<Time> wake() const;
  /// The journal knows the writes of this flow no more.
  void forget(const FlowId& flow);

  /// Paths whose last write gave way to what somebody else had written meanwhile, until `seen`:
  /// what was accepted of them last has never stood in the file. By path, what the first write
  /// assumed that has not been made. They are open in the journal for so long, for the next daemon
  /// has to know.
  std::map<std::string, Digest> gave_way() const;
  /// The paths of them, and of writes that are overtaken, which the step has looked at. A file that
  /// is no flow's any more is not among them as long as the flow that wrote it has something in
  /// force of it: that has not stood there.
  std::set<std::string> looked_at(const Draft& step, const Catalog& catalog) const;
  /// Those writes of a path: done, if a step that has looked at the file is committed.
  std::vector<std::uint64_t> given_up(const std::string& path) const;
  /// It is. False: none of its writes had given way.
  bool seen(const std::string& path);

  /// Writes that are over, for the next transaction; `noted` when it is committed.
  const std::vector<std::uint64_t>& done() const { return done_; }
  void noted() { done_.clear(); }

 private:
  struct Waiting {
    Intent write;
    std::string why;
    /// Not 0: it may have been made, by a daemon before this one or up to its syncing; looked at
    /// first, as `settle` does it with as many bytes.
    std::size_t to_settle = 0;
    bool refused = false;  ///< not for want of room: somebody has to do something
    Millis pause{0};
    Time due{};              ///< tried again from then on
    bool overtaken = false;  ///< not tried at all any more: the file is another one by now
    bool seen = false;       ///< and that one was looked at already
  };
  struct GivenUp {
    Digest base;
    std::vector<Intent> writes;
    bool news = false;  ///< some of it was to say what has never stood there
  };
  Result<void> make(Waiting& waiting);
  void give_up(const Waiting& waiting);
  void give_up(const Intent& write);
  std::optional<Hold> hold_given_up(const FlowRecord& record, const Dialect* dialect) const;
  /// It was made.
  void end(const Intent& write);
  /// Nobody needs to look at the file for them any more.
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
