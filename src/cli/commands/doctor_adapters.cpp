// SPDX-License-Identifier: Apache-2.0

// What `baton doctor` finds out about the programs of agents with an adapter.
//
// Problem: a program of another version, without a login or in a folder that it refuses fails at
// the first run only, hours later. Way: ask each program for its version, in the environment that
// its agents get, and look for what the adapter names: login variables and files, a git repository,
// an argument that root may not use. Limits: whether a login is valid is known to the provider
// only.
//
// A command that looks must execute nothing that somebody else's repository names. So before `baton
// run` has served a root with this configuration, only programs of baton's own adapters are asked,
// if they lie outside of the repository, and without what the configuration sets.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "adapters/adapter.h"
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "io/files/path_trust.h"
#include "io/system/command.h"
#include "io/system/state_folder.h"
#include "workspace/adapter_file.h"
#include "workspace/agent_spec.h"
#include "workspace/daemon_status.h"
#include "workspace/folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using Level = Diagnosis::Level;

constexpr std::chrono::seconds kVersionLimit{10};
constexpr std::size_t kMaxVersionBytes = 1U << 20U;
constexpr std::size_t kShown = 200;

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Agents that start the same program in the same environment.
struct Program {
  std::vector<std::string> roles;
  const AgentSpec* spec = nullptr;
  std::unique_ptr<RunningCommand> version;  ///< nullptr: it could not be started
  std::string trouble;                      ///< why not
  std::string not_asked;                    ///< why it was not even tried
};

void note(Diagnoses& all, Level level, std::string message, std::string advice = {}) {
  all.push_back({level, "adapter", std::move(message), std::move(advice)});
}

std::string names(const Program& program) {
  return join(program.roles, ", ");
}

/// The first number with a dot in it: `2.1.293` of `2.1.293 (Claude Code)`.
std::string version_in(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]))
      continue;
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.'))
      ++end;
    std::string number = text.substr(at, end - at);
    while (number.ends_with('.'))
      number.pop_back();
    if (number.find('.') != std::string::npos)
      return number;
    at = end;
  }
  return {};
}

bool is_tested(const std::string& version, const std::vector<std::string>& tested) {
  return std::any_of(tested.begin(), tested.end(), [&](const std::string& each) {
    return version == each || version.starts_with(each + ".");
  });
}

/// The nearest folder with a git repository, from this one upwards; "" if there is none.
std::string repository_around(fs::path folder) {
  std::error_code error;
  for (;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error))
      return folder.string();
    if (!folder.has_relative_path())
      return {};
  }
}

/// Whose files somebody else may have written: the roots, and the repositories around them and
/// around the configuration.
std::vector<std::string> foreign_folders(const Context& context) {
  std::vector<std::string> all = context.roots();
  for (const std::string& folder : context.roots())
    all.push_back(repository_around(folder));
  all.push_back(repository_around(context.folder()));
  std::erase(all, "");
  return all;
}

/// The first of the folders in which the path or its target lies; "" if in none.
std::string folder_around(const std::string& path, const std::vector<std::string>& folders) {
  const auto real = real_path(path);
  for (const std::string& folder : folders)
    if (path == folder || below(folder, path) || !real || *real == folder || below(folder, *real))
      return folder;
  return {};
}

/// Whether `baton run` of this user has served one of the roots with this configuration. State that
/// lies in one of `folders` does not count: it may have come with them.
bool has_run(const Context& context, const std::vector<std::string>& folders) {
  for (const Context& each : context.each()) {
    const auto state = each.state_folder();
    struct stat facts {};
    if (!state || lstat(state->c_str(), &facts) != 0 || facts.st_uid != geteuid() ||
        !trusted_folder(*state) || !folder_around(*state, folders).empty())
      continue;
    auto status = daemon_status(*state);
    if (!status)
      status = last_daemon_status(*state);
    if (status && !status->configuration.empty() &&
        status->configuration == context.configuration())
      return true;
  }
  return false;
}

std::string path_in(const Variables& env) {
  const auto found =
      std::find_if(env.begin(), env.end(), [](const auto& each) { return each.first == "PATH"; });
  return found == env.end() ? "" : found->second;
}

/// Asks programs for their versions, as far as they may be executed.
class VersionAsker {
 public:
  VersionAsker(const Context& context, const Setup& setup)
      : context_(context),
        setup_(setup),
        folders_(foreign_folders(context)),
        has_run_(has_run(context, folders_)) {}

