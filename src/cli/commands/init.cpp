// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "base/embedded.h"
#include "base/text.h"
#include "config/registry.h"
#include "io/files/disk.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCoordination = "coordination";
constexpr std::string_view kWorkflows = "agent_run";
constexpr std::string_view kCcwLoop = "ccw_loop";
constexpr std::string_view kSteps = "ml_workflow";
constexpr std::string_view kLoops = "fsm_loop";

/// The lines of a role besides its command.
struct RoleLines {
  std::string_view dialect;
  std::string_view role;
  std::string_view more;
};
constexpr std::string_view kUsualAdapter = "claude";
constexpr std::string_view kLong = "    timeout: 45m\n";
/// For agent_run: the roles of the example workflow.
constexpr std::array kRoles = {
    RoleLines{kCoordination, "project_manager"},
    RoleLines{kCoordination, "developer", "    #prompt: prompts/developer.md\n    timeout: 45m\n"},
    RoleLines{kCoordination, "qa_expert"},
    RoleLines{kCoordination, "tech_lead"},
    RoleLines{kLoops, "agent", kLong},
    RoleLines{kLoops, "judge"},
    RoleLines{kCcwLoop, "executor", kLong},
    RoleLines{kWorkflows, "architect"},
    RoleLines{kWorkflows, "developer", kLong},
    RoleLines{kWorkflows, "reviewer"},
    RoleLines{kSteps, "planner"},
    RoleLines{kSteps, "validator"},
    RoleLines{kSteps, "programmer", kLong},
};

/// How to start the first flow of a dialect, for people.
struct Beginning {
  std::string_view dialect;
  std::string_view text;
};
constexpr std::array kBeginnings = {
    Beginning{kCoordination,
              "start a session with `baton start coordination --requirements @FILE`"},
    Beginning{kLoops, "start the example loop with `baton start example`"},
    Beginning{kCcwLoop,
              "create a loop with `baton create --title TEXT`, then `baton start` the name that it "
              "prints"},
    Beginning{kWorkflows, "start a workflow with `baton start workflow.yaml`"},
    Beginning{
        kSteps,
        "start a workflow with `baton start NAME --dialect ml_workflow --requirements @FILE`"},
};

/// The prompt of the example of tickets.
constexpr std::string_view kTicketPrompt = "prompts/developer.md";

