#pragma once

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

/// The requests that wait for an answer, and those that were answered and may come again.
class RequestQueue {
 public:
  explicit RequestQueue(Requests& port) : port_(port) {}

  /// Something may have come in: the next `load` looks.
  void changed() { look_ = true; }
  /// The next `load` looks for them.
  bool looks() const { return look_; }
  /// Up to the first that stops something: what is ended is ended before anything that was said
  /// after it can take that back.
  void load(Draft& next);
  /// There are more, for the next step.
  bool behind() const { return behind_; }
  /// Without those that were answered. What a step decides may answer them.
  const std::vector<Request>& waiting() const { return waiting_; }

  /// What is for the engine itself.
  struct Orders {
    bool drain = false;
    std::vector<std::string> reloads;  ///< the ids of such requests
  };
  /// Deals with the verbs every dialect shares, has flows begun and main documents rebuilt; those a
  /// flow's dialect wants are left to it. Errc::io when the journal's copies cannot be read.
  Result<Orders> handle(ConfiguredParts& parts, const FlowRecords& records, Draft& next);
  /// After the dialects were asked: what they left unanswered is dealt with as if they had not
  /// wanted it, and what they took up again is no longer held by the engine. True: something is to
  /// be decided again.
  /// `away`: the root is, so that they could not be asked.
  bool settle(const ConfiguredParts& parts, const FlowRecords& records, Draft& next, bool away);

  /// Requests that have their answers in the journal. One that is filed still was not told, and is
  /// by the first `load` that sees it, with `tell`.
  void answered_before(const std::vector<std::pair<std::string, Reply>>& replies, bool tell);
  /// Who has a flow go on hears when the operator's word for the whole root keeps it from that.
  static void tell_of_root(Draft& next);
  /// Takes the ones that got no answer out of the transaction: they come again.
  static void keep_answered(Draft& next);
  void committed(const Draft& next);

 private:
  void tell_again();
  Result<bool> for_flow(ConfiguredParts& parts, const Request& request, const FlowRecords& records,
                        Draft& next);
  Requests& port_;
  std::vector<Request> waiting_;
  std::set<std::string> answered_;
  std::map<std::string, Reply> untold_;  ///< of `answered_before`
  std::set<std::string> left_;           ///< ids left to the dialects in this step
  bool behind_ = false;
  bool look_ = true;
};

}  // namespace baton
