#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/options.h"
#include "cli/output.h"
#include "dialects/registry.h"
#include "io/clock.h"
#include "io/disk.h"
#include "io/place.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCoordination = "coordination";
constexpr std::string_view kWorkflows = "agent_run";
constexpr std::string_view kLoop = "ccw_loop";
constexpr std::string_view kSteps = "ml_workflow";

constexpr std::string_view kHead =
    R"(# baton: which agents there are, which state files they write, what is started when.
# `baton doctor` checks this file; `baton schema config` is its schema.
version: 1
)";

constexpr std::string_view kAgentsExample = R"(
# Role -> how to start it. A program and its arguments, never a shell; a program with a `/` is
# relative to this file. ${subject}, ${flow}, ${purpose} and others are filled in.
#agents:
#  developer:
#    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
#    prompt: prompts/developer.md      # given on stdin; without it baton says what is to be done
#    timeout: 45m
#    idle_timeout: 10m
#  qa_expert:
#    command: [./agents/qa.sh, "${subject}"]
#    env: { allow: [CI], set: { QA_LEVEL: full } }
)";

constexpr std::string_view kLimits = R"(
# The defaults. max_running: per daemon; spawns_per_hour, cost_per_hour (US dollars, as the agents
# report them), max_attempts: per flow.
#limits: { max_running: 4, spawns_per_hour: 60, max_attempts: 3, backoff: 10s, max_backoff: 5m,
#          timeout: 1h, idle_timeout: 15m, kill_grace: 10s, log_cap: 10MiB, cost_per_hour: 50 }

# What becomes of a run that a power cut may have cut off: hold, retry or fail.
#on_interrupted: hold

# A program that is told what happens, as one JSON object on stdin.
#notify: { command: [./notify.sh] }
)";

constexpr std::string_view kRulesExample = R"(
# A layout of your own: which files, where in them the stage stands, what is started when.
#rules:
#  - name: tickets
#    files: "tickets/{flow}.json"      # one flow per file
#    schema: schemas/ticket.schema.json
#    stage: /status                    # or "/{subject}/status": one subject per member
#    react:
#      - { to: ready, run: developer }
#      - { from: ready, to: rejected, stop: developer }
)";

constexpr std::string_view kCoordinationAgents = R"(
# Role -> how to start it. A program and its arguments, never a shell; a program with a `/` is
# relative to this file. ${subject}, ${flow}, ${purpose} and others are filled in.
agents:
  project_manager:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
  developer:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
    #prompt: prompts/developer.md      # given on stdin; without it baton says what is to be done
    timeout: 45m
  qa_expert:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
  tech_lead:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
)";

constexpr std::string_view kWorkflowAgents = R"(
# Role -> how to start it. The roles are those that the steps of your workflows name (`agent:`). A program
# and its arguments, never a shell; a program with a `/` is relative to this file. ${step_id}, ${prompt},
# ${report} and others are filled in; the prompt file's text comes on stdin.
agents:
  architect:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
  developer:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
    timeout: 45m
  reviewer:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
)";

constexpr std::string_view kCoordinationRules = R"(
# The groups of coordination/group_status.json: each is handed on as its status says.
rules:
  - name: groups
    files: coordination/group_status.json
    schema: coordination/group_status
    stage: "/{subject}/status"
    react:
      - { to: [pending, qa_failed, changes_requested], run: developer }
      - { to: waiting_qa, run: qa_expert }
      - { to: waiting_review, run: tech_lead }
)";

constexpr std::string_view kLoopAgents = R"(
# Role -> how to start it. A program and its arguments, never a shell; a program with a `/` is
# relative to this file. ${loop_id}, ${action}, ${progress_dir} and others are filled in.
agents:
  executor:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
    timeout: 45m
)";

constexpr std::string_view kStepAgents = R"(
# Role -> how to start it. A program and its arguments, never a shell; a program with a `/` is
# relative to this file. ${step}, ${template}, ${artifacts}, ${instance} and others are filled in.
agents:
  planner:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
  validator:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
  programmer:
    command: [claude, -p, --output-format, json, --permission-mode, acceptEdits]
    timeout: 45m
)";

struct Planned {
  std::string path;  ///< below the folder
  std::string text;
};

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What `--dialect` may say: those of this binary, and the coordination folder, which rules can
/// serve.
std::vector<std::string> choices() {
  std::vector<std::string> names;
  for (const Dialect* const each : dialects())
    names.emplace_back(each->name);
  if (!has(names, kCoordination))
    names.emplace_back(kCoordination);
  std::sort(names.begin(), names.end());
  return names;
}

