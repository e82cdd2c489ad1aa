// SPDX-License-Identifier: Apache-2.0
#include "core/caps.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/reported.h"

namespace baton {
namespace {

constexpr Millis kOneHour = std::chrono::hours(1);
constexpr Millis kOneDay = std::chrono::hours(24);
/// So many of the last runs of an agent make its average.
constexpr std::size_t kAveraged = 20;
/// An agent that has ended so often without a cost will report none.
constexpr std::size_t kSilentRuns = 3;

// Limits of the whole daemon by default: far above what a busy day needs, and low enough that a
// mistake ends within a day.
constexpr double kDefaultSpawns = 2'000;
constexpr double kDefaultCost = 200;
constexpr double kDefaultShell = 100'000;
constexpr double kDefaultFlows = 200'000;

struct KeyRow {
  CapKey key;
  std::string_view word;
  Millis window;  ///< 0: none
  std::string_view unit;
};
constexpr std::array kKeys = {
    KeyRow{CapKey::spawns_per_hour, "spawns_per_hour", kOneHour, "starts"},
    KeyRow{CapKey::spawns_per_day, "spawns_per_day", kOneDay, "starts"},
    KeyRow{CapKey::cost_per_hour, "cost_per_hour", kOneHour, ""},
    KeyRow{CapKey::cost_per_day, "cost_per_day", kOneDay, ""},
    KeyRow{CapKey::tokens_per_hour, "tokens_per_hour", kOneHour, "tokens"},
    KeyRow{CapKey::tokens_per_day, "tokens_per_day", kOneDay, "tokens"},
    KeyRow{CapKey::shell_per_hour, "shell_per_hour", kOneHour, "shell actions"},
    KeyRow{CapKey::shell_per_day, "shell_per_day", kOneDay, "shell actions"},
    KeyRow{CapKey::max_running, "max_running", Millis(0), "places for agents"},
    KeyRow{CapKey::max_flows, "max_flows", Millis(0), "flows"},
};

const KeyRow& row_of(CapKey key) {
  return kKeys.at(static_cast<std::size_t>(key));
}

constexpr std::array kScopes = {
    std::pair{CapScope::everything, std::string_view("everything")},
    std::pair{CapScope::agent, std::string_view("agent")},
    std::pair{CapScope::provider, std::string_view("provider")},
    std::pair{CapScope::dialect, std::string_view("dialect")},
    std::pair{CapScope::rule, std::string_view("rule")},
};

bool is_cost(CapKey key) {
  return key == CapKey::cost_per_hour || key == CapKey::cost_per_day;
}
bool is_tokens(CapKey key) {
  return key == CapKey::tokens_per_hour || key == CapKey::tokens_per_day;
}

/// When the run's part of a sum leaves the window. What a run costs counts from its end, and the
/// start counts from the start. The end of a run that still runs is not known: it is at least now,
/// in whole hours, so that the answer does not change with each look.
Time leaves_at(const CountedRun& run, CapKey key, Time now) {
  const Millis window = *window_of(key);
  if (!is_cost(key) && !is_tokens(key))
    return run.started + window;
  if (run.ended)
    return *run.ended + window;
  return std::max<Time>(run.started, std::chrono::floor<std::chrono::hours>(now)) + window;
}

/// A run that its provider kept from its work reports neither.
bool reports_cost(const CountedRun& run) {
  return run.cost_usd && (*run.cost_usd > 0 || run.tokens);
}

std::string window_text(CapKey key) {
  const Millis window = row_of(key).window;
  return window == kOneHour  ? " in the last 60 minutes"
         : window == kOneDay ? " in the last 24 hours"
                             : "";
}

}  // namespace

std::string_view word(CapKey key) {
  return row_of(key).word;
}

std::optional<CapKey> parse_cap_key(std::string_view word) {
  const auto* const found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyRow& row) { return row.word == word; });
  return found == kKeys.end() ? std::nullopt : std::optional(found->key);
}

std::optional<Millis> window_of(CapKey key) {
  const Millis window = row_of(key).window;
  return window == Millis(0) ? std::nullopt : std::optional(window);
}

std::string_view word(CapScope scope) {
  return kScopes.at(static_cast<std::size_t>(scope)).second;
}

std::optional<CapScope> parse_cap_scope(std::string_view word) {
  const auto* const found = std::find_if(kScopes.begin(), kScopes.end(),
                                         [&](const auto& row) { return row.second == word; });
  return found == kScopes.end() ? std::nullopt : std::optional(found->first);
}

std::string text(const CapPlace& place) {
  return place.scope == CapScope::everything
             ? "the whole daemon"
             : "the " + std::string(word(place.scope)) + " " + place.name;
}