  /// Starts the command of the program for its version.
  void ask(const Role& role, Program& program) const;

 private:
  Variables environment_of(const Role& role, const AgentSpec& spec, const AgentConfig& agent) const;
  std::string objection(const AgentConfig& agent, const std::string& path) const;

  const Context& context_;
  const Setup& setup_;
  std::vector<std::string> folders_;
  bool has_run_;
};

/// The environment of the agent. If baton has not run yet, without what the configuration sets, and
/// without entries of PATH in folders that somebody else may have written.
Variables VersionAsker::environment_of(const Role& role, const AgentSpec& spec,
                                       const AgentConfig& agent) const {
  if (has_run_)
    return spec.env;
  AgentConfig unset = agent;
  unset.env_set.clear();
  Variables env = agent_spec(context_.config(), role, unset, setup_.environment).env;
  // An installed script may name its interpreter by `#!/usr/bin/env`.
  for (auto& [name, value] : env)
    if (name == "PATH") {
      std::vector<std::string> entries = split(value, ':');
      std::erase_if(entries, [&](const std::string& entry) {
        return !folder_around(entry, folders_).empty();
      });
      value = join(entries, ":");
    }
  return env;
}

/// Why the program may not be executed; "" if it may.
std::string VersionAsker::objection(const AgentConfig& agent, const std::string& path) const {
  if (has_run_)
    return {};
  std::string what;
  if (agent.adapter.find('/') != std::string::npos)
    what = "its adapter is a file";
  else if (const std::string folder = folder_around(path, folders_); !folder.empty())
    what = path + " lies in " + folder;
  return what.empty() ? what : what + ", and baton has not run here with this configuration yet";
}

void VersionAsker::ask(const Role& role, Program& program) const {
  const AgentSpec& spec = *program.spec;
  const AgentConfig* const agent = agent_for(context_.config(), role);
  std::vector<std::string> argv = spec.adapter->version_argv;
  if (argv.empty() || agent == nullptr)
    return;
  const Variables env = environment_of(role, spec, *agent);
  // The program of `command` has been found already.
  if (argv.front() == spec.adapter->argv.front()) {
    argv.front() = spec.argv.front();
  } else if (auto found = find_program(argv.front(), path_in(env), context_.folder())) {
    argv.front() = *std::move(found);
  } else {
    program.trouble = describe(found.error());
    return;
  }
  program.not_asked = objection(*agent, argv.front());
  if (!program.not_asked.empty())
    return;
  std::vector<std::string> settings;
  for (const auto& [name, value] : env)
    settings.push_back(name + "=" + value);
  // Version managers read files of the folder in which they are called.
  auto started = RunningCommand::start(argv, "", kMaxVersionBytes, kVersionLimit, settings,
                                       has_run_ ? "" : "/");
  if (started)
    program.version = *std::move(started);
  else
    program.trouble = describe(started.error());
}

void tell_version(Program& program, Diagnoses& all) {
  const Adapter& adapter = *program.spec->adapter;
  if (adapter.version_argv.empty())
    return;
  const std::string command = "`" + printable(join(adapter.version_argv, " "), kShown) + "`";
  const std::string who = names(program) + ": ";
  const auto troubled = [&](const std::string& what) {
    note(
        all, Level::warning, who + command + " " + what,
        "run it as the user of the daemon; if it asks something or fails there, so will the agent");
  };
  if (!program.not_asked.empty())
    return note(all, Level::fine, who + "version not asked: " + program.not_asked);
  if (program.version == nullptr)
    return troubled("cannot be run: " + program.trouble);
  const auto ended = program.version->ended(true);
  if (!ended || !*ended)
    return troubled(ended ? (*ended).error().message : "did not end");
  const CommandOutcome& outcome = **ended;
  if (outcome.exit != 0)
    return troubled("ended with exit status " + std::to_string(outcome.exit) +
                    (outcome.errors.empty() ? "" : ": " + printable(outcome.errors, kShown)));
  const std::string version = version_in(outcome.output);
  if (version.empty())
    return troubled("printed no version: " + printable(outcome.output, kShown));
  if (adapter.tested.empty())
    return note(all, Level::warning,
                who + adapter.name + " " + version +
                    "; the adapter was written from the documentation and tested with no version",
                "watch the first runs: `baton agents` shows how baton judged them");
  if (is_tested(version, adapter.tested))
    return note(all, Level::fine, who + adapter.name + " " + version + ", a tested version");
  note(all, Level::warning,
       who + adapter.name + " " + version +
           " is not a tested version; tested: " + join(adapter.tested, ", "),
       "watch the first runs: `baton agents` shows how baton judged them");
}

