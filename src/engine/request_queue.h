// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the requests of the control commands (pause, resume, start ...) until they are answered. A
// request and its effect are committed in one transaction. Its file may be there for longer, so the
// queue remembers which requests have an answer.
// A flow's dialect is asked first about verbs that it handles itself. What the shared verbs do is
// in decide/control.h.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/ports.h"
#include "engine/configured_parts.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The requests that wait for an answer, and the ids of answered ones.
class RequestQueue {
 public:
  explicit RequestQueue(Requests& port) : port_(port) {}

  /// Requests may have come in: the next `load` looks for them.
  void changed() { look_ = true; }
  /// Whether the next `load` looks for requests.
  bool looks() const { return look_; }
  /// Reads the waiting requests, up to the first `stop`. Later requests wait for the next step, so
  /// that agents are stopped before a later request can take the stop back. Refuses requests of
  /// agents that may not ask for that (decide/asker.h).
  void load(const ConfiguredParts& parts, const FlowRecords& records, Draft& next);
  /// Whether requests are left for the next step.
  bool behind() const { return behind_; }
  /// The requests without an answer. What the step decides may answer them.
  const std::vector<Request>& waiting() const { return waiting_; }

  /// Requests that concern the engine itself.
  struct Orders {
    bool drain = false;
    std::vector<std::string> reloads;  ///< ids of the requests `reload`
  };
  /// Handles the verbs that all dialects share, begins flows, and rebuilds main documents. Leaves
  /// verbs that a flow's dialect handles itself to the dialect. Errc::io: the journal cannot be
  /// read.
  /// `reading`: baton is still looking at the files of the root. Then it only holds back starts and
  /// ends agents, and all other requests wait.
  Result<Orders> handle(ConfiguredParts& parts, const FlowRecords& records, Draft& next,
                        bool reading);
  /// Call it after the dialects have decided. Handles the requests that they left unanswered like
  /// shared verbs. If a dialect accepted `resume`, `start` or `retry`, lifts the holds of the
  /// engine as well. True: decide again.
  /// `away`: the root is unavailable, so baton could not ask the dialects.
  bool settle(const ConfiguredParts& parts, const FlowRecords& records, Draft& next, bool away);

  /// Takes over the answers in the journal. With `tell`, the first `load` that finds the file of
  /// such a request publishes its answer: the last daemon ended before it could do so.
  void answered_before(const std::vector<std::pair<std::string, Reply>>& replies, bool tell);
  /// Adds to the answers of `resume`, `retry` and `start` that the whole root is paused or stopped,
  /// if it is: then the flow does not go on.
  static void tell_of_root(Draft& next);
  /// Takes unanswered requests out of the transaction. The next step finds them again.
  static void keep_answered(Draft& next);
  void committed(const Draft& next);

 private:
  void tell_again();
  void keep_first_sight();
  void judge(const ConfiguredParts& parts, const FlowRecords& records, Draft& next);
  Result<bool> for_flow(ConfiguredParts& parts, const Request& request, const FlowRecords& records,
                        Draft& next);
  Requests& port_;
  std::vector<Request> waiting_;
  /// The waiting requests as they were first read. The process that asks may end before the answer,
  /// and the file may be exchanged.
  std::map<std::string, Request> first_;
  std::set<std::string> answered_;
  std::map<std::string, Reply> unpublished_;  ///< answers that may still have to be published
  std::set<std::string> left_;                ///< ids left to the dialects in this step
  bool behind_ = false;
  bool look_ = true;
};

}  // namespace baton
