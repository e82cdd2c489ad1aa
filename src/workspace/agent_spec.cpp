// SPDX-License-Identifier: Apache-2.0
#include "workspace/agent_spec.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include <sys/stat.h>

#include "adapters/adapter.h"
#include "base/digest.h"
#include "base/placeholders.h"
#include "base/text.h"
#include "config/registry.h"
#include "engine/perform/start_command.h"
#include "io/files/file_facts.h"
#include "io/files/path_trust.h"
#include "io/system/command.h"
#include "workspace/adapter_file.h"
#include "workspace/agent_user.h"
#include "workspace/configuration_file.h"
#include "workspace/environment.h"
#include "workspace/prompt_files.h"
#include "workspace/rule_prompts.h"

namespace baton {
namespace {

constexpr std::array kPassedOn = {"HOME",  "LANG", "LOGNAME", "PATH",
                                  "SHELL", "TZ",   "USER",    "XDG_RUNTIME_DIR"};

bool passed_on(const std::string& name, const AgentConfig& agent) {
  return std::find(kPassedOn.begin(), kPassedOn.end(), name) != kPassedOn.end() ||
         name.starts_with("LC_") ||
         std::find(agent.env_allow.begin(), agent.env_allow.end(), name) != agent.env_allow.end();
}

std::vector<std::pair<std::string, std::string>> variables_of(const AgentConfig& agent,
                                                              const Adapter& adapter) {
  std::map<std::string, std::string> chosen;
  const std::vector<std::string>& wanted = adapter.env_pass;
  for (const auto& [name, value] : variables())
    if (passed_on(name, agent) || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      chosen[name] = value;
  chosen["TERM"] = "dumb";
  for (const auto& [name, value] : adapter.env_set)
    chosen[name] = value;
  for (const std::string& name : adapter.env_unset)
    chosen.erase(name);
  for (const auto& [name, value] : agent.env_set)
    chosen[name] = value;
  return {chosen.begin(), chosen.end()};
}

/// The adapter of the agent: one of baton's, one from a file, or the generic one.
Result<std::shared_ptr<const Adapter>> adapter_of(const AgentConfig& agent,
                                                  const std::string& folder) {
  // Embedded adapters live as long as the program.
  const auto embedded = [](std::string_view name) {
    return std::shared_ptr<const Adapter>(std::shared_ptr<const Adapter>(),
                                          &embedded_adapter(name));
  };
  if (agent.adapter.empty() && !agent.result.is_null())
    return std::make_shared<const Adapter>(adapter_of_result(*agent.result));
  if (agent.adapter.empty())
    return embedded("generic");
  if (agent.adapter.find('/') == std::string::npos)
    return embedded(agent.adapter);
  auto adapter = read_adapter(agent.adapter, folder);
  if (!adapter)
    return pass_on(adapter);
  return std::make_shared<const Adapter>(*std::move(adapter));
}

/// The adapter's command with `${model}` and `${args}` replaced by the agent's.
std::vector<std::string> command_of(const AgentConfig& agent, const Adapter& adapter) {
  if (agent.adapter.empty())
    return agent.command;
  std::vector<std::string> command;
  for (const std::string& word : adapter.argv) {
    if (word == "${args}")
      command.insert(command.end(), agent.args.begin(), agent.args.end());
    else if (word != "${model}")
      command.push_back(word);
    else if (!agent.model.empty())
      for (std::string each : adapter.model) {
        replace_all(each, "${model}", agent.model);
        command.push_back(std::move(each));
      }
  }
  return command;
}

/// What the agent gives and the adapter has no place for; empty: nothing.
std::string without_place(const AgentConfig& agent, const Adapter& adapter) {
  const auto has = [&](std::string_view word) {
    return std::find(adapter.argv.begin(), adapter.argv.end(), word) != adapter.argv.end();
  };
  if (agent.adapter.empty())
    return {};
  if (!agent.args.empty() && !has("${args}"))
    return "args";
  return !agent.model.empty() && !has("${model}") ? "model" : "";
}

/// Agents with the same values share the limits of their account.
std::string account_of(const Adapter& adapter, const AgentSpec& spec) {
  std::string values;
  for (const auto& [name, value] : spec.env)
    if (std::find(adapter.account.begin(), adapter.account.end(), name) != adapter.account.end())
      values += name + "=" + value + "\n";
  return values.empty() ? "" : hex(digest_of(values)).substr(0, 16);
}

/// The last change of a file, by its ctime, which programs cannot set; the epoch: there is none.
Time changed_at(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? Time(Millis(nanoseconds(facts.st_ctim) / 1'000'000))
                                         : Time{};
}

Time login_changed(const AgentSpec& spec) {
  Time last{};
  for (const std::string& file : login_files(spec))
    last = std::max(last, changed_at(file));
  return last;
}

/// The message about the first placeholder that baton never fills in; empty when all are known.
std::string unknown_placeholder(const AgentSpec& spec, const Config& config) {
  std::map<std::string, std::string> known;
  for (const std::string& name : value_names(config))
    known[name];
  for (const std::string& name : placeholder_names())
    known[name];
  for (const Dialect* const each : dialects())
    if (std::any_of(config.dialects.begin(), config.dialects.end(),
                    [&](const auto& served) { return served.first == each->name; }))
      for (const std::string_view name : each->placeholders)
        known[std::string(name)];
  // Only the command of an adapter has these.
  if (spec.adapter != nullptr && !spec.adapter->argv.empty())
    for (const char* const name : {"session", "prompt"})
      known[name];
  std::vector<std::string> texts = spec.argv;
  texts.insert(texts.end(), spec.before.begin(), spec.before.end());
  texts.push_back(spec.cwd);
  texts.push_back(spec.prompt);
  for (const std::string& text : texts)
    if (auto filled = fill(text, known); !filled)
      return filled.error().message;
  return {};
}

constexpr std::string_view kReload = "`baton reload`; `baton doctor` checks it";

/// The end of what a person can do: edit a file, or choose another one in the configuration.
std::string or_choose(const std::string& key, const Role& role) {
  return ", or change `" + key + ":` of the agent `" + role + "` in the configuration; then " +
         std::string(kReload);
}

/// Finds and checks the programs of `command` and `before`. A fault goes into `problem`.
void find_programs(AgentSpec& spec, const Role& role, const AgentConfig& agent,
                   const Environment& environment) {
  const auto find = [&](const char* what, const char* key, const std::vector<std::string>& command,
                        std::vector<std::string>& argv) {
    if (command.empty() || spec.problem)
      return;
    auto program =
        find_program(command.front(), variable("PATH"), environment.configuration_folder);
    if (program)
      argv.front() = *std::move(program);
    else
      spec.problem = AgentFault{
          std::string(what) + " of the agent `" + role + "` cannot be started: `" +
              printable(command.front(), 200) + "`: " + describe(program.error()),
          "install or correct " + printable(command.front(), 200) + or_choose(key, role)};
  };
  find("the program", "command", spec.argv, spec.argv);
  find("`before`", "before", agent.before, spec.before);
}

/// The folder of `cwd:` must exist, unless its path has placeholders or `before` may create it.
void find_folder(AgentSpec& spec, const Role& role) {
  std::error_code error;
  if (spec.problem || spec.cwd.empty() || !spec.before.empty() ||
      spec.cwd.find("${") != std::string::npos || std::filesystem::is_directory(spec.cwd, error))
    return;
  const std::string shown = printable(spec.cwd, 200);
  spec.problem = AgentFault{
      "the agent `" + role + "` cannot be started: its folder (`cwd:`) " + shown + " is not there",
      "make the folder " + shown + or_choose("cwd", role)};
}

/// Checks the placeholders. Adds the files that override prompts of dialects if the agent gets such
/// a prompt: it has none of its own, or uses `${brief}`.
AgentSpec checked(AgentSpec spec, const Role& role, const Config& config,
                  const std::string& folder) {
  const std::string cannot = "the agent `" + role + "` cannot be started: ";
  const std::string unknown = unknown_placeholder(spec, config);
  if (!unknown.empty() && !spec.problem)
    spec.problem =
        AgentFault{cannot + unknown, "correct the placeholder in the agent `" + role +
                                         "` of the configuration or in its prompt, then " +
                                         std::string(kReload)};
  const std::string texts = join(spec.argv, " ") + join(spec.before, " ") + spec.prompt;
  if (spec.prompt.empty() || texts.find("${brief}") != std::string::npos) {
    if (auto files = prompt_files(config, folder, role))
      spec.prompts = *std::move(files);
    else if (!spec.problem)
      spec.problem = AgentFault{cannot + files.error().message,
                                "correct " + printable(files.error().where, 200) +
                                    ", or remove it; then " + std::string(kReload)};
  }
  return spec;
}

}  // namespace

AgentSpec agent_spec(const Config& config, const Role& role, const AgentConfig& agent,
                     const Environment& environment) {
  AgentSpec spec;
  spec.may = agent.may;
  const std::string& folder = environment.configuration_folder;
  auto adapter = adapter_of(agent, folder);
  if (!adapter) {
    spec.problem = AgentFault{
        "the adapter of the agent `" + role + "` cannot be used: " + describe(adapter.error()),
        "correct " + printable(agent.adapter, 200) + or_choose("adapter", role)};
    return spec;
  }
  spec.adapter = *std::move(adapter);
  spec.argv = command_of(agent, *spec.adapter);
  spec.model = agent.model;
  spec.provider = !agent.provider.empty() ? agent.provider
                  : agent.adapter.empty() ? (config.agents.contains(role) ? role : "default")
                                          : spec.adapter->provider;
  spec.fallback = agent.fallback;
  spec.resume = agent.resume;
  spec.on_no_change = agent.on_no_change;
  // A placeholder in front holds a whole path, such as `${root}`.
  spec.cwd =
      agent.cwd.empty() || agent.cwd.starts_with("${") ? agent.cwd : absolute(agent.cwd, folder);
  spec.env = variables_of(agent, *spec.adapter);
  if (auto taken = take_user(agent, spec); !taken) {
    spec.problem =
        AgentFault{"the agent `" + role + "` cannot be started: " + taken.error().message,
                   "make the user, or correct `user:` of the agent `" + role + "`; then " +
                       std::string(kReload)};
    return spec;
  }
  spec.account = account_of(*spec.adapter, spec);
  spec.login_changed = login_changed(spec);
  spec.limits = run_limits(config, agent);
  spec.memory_max_bytes = agent.memory_max_bytes;
  spec.tasks_max = agent.tasks_max;
  spec.retry = retry_limits(config, agent);
  spec.max_transient = agent.max_transient.value_or(config.limits.max_transient);
  if (const std::string key = without_place(agent, *spec.adapter); !key.empty()) {
    spec.problem = AgentFault{"the agent `" + role + "` cannot be started: it has `" + key +
                                  ":`, and the command of the "
                                  "adapter " +
                                  printable(agent.adapter, 200) + " has no `${" + key + "}`",
                              "remove `" + key + ":`, or put `${" + key +
                                  "}` into the adapter; then " + std::string(kReload)};
    return spec;
  }
  if (spec.argv.empty()) {
    spec.problem =
        AgentFault{"the agent `" + role + "` has no command",
                   "add `command:` to the agent `" + role + "`, then " + std::string(kReload)};
    return spec;
  }
  spec.before = agent.before;
  spec.before_timeout = agent.before_timeout;
  find_programs(spec, role, agent, environment);
  find_folder(spec, role);
  // A command may not find a program that the daemon finds, so the prompt is read all the same.
  if (!agent.prompt.empty()) {
    auto prompt = read_prompt(absolute(agent.prompt, folder));
    if (!prompt) {
      if (spec.problem)
        return spec;
      spec.problem = AgentFault{
          "the prompt of the agent `" + role + "` cannot be used: " + describe(prompt.error()),
          "correct " + printable(agent.prompt, 200) + or_choose("prompt", role)};
      return spec;
    }
    spec.prompt = *std::move(prompt);
  }
  return checked(std::move(spec), role, config, folder);
}

void add_default_agents(const Config& config, Setup& setup) {
  const auto usual = setup.agents.find("default");
  if (usual == setup.agents.end() || usual->second.problem)
    return;
  for (const auto& [dialect, options] : setup.dialects)
    for (const std::string_view role : dialect->roles) {
      AgentSpec own =
          agent_spec(config, Role(role), config.agents.at("default"), setup.environment);
      own.login_changed = std::max(own.login_changed, usual->second.login_changed);
      if (own == usual->second)
        continue;
      own.configured_as = usual->first;
      setup.agents.try_emplace(Role(role), std::move(own));
    }
}

AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment) {
  const AgentConfig* const agent = agent_for(config, role);
  if (agent == nullptr)
    return known;
  if (known.problem) {
    AgentSpec fresh = agent_spec(config, role, *agent, environment);
    fresh.login_changed = std::max(fresh.login_changed, known.login_changed);
    fresh.configured_as = known.configured_as;
    return fresh;
  }
  known.login_changed = std::max(known.login_changed, login_changed(known));
  find_programs(known, role, *agent, environment);
  find_folder(known, role);
  return known;
}

std::string variable_of(const AgentSpec& spec, const std::string& name) {
  const auto found = std::find_if(spec.env.begin(), spec.env.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == spec.env.end() ? "" : found->second;
}

std::vector<std::string> login_files(const AgentSpec& spec) {
  std::vector<std::string> paths;
  if (spec.adapter == nullptr)
    return paths;
  const std::string home = variable_of(spec, "HOME");
  for (const std::string& file : spec.adapter->login_files) {
    std::string path = home.empty() ? "" : home + "/" + file;
    for (const auto& [name, folder] : spec.adapter->login_folders)
      if (const std::string other = variable_of(spec, name);
          !other.empty() && file.starts_with(folder + "/"))
        path = other + file.substr(folder.size());
    if (path.starts_with('/'))
      paths.push_back(std::move(path));
  }
  return paths;
}

void note_configuration(const std::string& configuration, Setup& setup) {
  const Time changed = configuration.empty() ? Time{} : changed_at(configuration);
  for (auto& [role, spec] : setup.agents)
    spec.login_changed = std::max(spec.login_changed, changed);
}

std::vector<std::string> unplayed(const Config& config,
                                  const std::vector<std::pair<const Dialect*, Json>>& served) {
  std::vector<std::string> all;
  for (const auto& [dialect, options] : served)
    for (const std::string_view role : dialect->roles)
      if (agent_for(config, Role(role)) == nullptr)
        all.push_back("no agent plays `" + std::string(role) + "`, which " +
                      std::string(dialect->name) + " asks for, and there is no `default`");
  return all;
}

namespace {

constexpr std::chrono::seconds kLimit{10};
constexpr std::size_t kMostFilteredBytes = 64U << 20U;
constexpr std::size_t kShown = 200;

Result<std::string> bytes_of(Result<CommandOutcome> done, const std::string& name) {
  if (!done)
    return pass_on(done);
  if (done->exit != 0)
    return fail(Errc::io, name + " ended with " + std::to_string(done->exit) + ": " +
                              printable(done->errors, kShown));
  if (done->output.empty())
    return fail(Errc::io, name + " wrote nothing");
  return std::move(done->output);
}

Result<std::unique_ptr<RunningCommand>> started(std::vector<std::string> argv,
                                                std::string_view bytes, const std::string& folder) {
  auto program = find_program(argv.front(), variable("PATH"), folder);
  if (!program)
    return fail(Errc::config, describe(program.error()));
  argv.front() = *std::move(program);
  return RunningCommand::start(argv, bytes, kMostFilteredBytes, kLimit);
}

}  // namespace

Filter filter_below(const std::string& configuration_folder) {
  return [configuration_folder](const std::vector<std::string>& argv,
                                std::string_view bytes) -> Filtering {
    auto begun = started(argv, bytes, configuration_folder);
    if (!begun)
      return [error = begun.error()](bool) { return Result<std::string>(tl::unexpected(error)); };
    // std::function needs a closure that can be copied, so copies share the command.
    const std::shared_ptr<RunningCommand> command = *std::move(begun);
    return [command, name = argv.front()](bool wait) -> std::optional<Result<std::string>> {
      auto done = command->ended(wait);
      if (!done)
        return std::nullopt;
      return bytes_of(*std::move(done), name);
    };
  };
}

}  // namespace baton