void examine_login(const Program& program, Diagnoses& all) {
  const AgentSpec& spec = *program.spec;
  const std::vector<std::string>& wanted = spec.adapter->login_variables;
  const std::vector<std::string> files = login_files(spec);
  std::vector<std::string> places;
  for (const std::string& name : wanted) {
    if (!variable_of(spec, name).empty())
      return note(all, Level::fine, names(program) + ": the login is in " + name);
    places.push_back("$" + name);
  }
  for (const std::string& file : files) {
    struct stat facts {};
    if (stat(file.c_str(), &facts) == 0)
      return note(all, Level::fine, names(program) + ": the login is in " + file);
    places.push_back(file);
  }
  if (!places.empty())
    note(all, Level::warning,
         names(program) + ": " + spec.adapter->name +
             " has no login here; none of these is there: " + join(places, ", "),
         "log in as the user of the daemon, or give the daemon one of the variables");
}

void examine_git(const Role& role, const AgentSpec& spec, const Context& context, Diagnoses& all) {
  const std::string& unless = spec.adapter->git_unless;
  if (unless.empty() || std::find(spec.argv.begin(), spec.argv.end(), unless) != spec.argv.end() ||
      !spec.before.empty() || spec.cwd.find("${") != std::string::npos)
    return;
  for (const std::string& folder :
       spec.cwd.empty() ? context.roots() : std::vector<std::string>{spec.cwd})
    if (repository_around(folder).empty())
      note(all, Level::warning,
           role + ": " + spec.adapter->name + " does not work in a folder outside of a git " +
               "repository, unless it trusts the folder, and " + folder + " is in none",
           "`git init` there, or add " + unless + " to `args:` of the agent");
}

void examine_root(const Role& role, const AgentSpec& spec, Diagnoses& all) {
  const Adapter& adapter = *spec.adapter;
  if (adapter.not_as_root.empty() || geteuid() != 0 ||
      std::find(spec.argv.begin(), spec.argv.end(), adapter.not_as_root) == spec.argv.end() ||
      (!adapter.not_as_root_unless.empty() && variable_of(spec, adapter.not_as_root_unless) == "1"))
    return;
  note(all, Level::error,
       role + ": " + adapter.name + " refuses " + adapter.not_as_root + " as root",
       "run the daemon as its own user, or remove the argument" +
           (adapter.not_as_root_unless.empty()
                ? std::string()
                : "; in a container set " + adapter.not_as_root_unless + " to 1 in `env.set`"));
}

}  // namespace

std::set<std::string> agent_variables(const Context& context) {
  std::set<std::string> all = {"HOME", "PATH"};
  for (const auto& [role, agent] : context.config().agents) {
    all.insert(agent.env_allow.begin(), agent.env_allow.end());
    if (agent.adapter.empty())
      continue;
    const auto own = agent.adapter.find('/') == std::string::npos
                         ? Result<Adapter>(embedded_adapter(agent.adapter))
                         : read_adapter(agent.adapter, context.folder());
    if (own)
      all.insert(own->env_pass.begin(), own->env_pass.end());
  }
  return all;
}

void examine_adapters(const Context& context, const Setup& setup, Diagnoses& all) {
  std::vector<Program> programs;
  const VersionAsker asker(context, setup);
  for (const auto& [role, spec] : setup.agents) {
    if (spec.problem || spec.adapter == nullptr || spec.adapter->argv.empty())
      continue;
    const auto same =
        std::find_if(programs.begin(), programs.end(), [&, &its = spec](const Program& each) {
          return each.spec->adapter->name == its.adapter->name &&
                 each.spec->argv.front() == its.argv.front() && each.spec->env == its.env;
        });
    Program& program = same == programs.end() ? programs.emplace_back() : *same;
    program.roles.push_back(role);
    if (program.spec == nullptr) {
      program.spec = &spec;
      // All programs run at the same time, because some take seconds to begin.
      asker.ask(role, program);
    }
  }
  for (Program& program : programs) {
    tell_version(program, all);
    examine_login(program, all);
  }
  for (const auto& [role, spec] : setup.agents) {
    if (spec.problem || spec.adapter == nullptr || spec.adapter->argv.empty())
      continue;
    examine_git(role, spec, context, all);
    examine_root(role, spec, all);
  }
}

}  // namespace baton