std::string cap_name(const CapPlace& place, CapKey key) {
  return std::string(word(place.scope)) + ":" + place.name + ":" + std::string(word(key));
}

Caps default_caps(std::uint32_t spawns_per_hour) {
  const double spawns = std::max(kDefaultSpawns, 20.0 * spawns_per_hour);
  return {{CapKey::spawns_per_day, {spawns, true}},
          {CapKey::cost_per_day, {kDefaultCost, true}},
          {CapKey::shell_per_day, {kDefaultShell, true}},
          {CapKey::max_flows, {kDefaultFlows, true}}};
}

Time end_of(const CapRaise& raise) {
  return raise.since + window_of(raise.key).value_or(kOneDay);
}

std::string rule_of(const FlowId& flow) {
  return flow.dialect == "rules" ? flow.name.substr(0, flow.name.find('/')) : "";
}

bool covers(const CapPlace& place, const CountedRun& run) {
  switch (place.scope) {
    case CapScope::everything:
      return true;
    case CapScope::agent:
      return run.agent == place.name;
    case CapScope::provider:
      return run.provider == place.name;
    case CapScope::dialect:
      return run.dialect == place.name;
    case CapScope::rule:
      return run.rule == place.name;
  }
  return false;
}

double amount_of(const CountedRun& run, CapKey key) {
  switch (key) {
    case CapKey::spawns_per_hour:
    case CapKey::spawns_per_day:
      return run.shell ? 0 : 1;
    case CapKey::cost_per_hour:
    case CapKey::cost_per_day:
      return run.cost_usd.value_or(0);
    case CapKey::tokens_per_hour:
    case CapKey::tokens_per_day:
      return static_cast<double>(run.tokens.value_or(0));
    case CapKey::shell_per_hour:
    case CapKey::shell_per_day:
      return run.shell ? 1 : 0;
    case CapKey::max_running:
      return run.ended ? 0 : 1;
    case CapKey::max_flows:
      return 0;
  }
  return 0;
}

CapSums::CapSums(const CapTable& table, const std::string& configuration, const Counted& counted,
                 Time now)
    : now_(now) {
  for (const CountedRun& run : counted.runs)
    if (const Time ended = run.ended.value_or(now);
        run.root == counted.root && std::max(run.started, ended) > now - kOneHour)
      flow_runs_[run.flow].push_back(
          {run.started, ended, run.shell, run.cost_usd.value_or(0), run.tokens.value_or(0)});
  const auto change = [&](Time at) {
    if (at > now && (!next_change_ || at < *next_change_))
      next_change_ = at;
  };
  for (const auto& [place, caps] : table)
    for (const auto& [key, cap] : caps) {
      Sum sum;
      sum.place = place;
      sum.key = key;
      sum.cap = cap.limit;
      sum.by_default = cap.by_default;
      for (const CapRaise& raise : counted.raises)
        if (raise.configuration == configuration && raise.place == place && raise.key == key &&
            end_of(raise) > now) {
          sum.cap += raise.by;
          sum.raised += (sum.raised.empty() ? "; raised by " : ", by ") +
                        amount_text(key, raise.by) + " until " + iso_time(end_of(raise)) +
                        (raise.who.empty() ? "" : " by " + raise.who);
          change(end_of(raise));
          raises_.push_back(raise);
        }
      // A flow is no run.
      (key == CapKey::max_flows ? flows_ : sums_).push_back(std::move(sum));
    }
  if (sums_.empty())
    return;
  find_averages(configuration, counted.runs);
  for (const CountedRun& run : counted.runs) {
    if (run.configuration != configuration)
      continue;
    for (Sum& sum : sums_) {
      const double amount = covers(sum.place, run) ? expected(run, sum.key) : 0;
      if (amount <= 0)
        continue;
      if (!window_of(sum.key)) {
        sum.sum += amount;
        continue;
      }
      const Time leaves = leaves_at(run, sum.key, now);
      if (leaves <= now)
        continue;
      sum.sum += amount;
      if (!run.ended && (is_cost(sum.key) || is_tokens(sum.key)))
        sum.estimated += amount;
      sum.parts.emplace_back(leaves, amount);
      change(leaves);
    }
  }
  for (Sum& sum : sums_)
    std::sort(sum.parts.begin(), sum.parts.end());
}

void CapSums::find_averages(const std::string& configuration, std::span<const CountedRun> runs) {
  std::vector<const CountedRun*> ended;
  for (const CountedRun& run : runs)
    if (run.configuration == configuration && run.ended && !run.agent.empty())
      ended.push_back(&run);
  std::stable_sort(ended.begin(), ended.end(),
                   [](const auto* a, const auto* b) { return *a->ended > *b->ended; });
  for (const CountedRun* const run : ended) {
    Averages& of = averages_[run->agent];
    if (reports_cost(*run))
      of.cost_usd.add(*run->cost_usd);
    if (run->tokens)
      of.tokens.add(static_cast<double>(*run->tokens));
  }
}

