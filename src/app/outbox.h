#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ports.h"

namespace baton {

/// The writes the journal holds as intents. One that finds no room on the disk waits here, and with
/// it every later one of the same path; the others are performed once and then noted as done with
/// the next transaction.
class Outbox {
 public:
  explicit Outbox(Disk& disk) : disk_(disk) {}

  /// Settles what was open when the last daemon ended. The paths to be looked at.
  std::set<std::string> recover(const std::vector<Intent>& intents, std::size_t max_bytes);

  struct Performed {
    std::set<std::string> paths;  ///< to be looked at: written, or to be written
    std::set<FlowId> unfit;       ///< flows with a write that was not made
    std::set<FlowId> again;       ///< those of them whose files are not what the write assumed
    std::vector<std::pair<Intent, Error>> missed;  ///< writes that are not vital and failed
    bool settled = false;  ///< some write is done or dropped, which is to be noted
    bool no_room = false;  ///< some write waits for room: try again later
  };
  /// Performs what waits and then `writes`, whose intents are committed.
  Performed perform(const std::vector<Intent>& writes);

  /// A write of (or to) this path waits for room.
  bool awaits(const std::string& path) const;
  /// Which write of a flow, the first, waits for room, and for what; empty: none does.
  std::string waiting(const FlowId& flow) const;
  /// The flows of which some does.
  std::set<FlowId> flows() const;
  bool empty() const { return waiting_.empty(); }

  /// Paths whose last write gave way to what somebody else had written meanwhile, until `seen`:
  /// what was accepted of them last has never stood in the file.
  const std::set<std::string>& gave_way() const { return gave_way_; }
  void seen(const std::string& path) { gave_way_.erase(path); }

  /// Writes that are over, for the next transaction; `noted` when it is committed.
  const std::vector<std::uint64_t>& done() const { return done_; }
  void noted() { done_.clear(); }

 private:
  struct Waiting {
    Intent write;
    std::string why;
  };
  Disk& disk_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint64_t> done_;
  std::set<std::string> gave_way_;
};

}  // namespace baton
