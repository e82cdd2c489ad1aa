// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the `notify:` command of the configuration, so that people hear about flows.
//
// Problem: one cause may stop a hundred flows, and the program may be slow or hang.
// Way: notifications gather for a second. Each call gets a JSON array of 1 to 100 objects, and one
// program runs at a time. So one cause is one message, and the daemon never waits.
// Limits: what a failed call had is not sent again, and the oldest are dropped when too many wait.
// A shim ends a program that is too slow, with all its processes, also after the daemon has ended.

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/pinned.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

struct NotifyCall {
  std::string shim;  ///< absolute path
  Millis timeout;
  std::vector<std::string> argv;  ///< argv[0] is absolute; empty: nothing is started
  std::vector<std::string> env;
  Millis gather{1000};  ///< how long an object waits for others at most
};

class NotifyCommand : private Pinned {
 public:
  explicit NotifyCommand(NotifyCall call);
  /// Ends the running program and waits for that, about one second.
  ~NotifyCommand();

  /// `json`: one object.
  void send(const std::string& json);
  /// Collects a program that has ended, and starts the next one if its objects have waited long
  /// enough. Call it about every second while `busy`.
  void poll();
  /// From now on no object waits for others.
  void hurry();
  bool busy() const { return pid_ > 0 || !waiting_.empty(); }
  /// Why the last program that ended did not succeed, as a clause. "" when it succeeded or none has
  /// ended yet.
  const std::string& fault() const { return fault_; }
  /// The number of objects that were not delivered yet, including the one being delivered.
  std::size_t unsent() const { return dropped_ + waiting_.size() + (pid_ > 0 ? with_it_ : 0U); }

 private:
  using Instant = std::chrono::steady_clock::time_point;

  bool collected();
  bool due() const;
  std::string take();
  bool start(const std::string& json);

  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  Millis gather_;
  std::deque<std::string> waiting_;
  Instant first_{};  ///< when something came to the empty queue
  /// Objects that were dropped because too many waited, or because no program could be started.
  std::size_t dropped_ = 0;
  std::string fault_;
  pid_t pid_ = 0;            ///< of the shim
  std::size_t with_it_ = 0;  ///< how many objects the last program got
  AwaitedChild awaited_;
  Fd life_;
  Fd ours_;  ///< only this process has this end, so it closes whenever the daemon ends
};

}  // namespace baton
