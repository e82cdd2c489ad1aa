// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/registry.h"
#include "config/schema_stages.h"
#include "toy_dialect.h"

namespace baton::testing {
namespace {

constexpr int kMostSteps = 100;
constexpr int kMostShortSteps = 5000;

std::uint32_t count_of(const Value& from, std::string_view name, std::uint32_t otherwise) {
  return static_cast<std::uint32_t>(json::integer(from, name).value_or(otherwise));
}

Result<Millis> duration(const Value& from, std::string_view name, Millis otherwise) {
  const Value* const value = json::child(from, name);
  if (value == nullptr)
    return otherwise;
  const auto parsed = parse_duration(json::text(*value).value_or(""));
  if (!parsed)
    return fail(Errc::config, "`" + std::string(name) + "` is no duration: " + json::dump(*value));
  return *parsed;
}

AgentSpec agent(const Role& role, const Value& value, const RetryLimits& retry) {
  AgentSpec spec;
  spec.argv = {"/agents/" + role, "${subject}"};
  if (const Value* const argv = json::child(value, "argv"); argv != nullptr && argv->IsArray()) {
    spec.argv.clear();
    for (const Value& word : argv->GetArray())
      spec.argv.emplace_back(json::text(word).value_or(""));
  }
  spec.limits.timeout =
      duration(value, "timeout", spec.limits.timeout).value_or(spec.limits.timeout);
  spec.provider = json::text(value, "provider").value_or("");
  if (const Value* const may = json::child(value, "may"))
    for (const Value& verb : may->GetArray())
      spec.may.emplace_back(json::text(verb).value_or(""));
  if (const auto problem = json::text(value, "problem"))
    spec.problem = AgentFault{std::string(*problem), "mend /agents/" + role};
  spec.retry = retry;
  spec.retry.max_attempts = count_of(value, "max_attempts", retry.max_attempts);
  return spec;
}

/// Those of more than one flow: `{"caps": {"everything": {"cost_per_day": 10}, "agent dev":
/// {...}}}`.
Result<CapTable> read_caps(const Value& caps) {
  CapTable table;
  for (const auto& member : caps.GetObject()) {
    const std::string name = member.name.GetString();
    const std::size_t space = std::min(name.find(' '), name.size());
    const auto scope = parse_cap_scope(name.substr(0, space));
    if (!scope)
      return fail(Errc::config, "caps: `" + name + "` is no place");
    Caps& its = table[{*scope, space < name.size() ? name.substr(space + 1) : ""}];
    for (const auto& cap : member.value.GetObject()) {
      const auto key = parse_cap_key(cap.name.GetString());
      if (!key)
        return fail(Errc::config, std::string("caps: there is no key ") + cap.name.GetString());
      its.emplace(*key, cap.value.GetDouble());
    }
  }
  return table;
}

/// `"hours"`: a text or a list of them; every zone is UTC.
Result<Hours> read_hours(const Value& from) {
  Hours hours;
  const Value* const given = json::child(from, "hours");
  if (given == nullptr)
    return hours;
  std::vector<std::string> texts;
  if (given->IsArray())
    for (const Value& text : given->GetArray())
      texts.emplace_back(json::text(text).value_or(""));
  else
    texts.emplace_back(json::text(*given).value_or(""));
  for (const std::string& text : texts) {
    auto span = parse_span(text);
    if (!span)
      return pass_on(span);
    hours.spans.push_back(*span);
    hours.text += (hours.text.empty() ? "" : ", ") + text;
  }
  return hours;
}

Result<AllHours> read_all_hours(const Value& config) {
  AllHours all;
  auto everything = read_hours(config);
  if (!everything)
    return pass_on(everything);
  all.everything = *std::move(everything);
  const auto add = [&](const std::string& name, const Value& from,
                       std::map<std::string, Hours>& to) -> Result<void> {
    auto hours = read_hours(from);
    if (!hours)
      return pass_on(hours);
    if (!hours->spans.empty())
      to.emplace(name, *std::move(hours));
    return {};
  };
  if (const Value* const agents = json::child(config, "agents"))
    for (const auto& member : agents->GetObject())
      if (auto added = add(member.name.GetString(), member.value, all.agents); !added)
        return pass_on(added);
  if (const Value* const rules = json::child(config, "rules"))
    for (const Value& rule : rules->GetArray())
      if (auto added = add(std::string(json::text(rule, "name").value_or("")), rule, all.rules);
          !added)
        return pass_on(added);
  return all;
}

Result<Setup> setup_without_hours(const Json& config, std::string_view dialect_name);

Result<void> read_limits(const Value& limits, Setup& setup) {
  setup.max_running = count_of(limits, "max_running", setup.max_running);
  setup.spawns_per_hour = count_of(limits, "spawns_per_hour", setup.spawns_per_hour);
  setup.shell_per_hour = count_of(limits, "shell_per_hour", setup.shell_per_hour);
  setup.events_per_hour = count_of(limits, "events_per_hour", setup.events_per_hour);
  setup.sizes.flow_bytes = count_of(limits, "max_flow_size", 0);
  setup.sizes.root_bytes = count_of(limits, "max_root_size", 0);
  if (const std::uint32_t most = count_of(limits, "max_file", 0))
    setup.load = limits_up_to(most);
  if (const Value* const cost = json::child(limits, "cost_per_hour"))
    setup.cost_per_hour = cost->GetDouble();
  setup.retry.max_attempts = count_of(limits, "max_attempts", setup.retry.max_attempts);
  auto backoff = duration(limits, "backoff", setup.retry.backoff);
  if (!backoff)
    return pass_on(backoff);
  auto most = duration(limits, "max_backoff", setup.retry.max_backoff);
  if (!most)
    return pass_on(most);
  setup.retry.backoff = *backoff;
  setup.retry.max_backoff = *most;
  return {};
}

}  // namespace

Result<Setup> setup_of(const Json& config, std::string_view dialect_name) {
  auto setup = setup_without_hours(config, dialect_name);
  if (!setup)
    return setup;
  auto hours = read_all_hours(*config);
  if (!hours)
    return pass_on(hours);
  setup->hours = *std::move(hours);
  return setup;
}

namespace {

Result<Setup> setup_without_hours(const Json& config, std::string_view dialect_name) {
  Setup setup;
  const Dialect* const served = dialect_name == "toy" ? &toy_dialect() : dialect(dialect_name);
  if (served == nullptr)
    return fail(Errc::config, "there is no dialect `" + std::string(dialect_name) + "`");
  setup.environment = Environment{"/root", "/root", "/usr/bin/baton"};
  setup.environment.pid = json::integer(*config, "pid").value_or(0);
  // Processes that live, besides those of the scenario; without such a list nobody can say.
  if (const Value* const alive = json::child(*config, "alive"))
    setup.environment.alive = [pids = Json(*alive)](std::int64_t pid) {
      return std::any_of(pids->Begin(), pids->End(),
                         [&](const Value& each) { return json::integer(each) == pid; });
    };
  if (const Value* const links = json::child(*config, "links"))
    setup.environment.real_path = [links = Json(*links)](const std::string& path) {
      for (const auto& link : links->GetObject())
        if (const std::string from = link.name.GetString();
            path == from || path.starts_with(from + "/"))
          return link.value.GetString() + path.substr(from.size());
      return path;
    };
  if (const Value* const limits = json::child(*config, "limits"))
    if (auto read = read_limits(*limits, setup); !read)
      return pass_on(read);
  if (const Value* const caps = json::child(*config, "caps")) {
    auto read = read_caps(*caps);
    if (!read)
      return pass_on(read);
    setup.caps = *std::move(read);
  }
  if (const Value* const agents = json::child(*config, "agents")) {
    for (const auto& member : agents->GetObject())
      setup.agents[member.name.GetString()] =
          agent(member.name.GetString(), member.value, setup.retry);
  } else {
    for (const char* const role : {"developer", "qa_expert", "tech_lead", "worker"})
      setup.agents[role] = agent(role, *Json::object(), setup.retry);
  }
  const auto policy = json::text(*config, "on_interrupted").value_or("hold");
  setup.on_interrupted = policy == "retry"  ? OnInterrupted::retry
                         : policy == "fail" ? OnInterrupted::fail
                                            : OnInterrupted::hold;
  setup.max_existing = count_of(*config, "max_existing", 20);
  setup.may_start = json::boolean(*config, "may_start").value_or(true);
  setup.act_on_reverted = json::text(*config, "vcs") == "act";
  setup.act_on_existing = json::boolean(*config, "act_on_existing").value_or(false);
  setup.schemas = [config](std::string_view name) -> Result<std::string> {
    const Value* const schemas = json::child(*config, "schemas");
    const Value* const schema = schemas == nullptr ? nullptr : json::child(*schemas, name);
    if (schema == nullptr)
      return fail(Errc::not_found, "there is no schema " + std::string(name));
    return json::dump(*schema);
  };
  if (const Value* const library = json::child(*config, "library"); library != nullptr)
    for (const Value& folder : library->GetArray())
      setup.libraries.emplace_back(folder.GetString());
  if (!json::boolean(*config, "unconfigured").value_or(false))
    setup.dialects.emplace_back(
        served, dialect_name == "rules" ? with_schema_stages(config, setup.schemas) : config);
  return setup;
}

}  // namespace

StepLimits& step_limits() {
  static StepLimits limits;
  return limits;
}

World::World() {
  journal.after_commit = [this](const Commit& commit) {
    for (const FlowId& flow : commit.forgotten)
      agents.forget(flow);
    if (std::none_of(commit.runs.begin(), commit.runs.end(),
                     [](const Run& run) { return run.live(); }))
      return;
    for (auto& [path, bytes] : std::exchange(overtaking, {}))
      bytes ? disk.write(path, *bytes) : disk.remove(path);
  };
  journal.forgiven = [this](const Run& run) { agents.forgive(run); };
  agents.releasing = [this](const Launch& launch) {
    const auto of_flow = [&](const auto& each) {
      return each.second.first.flow == launch.key.flow;
    };
    const auto& accepted = journal.tables.accepted;
    // Of a flow of several files one may well be rejected that the start is not about.
    const auto only = std::find_if(accepted.begin(), accepted.end(), of_flow);
    if (launch.key.flow.dialect == "rules" && only != accepted.end() &&
        std::none_of(std::next(only), accepted.end(), of_flow) &&
        std::any_of(journal.tables.rejected.begin(), journal.tables.rejected.end(),
                    [&](const auto& each) {
                      return each.first == only->first && each.second.flow == launch.key.flow;
                    }))
      broken_.push_back("an agent was started while " + only->first + " is rejected");
    for (const auto& [path, row] : journal.tables.accepted)
      if (row.first.flow == launch.key.flow && path.ends_with(".json") && row.first.present &&
          (launch.key.flow.dialect == "rules" || !journal.tables.rejected.contains(path)) &&
          !disk.stood(path, row.first.digest))
        broken_.push_back("an agent was started on a version of " + path +
                          " that has never stood there");
  };
  disk.replacing = [this](const std::string& path, const std::string& bytes) {
    const Digest digest = digest_of(bytes);
    const auto& intents = journal.tables.intents;
    const bool intended = std::any_of(intents.begin(), intents.end(), [&](const auto& row) {
      return row.second.path == path && row.second.assumes == digest;
    });
    if (!intended)
      broken_.push_back("a version of " + path +
                        " was overwritten before the journal held the intent");
  };
}

Result<void> World::start() {
  setup.renew = renewer();
  auto made = Engine::make(
      Ports{disk, journal, agents, requests, clock, observer, providers, spending, zones, limits},
      setup);
  if (!made)
    return pass_on(made);
  engine = std::move(*made);
  requests.changed = false;
  disk.changes.clear();
  return engine->recover();
}

RenewAgent World::renewer() {
  return [this](const Role& role, const AgentSpec& known) {
    AgentSpec spec = known;
    if (const auto word = broken_roles.find(role); word != broken_roles.end())
      spec.problem = word->second.empty()
                         ? std::nullopt
                         : std::optional(AgentFault{word->second, "mend /agents/" + role});
    return spec;
  };
}

void World::kill() {
  engine.reset();
  agents.daemon_killed();
  disk.daemon_killed();
  providers.daemon_killed();
}

void World::power_cut() {
  engine.reset();
  agents.power_cut();
  disk.daemon_killed();
  providers.daemon_killed();
  journal.power_cut();
}

std::vector<Input> World::inputs() {
  std::vector<Input> all;
  for (std::string& path : std::exchange(disk.changes, {})) {
    const bool complete = disk.complete.contains(path);
    all.emplace_back(FileChanged{std::move(path), {}, complete});
  }
  disk.complete.clear();
  for (RunEnd& end : std::exchange(agents.ended, {}))
    all.emplace_back(RunEnded{std::move(end)});
  if (std::exchange(requests.changed, false))
    all.emplace_back(RequestsChanged{});
  return all;
}

Result<void> World::settle() {
  for (int steps = 0; engine != nullptr; ++steps) {
    if (steps == (limits.files == 0 ? kMostSteps : kMostShortSteps))
      return fail(Errc::too_large, "the engine spins: something is always left to do at once");
    agents.tick();
    for (FakeAgents::Shim* const shim : agents.in(FakeAgents::State::running)) {
      if (!shim->stopping || agents.stops_hang)
        continue;
      RunEnd end;
      end.outcome = Outcome::interrupted;
      end.signal = 15;
      end.reason = "signal_15";
      agents.finish(shim->id, end);
    }
    const std::vector<Input> news = inputs();
    if (news.empty() && !engine->pending())
      break;
    if (auto stepped = engine->step(news); !stepped)
      return stepped;
  }
  return {};
}

Result<void> World::survive() {
  try {
    return settle();
  } catch (const DaemonKilled&) {
    fuse.cut();
    kill();
    if (auto started = start(); !started)
      return started;
    return settle();
  }
}

void World::leave(const FakeAgents::Shim& shim, int code) {
  RunEnd end;
  end.outcome = code == 0 ? Outcome::succeeded : Outcome::failed;
  end.exit_code = code;
  end.reason = code == 0 ? "" : "exit_" + std::to_string(code);
  agents.finish(shim.id, end);
}

Result<void> World::pass(Millis by) {
  const Time target = clock.at + by;
  int here = 0;
  while (engine != nullptr) {
    std::optional<Time> next = engine->wake();
    for (const FakeAgents::Shim* const shim : agents.in(FakeAgents::State::going))
      if (!next || shim->claims_at < *next)
        next = shim->claims_at;
    if (!next || *next > target)
      break;
    here = *next <= clock.at ? here + 1 : 0;
    if (here == kMostSteps)
      return fail(Errc::too_large, "the engine asks to be woken in the past without end");
    clock.at = std::max(clock.at, *next);
    if (auto stepped = engine->step({TimerDue{}}); !stepped)
      return stepped;
    if (auto settled = settle(); !settled)
      return settled;
  }
  clock.at = target;
  agents.tick();
  return settle();
}

std::vector<std::string> World::faults() const {
  std::vector<std::string> all = journal.faults;
  all.insert(all.end(), agents.faults.begin(), agents.faults.end());
  all.insert(all.end(), requests.faults.begin(), requests.faults.end());
  all.insert(all.end(), broken_.begin(), broken_.end());
  if (engine == nullptr)
    return all;
  for (const auto& [flow, record] : engine->records())
    for (auto one = record.notified.holds.begin(); one != record.notified.holds.end(); ++one)
      if (std::find(std::next(one), record.notified.holds.end(), *one) !=
          record.notified.holds.end())
        all.push_back("of " + text(flow) + " it is remembered twice that it was told of " +
                      text(one->cause));
  return all;
}

}  // namespace baton::testing
