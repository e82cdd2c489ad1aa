// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "base/json/json.h"
#include "base/schema/schema_keywords.h"
#include "base/text.h"
#include "cli/libraries.h"
#include "config/registry.h"
#include "io/journal/journal.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {

namespace {

/// What scripts may have to ask for, because an older baton lacks it.
constexpr std::array<std::string_view, 4> kFeatures = {"backend_systemd", "journal_copy",
                                                       "journald_fields", "metrics_textfile"};

}  // namespace

ExitCode version_command(Words words) {
  bool as_json = false;
  Options options("version", "Prints the version.",
                  {{ExitCode::fine, "printed"},
                   {ExitCode::usage, "wrong usage"},
                   {ExitCode::unreachable, "stdout did not take it"}});
  options.flag("--json", as_json,
               "As one object: version, commit, features, schemas, dialects, libraries");
  if (const auto over = options.parse(words))
    return *over;
  if (!as_json) {
    print("baton " BATON_VERSION "\n");
    return finish();
  }
  Json names = Json::array();
  for (const Dialect* const dialect : dialects())
    names.push(Json(dialect->name));
  Json inside = Json::array();
  for (const Library& each : libraries())
    inside.push(Json::object({{"name", each.name},
                              {"version", each.version},
                              {"package", each.package},
                              {"linked", each.linked},
                              {"program", each.program}}));
  Json features = Json::array();
  for (const std::string_view each : kFeatures)
    features.push(Json(each));
  const Json schemas = Json::object(
      {{"configuration", 1}, {"journal", journal_version()}, {"json_schema", draft_names()}});
  print_line(Json::object({{"schema", "baton/version/v1"},
                           {"version", BATON_VERSION},
                           {"commit", commit().empty() ? Json() : Json(commit())},
                           {"features", features},
                           {"schemas", schemas},
                           {"dialects", names},
                           {"libraries", inside}}));
  return finish();
}

namespace {

constexpr std::array kCommands = {
    Command{"init", "write a commented baton.yaml and initial files", init_command},
    Command{"run", "serve a root: the daemon, in the foreground", run_command_line},
    Command{"validate", "check files, or everything below a root", validate_command},
    Command{"status", "show all flows and what each one waits for", status_command},
    Command{"explain", "say why something was or was not started", explain_command},
    Command{"events", "list what happened, with reasons", events_command},
    Command{"agents", "list the runs of agents", agents_command},
    Command{"costs", "show what the runs have cost", costs_command},
    Command{"limits", "list the providers that have no room now", limits_command},
    Command{"logs", "print what an agent wrote to stdout or stderr", logs_command},
    Command{"prompt", "print the prompt that an agent got", prompt_command},
    Command{"create", "create a new loop, which waits for its start", create_command},
    Command{"start", "start a flow: write its first files", start_command},
    Command{"pause", "start no new agents; running agents may finish", pause_command},
    Command{"resume", "continue after a pause, stop, limit or failure", resume_command},
    Command{"stop", "end the running agents and start no new ones", stop_command},
    Command{"retry", "start ended attempts again", retry_command},
    Command{"approve", "approve what a flow waits for", approve_command},
    Command{"reject", "reject what a flow wants approved", reject_command},
    Command{"revise", "ask for changes before you approve", revise_command},
    Command{"answer", "answer a question of a flow", answer_command},
    Command{"skip", "skip a step of a workflow", skip_command},
    Command{"drain", "start no new agents; the daemon ends after the last one", drain_command},
    Command{"reload", "read the configuration again", reload_command},
    Command{"wait", "wait until a flow reaches a status", wait_command},
    Command{"set", "change members of a state file: locked, checked, atomic", set_command},
    Command{"send", "append a message to a mailbox: locked, checked, atomic", send_command},
    Command{"recover", "rebuild a lost or damaged state file", recover_command},
    Command{"forget", "forget a flow whose files are gone", forget_command},
    Command{"prune", "remove old history and run directories", prune_command},
    Command{"hook", "check staged files before each git commit", hook_command},
    Command{"schema", "print a schema", schema_command},
    Command{"doctor", "check configuration, programs, limits, permissions", doctor_command},
    Command{"completions", "print completions for a shell", completions_command},
    Command{"version", "print the version", version_command},
};

void print_help() {
  std::string text =
      "baton watches the JSON state files of AI agents, checks every change, and starts the next\n"
      "agent's process exactly once.\n"
      "\n"
      "Usage: baton COMMAND [OPTIONS]; `baton COMMAND --help` explains a command.\n"
      "\n"
      "Commands:\n";
  constexpr std::size_t kWidth = 14;
  for (const Command& command : kCommands) {
    std::string name(command.name);
    name.resize(kWidth, ' ');
    text += "  " + name + std::string(command.summary) + "\n";
  }
  ExitLines codes;
  for (const ExitRow& row : kExitCodes)
    codes.push_back({row.code});
  print(text + "\nExit codes:\n" + exit_text(codes));
}

/// Words that other programs have for commands of baton.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOtherWords = {{
    {"ps", "agents"},
    {"runs", "agents"},
    {"list", "status"},
    {"ls", "status"},
    {"show", "status"},
    {"describe", "explain"},
    {"why", "explain"},
    {"log", "logs"},
    {"history", "events"},
    {"check", "validate"},
    {"kill", "stop"},
}};

ExitCode unknown(const std::string& word) {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands)
    names.emplace_back(command.name);
  const auto* const other = std::find_if(kOtherWords.begin(), kOtherWords.end(),
                                         [&](const auto& row) { return row.first == word; });
  const auto near =
      other == kOtherWords.end() ? nearest(word, names) : std::optional(std::string(other->second));
  complain("unknown command `" + printable(word, 80) + "`" +
           (near ? "; did you mean `" + *near + "`?" : "; `baton --help` lists them"));
  return ExitCode::usage;
}

ExitCode run(const std::vector<std::string>& words) {
  if (words.empty()) {
    complain("which command? `baton --help` lists them");
    return ExitCode::usage;
  }
  const std::string& name = words.front();
  const Words rest = Words(words).subspan(1);
  if (name == kComplete)
    return complete_command(rest);
  if (name == "-h" || name == "--help" || (name == "help" && rest.empty())) {
    print_help();
    return finish();
  }
  if (name == "-V" || name == "--version")
    return version_command(rest);
  const bool help = name == "help";
  const std::string& wanted = help ? rest.front() : name;
  const auto* const command = std::find_if(kCommands.begin(), kCommands.end(),
                                           [&](const Command& c) { return c.name == wanted; });
  if (command == kCommands.end())
    return unknown(wanted);
  const std::vector<std::string> ask = {"--help"};
  return command->run(help ? Words(ask) : rest);
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

}  // namespace baton

int main(int count, char** arguments) {
  // If the caller closed a standard stream, reserve its number. Otherwise a file that baton opens
  // could get the number, and output would go into that file. /dev/null is opened in the wrong
  // direction, so that using the stream still fails.
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  // A write beyond `ulimit -f` must fail with an error instead of ending the process.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    const std::vector<std::string> words(arguments + std::min(count, 1), arguments + count);
    return static_cast<int>(baton::run(words));
  } catch (const std::exception& error) {
    baton::complain(std::string("this should not happen: ") + baton::printable(error.what()) +
                    "; please report it");
  } catch (...) {
    baton::complain("this should not happen; please report it");
  }
  return static_cast<int>(baton::ExitCode::unreachable);
}
