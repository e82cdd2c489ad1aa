// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/run_judgement.h"

#include <algorithm>
#include <utility>

#include "adapters/judge.h"
#include "core/flow_plan.h"
#include "core/run_text.h"

namespace baton {
namespace {

/// The tokens of the run. A program may count those of all runs of its session.
std::int64_t tokens_of_run(const Run& run, std::int64_t reported, bool of_session,
                           std::span<const Run> runs) {
  if (of_session && !run.session.empty())
    for (const Run& each : runs)
      if (each.id != run.id && each.agent == run.agent && each.session == run.session)
        reported -= each.tokens.value_or(0);
  return std::max<std::int64_t>(0, reported);
}

ProviderAccount account_of(const AgentSpec& agent) {
  return {agent.provider, agent.account, agent.model};
}

std::string zone_of(const AgentSpec& agent) {
  const auto zone = std::find_if(agent.env.begin(), agent.env.end(),
                                 [](const auto& row) { return row.first == "TZ"; });
  return zone == agent.env.end() ? "" : zone->second;
}

std::optional<Parked> row_of(const std::vector<Parked>& rows, const ProviderAccount& whose,
                             bool login) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Parked& row) {
    return row.whose == whose && row.login == login;
  });
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

/// What the program printed and baton cannot use.
void tell_faults(const Run& run, const Judgement& judgement, Draft& next) {
  if (!judgement.usage_fault.empty())
    next.event("cost_unknown", run.key.flow,
               "run " + run.id + " of `" + run.agent + "` reported " + judgement.usage_fault +
                   ", which is no cost or number of tokens; it does not count in full. Correct " +
                   "what the program prints (docs/adapters.md)",
               run.key.subject, run.key.role, run.id);
  if (!judgement.session_fault.empty())
    next.event("warning", run.key.flow,
               "run " + run.id + " of `" + run.agent + "` printed the session id " +
                   judgement.session_fault +
                   ", which baton does not keep: an id has only letters, digits, `-`, `_` and `.`; "
                   "the next run begins a new session",
               run.key.subject, run.key.role, run.id);
}

}  // namespace

Result<void> RunJudgement::enter(Run& run, const RunEnd& end, const Setup& setup,
                                 const KnownBefore& earlier, Draft& next) {
  const auto known = setup.agents.find(run.agent);
  if (run.agent.empty() || known == setup.agents.end() || known->second.adapter == nullptr)
    return {};
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
    run.error = kWasDenied;
  else if (run.outcome == Outcome::succeeded && judgement.empty_answer)
    run.error = kEmptyAnswer;
  if (!earlier.usage && judgement.cost_usd)
    run.cost_usd = judgement.cost_usd;
  if (!earlier.usage && judgement.tokens)
    run.tokens = tokens_of_run(run, *judgement.tokens, judgement.thread_tokens, earlier.runs);
  if (run.outcome == Outcome::transient &&
      transients_in_a_row(earlier.runs, run.key) + 1 >= agent.max_transient)
    run.outcome = Outcome::failed;
  const std::optional<Time> named = judgement.limit && judgement.limit->until
                                        ? std::optional(*judgement.limit->until - ahead)
                                        : std::nullopt;
  ProviderAccount whose = account_of(agent);
  if (!judgement.limit || !judgement.limit->of_model)
    whose.model.clear();
  if (auto kept = keep(run, account_of(agent), whose, judgement.limit.has_value(), named, next);
      !kept)
    return kept;
  tell_faults(run, judgement, next);
  return {};
}

/// `agent`: whose run it was; `whose`: whose limit it has met.
Result<void> RunJudgement::keep(const Run& run, const ProviderAccount& agent,
                                const ProviderAccount& whose, bool limited,
                                std::optional<Time> named, Draft& next) {
  const bool refused = run.outcome == Outcome::auth;
  if (!limited && !refused && run.outcome != Outcome::succeeded)
    return {};
  const auto rows = providers_.parked();
  if (!rows)
    return tl::unexpected<Error>(rows.error());
  if (run.outcome == Outcome::succeeded)
    for (const Parked& row : *rows)
      if (is_over_for(row, agent, run))
        if (auto done = providers_.release(row); !done)
          return done;
  if (!limited && !refused)
    return {};
  const std::optional<Parked> before = row_of(*rows, whose, !limited);
  const Parked row = limited ? parked_by_limit(before, whose, named, run, run.error)
                             : parked_by_login(before, whose, run, run.error);
  if (before != row)
    if (auto done = providers_.park(row); !done)
      return done;
  if (is_told_by(before, run))
    next.event(limited ? "provider_limit" : "login_refused", run.key.flow,
               hold_of(row, run.agent).why, run.key.subject, run.key.role, run.id);
  return {};
}

}  // namespace baton
