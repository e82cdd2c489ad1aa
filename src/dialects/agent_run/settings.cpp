#include "dialects/agent_run/settings.h"

#include <array>
#include <string_view>

#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

struct CostRow {
  std::string_view word;
  OnCost action;
};
constexpr std::array kCost = {CostRow{"warn", OnCost::warn}, CostRow{"pause", OnCost::pause},
                              CostRow{"fail", OnCost::fail}};

/// What `baton.yaml` says of all runs.
void read_configured(const Value& options, Settings& settings) {
  settings.drain = json::text(options, "on_failure") == "drain";
  settings.strict_reports = json::boolean(options, "strict_reports").value_or(false);
  if (json::boolean(options, "accept_early").value_or(false))
    settings.accept_early = Millis(0);
  else if (const auto after = json::text(options, "accept_early"))
    settings.accept_early = parse_duration(*after);
  if (const Value* const limit = json::child(options, "daily_cost_limit");
      limit != nullptr && limit->IsNumber())
    settings.daily_cost_limit = limit->GetDouble();
  if (const CostRow* const row =
          row_of(kCost, json::text(options, "cost_limit_action").value_or("")))
    settings.on_cost = row->action;
}

}  // namespace

Settings settings_of(const Value& options, const Value* state) {
  Settings settings;
  read_configured(options, settings);
  const Value* const own = state == nullptr ? nullptr : json::child(*state, "options");
  if (own == nullptr || !own->IsObject())
    return settings;
  settings.max_attempts = json::integer(*own, "max_attempts").value_or(settings.max_attempts);
  settings.max_iterations = json::integer(*own, "max_iterations").value_or(settings.max_iterations);
  settings.pause_for_human_input = json::boolean(*own, "pause_for_human_input").value_or(false);
  settings.workflow_path = json::text(*own, "workflow_path").value_or("");
  settings.gate_state_file = json::text(*own, "gate_state_file").value_or("");
  settings.logs_dir = json::text(*own, "logs_dir").value_or("");
  if (const Value* const set = json::child(*own, "set"); set != nullptr && set->IsObject())
    for (const auto& member : set->GetObject())
      settings.set.emplace(member.name.GetString(), json::text(member.value).value_or(""));
  return settings;
}

}  // namespace baton::agent_run
