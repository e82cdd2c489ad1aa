#include "workspace/agent_spec.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/placeholders.h"
#include "base/text.h"
#include "config/registry.h"
#include "engine/perform/start_command.h"
#include "io/files/disk.h"
#include "io/files/path_trust.h"
#include "workspace/configuration_file.h"
#include "workspace/environment.h"
#include "workspace/prompt_files.h"
#include "workspace/rule_prompts.h"

namespace baton {
namespace {

constexpr std::size_t kMaxPromptBytes = 1U << 20U;
constexpr std::array kPassedOn = {"HOME",  "LANG", "LOGNAME", "PATH",
                                  "SHELL", "TZ",   "USER",    "XDG_RUNTIME_DIR"};

bool passed_on(const std::string& name, const AgentConfig& agent) {
  return std::find(kPassedOn.begin(), kPassedOn.end(), name) != kPassedOn.end() ||
         name.starts_with("LC_") ||
         std::find(agent.env_allow.begin(), agent.env_allow.end(), name) != agent.env_allow.end();
}

std::vector<std::pair<std::string, std::string>> variables_of(const AgentConfig& agent) {
  std::map<std::string, std::string> chosen;
  for (const auto& [name, value] : variables())
    if (passed_on(name, agent))
      chosen[name] = value;
  chosen["TERM"] = "dumb";
  for (const auto& [name, value] : agent.env_set)
    chosen[name] = value;
  return {chosen.begin(), chosen.end()};
}

/// The first name between `${` and `}` that nothing will ever be put in for; empty when all are
/// known.
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
  std::vector<std::string> texts = spec.argv;
  texts.insert(texts.end(), spec.before.begin(), spec.before.end());
  texts.push_back(spec.cwd);
  texts.push_back(spec.prompt);
  for (const std::string& text : texts)
    if (auto filled = fill(text, known); !filled)
      return filled.error().message;
  return {};
}

/// Finds and checks the programs its commands name.
void find_programs(AgentSpec& spec, const Role& role, const AgentConfig& agent,
                   const Environment& environment) {
  const auto find = [&](const char* what, const std::vector<std::string>& command,
                        std::vector<std::string>& argv) {
    if (command.empty() || !spec.problem.empty())
      return;
    auto program =
        find_program(command.front(), variable("PATH"), environment.configuration_folder);
    if (program)
      argv.front() = *std::move(program);
    else
      spec.problem = std::string(what) + " of the agent `" + role + "` cannot be started: `" +
                     printable(command.front(), 200) + "`: " + describe(program.error());
  };
  find("the program", agent.command, spec.argv);
  find("`before`", agent.before, spec.before);
}

/// A folder that has one name, and that nothing makes before, has to be there.
void find_folder(AgentSpec& spec, const Role& role) {
  std::error_code error;
  if (!spec.problem.empty() || spec.cwd.empty() || !spec.before.empty() ||
      spec.cwd.find("${") != std::string::npos || std::filesystem::is_directory(spec.cwd, error))
    return;
  spec.problem = "the agent `" + role + "` cannot be started: its folder (`cwd:`) " +
                 printable(spec.cwd, 200) + " is not there";
}

/// Whether it is given what the dialect writes: without a prompt of its own, or by `${brief}`.
bool is_given_brief(const AgentSpec& spec) {
  std::vector<std::string> texts = spec.argv;
  texts.insert(texts.end(), spec.before.begin(), spec.before.end());
  texts.push_back(spec.prompt);
  return spec.prompt.empty() ||
         std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
           const auto names = placeholders_in(text);
           return std::find(names.begin(), names.end(), "brief") != names.end();
         });
}

AgentSpec checked(AgentSpec spec, const Role& role, const Config& config,
                  const std::string& folder) {
  std::string fault = unknown_placeholder(spec, config);
  PromptFiles files = prompt_files(config, folder);
  if (fault.empty() && is_given_brief(spec))
    fault = fault_for(files, role);
  spec.prompts = std::move(files.texts);
  if (!fault.empty())
    spec.problem = "the agent `" + role + "` cannot be started: " + fault;
  return spec;
}

}  // namespace

AgentSpec agent_spec(const Config& config, const Role& role, const AgentConfig& agent,
                     const Environment& environment) {
  AgentSpec spec;
  const std::string& folder = environment.configuration_folder;
  spec.argv = agent.command;
  spec.cwd = agent.cwd.empty() ? "" : absolute(agent.cwd, folder);
  spec.env = variables_of(agent);
  spec.limits = run_limits(config, agent);
  spec.retry = retry_limits(config, agent);
  if (spec.argv.empty()) {
    spec.problem = "the agent `" + role + "` has no command";
    return spec;
  }
  spec.before = agent.before;
  spec.before_timeout = agent.before_timeout;
  find_programs(spec, role, agent, environment);
  find_folder(spec, role);
  if (!spec.problem.empty())
    return spec;
  if (agent.prompt.empty())
    return checked(std::move(spec), role, config, folder);
  auto prompt = read_file(absolute(agent.prompt, folder), kMaxPromptBytes);
  if (!prompt) {
    spec.problem =
        "the prompt of the agent `" + role + "` cannot be read: " + describe(prompt.error());
    return spec;
  }
  if (const std::string fault = prompt_fault(*prompt); !fault.empty())
    spec.problem = "the prompt of the agent `" + role + "` cannot be used: " + fault + ": " +
                   printable(agent.prompt, 200);
  spec.prompt = *std::move(prompt);
  return spec.problem.empty() ? checked(std::move(spec), role, config, folder) : spec;
}

void add_default_agents(const Config& config, Setup& setup) {
  const auto usual = setup.agents.find("default");
  if (usual == setup.agents.end() || !usual->second.problem.empty())
    return;
  const AgentConfig& agent = config.agents.at("default");
  for (const auto& [dialect, options] : setup.dialects)
    for (const std::string_view role : dialect->roles) {
      if (setup.agents.contains(Role(role)))
        continue;
      AgentSpec own = agent_spec(config, Role(role), agent, setup.environment);
      if (!own.problem.empty())
        setup.agents.emplace(role, std::move(own));
    }
}

AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment) {
  const AgentConfig* const agent = agent_for(config, role);
  if (agent == nullptr)
    return known;
  if (!known.problem.empty())
    return agent_spec(config, role, *agent, environment);
  find_programs(known, role, *agent, environment);
  find_folder(known, role);
  return known;
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

}  // namespace baton
