#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include <fcntl.h>

#include "base/json/json.h"
#include "base/text.h"
#include "config/registry.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {

ExitCode version_command(Words words) {
  bool as_json = false;
  Options options("version", "Prints the version.", "  0  printed");
  options.flag("--json", as_json, "As one object: version, dialects");
  if (const auto over = options.parse(words))
    return *over;
  if (!as_json) {
    print("baton " BATON_VERSION "\n");
    return finish();
  }
  Json names = Json::array();
  for (const Dialect* const dialect : dialects())
    names.push(Json(dialect->name));
  print_line(Json::object(
      {{"schema", "baton/version/v1"}, {"version", BATON_VERSION}, {"dialects", names}}));
  return finish();
}

namespace {

constexpr std::array kCommands = {
    Command{"init", "write a commented baton.yaml and initial files", init_command},
    Command{"run", "serve a root: the daemon, in the foreground", run_command_line},
    Command{"validate", "check files, or everything below a root", validate_command},
    Command{"status", "flows: declared, process, last activity, waiting for what", status_command},
    Command{"explain", "why something was or was not started", explain_command},
    Command{"events", "what happened", events_command},
    Command{"agents", "runs of agents", agents_command},
    Command{"logs", "what an agent wrote to stdout and stderr", logs_command},
    Command{"prompt", "exactly what an agent was told", prompt_command},
    Command{"create", "make a new loop, which waits for its start", create_command},
    Command{"start", "begin a flow: write what it lives by", start_command},
    Command{"pause", "no new starts; running agents may finish", pause_command},
    Command{"resume", "go on", resume_command},
    Command{"stop", "end the agents and start none", stop_command},
    Command{"retry", "make ended attempts again", retry_command},
    Command{"approve", "let a flow go on that waits for approval", approve_command},
    Command{"reject", "refuse what a flow waits to have approved", reject_command},
    Command{"revise", "ask for changes to what waits for approval", revise_command},
    Command{"answer", "answer what a flow asks a person", answer_command},
    Command{"skip", "leave out a step of a workflow", skip_command},
    Command{"drain", "no new starts; the daemon ends after the last agent", drain_command},
    Command{"reload", "read the configuration again", reload_command},
    Command{"wait", "wait until a flow is somewhere", wait_command},
    Command{"set", "change members of a state file: locked, checked, atomic", set_command},
    Command{"send", "append a message to a mailbox: locked, checked, atomic", send_command},
    Command{"recover", "rebuild a lost or damaged state", recover_command},
    Command{"forget", "drop what is known of a flow whose files are gone", forget_command},
    Command{"prune", "drop old history and run directories", prune_command},
    Command{"hook", "have git check what is committed", hook_command},
    Command{"schema", "print a schema", schema_command},
    Command{"doctor", "check configuration, programs, limits, permissions", doctor_command},
    Command{"completions", "print completions for a shell", completions_command},
    Command{"version", "print the version", version_command},
};

void print_help() {
  std::string text =
      "baton watches the JSON state files of AI agents, checks every change, and starts the next\n"
      "agent's process exactly once.\n\n"
      "Usage: baton COMMAND [OPTIONS]; `baton COMMAND --help` is the reference of a command.\n\n"
      "Commands:\n";
  constexpr std::size_t kWidth = 14;
  for (const Command& command : kCommands) {
    std::string name(command.name);
    name.resize(kWidth, ' ');
    text += "  " + name + std::string(command.summary) + "\n";
  }
  text +=
      "\nExit codes:\n"
      "  0    fine\n"
      "  1    the thing asked about failed\n"
      "  2    wrong usage, configuration or schema\n"
      "  3    could not read, write, or reach what is needed\n"
      "  75   another daemon serves this root, or one inside or around it (run)\n"
      "  124  time-out (wait)\n"
      "  130  Ctrl-C\n";
  print(text);
}

ExitCode unknown(const std::string& word) {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands)
    names.emplace_back(command.name);
  const auto near = nearest(word, names);
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
  // Whoever closed a standard stream gets an error from it, as before; what is opened later must
  // not take its number, for a log line would go there.
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  // A limit of file sizes (`ulimit -f`) is an error of the write it meets, and no end.
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