std::string configuration(const std::vector<std::string>& wanted) {
  const bool coordination = has(wanted, kCoordination);
  std::string text(kHead);
  const std::string only = wanted.size() == 1 ? wanted.front() : "";
  text += coordination              ? kCoordinationAgents
          : has(wanted, kWorkflows) ? kWorkflowAgents
          : only == kLoop           ? kLoopAgents
          : only == kSteps          ? kStepAgents
                                    : kAgentsExample;
  text += kLimits;
  std::string listed;
  for (const std::string& name : wanted)
    if (name != "rules" && dialect(name) != nullptr)
      listed += "  " + name + ": {}\n";
  if (!listed.empty())
    text += "\n# File layouts to act upon; only what is listed here is acted upon.\ndialects:\n" +
            listed;
  text += coordination && dialect(kCoordination) == nullptr ? kCoordinationRules : kRulesExample;
  return text;
}

void replace(std::string& text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The configuration that is there already, if there is one.
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
  return context->config();
}

/// Where the files of coordination lie below the root: what a configuration says counts.
Result<std::string> coordination_folder(const std::optional<Config>& config) {
  auto dialects = known_dialects(config.value_or(Config{}));
  if (!dialects)
    return pass_on(dialects);
  for (const auto& [dialect, options] : *dialects)
    if (dialect->name == kCoordination)
      return fs::path(dialect->files(options).front().pattern).parent_path().string();
  return std::string(kCoordination);
}

/// Nobody's configuration is changed; but who asked for a layout has to be told what it lacks.
void tell_missing(const std::vector<std::string>& wanted, const Config& config) {
  for (const std::string& name : wanted)
    if (name != "rules" && dialect(name) != nullptr &&
        std::none_of(config.dialects.begin(), config.dialects.end(),
                     [&](const auto& entry) { return entry.first == name; }))
      complain("baton.yaml does not name the dialect " + name +
               ": add it below `dialects:`, or nothing of it is acted upon");
}

/// The embedded folder, with the session and the times of now.
std::vector<Planned> template_files(const std::string& place) {
  const std::string now = iso_time(real_clock()->wall());
  // 2026-01-22T10:00:00Z is 20260122_100000.
  std::string stamp;
  for (const char c : now.substr(0, now.size() - 1))
    if (c != '-' && c != ':')
      stamp += c == 'T' ? '_' : c;
  std::vector<Planned> files;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with("coordination/"))
      continue;
    std::string text(file.bytes);
    replace(text, "20250101_000000", stamp);
    replace(text, "2025-01-01T00:00:00Z", now);
    files.push_back({place + std::string(file.path.substr(kCoordination.size())), std::move(text)});
  }
  return files;
}

/// A workflow to begin with, and its prompts.
std::vector<Planned> workflow_files() {
  constexpr std::string_view kFolder = "examples/agent_run/";
  std::vector<Planned> files;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(kFolder))
      files.push_back({std::string(file.path.substr(kFolder.size())), std::string(file.bytes)});
  return files;
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
      // Asking again is no fault: what is there may be a session that is to be resumed.
      complain(shown + " exists and is left as it is");
    } else {
      code = graver(code, complain(made.error()));
    }
  }
  return code;
}

}  // namespace

ExitCode init_command(Words words) {
  std::string folder = ".";
  std::vector<std::string> wanted;
  const auto known = choices();
  Options options("init",
                  "Writes a commented baton.yaml, and the initial files of the layouts asked for.\n"
                  "Never overwrites anything.",
                  "  0  written; what was there already was left as it is, and is named on stderr\n"
                  "  2  wrong usage; the configuration that is there is wrong\n"
                  "  3  could not be written");
  options.word("DIR", folder, "The root (this folder)", false);
  options.values("--dialect", wanted, "NAME", "A layout to begin with: " + join(known, ", "));
  if (const auto over = options.parse(words))
    return *over;
  for (const std::string& name : wanted)
    if (!has(known, name)) {
      const auto near = nearest(name, known);
      complain("there is no dialect " + printable(name, 60) +
               (near ? "; did you mean " + *near + "?" : "; there are " + join(known, ", ")));
      return ExitCode::usage;
    }
  std::vector<Planned> files = {{"baton.yaml", configuration(wanted)}};
  const auto there = wanted.empty() ? Result<std::optional<Config>>() : configured(folder);
  if (!there)
    return finish(complain(there.error()));
  if (has(wanted, kCoordination)) {
    const auto place = coordination_folder(*there);
    if (!place)
      return finish(complain(place.error()));
    auto more = template_files(*place);
    files.insert(files.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  if (has(wanted, kWorkflows)) {
    auto more = workflow_files();
    files.insert(files.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  const ExitCode code = write(folder, files);
  if (*there)
    tell_missing(wanted, **there);
  if (code == ExitCode::fine && has(wanted, kSteps))
    print("a workflow begins with `baton start NAME --dialect ml_workflow --requirements @FILE`\n");
  if (code == ExitCode::fine)
    print("next: look at baton.yaml, then `baton doctor`, then `baton run`\n");
  return finish(code);
}

}  // namespace baton
