#include "engine/decide/run_judgement.h"

#include <algorithm>
#include <utility>

#include "adapters/judge.h"
#include "core/run_text.h"

namespace baton {
namespace {

/// How many runs of the same work in a row their provider had no room for, without `run` itself.
std::uint32_t transients_before(const Run& run, std::span<const Run> earlier) {
  std::uint32_t count = 0;
  for (const Run& each : earlier)
    if (each.key == run.key && each.id != run.id && !each.live())
      count = each.outcome == Outcome::transient ? count + 1 : 0;
  return count;
}

ProviderAccount account_of(const AgentSpec& agent) {
  return {agent.provider, agent.account, agent.model};
}

std::string zone_of(const AgentSpec& agent) {
  const auto zone = std::find_if(agent.env.begin(), agent.env.end(),
                                 [](const auto& row) { return row.first == "TZ"; });
  return zone == agent.env.end() ? "" : zone->second;
}

/// The row that is in force for the same account and kind, if there is one.
std::optional<Parked> row_before(Providers& providers, const ProviderAccount& whose, bool login) {
  const auto rows = providers.parked();
  if (!rows)
    return std::nullopt;
  const auto found = std::find_if(rows->begin(), rows->end(), [&](const Parked& row) {
    return row.whose == whose && row.login == login;
  });
  return found == rows->end() ? std::nullopt : std::optional(*found);
}

}  // namespace

void RunJudgement::enter(Run& run, const RunEnd& end, const Setup& setup,
                         std::span<const Run> earlier, Draft& next) {
  const auto known = setup.agents.find(run.agent);
  if (run.agent.empty() || known == setup.agents.end() || known->second.adapter == nullptr)
    return;
  const AgentSpec& agent = known->second;
  // Texts name times of the wall clock; the engine's clock may differ from it.
  const Millis ahead = next.wall - next.now;
  const Judgement judgement =
      judge(*agent.adapter, end, "", {run.ended + ahead, zone_of(agent), zones_});
  run.outcome = judgement.outcome;
  run.reason = judgement.reason;
  run.error = judgement.error;
  if (!judgement.session.empty())
    run.session = judgement.session;
  // Such a session cannot be continued.
  if (judgement.session_unusable || run.reason == "context_too_long" || run.reason == "refused" ||
      run.outcome == Outcome::auth)
    run.session.clear();
  // A failure only if the stage stays as it is; see flow_plan.cpp.
  if (run.outcome == Outcome::succeeded && judgement.denied)
    run.error = "it was not allowed to do something that it wanted to do";
  else if (run.outcome == Outcome::succeeded && judgement.empty_answer)
    run.error = "its answer is empty";
  // A report that the dialect has read already takes precedence over the output.
  if (!run.cost_usd && !run.tokens) {
    run.cost_usd = judgement.cost_usd;
    run.tokens = judgement.tokens;
  }
  if (run.outcome == Outcome::transient &&
      transients_before(run, earlier) + 1 >= agent.max_transient)
    run.outcome = Outcome::failed;
  if (run.outcome == Outcome::succeeded)
    providers_.release(account_of(agent));
  ProviderAccount whose = account_of(agent);
  if (judgement.limit) {
    if (!judgement.limit->of_model)
      whose.model.clear();
    const auto before = row_before(providers_, whose, false);
    const std::optional<Time> named =
        judgement.limit->until ? std::optional(*judgement.limit->until - ahead) : std::nullopt;
    const Parked row = parked_by_limit(before, whose, named, run, judgement.error);
    providers_.park(row);
    if (!before || !before->until || *before->until <= run.ended)
      next.event("provider_limit", run.key.flow, hold_of(row, run.agent).why, run.key.subject,
                 run.key.role, run.id);
  } else if (run.outcome == Outcome::auth) {
    whose.model.clear();
    const bool again = row_before(providers_, whose, true).has_value();
    const Parked row{whose, true, run.ended, std::nullopt, 1, run.id, judgement.error};
    providers_.park(row);
    if (!again)
      next.event("login_refused", run.key.flow, hold_of(row, run.agent).why, run.key.subject,
                 run.key.role, run.id);
  }
}

}  // namespace baton
