// SPDX-License-Identifier: Apache-2.0
#pragma once

// Caps: how many starts, dollars, tokens and shell actions the flows of one configuration may use
// within an hour or a day, together or per agent, provider, dialect or rule.
//
// Problem: a cap of each flow alone lets many flows spend without end.
// Way: every run has a row that all roots share (io/journal/daemon_db.h). Before each start the
// rows are summed up for each place that has a cap. At a cap nothing of that place starts until
// enough of the sum has left its window, or until a person raises the cap.
// Limits: the caps of one flow in an hour are in core/flow_plan.h. They end only by a person.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/flow.h"
#include "core/flow_origin.h"
#include "core/run.h"

namespace baton {

enum class CapKey : std::uint8_t {
  spawns_per_hour,
  spawns_per_day,
  cost_per_hour,
  cost_per_day,
  tokens_per_hour,
  tokens_per_day,
  shell_per_hour,
  shell_per_day,
  max_running,
  max_flows,
};
inline constexpr std::array kCapKeys = {
    CapKey::spawns_per_hour, CapKey::spawns_per_day, CapKey::cost_per_hour,  CapKey::cost_per_day,
    CapKey::tokens_per_hour, CapKey::tokens_per_day, CapKey::shell_per_hour, CapKey::shell_per_day,
    CapKey::max_running,     CapKey::max_flows};
std::string_view word(CapKey key);
std::optional<CapKey> parse_cap_key(std::string_view word);
/// Nothing for `max_running` and `max_flows`, which count what is there now.
std::optional<Millis> window_of(CapKey key);

/// What a cap covers.
enum class CapScope : std::uint8_t { everything, agent, provider, dialect, rule };
struct CapPlace {
  CapScope scope = CapScope::everything;
  std::string name;  ///< of the agent, provider, dialect or rule
  auto operator<=>(const CapPlace&) const = default;
};
/// Words for files: `everything`, `agent` ...
std::string_view word(CapScope scope);
std::optional<CapScope> parse_cap_scope(std::string_view word);
/// For people: `the agent developer`, `the whole daemon`.
std::string text(const CapPlace& place);
/// One cap, as a word without blanks that tells it from all others: `agent:developer:cost_per_day`.
std::string cap_name(const CapPlace& place, CapKey key);

/// One limit; never 0.
struct Cap {
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a limit that the configuration names
  Cap(double the_limit, bool is_default = false) : limit(the_limit), by_default(is_default) {}
  double limit;
  bool by_default;  ///< the configuration does not name it
  bool operator==(const Cap&) const = default;
};
/// The limits of one place. A key that is missing has no limit.
using Caps = std::map<CapKey, Cap>;
/// What the whole daemon may use if the configuration does not say it. `spawns_per_hour`: of a
/// flow.
Caps default_caps(std::uint32_t spawns_per_hour);
/// The limits of a configuration, without those of one flow in an hour.
using CapTable = std::map<CapPlace, Caps>;

/// The caps of each flow of a rule, where it has its own. 0: no limit.
struct FlowCaps {
  std::optional<double> cost_per_hour;
  std::optional<std::int64_t> tokens_per_hour;
  std::optional<std::uint32_t> shell_per_hour;
  bool operator==(const FlowCaps&) const = default;
};

/// A run as the caps count it.
struct CountedRun {
  RunId id;
  std::string root;           ///< the state folder of its root
  std::string flow;           ///< as `text` writes it
  std::string configuration;  ///< real path; runs of another one do not count
  Role role;
  Role agent;  ///< that does the work; empty: a shell action
  std::string rule;
  std::string dialect;
  std::string provider;
  bool shell = false;  ///< an action of a loop
  Time started{};
  std::optional<Time> ended;  ///< nothing: it runs
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
  bool operator==(const CountedRun&) const = default;
};
/// How long a row stays after its end. Twice the longest window: a clock that was set back by less
/// than a day loses nothing, and the averages of agents that start seldom have more to go by.
inline constexpr Millis kCountedFor = std::chrono::hours(48);

/// A person has raised a cap, for one window of it (a day for those without a window).
struct CapRaise {
  std::string configuration;
  CapPlace place;
  CapKey key = CapKey::spawns_per_day;
  double by = 0;
  std::string who;
  Time since{};
  bool operator==(const CapRaise&) const = default;
};
Time end_of(const CapRaise& raise);

/// All rows, over all roots.
struct Counted {
  std::vector<CountedRun> runs;
  std::vector<CapRaise> raises;
  std::string root;           ///< that of the reader
  std::uint64_t version = 0;  ///< differs after each change
};

/// The rule of a flow of the dialect `rules`; else empty.
std::string rule_of(const FlowId& flow);
/// Whether the cap covers the run.
bool covers(const CapPlace& place, const CountedRun& run);
/// What the run counts for a key, without its cost and tokens if they are unknown.
double amount_of(const CountedRun& run, CapKey key);

/// How many flows there are whose files are there, by everything, dialect and rule.
using FlowCounts = std::map<CapPlace, std::uint32_t>;
/// The places among `FlowCounts` in which a flow counts.
std::vector<CapPlace> places_of(const FlowId& flow);

/// A cap that is reached.
struct CapReached {
  CapPlace place;
  CapKey key = CapKey::spawns_per_day;
  double sum = 0;
  double cap = 0;             ///< with what it was raised by
  std::optional<Time> until;  ///< when enough has left the window; nothing: unknown
  std::string why;            ///< for people: "$36.00 of $30.00 in the last 24 hours (...)"
};

/// What a flow has started and spent in the last hour.
struct FlowUse {
  std::uint32_t starts = 0;  ///< of agents
  std::uint32_t shell = 0;   ///< shell actions
  double cost_usd = 0;
  std::int64_t tokens = 0;
};

/// The sums at one moment, for one configuration. Starts that are chosen in one step count too.
class CapSums {
 public:
  CapSums() = default;
  CapSums(const CapTable& table, const std::string& configuration, const Counted& counted,
          Time now);

