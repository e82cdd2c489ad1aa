// SPDX-License-Identifier: Apache-2.0
#include "core/provider_limits.h"

#include <algorithm>
#include <string_view>

#include "core/run_text.h"

namespace baton {
namespace {

constexpr Millis kFirstProbe = std::chrono::minutes(15);
constexpr Millis kLongestProbe = std::chrono::hours(5);
/// From so many times in a row on, the time that the program names is not enough.
constexpr std::uint32_t kDoubted = 3;
constexpr Millis kMostExtra = std::chrono::seconds(90);
/// Begins `Parked::why` where the login is fine and somebody has to pay.
constexpr std::string_view kCredit = "credit: ";

Millis probe_pause(std::uint32_t doublings) {
  Millis pause = kFirstProbe;
  for (; doublings > 0 && pause < kLongestProbe; --doublings)
    pause *= 2;
  return std::min(pause, kLongestProbe);
}

Millis with_extra(Millis wait, const RunId& run) {
  return wait + varied(std::min(wait / 10, kMostExtra), run);
}

}  // namespace

bool is_same_limit(const Parked& parked, const Run& run) {
  // Without an end, a later start was a new try: somebody has logged in again.
  return parked.run == run.id ||
         (parked.until ? *parked.until > run.ended : run.started < parked.since);
}

bool is_told_by(const std::optional<Parked>& before, const Run& run) {
  return !before || !is_same_limit(*before, run) || before->run == run.id;
}

Parked parked_by_limit(const std::optional<Parked>& before, const ProviderAccount& whose,
                       std::optional<Time> named, const Run& run, const std::string& why) {
  const bool again = before && is_same_limit(*before, run);
  // The time that the first run was told still counts.
  if (again && !named)
    return *before;
  Parked row = again ? *before : Parked{};
  if (!again) {
    row.whose = whose;
    row.since = run.ended;
    row.run = run.id;
    row.why = why;
    row.times = before ? before->times + 1 : 1;
  }
  Time until = named ? std::max(*named, run.ended) : run.ended + probe_pause(row.times - 1);
  if (row.times >= kDoubted)
    until = std::max(until, run.ended + probe_pause(row.times - kDoubted));
  until = run.ended + with_extra(until - run.ended, run.id);
  row.until = again ? std::max(*before->until, until) : until;
  return row;
}

Parked parked_by_login(const std::optional<Parked>& before, const ProviderAccount& whose,
                       const Run& run, const std::string& why) {
  if (before && is_same_limit(*before, run))
    return *before;
  const std::string said = std::string(run.reason == "credit" ? kCredit : "") + why;
  return {whose, true, run.ended, std::nullopt, before ? before->times + 1 : 1, run.id, said};
}

bool is_over_for(const Parked& parked, const ProviderAccount& agent, const Run& run) {
  return parked.until.value_or(parked.since) <= run.started &&
         parked.whose.provider == agent.provider && parked.whose.account == agent.account &&
         (parked.whose.model.empty() || parked.whose.model == agent.model);
}

bool holds(const Parked& parked, const ProviderAccount& agent, Time now) {
  return parked.whose.provider == agent.provider && parked.whose.account == agent.account &&
         (parked.whose.model.empty() || parked.whose.model == agent.model) &&
         (!parked.until || *parked.until > now);
}

std::string reason_of_wait(const Parked& parked) {
  const auto waits = [&](std::uint32_t doublings) {
    return *parked.until - parked.since == with_extra(probe_pause(doublings), parked.run);
  };
  if (!parked.until)
    return "";
  if (parked.times >= kDoubted && waits(parked.times - kDoubted))
    return "limit " + std::to_string(parked.times) + " in a row, so baton waits longer";
  return waits(parked.times - 1) ? "the program names no time that baton believes" : "";
}

Hold hold_of(const Parked& parked, const Role& agent) {
  const std::string longer = reason_of_wait(parked);
  const std::string said = parked.why.empty() ? "" : ": \"" + parked.why + "\"";
  const std::string name = "run " + parked.run.substr(0, 8);
  if (parked.login && parked.why.starts_with(kCredit))
    return Hold{"", "", Reason::login_refused,
                parked.whose.provider + " has no credit for the agent `" + agent + "` (" + name +
                    ")" + said,
                "pay at " + parked.whose.provider + ", then `baton resume --agent " + agent + "`"};
  if (parked.login)
    return Hold{"", "", Reason::login_refused,
                parked.whose.provider + " refused the login of the agent `" + agent + "` (" + name +
                    ")" + said,
                "log in again, then `baton resume --agent " + agent + "`"};
  return Hold{"",
              "",
              Reason::provider_limit,
              parked.whose.provider +
                  (parked.whose.model.empty() ? "" : ", model " + parked.whose.model) +
                  " has reached a limit (" + name + ")" + said +
                  (parked.until ? "; tried again at " + iso_time(*parked.until) +
                                      (longer.empty() ? "" : " (" + longer + ")")
                                : ""),
              "",
              parked.until};
}

}  // namespace baton