void CapSums::Average::add(double amount) {
  if (count == kAveraged)
    return;
  ++count;
  mean += (amount - mean) / static_cast<double>(count);
}

/// What a run counts. One that has not ended, or has ended without an amount that can be used,
/// counts as the last ones of its agent did.
double CapSums::expected(const CountedRun& run, CapKey key) const {
  const auto average = averages_.find(run.agent);
  if (average == averages_.end())
    return amount_of(run, key);
  if (is_cost(key) && !run.cost_usd)
    return average->second.cost_usd.mean;
  if (is_tokens(key) && !run.tokens)
    return average->second.tokens.mean;
  return amount_of(run, key);
}

CapReached CapSums::reached(const Sum& sum) const {
  CapReached reached{sum.place, sum.key, sum.sum + sum.added, sum.cap, std::nullopt, ""};
  double left = reached.sum;
  for (const auto& [leaves, amount] : sum.parts) {
    left -= amount;
    if (left < sum.cap) {
      reached.until = leaves;
      break;
    }
  }
  // All that was there before is not enough: some of what starts now has to leave as well.
  if (!reached.until && window_of(sum.key))
    reached.until = now_ + *window_of(sum.key);
  const std::string unit(row_of(sum.key).unit);
  const double estimated = sum.estimated + (is_cost(sum.key) || is_tokens(sum.key) ? sum.added : 0);
  reached.why = amount_text(sum.key, reached.sum) + " of " + amount_text(sum.key, sum.cap) +
                (unit.empty() ? "" : " " + unit) + window_text(sum.key) +
                (estimated > 0 ? ", with an estimate of " + amount_text(sum.key, estimated) +
                                     " for runs that have not ended"
                               : "") +
                " (" + std::string(word(sum.key)) + " of " + text(sum.place) +
                (sum.by_default ? ", a default" : "") + ")" + sum.raised;
  return reached;
}

std::optional<CapReached> CapSums::reached(const CountedRun& start) const {
  std::optional<CapReached> longest;
  for (const Sum& sum : sums_) {
    // A shell action costs no start, and an agent no shell action. What neither is known to cost
    // may still cost something, but an action never costs money.
    const bool matters =
        is_cost(sum.key) || is_tokens(sum.key) ? !start.shell : amount_of(start, sum.key) > 0;
    if (!matters || !covers(sum.place, start) || sum.sum + sum.added < sum.cap)
      continue;
    CapReached one = reached(sum);
    // A place becomes free at any moment, so such a cap counts last.
    if (!longest || (one.until && (!longest->until || *one.until > *longest->until)))
      longest = std::move(one);
  }
  return longest;
}

void CapSums::add(const CountedRun& start) {
  for (Sum& sum : sums_)
    if (covers(sum.place, start))
      sum.added += expected(start, sum.key);
}

void CapSums::drop_added() {
  for (Sum& sum : sums_)
    sum.added = 0;
}

/// What the flow's own runs that began in this time count. `since`: of starts and ends before it
/// nothing counts.
FlowUse CapSums::own_use(const FlowId& flow, Time from, Time until, Time since) const {
  FlowUse use;
  const auto runs = flow_runs_.find(text(flow));
  if (runs == flow_runs_.end())
    return use;
  for (const FlowRun& run : runs->second) {
    if (run.started < from || run.started >= until)
      continue;
    if (run.started >= since)
      ++(run.shell ? use.shell : use.starts);
    if (run.ended < since)
      continue;
    use.cost_usd += run.cost_usd;
    use.tokens += run.tokens;
  }
  return use;
}

namespace {

/// The use of one name up to a time.
struct NameUse {
  FlowUse use;
  Time until = Time::min();
};

void add_use(FlowUse& use, const FlowUse& more) {
  use.starts += more.starts;
  use.shell += more.shell;
  use.cost_usd += more.cost_usd;
  use.tokens += more.tokens;
}

void raise_use(FlowUse& use, const FlowUse& other) {
  use.starts = std::max(use.starts, other.starts);
  use.shell = std::max(use.shell, other.shell);
  use.cost_usd = std::max(use.cost_usd, other.cost_usd);
  use.tokens = std::max(use.tokens, other.tokens);
}

}  // namespace

