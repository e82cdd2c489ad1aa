#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/reported.h"
#include "dialects/agent_run/decide.h"

namespace baton::agent_run {
namespace {

/// The daily statistics may change without an event, so look again.
constexpr Millis kLookAgain{60'000};

std::string day_of(Time time) {
  constexpr std::size_t kDay = 10;  // 2026-01-22
  return iso_time(time).substr(0, kDay);
}

/// A number, or a text that is a number. Anything else, or below zero, is 0.
double amount(const Value& object, std::string_view name) {
  const Value* const value = json::child(object, name);
  double amount = 0;
  if (value != nullptr && value->IsNumber()) {
    amount = value->GetDouble();
  } else if (const auto text = value == nullptr ? std::nullopt : json::text(*value)) {
    const auto read = std::from_chars(text->data(), text->data() + text->size(), amount);
    if (read.ec != std::errc() || read.ptr != text->data() + text->size())
      return 0;
  }
  return std::isfinite(amount) ? std::max(0.0, amount) : 0;
}

double tokens_of(const Value& metrics) {
  constexpr double kMost = 9'007'199'254'740'992;  // larger doubles are not whole numbers
  const double total = amount(metrics, "total_tokens");
  return std::min(kMost, total > 0
                             ? total
                             : amount(metrics, "input_tokens") + amount(metrics, "output_tokens"));
}

double today(const Snapshot& snapshot) {
  double cost = snapshot.memo.cost_day == day_of(snapshot.view.wall) ? snapshot.memo.cost_usd : 0;
  if (const Accepted* const stats = snapshot.document(daily_stats(snapshot)))
    cost = std::max(cost, amount(stats->document->root(), "total_cost_usd"));
  return cost;
}

}  // namespace

void add_cost(Snapshot& snapshot, const Run& run, const Report& report, Decision& decision) {
  const double reported = amount(*report.metrics, "cost_usd");
  const double cost = reported > kMostCost ? 0 : reported;
  const double tokens = tokens_of(*report.metrics);
  if (cost > 0 || tokens > 0)
    decision.spent.push_back(
        Spent{run.id, cost > 0 ? std::optional(cost) : std::nullopt,
              tokens > 0 ? std::optional(static_cast<std::int64_t>(tokens)) : std::nullopt});
  if (cost <= 0)
    return;
  const std::string day = day_of(snapshot.view.wall);
  if (snapshot.memo.cost_day != day)
    snapshot.memo.cost_usd = 0;
  snapshot.memo.cost_day = day;
  snapshot.memo.cost_usd += cost;
}

std::string daily_stats(const Snapshot& snapshot) {
  return snapshot.paths.in_repository(".agents/daily_stats/" + day_of(snapshot.view.wall) +
                                      ".json");
}

std::string over_budget(const Snapshot& snapshot) {
  const auto limit = snapshot.settings.daily_cost_limit;
  const double cost = limit ? today(snapshot) : 0;
  if (!limit || cost < *limit)
    return {};
  return "today cost " + dollars(cost) + "; daily_cost_limit is " + dollars(*limit);
}

bool apply_cost_limit(Snapshot& snapshot, Decision& decision) {
  const std::string why = over_budget(snapshot);
  if (why.empty() || snapshot.all_done())
    return false;
  decision.notices.push_back(Notice{"cost_limit", "", why});
  if (snapshot.settings.on_cost == OnCost::warn)
    return false;
  if (snapshot.settings.on_cost == OnCost::fail) {
    for (const Step& step : snapshot.workflow->steps())
      if (snapshot.record(step.id).status == Status::pending)
        fail_for_good(snapshot, step, "cost_limit", why, decision);
    return true;
  }
  decision.holds.push_back(
      Hold{"", "", "cost_limit",
           why + "; the run continues tomorrow (UTC), or raise the limit in baton.yaml"});
  // Wakes up tomorrow. Other programs may change the statistics too.
  const Time next = snapshot.view.now + kLookAgain;
  decision.tidy = std::min(decision.tidy.value_or(next), next);
  return true;
}

}  // namespace baton::agent_run
