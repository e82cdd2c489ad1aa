// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of `baton status`: which flows it shows, in which order, and its last lines.
//
// Flows that need a person come first. Flows that have been done or idle for a day are left out
// unless they are asked for.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/decide/status.h"
#include "workspace/table.h"

namespace baton {

/// What the user wants to see.
struct OverviewChoice {
  enum class Order { condition, flow, since, cost };
  std::vector<Condition> only;  ///< empty: all conditions
  std::string dialect;          ///< empty: all dialects
  std::optional<Time> since;    ///< only flows that were active since then
  Order order = Order::condition;
  std::size_t limit = 0;  ///< 0: all
  bool old = false;       ///< also flows that have been done or idle for a day
};

/// Conditions separated by commas. Errc::usage: a word is none.
Result<std::vector<Condition>> parse_conditions(const std::string& words);
/// Errc::usage: the word is no order.
Result<OverviewChoice::Order> parse_order(const std::string& word);

/// The flows of one root as the overview shows them.
struct Overview {
  std::vector<FlowStatus> flows;  ///< in order
  std::size_t filtered = 0;       ///< how many the choice leaves out
  std::size_t old = 0;            ///< how many more are left out because they are done or idle
  std::string totals;             ///< `12 flows: 1 blocked, 3 running, 8 done; $4.20`
};
Overview overview_of(std::vector<FlowStatus> all, const OverviewChoice& choice, Time now);

/// `12 flows: 3 running, 2 waiting, 7 done`, by the numbers of all conditions.
std::string totals_text(const std::vector<FlowStatus>& all);

Colour colour_of(Condition condition);

/// `$1.20`
std::string cost_text(double cost);

}  // namespace baton