/// Goes through the renames in order. At each, the new name has what it had or what the former one
/// had, whichever is more. Afterwards each name counts on by itself. A resume forgives a name what
/// it had until then, also what came with a file before the resume.
FlowUse CapSums::use_of(const FlowId& flow, const std::vector<Rename>& renames, Time resumed_at,
                        Time now) const {
  const Time window = now - kOneHour + Millis(1);
  std::map<FlowId, NameUse> names;
  const auto count = [&](const FlowId& name, Time until, Time resumed) -> FlowUse& {
    NameUse& known = names[name];
    // A request is handled after the files, so a resume in the moment of a rename follows it.
    if (resumed >= known.until)
      known = NameUse{};
    add_use(known.use, own_use(name, known.until, until, std::max(window, resumed)));
    known.until = std::max(known.until, until);
    return known.use;
  };
  // What starts in the moment of the rename counts under the former name.
  for (const Rename& rename : renames) {
    const FlowUse taken = count(rename.from, rename.at + Millis(1), rename.from_resumed);
    raise_use(count(rename.to, rename.at, rename.to_resumed), taken);
  }
  return count(flow, Time::max(), resumed_at);
}

std::vector<CapPlace> places_of(const FlowId& flow) {
  std::vector<CapPlace> places = {{CapScope::everything, ""}, {CapScope::dialect, flow.dialect}};
  if (const std::string rule = rule_of(flow); !rule.empty())
    places.push_back({CapScope::rule, rule});
  return places;
}

std::optional<CapReached> CapSums::too_many_flows(const FlowId& flow,
                                                  const FlowCounts& counts) const {
  for (const CapPlace& place : places_of(flow)) {
    const auto cap = std::find_if(flows_.begin(), flows_.end(),
                                  [&](const Sum& sum) { return sum.place == place; });
    const auto count = counts.find(place);
    if (cap == flows_.end() || count == counts.end() || count->second <= cap->cap)
      continue;
    Sum sum = *cap;
    sum.sum = count->second;
    return reached(sum);
  }
  return std::nullopt;
}

std::vector<CapReached> CapSums::all_reached() const {
  std::vector<CapReached> all;
  for (const Sum& sum : sums_)
    if (sum.sum + sum.added >= sum.cap)
      all.push_back(reached(sum));
  return all;
}

bool CapSums::is_estimate(const std::string& cap) const {
  const auto found = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
    return cap_name(sum.place, sum.key) == cap;
  });
  return found != sums_.end() && (is_cost(found->key) || is_tokens(found->key)) &&
         found->sum - found->estimated < found->cap;
}

bool CapSums::is_low(const std::string& cap) const {
  const auto found = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
    return cap_name(sum.place, sum.key) == cap;
  });
  return found == sums_.end() || found->sum + found->added < found->cap / 2;
}

bool names_cost(const Caps& caps) {
  return std::any_of(caps.begin(), caps.end(),
                     [](const auto& row) { return is_cost(row.first) && !row.second.by_default; });
}

std::vector<Role> agents_without_cost(const CapTable& table, const std::string& configuration,
                                      std::span<const CountedRun> runs) {
  std::map<Role, std::size_t> silent;
  std::map<Role, bool> reports;
  for (const CountedRun& run : runs) {
    if (run.configuration != configuration || run.agent.empty() || !run.ended)
      continue;
    reports[run.agent] = reports[run.agent] || reports_cost(run);
    const bool capped = std::any_of(table.begin(), table.end(), [&](const auto& row) {
      return covers(row.first, run) && names_cost(row.second);
    });
    silent[run.agent] += capped ? 1U : 0U;
  }
  std::vector<Role> agents;
  for (const auto& [agent, count] : silent)
    if (count >= kSilentRuns && !reports[agent])
      agents.push_back(agent);
  return agents;
}

std::string raise_command(const CapPlace& place, CapKey key, double by) {
  std::string amount = amount_text(key, by);
  if (amount.starts_with("$"))
    amount.erase(0, 1);
  return "baton resume " +
         (place.scope == CapScope::everything
              ? std::string("--all")
              : "--" + std::string(word(place.scope)) + " " + shell_word(place.name)) +
         " --raise " + std::string(word(key)) + "=" + amount;
}

std::string daemon_db_remedy(const Error& error) {
  if (error.code == Errc::busy || error.code == Errc::no_space)
    return "";
  const bool damaged = error.code == Errc::io || error.code == Errc::not_regular;
  if (!damaged || error.where.empty())
    return "baton doctor";
  return "mv " + shell_word(error.where) + " " + shell_word(error.where + ".damaged");
}

std::string amount_text(CapKey key, double amount) {
  if (!is_cost(key))
    return std::to_string(std::llround(amount));
  // `12.50 USD` without its unit.
  const std::string dollar = dollars(amount);
  return "$" + dollar.substr(0, dollar.find(' '));
}

}  // namespace baton
