#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/effect.h"
#include "core/share.h"

namespace baton {

/// The difference between what is desired and what the runs say has been done.
struct Plan {
  std::vector<Start> starts;
  std::vector<Stop> stops;
  std::vector<PauseFlow> pauses;
  std::map<FlowId, std::vector<Hold>> holds;  ///< why what is desired is not started
  /// Desired with `counts_refusal`, and due, and cannot be started → why.
  std::map<FlowId, std::map<Key, std::string>> refused;
  std::set<FlowId> wanting;  ///< flows with something that would start if there were room
  std::set<FlowId> failed;   ///< flows that need a person: attempts used up, budget spent ...
  std::optional<Time> wake;  ///< the earliest time at which the answer differs
  bool waiting = false;      ///< something will be started later without anybody's doing
  bool operator==(const Plan&) const = default;
};

/// Desired minus done, under limits and claims; shared by all dialects. A plan is a function of the
/// terms, the flows and the time, however they came to be as they are:
/// tests/core/reconcile_test.cpp compares with a plan made from nothing. What was found of a flow
/// is kept, and only those are asked anew that were given again, whose time has come, or whose
/// chance for a place or a resource may be another one. Asking again with the starts entered as
/// runs gives nothing.
class Reconciler {
 public:
  /// Where they differ, every flow is asked anew.
  void put(Terms terms);
  /// A flow as it is now. What it refers to is looked at by `plan` and not otherwise.
  void put(FlowSituation flow);
  void drop(const FlowId& id);

  void plan(Time now, std::uint32_t running_elsewhere);
  /// As it was made last.
  const Plan& made() const { return plan_; }
  Plan& made() { return plan_; }
  /// A hold that turned up when the plan was carried out; it stands until the next one.
  void hold(const FlowId& flow, Hold hold);

  /// Flows whose holds, or whether they failed, may be other than when `mark_reported` was called
  /// last.
  const std::set<FlowId>& news() const { return news_; }
  void mark_reported() { news_.clear(); }

 private:
  /// Who comes first has the first place: by the entry into the stage; what came together, as its
  /// flow and then its dialect name it.
  struct Turn {
    Arrival entered = 0;
    FlowId flow;
    std::size_t nth = 0;  ///< of the candidates of its flow
    auto operator<=>(const Turn&) const = default;
  };
  using Holders = std::map<FlowId, std::uint32_t>;  ///< how often each holds a resource
  /// What became of a candidate when it was asked last.
  enum class Answer { unasked, starts, everything_held, claimed, spent, no_place };
  struct Asked {
    std::vector<std::string> resources;  ///< what the candidate claims
    Answer answer = Answer::unasked;
    Hold hold = {};  ///< of the last answer; none when it starts
  };
  struct Flow {
    FlowSituation situation;
    Share share;
    std::vector<Asked> asked;  ///< of its candidates
  };

  std::set<Turn>& line(Answer answer) { return lines_.at(static_cast<std::size_t>(answer)); }
  const std::set<Turn>& line(Answer answer) const {
    return lines_.at(static_cast<std::size_t>(answer));
  }
  void withdraw(const FlowId& id, Flow& flow);
  void enter(const FlowId& id, Flow& flow);
  void take(const FlowId& id, const std::string& resource, bool more);
  Holders holders(const std::string& resource) const;
  void take_back_starts();
  void renew_flows();
  void ask_claimants(const std::string& resource, const Turn& from);
  void ask_again(const Turn& turn);
  void ask_all(Answer answer);
  std::optional<Turn> next() const;
  void ask(const Turn& turn);
  std::pair<Answer, Hold> answer(const Flow& flow, const Candidate& candidate) const;
  void start(const Turn& turn, const Flow& flow);
  void pause(const FlowId& id, const Hold& cap);
  bool room() const { return running_ + elsewhere_ < terms_.max_running; }
  void write(const FlowId& id);
  void sum_up();

  Terms terms_;
  Plan plan_;
  Time now_{};
  std::uint32_t elsewhere_ = 0;
  std::uint32_t told_full_ = 0;  ///< as `no_place` says it

  std::map<FlowId, Flow> flows_;
  std::set<FlowId> stale_;    ///< to be asked anew
  std::set<FlowId> rewrite_;  ///< their part of the plan is to be written anew
  std::set<FlowId> news_;

  std::uint32_t running_ = 0;
  std::map<std::string, Holders> taken_;  ///< who holds each resource
  /// And how that has changed since the last plan.
  std::map<std::string, std::map<FlowId, std::int64_t>> moved_;
  std::map<std::string, std::set<Turn>> claimants_;  ///< of each resource
  std::array<std::set<Turn>, 6> lines_;              ///< of all candidates, by answer
  std::set<std::pair<Time, FlowId>> wakes_;
  std::set<FlowId> stopping_;                          ///< flows with something to stop
  std::set<FlowId> waiting_;                           ///< flows that wait by themselves
  std::map<std::string, std::multiset<FlowId>> lent_;  ///< the resources of the starts of the plan
  std::map<FlowId, std::uint32_t> spawned_;            ///< by the plan under construction
};

}  // namespace baton
