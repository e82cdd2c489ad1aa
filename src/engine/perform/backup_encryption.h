// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs backups through a program, such as an encryption, before they are written
// (Intent::Kind::backup). The programs run beside everything else, a few at a time. baton writes
// the output of each when it has ended.
// The journal holds these backups, so one that was cut off by the end of the daemon begins again. A
// backup without a program is an ordinary write (pending_writes.h).

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

/// The backups that wait for a program or go through one.
class BackupEncryption {
 public:
  explicit BackupEncryption(Disk& disk) : disk_(disk) {}

  /// Takes the backups out of committed writes and returns the other writes.
  std::vector<Intent> without_its_own(const std::vector<Intent>& writes);
  /// Writes the output of programs that have ended, and starts the next programs.
  void tend(const Setup& setup, const Catalog& catalog);
  /// Adds an event for each backup that has failed since `noted`.
  void tell(Draft& next) const;

  bool busy() const { return !waiting_.empty() || !running_.empty(); }
  /// When to call `tend` again.
  std::optional<Time> wake(Time now) const;

  /// Ids of backups that are done or have failed, for the next transaction. Call `noted` after its
  /// commit.
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
