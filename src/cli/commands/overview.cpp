// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/overview.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "core/condition.h"
#include "core/reported.h"
#include "workspace/list_options.h"

namespace baton {
namespace {

constexpr Millis kOld = std::chrono::hours(24);

constexpr std::array kPlaces = {Condition::blocked, Condition::failed,  Condition::gone,
                                Condition::running, Condition::waiting, Condition::stopped,
                                Condition::paused,  Condition::done,    Condition::idle};
static_assert(kPlaces.size() == kConditions.size());

std::size_t place_of(Condition condition) {
  return static_cast<std::size_t>(std::find(kPlaces.begin(), kPlaces.end(), condition) -
                                  kPlaces.begin());
}

struct OrderRow {
  std::string_view word;
  OverviewChoice::Order order;
};
constexpr std::array kOrders = {
    OrderRow{"condition", OverviewChoice::Order::condition},
    OrderRow{"flow", OverviewChoice::Order::flow},
    OrderRow{"since", OverviewChoice::Order::since},
    OrderRow{"cost", OverviewChoice::Order::cost},
};

bool is_root(const FlowStatus& status) {
  return status.flow == FlowId{};
}

bool is_over(const FlowStatus& status) {
  return status.cause.condition == Condition::done || status.cause.condition == Condition::idle;
}

bool is_chosen(const FlowStatus& status, const OverviewChoice& choice) {
  const bool condition =
      choice.only.empty() || std::find(choice.only.begin(), choice.only.end(),
                                       status.cause.condition) != choice.only.end();
  return condition && (choice.dialect.empty() || status.flow.dialect == choice.dialect) &&
         // A flow whose only file is rejected has no activity.
         (!choice.since || status.last_activity == Time{} || status.last_activity >= *choice.since);
}

/// Whether `one` stands before `other`. Flows that are alike keep their order, which is by name.
bool stands_before(const FlowStatus& one, const FlowStatus& other, OverviewChoice::Order order) {
  switch (order) {
    case OverviewChoice::Order::condition:
      return place_of(one.cause.condition) < place_of(other.cause.condition);
    case OverviewChoice::Order::flow:
      return false;
    case OverviewChoice::Order::since:
      return one.since > other.since;
    case OverviewChoice::Order::cost:
      return one.cost.value_or(-1) > other.cost.value_or(-1);
  }
  return false;
}

}  // namespace

Result<std::vector<Condition>> parse_conditions(const std::string& words) {
  std::vector<Condition> all;
  std::vector<std::string> known;
  for (const ConditionRow& row : kConditions)
    known.emplace_back(row.word);
  for (const std::string& word : split(words, ',')) {
    const auto row = std::find(known.begin(), known.end(), word);
    if (row == known.end())
      return tl::unexpected(no_such("condition", word, known));
    all.push_back(kConditions.at(static_cast<std::size_t>(row - known.begin())).condition);
  }
  return all;
}

Result<OverviewChoice::Order> parse_order(const std::string& word) {
  std::string known;
  for (const OrderRow& row : kOrders) {
    if (row.word == word)
      return row.order;
    known += (known.empty() ? "" : ", ") + std::string(row.word);
  }
  return fail(Errc::usage, "--sort takes one of " + known + ", not " + printable(word, 60));
}

Colour colour_of(Condition condition) {
  switch (condition) {
    case Condition::running:
    case Condition::done:
      return Colour::green;
    case Condition::waiting:
      return Colour::blue;
    case Condition::blocked:
    case Condition::paused:
    case Condition::stopped:
      return Colour::yellow;
    case Condition::idle:
      return Colour::grey;
    case Condition::failed:
    case Condition::gone:
      return Colour::red;
  }
  return Colour::grey;
}

std::string cost_text(double cost) {
  std::string text = dollars(cost);
  return "$" + text.substr(0, text.find(' '));
}

std::string totals_text(const std::vector<FlowStatus>& all) {
  std::array<std::size_t, kConditions.size()> counts{};
  std::size_t flows = 0;
  std::optional<double> cost;
  for (const FlowStatus& status : all) {
    if (is_root(status))
      continue;
    ++flows;
    ++counts.at(place_of(status.cause.condition));
    if (status.cost)
      cost = cost.value_or(0) + *status.cost;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts.at(i) > 0)
      parts.push_back(std::to_string(counts.at(i)) + " " + std::string(word(kPlaces.at(i))));
  return std::to_string(flows) + (flows == 1 ? " flow" : " flows") +
         (parts.empty() ? "" : ": " + join(parts, ", ")) + (cost ? "; " + cost_text(*cost) : "");
}

Overview overview_of(std::vector<FlowStatus> all, const OverviewChoice& choice, Time now) {
  Overview overview;
  overview.totals = totals_text(all);
  const std::size_t before = all.size();
  std::erase_if(all, [&](const FlowStatus& status) { return !is_chosen(status, choice); });
  overview.filtered = before - all.size();
  // Who asks for idle flows wants to see them.
  if (!choice.old && choice.only.empty())
    overview.old = std::erase_if(all, [&](const FlowStatus& status) {
      return !is_root(status) && is_over(status) && status.last_activity != Time{} &&
             now - status.last_activity > kOld;
    });
  std::stable_sort(all.begin(), all.end(), [&](const FlowStatus& one, const FlowStatus& other) {
    return is_root(one) != is_root(other) ? is_root(one) : stands_before(one, other, choice.order);
  });
  if (choice.limit > 0 && all.size() > choice.limit) {
    overview.filtered += all.size() - choice.limit;
    all.resize(choice.limit);
  }
  overview.flows = std::move(all);
  return overview;
}

}  // namespace baton
