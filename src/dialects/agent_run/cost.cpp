#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/reported.h"
#include "dialects/agent_run/decide.h"

namespace baton::agent_run {
namespace {

/// So long the day's statistics may have changed without anybody telling.
constexpr Millis kLookAgain{60'000};

std::string day_of(Time time) {
  constexpr std::size_t kDay = 10;  // 2026-01-22
  return iso_time(time).substr(0, kDay);
}

/// A number, or a text that is one; what is neither, or below zero, costs nothing.
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
  constexpr double kMost = 9'007'199'254'740'992;  // beyond that a double is no whole number
  const double total = amount(metrics, "total_tokens");
  return std::min(kMost, total > 0
                             ? total
                             : amount(metrics, "input_tokens") + amount(metrics, "output_tokens"));
}

double today(const Scene& scene) {
  double cost = scene.memo.cost_day == day_of(scene.view.wall) ? scene.memo.cost_usd : 0;
  if (const Accepted* const stats = scene.document(daily_stats(scene)))
    cost = std::max(cost, amount(stats->document->root(), "total_cost_usd"));
  return cost;
}

}  // namespace

void add_cost(Scene& scene, const Run& run, const Report& report, Decision& decision) {
  const double said = amount(*report.metrics, "cost_usd");
  const double cost = said > kMostCost ? 0 : said;
  const double tokens = tokens_of(*report.metrics);
  if (cost > 0 || tokens > 0)
    decision.spent.push_back(
        Spent{run.id, cost > 0 ? std::optional(cost) : std::nullopt,
              tokens > 0 ? std::optional(static_cast<std::int64_t>(tokens)) : std::nullopt});
  if (cost <= 0)
    return;
  const std::string day = day_of(scene.view.wall);
  if (scene.memo.cost_day != day)
    scene.memo.cost_usd = 0;
  scene.memo.cost_day = day;
  scene.memo.cost_usd += cost;
}

std::string daily_stats(const Scene& scene) {
  return scene.places.in_repository(".agents/daily_stats/" + day_of(scene.view.wall) + ".json");
}

std::string over_budget(const Scene& scene) {
  const auto limit = scene.settings.daily_cost_limit;
  const double cost = limit ? today(scene) : 0;
  if (!limit || cost < *limit)
    return {};
  return "today has cost " + dollars(cost) + ", and daily_cost_limit is " + dollars(*limit);
}

bool settle_cost(Scene& scene, Decision& decision) {
  const std::string why = over_budget(scene);
  if (why.empty() || scene.all_done())
    return false;
  decision.notices.push_back(Notice{"cost_limit", "", why});
  if (scene.settings.on_cost == OnCost::warn)
    return false;
  if (scene.settings.on_cost == OnCost::fail) {
    for (const Step& step : scene.workflow->steps())
      if (scene.record(step.id).status == Status::pending)
        fail_for_good(scene, step, "cost_limit", why, decision);
    return true;
  }
  decision.holds.push_back(
      Hold{"", "", "cost_limit",
           why + "; it goes on tomorrow (UTC), or with a higher limit in baton.yaml"});
  // Tomorrow, and the limit may be reached by what others have spent.
  const Time next = scene.view.now + kLookAgain;
  decision.tidy = std::min(decision.tidy.value_or(next), next);
  return true;
}

}  // namespace baton::agent_run
