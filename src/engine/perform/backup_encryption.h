#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/setup.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Backups that go through a program before they are written (Intent::Kind::backup). The journal
/// holds them; the programs run beside everything else, a few at a time, and what comes out of one
/// is written when it has ended. One that was cut off by the end of the daemon is begun again.
class BackupEncryption {
 public:
  explicit BackupEncryption(Disk& disk) : disk_(disk) {}

  /// Takes those of committed writes that are its own, and leaves the others.
  std::vector<Intent> without_its_own(const std::vector<Intent>& writes);
  /// Writes what has come out meanwhile, and starts what there is place for.
  void tend(const Setup& setup, const Catalog& catalog);
  /// Tells of those that came to nothing, since `noted`.
  void tell(Draft& next) const;

  bool busy() const { return !waiting_.empty() || !running_.empty(); }
  /// When to tend again.
  std::optional<Time> wake(Time now) const;

  /// Copies that are over, for the next transaction; `noted` when it is committed.
  const std::vector<std::uint64_t>& done() const { return done_; }
  void noted();

 private:
  struct Running {
    Intent copy;
    Filtering program;
  };
  void finish(const Intent& copy, Result<std::string> bytes);

  Disk& disk_;
  std::deque<Intent> waiting_;
  std::vector<Running> running_;
  std::vector<std::uint64_t> done_;
  std::vector<std::pair<FlowId, std::string>> failed_;
};

}  // namespace baton