  /// The cap that keeps this run from starting now: of several the one that lasts longest.
  std::optional<CapReached> reached(const CountedRun& start) const;
  /// The run starts in this step.
  void add(const CountedRun& start);
  /// Forgets what `add` has counted.
  void drop_added();

  /// What a flow of the reader's root has used since a person resumed it, with what its files have
  /// taken along under former names.
  FlowUse use_of(const FlowId& flow, const std::vector<Rename>& renames, Time resumed_at,
                 Time now) const;

  /// The cap on flows that keeps a flow from beginning: there are more than it allows, of one of
  /// its places.
  std::optional<CapReached> too_many_flows(const FlowId& flow, const FlowCounts& counts) const;

  /// All caps that are reached now, whatever wants to start.
  std::vector<CapReached> all_reached() const;
  /// Whether the cap is reached only with what running runs may cost.
  bool is_estimate(const std::string& cap_name) const;
  /// Whether the sum of the cap is below half of it. People hear of a cap again only after that.
  bool is_low(const std::string& cap_name) const;
  /// The raises that are in force.
  const std::vector<CapRaise>& raises() const { return raises_; }
  /// The sums change by themselves then.
  std::optional<Time> next_change() const { return next_change_; }

 private:
  struct Sum {
    CapPlace place;
    CapKey key = CapKey::spawns_per_day;
    double cap = 0;
    bool by_default = false;
    double sum = 0;
    double estimated = 0;  ///< the part of `sum` of runs that have not ended
    double added = 0;      ///< by starts of this step
    /// When each part leaves the window, and how much it is; in order of time.
    std::vector<std::pair<Time, double>> parts;
    std::string raised;  ///< who raised the cap, for people
  };
  struct Average {
    double mean = 0;
    std::size_t count = 0;
    void add(double amount);
  };
  /// Of the last runs that reported the amount.
  struct Averages {
    Average cost_usd;
    Average tokens;
  };
  double expected(const CountedRun& run, CapKey key) const;
  CapReached reached(const Sum& sum) const;
  void find_averages(const std::string& configuration, std::span<const CountedRun> runs);

  Time now_{};
  std::vector<Sum> sums_;
  std::vector<Sum> flows_;  ///< of `max_flows`
  std::vector<CapRaise> raises_;
  std::map<Role, Averages> averages_;
  /// A run of the last hour of the reader's root.
  struct FlowRun {
    Time started{};
    Time ended{};  ///< now if it has not
    bool shell = false;
    double cost_usd = 0;
    std::int64_t tokens = 0;
  };
  FlowUse own_use(const FlowId& flow, Time from, Time until, Time since) const;
  std::map<std::string, std::vector<FlowRun>> flow_runs_;
  std::optional<Time> next_change_;
};

/// Whether one of the limits is on cost, and the configuration names it.
bool names_cost(const Caps& caps);
/// Agents that a cap on cost covers, which the configuration names, and that have never reported
/// one, though three of their runs or more have ended.
std::vector<Role> agents_without_cost(const CapTable& table, const std::string& configuration,
                                      std::span<const CountedRun> runs);

/// The command that raises a cap by itself once more, to be pasted.
std::string raise_command(const CapPlace& place, CapKey key, double by);
/// The command that helps when `daemon.db` cannot be used; empty if waiting may help.
std::string daemon_db_remedy(const Error& error);
/// An amount for people: `$30.00`, `500`.
std::string amount_text(CapKey key, double amount);

}  // namespace baton
