// SPDX-License-Identifier: Apache-2.0
#include "core/reconcile.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "random.h"

namespace baton {
namespace {

using testing::Random;

/// A flow as a book would have it.
struct Known {
  Decision decision;
  std::map<Subject, StageState> stages;
  std::vector<Run> runs;
  Control control = Control::run;
  Time resumed_at{};
  std::optional<Hold> held;
  bool tell_held = false;
  std::map<Key, std::string> refused;
};

/// Flows to which anything may happen, and the time. What changes is given to a reconciler that
/// lives on; one that is made anew knows nothing but how things are.
class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed) {
    settings_.max_running = static_cast<std::uint32_t>(1 + random_.below(6));
    settings_.spawns_per_hour = static_cast<std::uint32_t>(2 + random_.below(12));
    settings_.usable_roles = {{"dev", "/bin/dev"}, {"qa", "/bin/qa"}};
    capped_ = random_.one_in(2);
    ranked_ = random_.one_in(2);
  }

  void go_on() {
    now_ += Millis(random_.one_in(8) ? random_.below(4'000'000) : random_.below(20'000));
    if (random_.one_in(30))
      now_ -= Millis(random_.below(50'000));
    if (random_.one_in(12))
      turn_terms();
    else if (random_.one_in(3))
      settings_.held.reset();
    elsewhere_ = random_.one_in(6) ? static_cast<std::uint32_t>(random_.below(3)) : elsewhere_;
    for (std::size_t many = random_.below(5); many > 0; --many)
      turn(FlowId{"rules", "f" + std::to_string(random_.below(kFlows))});
    lasting_.put(settings_);
    CapSums sums = this->sums();
    lasting_.plan(now_, elsewhere_, capped_ ? &sums : nullptr);
  }

  Plan from_nothing() const {
    Reconciler fresh;
    fresh.put(settings_);
    for (const auto& [flow, known] : flows_)
      fresh.put(situation(flow, known));
    CapSums sums = this->sums();
    fresh.plan(now_, elsewhere_, capped_ ? &sums : nullptr);
    return fresh.made();
  }

  const Plan& made() const { return lasting_.made(); }
  const std::set<FlowId>& news() const { return lasting_.news(); }

  /// What the daemon makes of a plan: most starts become runs, some come to nothing.
  void carry_out() {
    lasting_.mark_reported();
    const Plan plan = lasting_.made();
    for (const Start& start : plan.starts) {
      if (random_.one_in(5)) {
        lasting_.hold(start.key.flow,
                      Hold{start.key.role, start.key.subject, Reason::cannot_start, ""});
        continue;
      }
      Run run;
      run.id = "run" + std::to_string(++runs_);
      run.key = start.key;
      run.attempt = start.attempt;
      run.started = now_;
      run.claims = start.desired.claims;
      run.limits.timeout = random_.one_in(2) ? Millis(0) : Millis(40'000);
      flows_.at(start.key.flow).runs.push_back(run);
      give(start.key.flow);
    }
    for (const Stop& stop : plan.stops)
      for (auto& [flow, known] : flows_)
        for (Run& run : known.runs)
          if (run.id == stop.run && !random_.one_in(4)) {
            run.state = RunState::stopping;
            give(flow);
          }
    for (const PauseFlow& pause : plan.pauses)
      if (!random_.one_in(4)) {
        flows_.at(pause.flow).control = Control::pause;
        give(pause.flow);
      }
  }

 private:
  static constexpr std::size_t kFlows = 12;

  static FlowSituation situation(const FlowId& flow, const Known& known) {
    FlowSituation one{flow, known.decision,   known.stages, known.runs, known.control, "",
                      "",   known.resumed_at, known.held};
    one.tell_held = known.tell_held;
    one.refused = known.refused;
    return one;
  }

  /// The caps of all flows, with the runs as their rows.
  CapSums sums() const {
    Counted counted;
    for (const auto& [flow, known] : flows_)
      for (const Run& run : known.runs) {
        if (run.outcome == Outcome::voided)
          continue;
        CountedRun row;
        row.id = run.id;
        row.dialect = flow.dialect;
        row.started = run.started;
        if (!run.live())
          row.ended = run.ended;
        counted.runs.push_back(row);
      }
    return {{{{}, {{CapKey::spawns_per_hour, 15}}},
             {{CapScope::dialect, "rules"}, {{CapKey::max_running, 4}}}},
            "",
            counted,
            now_};
  }

  void give(const FlowId& flow) {
    const auto known = flows_.find(flow);
    lasting_.put(situation(known->first, known->second));
  }

  void turn_terms() {
    switch (random_.below(4)) {
      case 0:
        settings_.held = Hold{"", "", Reason::draining, "no new starts"};
        break;
      case 1:
        settings_.max_running = static_cast<std::uint32_t>(random_.below(8));
        break;
      case 2:
        if (settings_.unusable_roles.erase("qa") == 0)
          settings_.unusable_roles["qa"] = {"its program is gone", "install /bin/qa"};
        break;
      default:
        settings_.on_interrupted = random_.pick(
            std::vector{OnInterrupted::hold, OnInterrupted::retry, OnInterrupted::fail});
    }
  }

  std::vector<Claim> some_claims() {
    static const std::vector<std::string> resources = {
        "tree", "merge", "path:/", "path:/a", "path:/a/b", "path:/a/b/c/", "path:/ab", "path:/d"};
    std::vector<Claim> claims;
    for (std::size_t many = random_.one_in(2) ? 0 : 1 + random_.below(2); many > 0; --many)
      claims.push_back({random_.pick(resources), static_cast<std::uint32_t>(1 + random_.below(2))});
    return claims;
  }

  Desired something() {
    Desired desired;
    desired.role = random_.pick(std::vector<Role>{"dev", "qa", "dev", "unknown"});
    desired.subject = random_.pick(std::vector<Subject>{"A", "B", "C"});
    desired.turn = static_cast<std::uint32_t>(random_.below(2));
    desired.retry = RetryLimits{2, Millis(10'000), Millis(60'000)};
    desired.claims = some_claims();
    if (random_.one_in(4))
      desired.action = Action{{"/bin/true"}, "", random_.one_in(2)};
    desired.counts_refusal = random_.one_in(4);
    if (ranked_ && !random_.one_in(4))
      desired.rank = static_cast<double>(random_.below(4));
    return desired;
  }

  void decide(Known& known) {
    Decision& decision = known.decision;
    decision = {};
    for (std::size_t many = random_.below(4); many > 0; --many)
      decision.desired.push_back(something());
    decision.control = random_.one_in(10)
                           ? random_.pick(std::vector{Control::pause, Control::stop, Control::idle})
                           : Control::run;
    if (random_.one_in(3))
      decision.end_at = now_ + Millis(random_.below(60'000));
    if (random_.one_in(4))
      decision.claims = some_claims();
    if (random_.one_in(4))
      decision.releases.push_back(
          Release{"", "", random_.one_in(2), Millis(random_.below(30'000)), "not wanted"});
    if (random_.one_in(6))
      decision.spawns_per_hour = 1;
    decision.finished = random_.one_in(2);
    for (std::size_t many = random_.one_in(2) ? random_.below(3) : 0; many > 0; --many)
      decision.needs.push_back(FlowId{"rules", "f" + std::to_string(random_.below(kFlows + 1))});
  }

  void end(Run& run) {
    run.state = RunState::ended;
    run.ended = now_;
    run.outcome =
        random_.pick(std::vector{Outcome::succeeded, Outcome::failed, Outcome::failed,
                                 Outcome::voided, Outcome::interrupted, Outcome::stopped});
    run.reason = run.outcome == Outcome::voided ? "file_changed" : "";
  }

  void turn(const FlowId& flow) {
    if (random_.one_in(15)) {
      flows_.erase(flow);
      lasting_.drop(flow);
      return;
    }
    Known& known = flows_[flow];
    switch (random_.below(8)) {
      case 0:
      case 1:
        decide(known);
        break;
      case 2:
        for (const Subject subject : {"A", "B", "C"})
          if (random_.one_in(2))
            known.stages[subject] = {"at_work", "", ++arrival_, 1, now_, arrival_};
        break;
      case 3:
      case 5:
      case 6:
        for (Run& run : known.runs)
          if (run.live() && random_.one_in(2))
            end(run);
        break;
      case 4:
        known.control = random_.one_in(5) ? random_.pick(std::vector{Control::pause, Control::stop})
                                          : Control::run;
        known.resumed_at = random_.one_in(2) ? now_ : known.resumed_at;
        break;
      default:
        known.held.reset();
        if (random_.one_in(4))
          known.held = Hold{"", "", Reason::pending_write, "a write is still to be made"};
        known.tell_held = random_.one_in(2);
        known.refused.clear();
        for (const Desired& desired : known.decision.desired)
          if (random_.one_in(6))
            known.refused[Key{flow, desired.role, desired.subject,
                              known.stages[desired.subject].generation, desired.turn}] =
                "it would be an option";
    }
    give(flow);
  }

  Random random_;
  Time now_{Millis(100'000'000)};
  PlanSettings settings_;
  bool ranked_ = false;  ///< some desired runs have a rank
  bool capped_ = false;  ///< there are caps of more than one flow
  std::uint32_t elsewhere_ = 0;
  std::map<FlowId, Known> flows_;
  Reconciler lasting_;
  Arrival arrival_ = 0;
  std::size_t runs_ = 0;
};

/// Whether the news names all flows about which the plans differ in what is noted of them.
bool says_all(const std::set<FlowId>& news, const Plan& before, const Plan& now) {
  const auto told = [&](const Plan& one, const Plan& other) {
    return std::all_of(one.holds.begin(), one.holds.end(), [&](const auto& row) {
      const auto there = other.holds.find(row.first);
      return news.contains(row.first) ||
             (there != other.holds.end() && there->second == row.second);
    });
  };
  return told(before, now) && told(now, before);
}

std::size_t seeds() {
  const char* const wanted = std::getenv("BATON_RECONCILE_SEEDS");
  return wanted == nullptr ? 60 : std::stoul(wanted);
}

}  // namespace

TEST_CASE("a plan that is kept up to date is the plan made from nothing") {
  std::size_t starts = 0;
  std::size_t holds = 0;
  std::set<Word> reasons;
  for (std::size_t seed = 1; seed <= seeds(); ++seed) {
    History history(seed);
    Plan before;
    for (int step = 0; step < 120; ++step) {
      CAPTURE(seed);
      CAPTURE(step);
      history.go_on();
      const Plan& plan = history.made();
      REQUIRE((plan == history.from_nothing()));
      REQUIRE(says_all(history.news(), before, plan));
      starts += plan.starts.size();
      holds += plan.holds.size();
      for (const auto& [flow, held] : plan.holds)
        for (const Hold& hold : held)
          reasons.insert(Word(word(hold.cause.reason)));
      before = plan;
      history.carry_out();
    }
  }
  // Or it would show nothing.
  CHECK(starts > seeds() * 10);
  CHECK(holds > seeds() * 100);
  for (const char* const reason : {"free_place", "claimed", "cap_reached", "back_off", "operator",
                                   "draining", "pending_write", "attempts_exhausted", "interrupted",
                                   "no_change", "dependency", "unknown_dependency", "conflict"})
    CHECK_MESSAGE(reasons.contains(reason), reason);
}

TEST_CASE("a wait is doubled up to its cap, and differs by up to a fifth from run to run") {
  const RetryLimits limits{100, Millis(1000), Millis(5000)};
  struct Row {
    std::uint32_t failures;
    std::int64_t wait;
  };
  for (const Row& row : {Row{1, 1000}, Row{2, 2000}, Row{3, 4000}, Row{4, 5000}, Row{5, 5000},
                         Row{4'000'000'000, 5000}}) {
    CAPTURE(row.failures);
    const std::int64_t fifth = row.wait / 5;
    std::int64_t shortest = row.wait;
    std::int64_t longest = row.wait;
    for (int i = 0; i < 500; ++i) {
      const RunId run = "run" + std::to_string(i);
      const Millis wait = backoff_delay(limits, row.failures, run);
      CHECK(wait == backoff_delay(limits, row.failures, run));
      shortest = std::min<std::int64_t>(shortest, wait.count());
      longest = std::max<std::int64_t>(longest, wait.count());
    }
    CHECK(shortest >= row.wait - fifth);
    CHECK(shortest < row.wait - fifth * 9 / 10);
    CHECK(longest > row.wait + fifth * 9 / 10);
    CHECK(longest <= row.wait + fifth);
  }
}

}  // namespace baton
