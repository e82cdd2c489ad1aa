#include "core/reconcile.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "core/reported.h"

namespace baton {
namespace {

/// Visits the entries of a map by resource that are the same as this one: itself, and of a path
/// also those above and below it.
template <class Map, class Visit>
void for_same(Map& map, const std::string& resource, const Visit& visit) {
  const auto one = [&](const std::string& key) {
    if (const auto found = map.find(key); found != map.end())
      visit(found->second);
  };
  one(resource);
  if (!resource.starts_with(kPathClaim))
    return;
  for (auto slash = resource.rfind('/'); slash != std::string::npos && slash >= kPathClaim.size();
       slash = resource.rfind('/', slash - 1))
    one(resource.substr(0, slash));
  const std::string below = resource + "/";
  for (auto at = map.lower_bound(below); at != map.end() && at->first.starts_with(below); ++at)
    visit(at->second);
}

/// Enters a value, or that there is none. Whether anything is other than before.
template <class Value>
bool enter_or_erase(std::map<FlowId, Value>& map, const FlowId& flow, Value value) {
  const auto found = map.find(flow);
  if (value.empty() && found == map.end())
    return false;
  if (value.empty()) {
    map.erase(found);
    return true;
  }
  if (found != map.end() && found->second == value)
    return false;
  map.insert_or_assign(flow, std::move(value));
  return true;
}

std::uint32_t count(const std::map<FlowId, std::uint32_t>& holders) {
  return std::accumulate(holders.begin(), holders.end(), std::uint32_t{0},
                         [](std::uint32_t sum, const auto& holder) { return sum + holder.second; });
}

/// Who holds what `asking` would like to have.
std::string named(const std::map<FlowId, std::uint32_t>& holders, const FlowId& asking) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  names.reserve(holders.size());
  for (const auto& [id, held] : holders)
    names.push_back(id == asking ? "another run of this flow" : text(id));
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// Whether anything is other than before.
bool enter_or_erase(std::set<FlowId>& set, const FlowId& flow, bool there) {
  return there ? set.insert(flow).second : set.erase(flow) > 0;
}

}  // namespace

void Reconciler::put(Terms terms) {
  if (terms == terms_)
    return;
  terms_ = std::move(terms);
  for (const auto& [id, flow] : flows_)
    stale_.insert(id);
}

void Reconciler::put(FlowSituation flow) {
  const FlowId id = flow.flow;
  if (const auto known = flows_.find(id); known != flows_.end()) {
    withdraw(id, known->second);
    flows_.erase(known);
  } else {
    news_.insert(id);
  }
  flows_.emplace(id, Flow{std::move(flow), {}, {}});
  stale_.insert(id);
}

void Reconciler::drop(const FlowId& id) {
  const auto known = flows_.find(id);
  if (known == flows_.end())
    return;
  withdraw(id, known->second);
  flows_.erase(known);
  stale_.erase(id);
  rewrite_.insert(id);
}

void Reconciler::hold(const FlowId& flow, Hold hold) {
  plan_.holds[flow].push_back(std::move(hold));
  news_.insert(flow);
  stale_.insert(flow);
}

void Reconciler::plan(Time now, std::uint32_t running_elsewhere) {
  // What was found holds from then on and not before.
  if (now < now_)
    for (const auto& [id, flow] : flows_)
      stale_.insert(id);
  now_ = now;
  elsewhere_ = running_elsewhere;
  take_back_starts();
  renew_flows();
  // Time gives back what an hour allows.
  ask_all(Answer::spent);
  const std::uint32_t full = std::max(running_ + elsewhere_, terms_.max_running);
  if (std::exchange(told_full_, full) != full)
    ask_all(Answer::no_place);
  while (const auto turn = next())
    ask(*turn);
  for (const FlowId& id : std::exchange(rewrite_, {}))
    write(id);
  sum_up();
}

void Reconciler::take(const FlowId& id, const std::string& resource, bool more) {
  Holders& holders = taken_[resource];
  std::uint32_t& held = holders[id];
  more ? ++held : --held;
  if (held == 0)
    holders.erase(id);
  if (holders.empty())
    taken_.erase(resource);
  moved_[resource][id] += more ? 1 : -1;
}

/// They are runs by now, or came to nothing.
void Reconciler::take_back_starts() {
  for (const Start& start : plan_.starts)
    stale_.insert(start.key.flow);
  running_ -= static_cast<std::uint32_t>(plan_.starts.size());
  for (const auto& [resource, flows] : lent_)
    for (const FlowId& id : flows)
      take(id, resource, false);
  plan_.starts.clear();
  plan_.pauses.clear();
  spawned_.clear();
}

void Reconciler::renew_flows() {
  for (auto at = wakes_.begin(); at != wakes_.end() && at->first <= now_; ++at)
    stale_.insert(at->second);
  for (const FlowId& id : std::exchange(stale_, {})) {
    const auto flow = flows_.find(id);
    if (flow == flows_.end())
      continue;
    withdraw(id, flow->second);
    enter(id, flow->second);
  }
  // What was given back and taken again is as it was. But whoever was asked before a start has not
  // heard of what it took.
  for (const auto& [resource, changes] : std::exchange(moved_, {}))
    if (lent_.contains(resource) || std::any_of(changes.begin(), changes.end(),
                                                [](const auto& row) { return row.second != 0; }))
      ask_claimants(resource, {});
  lent_.clear();
}

void Reconciler::withdraw(const FlowId& id, Flow& flow) {
  const Share share = std::exchange(flow.share, {});
  running_ -= share.running;
  for (const std::string& resource : share.resources)
    take(id, resource, false);
  if (share.wake)
    wakes_.erase({*share.wake, id});
  stopping_.erase(id);
  waiting_.erase(id);
  for (std::size_t nth = 0; nth < flow.asked.size(); ++nth) {
    const Turn turn{share.candidates[nth].entered, id, nth};
    line(flow.asked[nth].answer).erase(turn);
    for (const std::string& resource : flow.asked[nth].resources) {
      const auto claimants = claimants_.find(resource);
      if (claimants == claimants_.end())
        continue;  // it claims the same twice
      claimants->second.erase(turn);
      if (claimants->second.empty())
        claimants_.erase(claimants);
    }
  }
  flow.asked.clear();
}

void Reconciler::enter(const FlowId& id, Flow& flow) {
  flow.share = share_of(flow.situation, terms_, now_);
  const Share& share = flow.share;
  running_ += share.running;
  for (const std::string& resource : share.resources)
    take(id, resource, true);
  if (share.wake)
    wakes_.emplace(*share.wake, id);
  if (!share.stops.empty())
    stopping_.insert(id);
  if (share.waiting)
    waiting_.insert(id);
  for (const Candidate& candidate : share.candidates) {
    const Turn turn{candidate.entered, id, flow.asked.size()};
    Asked& asked = flow.asked.emplace_back();
    for (const Claim& claim : candidate.desired->claims) {
      claimants_[resource_of(claim)].insert(turn);
      asked.resources.push_back(resource_of(claim));
    }
    line(Answer::unasked).insert(turn);
  }
  rewrite_.insert(id);
}

/// Who holds a resource; a path also whoever holds one above or below it.
Reconciler::Holders Reconciler::holders(const std::string& resource) const {
  Holders all;
  for_same(taken_, resource, [&](const Holders& some) {
    for (const auto& [id, held] : some)
      all[id] += held;
  });
  return all;
}

void Reconciler::ask_claimants(const std::string& resource, const Turn& from) {
  for_same(claimants_, resource, [&](const std::set<Turn>& turns) {
    for (auto turn = turns.lower_bound(from); turn != turns.end(); ++turn)
      ask_again(*turn);
  });
}

void Reconciler::ask_again(const Turn& turn) {
  Answer& answer = flows_.at(turn.flow).asked[turn.nth].answer;
  if (answer == Answer::starts)
    return;
  line(answer).erase(turn);
  answer = Answer::unasked;
  line(answer).insert(turn);
}

void Reconciler::ask_all(Answer answer) {
  for (const Turn& turn : std::set<Turn>(line(answer)))
    ask_again(turn);
}

/// Who has to be asked next. As long as there is room, also who found none when it was asked last;
/// the others' answers stand.
std::optional<Reconciler::Turn> Reconciler::next() const {
  const std::set<Turn>& unasked = line(Answer::unasked);
  const std::set<Turn>& no_place = line(Answer::no_place);
  const bool both = room() && !no_place.empty();
  if (both && (unasked.empty() || *no_place.begin() < *unasked.begin()))
    return *no_place.begin();
  return unasked.empty() ? std::nullopt : std::optional<Turn>(*unasked.begin());
}

void Reconciler::ask(const Turn& turn) {
  const Flow& flow = flows_.at(turn.flow);
  auto [answer, hold] = this->answer(flow, flow.share.candidates[turn.nth]);
  Asked& asked = flows_.at(turn.flow).asked[turn.nth];
  line(asked.answer).erase(turn);
  line(answer).insert(turn);
  asked.answer = answer;
  if (asked.hold != hold)
    rewrite_.insert(turn.flow);
  asked.hold = std::move(hold);
  if (answer == Answer::starts)
    start(turn, flow);
  else if (answer == Answer::spent)
    pause(turn.flow, asked.hold);
}

/// Room: claims, the flow's hourly budget, the number of running agents.
std::pair<Reconciler::Answer, Hold> Reconciler::answer(const Flow& flow,
                                                       const Candidate& candidate) const {
  const Desired& desired = *candidate.desired;
  const auto held = [&](Answer answer, Word reason, std::string why) {
    return std::pair{answer,
                     Hold{desired.role, desired.subject, std::move(reason), std::move(why)}};
  };
  if (terms_.held)
    return held(Answer::everything_held, terms_.held->reason, terms_.held->why);
  const FlowId& id = candidate.key.flow;
  for (const Claim& claim : desired.claims)
    if (const Holders all = holders(resource_of(claim)); count(all) >= claim.capacity)
      return held(Answer::claimed, "claimed",
                  "`" + claim.resource + "` is taken by " + named(all, id) +
                      "; it is free when that has ended");
  const auto spawned = spawned_.find(id);
  const bool spawns = !desired.action || desired.action->counts_as_spawn;
  if (spawns &&
      !budget_left(flow.situation, terms_, now_, spawned == spawned_.end() ? 0 : spawned->second)) {
    const std::uint32_t cap = budget_of(flow.situation, terms_);
    return held(Answer::spent, Word(kSpawnsPerHour),
                "the flow has started " + std::to_string(cap) + (cap == 1 ? " agent" : " agents") +
                    " within an hour (spawns_per_hour); `baton resume " + text(id) + "` to go on");
  }
  if (spawns && !money_left(flow.situation, terms_, now_))
    return held(Answer::spent, Word(kCostPerHour),
                "its agents have reported a cost of " + dollars(terms_.cost_per_hour) +
                    " or more within an hour (cost_per_hour); `baton resume " + text(id) +
                    "` to go on");
  // Nothing to arm: a place becomes free by an exit, and an exit decides again.
  if (!room())
    return held(Answer::no_place, "no_place",
                std::to_string(running_ + elsewhere_) + " of " +
                    std::to_string(terms_.max_running) + " places for agents are taken");
  return {Answer::starts, {}};
}

void Reconciler::start(const Turn& turn, const Flow& flow) {
  const Candidate& candidate = flow.share.candidates[turn.nth];
  plan_.starts.push_back(Start{candidate.key, candidate.attempt, *candidate.desired});
  ++running_;
  ++spawned_[turn.flow];
  for (const std::string& resource : flow.asked[turn.nth].resources) {
    ++taken_[resource][turn.flow];
    lent_[resource].insert(turn.flow);
    ask_claimants(resource, turn);
  }
  // What its flow has left of its hour is less now.
  for (std::size_t nth = turn.nth + 1; nth < flow.asked.size(); ++nth)
    ask_again({flow.share.candidates[nth].entered, turn.flow, nth});
}

void Reconciler::pause(const FlowId& id, const Hold& cap) {
  if (std::none_of(plan_.pauses.begin(), plan_.pauses.end(),
                   [&](const PauseFlow& other) { return other.flow == id; }))
    plan_.pauses.push_back(PauseFlow{id, cap.reason, cap.why});
}

/// The part of the plan that is about this flow and stays until the flow changes.
void Reconciler::write(const FlowId& id) {
  const Share none{};
  const auto known = flows_.find(id);
  const Flow* const flow = known == flows_.end() ? nullptr : &known->second;
  const Share& share = flow == nullptr ? none : flow->share;
  std::vector<Hold> holds = share.holds;
  bool failed = share.failed;
  if (flow != nullptr) {
    for (const Asked& asked : flow->asked) {
      if (asked.answer != Answer::starts)
        holds.push_back(asked.hold);
      failed = failed || asked.answer == Answer::spent;
    }
    const std::optional<Hold>& held = flow->situation.held;
    if (flow->situation.tell_held && held &&
        std::none_of(holds.begin(), holds.end(),
                     [&](const Hold& hold) { return hold.reason == held->reason; }))
      holds.push_back(*held);
  }
  const bool held = enter_or_erase(plan_.holds, id, std::move(holds));
  if (enter_or_erase(plan_.failed, id, failed) || held)
    news_.insert(id);
  enter_or_erase(plan_.refused, id, share.refused);
  enter_or_erase(plan_.wanting, id, !share.candidates.empty() || !share.refused.empty());
}

void Reconciler::sum_up() {
  plan_.stops.clear();
  for (const FlowId& id : stopping_) {
    const std::vector<Stop>& stops = flows_.at(id).share.stops;
    plan_.stops.insert(plan_.stops.end(), stops.begin(), stops.end());
  }
  plan_.wake.reset();
  if (!wakes_.empty())
    plan_.wake = wakes_.begin()->first;
  plan_.waiting = !waiting_.empty() || !line(Answer::everything_held).empty() ||
                  !line(Answer::claimed).empty() || !line(Answer::no_place).empty();
}

}  // namespace baton