struct Planned {
  std::string path;  ///< below the folder
  std::string text;
};

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The choices of `--dialect`.
std::vector<std::string> choices() {
  std::vector<std::string> names;
  for (const Dialect* const each : dialects())
    names.emplace_back(each->name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string template_of(const std::string& name) {
  return std::string(*embedded_file("templates/init/" + name));
}

/// Up to four placeholders of the requested dialects, to show what there is.
std::string placeholders_of(const std::vector<std::string>& wanted) {
  std::set<std::string> placeholders;
  for (const std::string& name : wanted)
    for (const std::string_view placeholder : dialect(name)->placeholders)
      if (placeholders.size() < 4)
        placeholders.insert("${" + std::string(placeholder) + "}");
  return join(std::vector<std::string>(placeholders.begin(), placeholders.end()), ", ");
}

/// How a role is started: `adapter:`, and the arguments that let the program edit files.
std::string adapter_lines(const std::string& name) {
  std::string lines = "    adapter: " + name + "\n";
  if (const auto& args = embedded_adapter(name).edit_args; !args.empty())
    lines += "    args: [" + join(args, ", ") + "]\n";
  return lines;
}

/// The roles of all requested dialects, each once. Without such a dialect: one agent if an adapter
/// was named, else a comment.
std::string agents_of(const std::vector<std::string>& wanted, const std::string& adapter) {
  const std::string started = adapter_lines(adapter.empty() ? std::string(kUsualAdapter) : adapter);
  std::set<std::string_view> known;
  std::string roles;
  for (const RoleLines& each : kRoles)
    if (has(wanted, each.dialect) && known.insert(each.role).second)
      roles.append("  ").append(each.role).append(":\n").append(started).append(each.more);
  if (roles.empty() && adapter.empty())
    return template_of("agents_example.yaml");
  std::string text = template_of("agents.yaml");
  if (roles.empty())
    roles = "  developer:\n" + started + "    prompt: " + std::string(kTicketPrompt) + "\n" +
            std::string(kLong);
  const std::string placeholders = placeholders_of(wanted);
  replace_all(text, "@PLACEHOLDERS@", placeholders.empty() ? "${role}" : placeholders);
  replace_all(text, "@ROLES@", roles);
  return text;
}

/// Whether to write the example of tickets: an adapter was named, and no layout that asks for
/// roles.
bool has_tickets(const std::vector<std::string>& wanted, const std::string& adapter) {
  return !adapter.empty() && std::none_of(kRoles.begin(), kRoles.end(), [&](const RoleLines& each) {
    return has(wanted, each.dialect);
  });
}

std::string configuration(const std::vector<std::string>& wanted, const std::string& adapter) {
  std::string listed;
  for (const std::string& name : wanted)
    if (name != "rules")
      listed += "  " + name + ": {}\n";
  if (!listed.empty())
    listed.insert(0,
                  "\n# The file layouts that baton works on. It ignores all others.\ndialects:\n");
  std::string text = template_of("baton.yaml");
  replace_all(text, "@AGENTS@", agents_of(wanted, adapter));
  replace_all(text, "@DIALECTS@", listed);
  replace_all(text, "@RULES@",
              template_of(has_tickets(wanted, adapter) ? "tickets.yaml" : "rules_example.yaml"));
  return text;
}

/// The existing configuration, if there is one.
Result<std::optional<Config>> configured(const std::string& folder) {
  std::error_code none;
  if (!fs::exists(fs::path(folder) / "baton.yaml", none))
    return std::nullopt;
  Places places;
  places.root = folder;
  places.config = (fs::path(folder) / "baton.yaml").string();
  auto context = Context::open(places);
  if (!context)
    return pass_on(context);
  if (auto known = known_dialects(context->config()); !known) {
    known.error().where = places.config;
    return pass_on(known);
  }
  return context->config();
}

/// The folder of a dialect's files below the root: the configuration decides.
Result<std::string> folder_of(std::string_view name, const std::optional<Config>& config) {
  auto dialects = known_dialects(config.value_or(Config{}));
  if (!dialects)
    return pass_on(dialects);
  for (const auto& [dialect, options] : *dialects)
    if (dialect->name == name)
      return fs::path(dialect->files(options).front().pattern).parent_path().string();
  return std::string(name);
}

/// An existing configuration is not changed, so report what it lacks for the requested layouts.
void report_missing_dialects(const std::vector<std::string>& wanted, const Config& config) {
  for (const std::string& name : wanted)
    if (name != "rules" && std::none_of(config.dialects.begin(), config.dialects.end(),
                                        [&](const auto& entry) { return entry.first == name; }))
      complain("baton.yaml does not name the dialect " + name +
               ": add it below `dialects:`, otherwise baton ignores its files");
}

/// Adds the embedded files below `from`, to be written below `place`. Fixed times in them become
/// the present time.
void add_files(std::string_view from, const std::string& place, std::vector<Planned>& files) {
  const std::string now = iso_time(real_clock()->wall());
  // Names of sessions have the time 2026-01-22T10:00:00Z as 20260122_100000.
  std::string stamp = now.substr(0, now.size() - 1);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  replace_all(stamp, "T", "_");
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with(from))
      continue;
    std::string text(file.bytes);
    replace_all(text, "20250101_000000", stamp);
    replace_all(text, "2025-01-01T00:00:00Z", now);
    files.push_back({place + std::string(file.path.substr(from.size())), std::move(text)});
  }
}

