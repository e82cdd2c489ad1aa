#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ports.h"

namespace baton {

/// The writes the journal holds as intents. One that finds no room on the disk, or that the system
/// refuses, waits here and is tried again, and with it waits every later one of the same path; the
/// others are performed once and then noted as done with the next transaction. Only a file that is
/// not what the write assumed makes it give way.
class Outbox {
 public:
  explicit Outbox(Disk& disk) : disk_(disk) {}

  /// Settles what was open when the last daemon ended. The paths to be looked at.
  std::set<std::string> recover(const std::vector<Intent>& intents, std::size_t max_bytes);
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
  Performed perform(const std::vector<Intent>& writes, Time now);

  /// A write of (or to) this path waits.
  bool awaits(const std::string& path) const;
  /// Whether the file has been changed, so that the write that waits can only give way: it does so
  /// with the next `perform`, however long it was put off.
  void meet(const std::string& path, std::size_t max_bytes);
  /// Why a flow is held that has a write which waits, of the first such write.
  std::optional<Hold> hold(const FlowId& flow) const;
  /// The flows of which some does.
  std::set<FlowId> flows() const;
  bool empty() const { return waiting_.empty(); }
  /// Some write will be made without anybody's doing.
  bool passing() const;
  /// When to try again.
  std::optional<Time> wake() const;
  /// The journal knows the writes of this flow no more.
  void forget(const FlowId& flow);

  /// Paths whose last write gave way to what somebody else had written meanwhile, until `seen`:
  /// what was accepted of them last has never stood in the file.
  /// By path, what the first write assumed that has not been made.
  const std::map<std::string, Digest>& gave_way() const { return gave_way_; }
  void seen(const std::string& path) { gave_way_.erase(path); }

  /// Writes that are over, for the next transaction; `noted` when it is committed.
  const std::vector<std::uint64_t>& done() const { return done_; }
  void noted() { done_.clear(); }

 private:
  struct Waiting {
    Intent write;
    std::string why;
    bool refused = false;  ///< not for want of room: somebody has to do something
    Millis pause{0};
    Time due{};              ///< tried again from then on
    bool overtaken = false;  ///< not tried at all any more: the file is another one by now
  };
  Result<void> make(const Waiting& waiting);
  static void put_off(Waiting& waiting, const Error& error, Time now);
  Disk& disk_;
  std::vector<Waiting> waiting_;
  std::vector<Intent> supposed_;
  std::vector<std::uint64_t> done_;
  std::map<std::string, Digest> gave_way_;
};

}  // namespace baton
