// SPDX-License-Identifier: Apache-2.0
#include "core/reconcile.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "core/reported.h"

namespace baton {
namespace {

/// Visits the entries of a map that conflict with a resource: the resource itself, and for a path
/// also the paths above and below it.
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

/// Sets or erases a value. Returns whether anything changed.
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

/// The flows that hold a resource, as a text; `asking` is the flow that waits for it.
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

const std::vector<Rename>& renames_of(const FlowSituation& flow) {
  static const std::vector<Rename> none;
  return flow.origin == nullptr ? none : flow.origin->renames;
}

/// Names the last flow whose file this one's is, for people. Empty: there is none.
std::string former_names(const FlowSituation& flow) {
  const std::vector<Rename>& all = renames_of(flow);
  const auto last = std::find_if(all.rbegin(), all.rend(),
                                 [&](const Rename& one) { return one.to == flow.flow; });
  return last == all.rend()
             ? ""
             : ", with those of " + text(last->from) + ", as its file was named before";
}

/// What candidates with a rank are compared within.
std::string rank_group(const FlowId& id) {
  return id.dialect + "/" + rule_of(id);
}

/// Returns whether anything changed.
bool enter_or_erase(std::set<FlowId>& set, const FlowId& flow, bool there) {
  return there ? set.insert(flow).second : set.erase(flow) > 0;
}

}  // namespace

void Reconciler::put(PlanSettings settings) {
  if (settings == settings_)
    return;
  settings_ = std::move(settings);
  plan_.attempts.clear();
  for (const auto& [role, retry] : settings_.role_retry)
    plan_.attempts.emplace(role, retry.max_attempts);
  plan_.attempts_otherwise = settings_.retry.max_attempts;
  for (const auto& [id, flow] : flows_)
    stale_.insert(id);
}

void Reconciler::put(FlowSituation flow) {
  const FlowId id = flow.flow;
  if (const auto known = flows_.find(id); known != flows_.end()) {
    remove(id, known->second);
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
  remove(id, known->second);
  flows_.erase(known);
  recheck_flows(needs_.drop(id));
  stale_.erase(id);
  rewrite_.insert(id);
}

void Reconciler::hold(const FlowId& flow, Hold hold) {
  plan_.holds[flow].push_back(std::move(hold));
  news_.insert(flow);
  stale_.insert(flow);
}

void Reconciler::plan(Time now, std::uint32_t running_elsewhere, CapSums* caps) {
  caps_ = caps;
  if (caps_ != nullptr)
    caps_->drop_added();
  // Answers for a later time are not valid for an earlier one.
  if (now < now_)
    for (const auto& [id, flow] : flows_)
      stale_.insert(id);
  now_ = now;
  elsewhere_ = running_elsewhere;
  drop_planned_starts();
  refresh_flows();
  // The hourly limits allow more as time passes.
  recheck_all(Answer::spent);
  while (!unknown_until_.empty() && unknown_until_.begin()->first <= now_) {
    // A copy: `recheck` takes it out of the set.
    const Position turn = unknown_until_.extract(unknown_until_.begin()).value().second;
    recheck(turn);
  }
  // A cap counts before a place, and its sum may have changed.
  recheck_all(Answer::capped);
  if (caps_ != nullptr)
    recheck_all(Answer::no_place);
  const std::uint32_t full = std::max(running_ + elsewhere_, settings_.max_running);
  if (std::exchange(reported_running_, full) != full)
    recheck_all(Answer::no_place);
  while (const auto turn = next())
    check(*turn);
  for (const FlowId& id : std::exchange(rewrite_, {}))
    write(id);
  sum_up();
  caps_ = nullptr;
}

void Reconciler::count_holder(const FlowId& id, const std::string& resource, bool more) {
  Holders& holders = taken_[resource];
  std::uint32_t& held = holders[id];
  more ? ++held : --held;
  if (held == 0)
    holders.erase(id);
  if (holders.empty())
    taken_.erase(resource);
  holder_changes_[resource][id] += more ? 1 : -1;
}

/// Takes the starts of the last plan out of the counts: by now they are runs, or they failed.
void Reconciler::drop_planned_starts() {
  for (const Start& start : plan_.starts)
    stale_.insert(start.key.flow);
  running_ -= static_cast<std::uint32_t>(plan_.starts.size());
  for (const auto& [resource, flows] : planned_claims_)
    for (const FlowId& id : flows)
      count_holder(id, resource, false);
  plan_.starts.clear();
  plan_.pauses.clear();
  spawned_.clear();
  acted_.clear();
}

void Reconciler::refresh_flows() {
  for (auto at = wakes_.begin(); at != wakes_.end() && at->first <= now_; ++at)
    stale_.insert(at->second);
  for (const FlowId& id : std::exchange(stale_, {})) {
    const auto flow = flows_.find(id);
    if (flow == flows_.end())
      continue;
    remove(id, flow->second);
    enter(id, flow->second);
  }
  // A resource that was released and claimed again is unchanged, unless a start of the last plan
  // claimed it: candidates checked before that start do not know.
  for (const auto& [resource, changes] : std::exchange(holder_changes_, {}))
    if (planned_claims_.contains(resource) ||
        std::any_of(changes.begin(), changes.end(),
                    [](const auto& row) { return row.second != 0; }))
      recheck_claimants(resource, {});
  planned_claims_.clear();
}

void Reconciler::remove(const FlowId& id, Flow& flow) {
  const FlowPlan plan = std::exchange(flow.plan, {});
  running_ -= plan.running;
  for (const std::string& resource : plan.resources)
    count_holder(id, resource, false);
  if (plan.wake)
    wakes_.erase({*plan.wake, id});
  stopping_.erase(id);
  waiting_.erase(id);
  for (std::size_t nth = 0; nth < flow.checked.size(); ++nth) {
    const Position turn{plan.candidates[nth].entered, id, nth};
    positions(flow.checked[nth].answer).erase(turn);
    if (flow.checked[nth].hold.until)
      unknown_until_.erase({*flow.checked[nth].hold.until, turn});
    if (const auto& rank = plan.candidates[nth].rank) {
      const auto group = ranked_.find(rank_group(id));
      group->second.erase({*rank, turn});
      if (group->second.empty())
        ranked_.erase(group);
    }
    for (const std::string& resource : flow.checked[nth].resources) {
      const auto claimants = claimants_.find(resource);
      if (claimants == claimants_.end())
        continue;  // it claims the same resource twice
      claimants->second.erase(turn);
      if (claimants->second.empty())
        claimants_.erase(claimants);
    }
  }
  flow.checked.clear();
}

void Reconciler::enter(const FlowId& id, Flow& flow) {
  flow.plan = flow_plan_of(flow.situation, settings_, now_);
  const FlowPlan& plan = flow.plan;
  running_ += plan.running;
  for (const std::string& resource : plan.resources)
    count_holder(id, resource, true);
  if (plan.wake)
    wakes_.emplace(*plan.wake, id);
  if (!plan.stops.empty())
    stopping_.insert(id);
  if (plan.waiting)
    waiting_.insert(id);
  for (const Candidate& candidate : plan.candidates) {
    const Position turn{candidate.entered, id, flow.checked.size()};
    Checked& checked = flow.checked.emplace_back();
    for (const Claim& claim : candidate.desired->claims) {
      claimants_[resource_of(claim)].insert(turn);
      checked.resources.push_back(resource_of(claim));
    }
    positions(Answer::unchecked).insert(turn);
    if (candidate.rank)
      ranked_[rank_group(id)].emplace(*candidate.rank, turn);
  }
  const std::optional<Hold>& held = flow.situation.held;
  const bool gone = held && held->cause.condition == Condition::gone;
  const auto state = flow.situation.decision.finished ? FlowNeeds::State::finished
                     : gone                           ? FlowNeeds::State::unknown
                                                      : FlowNeeds::State::unfinished;
  recheck_flows(needs_.put(id, state, flow.situation.decision.needs));
  rewrite_.insert(id);
}

void Reconciler::recheck_flows(const std::set<FlowId>& flows) {
  for (const FlowId& id : flows) {
    const auto flow = flows_.find(id);
    if (flow == flows_.end())
      continue;
    for (std::size_t nth = 0; nth < flow->second.checked.size(); ++nth)
      recheck({flow->second.plan.candidates[nth].entered, id, nth});
  }
}

/// The hold of a candidate whose flow needs others that are not finished. Empty if it may start.
std::optional<Hold> Reconciler::need_hold(const Flow& flow, const Candidate& candidate) const {
  const auto& stages = flow.situation.stages;
  const auto stage = stages.find(candidate.key.subject);
  return needs_.hold(candidate.key.flow, *candidate.desired,
                     stage == stages.end() ? Time{} : stage->second.since, now_);
}

/// The flows that hold a resource, for a path also those that hold one above or below it.
Reconciler::Holders Reconciler::holders(const std::string& resource) const {
  Holders all;
  for_same(taken_, resource, [&](const Holders& some) {
    for (const auto& [id, held] : some)
      all[id] += held;
  });
  return all;
}

void Reconciler::recheck_claimants(const std::string& resource, const Position& from) {
  for_same(claimants_, resource, [&](const std::set<Position>& turns) {
    for (auto turn = turns.lower_bound(from); turn != turns.end(); ++turn)
      recheck(*turn);
  });
}

void Reconciler::recheck(const Position& turn) {
  Answer& answer = flows_.at(turn.flow).checked[turn.nth].answer;
  if (answer == Answer::starts)
    return;
  positions(answer).erase(turn);
  if (const auto& until = flows_.at(turn.flow).checked[turn.nth].hold.until)
    unknown_until_.erase({*until, turn});
  answer = Answer::unchecked;
  positions(answer).insert(turn);
}

void Reconciler::recheck_all(Answer answer) {
  for (const Position& turn : std::set<Position>(positions(answer)))
    recheck(turn);
}

/// The candidate to check next. While there is a free place, this includes candidates that found
/// none at their last check. All other answers stay valid.
std::optional<Reconciler::Position> Reconciler::next() const {
  const std::set<Position>& unchecked = positions(Answer::unchecked);
  const std::set<Position>& no_place = positions(Answer::no_place);
  const bool both = has_free_place() && !no_place.empty();
  if (both && (unchecked.empty() || *no_place.begin() < *unchecked.begin()))
    return *no_place.begin();
  return unchecked.empty() ? std::nullopt : std::optional<Position>(*unchecked.begin());
}

void Reconciler::check(const Position& turn) {
  const Flow& flow = flows_.at(turn.flow);
  const Candidate& candidate = flow.plan.candidates[turn.nth];
  auto [answer, hold] = this->answer(flow, candidate);
  if (answer == Answer::starts && candidate.rank)
    // The other one takes this turn; this one is checked again.
    if (const auto first = first_by_rank(turn))
      return settle(*first, Answer::starts, {});
  settle(turn, answer, std::move(hold));
}

/// Of the candidates before this one by their rank, the first that could start now.
std::optional<Reconciler::Position> Reconciler::first_by_rank(const Position& turn) const {
  for (const auto& row : ranked_.at(rank_group(turn.flow))) {
    const Position& other = row.second;
    if (other == turn)
      break;
    const Flow& flow = flows_.at(other.flow);
    const Answer known = flow.checked[other.nth].answer;
    if ((known == Answer::unchecked || known == Answer::no_place) &&
        answer(flow, flow.plan.candidates[other.nth]).first == Answer::starts)
      return other;
  }
  return std::nullopt;
}

void Reconciler::settle(const Position& turn, Answer answer, Hold hold) {
  const Flow& flow = flows_.at(turn.flow);
  Checked& checked = flows_.at(turn.flow).checked[turn.nth];
  positions(checked.answer).erase(turn);
  positions(answer).insert(turn);
  if (answer == Answer::needs_others && hold.until)
    unknown_until_.emplace(*hold.until, turn);
  checked.answer = answer;
  if (checked.hold != hold)
    rewrite_.insert(turn.flow);
  checked.hold = std::move(hold);
  if (answer == Answer::starts)
    start(turn, flow);
  else if (answer == Answer::spent)
    pause(turn.flow, checked.hold);
}

/// The cap of this flow in an hour that is reached. It ends only when a person resumes the flow.
std::optional<Hold> Reconciler::flow_cap(const Flow& flow, const Candidate& candidate) const {
  const Desired& desired = *candidate.desired;
  const FlowId& id = candidate.key.flow;
  const auto reached = [&](std::string why) {
    return Hold{desired.role, desired.subject, Reason::cap_reached, std::move(why),
                command("resume", id)};
  };
  const auto so_far = [&](const std::map<FlowId, std::uint32_t>& counts) {
    const auto found = counts.find(id);
    return found == counts.end() ? 0 : found->second;
  };
  const std::string former = former_names(flow.situation);
  std::optional<FlowUse> used;
  if (caps_ != nullptr && (desired.action || !former.empty()))
    used = caps_->use_of(id, renames_of(flow.situation), flow.situation.resumed_at, now_);
  if (desired.action && !desired.action->counts_as_spawn) {
    const std::uint32_t most = hourly_caps(id, settings_).shell;
    if (most == 0 || !used || used->shell + so_far(acted_) < most)
      return std::nullopt;
    return reached("the flow has started " + std::to_string(most) +
                   " shell actions within an hour (shell_per_hour)" + former);
  }
  // Without former names the flow's own runs are all that counts.
  const bool renamed = used && !former.empty();
  const std::uint32_t cap = starts_per_hour(flow.situation, settings_);
  if (!has_starts_left(flow.situation, settings_, now_, so_far(spawned_)) ||
      (renamed && cap != 0 && used->starts + so_far(spawned_) >= cap))
    return reached("the flow has started " + std::to_string(cap) +
                   (cap == 1 ? " agent" : " agents") + " within an hour (spawns_per_hour)" +
                   former);
  const HourlyCaps caps = hourly_caps(id, settings_);
  if (!has_cost_left(flow.situation, settings_, now_) ||
      (renamed && caps.cost_usd != 0 && used->cost_usd >= caps.cost_usd))
    return reached("its agents have reported a cost of " + dollars(caps.cost_usd) +
                   " or more within an hour (cost_per_hour)" + former);
  if (!has_tokens_left(flow.situation, settings_, now_) ||
      (renamed && caps.tokens != 0 && used->tokens >= caps.tokens))
    return reached("its agents have reported " + std::to_string(caps.tokens) +
                   " tokens or more within an hour (tokens_per_hour)" + former);
  return std::nullopt;
}

/// The candidate as the caps of more than one flow count it.
CountedRun Reconciler::counted(const Candidate& candidate) const {
  CountedRun run;
  run.role = candidate.key.role;
  run.agent = candidate.agent;
  run.rule = rule_of(candidate.key.flow);
  run.dialect = candidate.key.flow.dialect;
  if (const auto provider = settings_.providers.find(run.agent);
      provider != settings_.providers.end())
    run.provider = provider->second;
  run.shell = candidate.key.role == kActionRole;
  return run;
}

/// Checks what flows share: claims, then the flow's own caps, then those of more than one flow,
/// then the number of running agents.
std::pair<Reconciler::Answer, Hold> Reconciler::answer(const Flow& flow,
                                                       const Candidate& candidate) const {
  const Desired& desired = *candidate.desired;
  const FlowId& id = candidate.key.flow;
  const auto held = [&](Answer answer, Reason reason, std::string why, std::string action = {}) {
    return std::pair{
        answer, Hold{desired.role, desired.subject, reason, std::move(why), std::move(action)}};
  };
  if (settings_.held) {
    // Without a daemon all files are read, so it is known what the flow waits for.
    if (settings_.held->cause.reason == Reason::no_daemon)
      if (auto hold = need_hold(flow, candidate))
        return {Answer::needs_others, *std::move(hold)};
    Hold whole = *settings_.held;
    whole.role = desired.role;
    whole.subject = desired.subject;
    return {Answer::everything_held, std::move(whole)};
  }
  if (auto hold = need_hold(flow, candidate))
    return {Answer::needs_others, *std::move(hold)};
  for (const Claim& claim : desired.claims)
    if (const Holders all = holders(resource_of(claim)); count(all) >= claim.capacity)
      return held(Answer::claimed, Reason::claimed,
                  "`" + claim.resource + "` is taken by " + named(all, id) +
                      "; it is free when that has ended");
  if (auto cap = flow_cap(flow, candidate))
    return {Answer::spent, *std::move(cap)};
  if (const auto cap = caps_ == nullptr ? std::nullopt : caps_->reached(counted(candidate))) {
    // A place becomes free when a run ends, and then the plan is made again.
    if (!window_of(cap->key))
      return held(Answer::capped, Reason::free_place, cap->why);
    Hold hold{desired.role,
              desired.subject,
              Reason::cap_reached,
              cap->why,
              raise_command(cap->place, cap->key, cap->cap),
              cap->until,
              cap_name(cap->place, cap->key)};
    // The agent that it stands in for may start earlier.
    if (const std::optional<Hold>& parked = candidate.parked;
        parked && (!hold.until || *parked->until < *hold.until))
      hold = {desired.role, desired.subject, parked->cause, parked->why + "; " + cap->why,
              hold.action,  parked->until};
    return {Answer::capped, std::move(hold)};
  }
  // No timer is needed: a place becomes free when a run ends, and then the plan is made again.
  if (!has_free_place())
    return held(Answer::no_place, Reason::free_place,
                std::to_string(running_ + elsewhere_) + " of " +
                    std::to_string(settings_.max_running) + " places for agents are taken");
  return {Answer::starts, {}};
}

void Reconciler::start(const Position& turn, const Flow& flow) {
  const Candidate& candidate = flow.plan.candidates[turn.nth];
  plan_.starts.push_back(
      Start{candidate.key, candidate.attempt, *candidate.desired, candidate.agent});
  ++running_;
  ++(candidate.desired->action && !candidate.desired->action->counts_as_spawn
         ? acted_
         : spawned_)[turn.flow];
  if (caps_ != nullptr)
    caps_->add(counted(candidate));
  for (const std::string& resource : flow.checked[turn.nth].resources) {
    ++taken_[resource][turn.flow];
    planned_claims_[resource].insert(turn.flow);
    // With a rank, candidates before it may not have been checked yet in this plan.
    recheck_claimants(resource, candidate.rank ? Position{} : turn);
  }
  // The flow has fewer starts left in this hour.
  for (std::size_t nth = candidate.rank ? 0 : turn.nth + 1; nth < flow.checked.size(); ++nth)
    recheck({flow.plan.candidates[nth].entered, turn.flow, nth});
}

void Reconciler::pause(const FlowId& id, const Hold& cap) {
  if (std::none_of(plan_.pauses.begin(), plan_.pauses.end(),
                   [&](const PauseFlow& other) { return other.flow == id; }))
    plan_.pauses.push_back(PauseFlow{id, Word(word(cap.cause.reason)), cap.why});
}

/// Writes the part of the plan that concerns this flow and is valid until the flow changes.
void Reconciler::write(const FlowId& id) {
  const FlowPlan none{};
  const auto known = flows_.find(id);
  const Flow* const flow = known == flows_.end() ? nullptr : &known->second;
  const FlowPlan& plan = flow == nullptr ? none : flow->plan;
  std::vector<Hold> holds = plan.holds;
  if (flow != nullptr) {
    for (const Checked& checked : flow->checked)
      if (checked.answer != Answer::starts)
        holds.push_back(checked.hold);
    const std::optional<Hold>& held = flow->situation.held;
    if (flow->situation.tell_held && held &&
        std::none_of(holds.begin(), holds.end(),
                     [&](const Hold& hold) { return hold.cause == held->cause; }))
      holds.push_back(*held);
  }
  if (enter_or_erase(plan_.holds, id, std::move(holds)))
    news_.insert(id);
  enter_or_erase(plan_.refused, id, plan.refused);
  enter_or_erase(plan_.wanting, id, !plan.candidates.empty() || !plan.refused.empty());
}

void Reconciler::sum_up() {
  plan_.stops.clear();
  for (const FlowId& id : stopping_) {
    const std::vector<Stop>& stops = flows_.at(id).plan.stops;
    plan_.stops.insert(plan_.stops.end(), stops.begin(), stops.end());
  }
  plan_.wake.reset();
  if (!wakes_.empty())
    plan_.wake = wakes_.begin()->first;
  if (!unknown_until_.empty() && (!plan_.wake || unknown_until_.begin()->first < *plan_.wake))
    plan_.wake = unknown_until_.begin()->first;
  plan_.caps.clear();
  plan_.capped = !positions(Answer::capped).empty();
  for (const Position& turn : positions(Answer::capped)) {
    const Hold& hold = flows_.at(turn.flow).checked[turn.nth].hold;
    if (hold.until && (!plan_.wake || *hold.until < *plan_.wake))
      plan_.wake = hold.until;
    if (!hold.cap.empty())
      plan_.caps.try_emplace(hold.cap, hold);
  }
  plan_.waiting = !waiting_.empty() || !positions(Answer::everything_held).empty() ||
                  !positions(Answer::claimed).empty() || plan_.capped || !unknown_until_.empty() ||
                  !positions(Answer::no_place).empty();
}

}  // namespace baton