/// The files to write for these layouts.
Result<std::vector<Planned>> planned_files(const std::vector<std::string>& wanted,
                                           const std::string& adapter,
                                           const std::optional<Config>& there) {
  std::vector<Planned> files = {{"baton.yaml", configuration(wanted, adapter)}};
  if (has_tickets(wanted, adapter))
    files.push_back({std::string(kTicketPrompt), template_of("developer.md")});
  for (const auto& [name, from] :
       {std::pair(kCoordination, "coordination/"), std::pair(kLoops, "examples/fsm_loop/")}) {
    if (!has(wanted, name))
      continue;
    auto place = folder_of(name, there);
    if (!place)
      return pass_on(place);
    add_files(from, *place + "/", files);
  }
  if (has(wanted, kWorkflows))
    add_files("examples/agent_run/", "", files);
  return files;
}

/// Complains about the first unknown name of a `what`, with a suggestion.
bool all_known(const std::string& what, const std::vector<std::string>& wanted,
               const std::vector<std::string>& known) {
  const auto wrong = std::find_if(wanted.begin(), wanted.end(),
                                  [&](const auto& name) { return !has(known, name); });
  if (wrong == wanted.end())
    return true;
  const auto near = nearest(*wrong, known);
  complain("there is no " + what + " " + printable(*wrong, 60) +
           (near ? "; did you mean " + *near + "?" : "; there are " + join(known, ", ")));
  return false;
}

ExitCode write(const std::string& folder, const std::vector<Planned>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  auto disk = real_disk(folder);
  if (!disk)
    return complain(disk.error());
  ExitCode code = ExitCode::fine;
  for (const Planned& file : files) {
    const std::string shown = printable((fs::path(folder) / file.path).lexically_normal().string());
    const auto made = (*disk)->create(file.path, file.text);
    if (made) {
      print("wrote " + shown + "\n");
    } else if (made.error().code == Errc::changed) {
      // Running init again is no error: the existing file may be a session to resume.
      complain(shown + " exists and is left as it is");
    } else {
      code = graver(code, complain(made.error()));
    }
  }
  return code;
}

}  // namespace

ExitCode init_command(Words words) {
  std::string folder;
  std::string root;
  std::string adapter;
  std::vector<std::string> wanted;
  const auto known = choices();
  const auto adapters = adapter_names();
  Options options(
      "init",
      "Writes a commented baton.yaml and the initial files of the layouts you name.\n"
      "Never overwrites anything.",
      {{ExitCode::fine, "written; files that existed already are unchanged, and named on stderr"},
       {ExitCode::usage, "wrong usage, or the existing configuration is wrong"},
       {ExitCode::unreachable, "a file could not be read or written"}});
  options.word("DIR", folder, "The root (default: the current folder)", false);
  options.value("--root", root, "DIR", "The same as DIR");
  options.values("--dialect", wanted, "NAME", "A file layout to set up: " + join(known, ", "));
  options.value("--adapter", adapter, "NAME",
                "The program of the agents: " + join(adapters, ", ") +
                    ". Without --dialect, also writes a rule and a prompt for tickets");
  options.exclude("DIR", {"--root"});
  if (const auto over = options.parse(words))
    return *over;
  if (folder.empty())
    folder = root.empty() ? "." : root;
  if (!all_known("dialect", wanted, known))
    return ExitCode::usage;
  if (!adapter.empty() && !all_known("adapter", {adapter}, adapters))
    return ExitCode::usage;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const auto there = configured(folder);
  if (!there)
    return finish(complain(there.error()));
  auto files = planned_files(wanted, adapter, *there);
  if (!files)
    return finish(complain(files.error()));
  const ExitCode code = write(folder, *files);
  if (*there)
    report_missing_dialects(wanted, **there);
  if (code != ExitCode::fine)
    return finish(code);
  if (!*there && has_tickets(wanted, adapter))
    print("tickets: write tickets/NAME.json with {\"status\": \"ready\", \"title\": \"...\"}\n");
  print("next: look at baton.yaml, then `baton doctor`, then `baton run`\n");
  for (const Beginning& each : kBeginnings)
    if (has(wanted, each.dialect))
      print(std::string(each.dialect) + ": " + std::string(each.text) + "\n");
  return finish(code);
}

}  // namespace baton
