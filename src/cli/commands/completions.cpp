#include <algorithm>
#include <string>

#include "base/text.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

std::string command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    names.emplace_back(command.name);
  return join(names, " ");
}

/// Completes commands first, then flows where a flow is expected, else files.
std::string bash() {
  return "# baton completions for bash; put this into a file that bash-completion reads, or source "
         "it\n"
         "_baton() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '" +
         command_names() +
         "' -- \"$word\")\n"
         "    return\n"
         "  fi\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$(baton \"$command\" --help 2>/dev/null |\n"
         "      grep -oE -- '--[a-z][a-z-]*' | sort -u)\" -- \"$word\")\n"
         "    return\n"
         "  fi\n"
         "  case $command in\n"
         "    status|explain|agents|pause|resume|stop|retry|forget|wait)\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$(baton status --names 2>/dev/null)\" -- "
         "\"$word\") ;;\n"
         "    logs|prompt)\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$(baton agents --names 2>/dev/null)\" -- "
         "\"$word\") ;;\n"
         "    schema)\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$(baton schema --list 2>/dev/null)\" -- "
         "\"$word\") ;;\n"
         "    completions)\n"
         "      mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$word\") ;;\n"
         "    hook)\n"
         "      mapfile -t COMPREPLY < <(compgen -W 'install uninstall' -- \"$word\") ;;\n"
         "    *)\n"
         "      mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _baton baton\n";
}

std::string zsh() {
  std::string text =
      "#compdef baton\n"
      "# baton completions for zsh; put this into a folder of $fpath as _baton\n"
      "_baton() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : commands())
    text += "    " + shell_quoted(std::string(command.name) + ":" + std::string(command.summary)) +
            "\n";
  return text +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  case $words[2] in\n"
         "    status|explain|agents|pause|resume|stop|retry|forget|wait)\n"
         "      compadd -- ${(f)\"$(baton status --names 2>/dev/null)\"} ;;\n"
         "    logs|prompt)\n"
         "      compadd -- ${(f)\"$(baton agents --names 2>/dev/null)\"} ;;\n"
         "    schema)\n"
         "      compadd -- ${(f)\"$(baton schema --list 2>/dev/null)\"} ;;\n"
         "    completions)\n"
         "      compadd bash zsh fish ;;\n"
         "    hook)\n"
         "      compadd install uninstall ;;\n"
         "    *)\n"
         "      _files ;;\n"
         "  esac\n"
         "}\n"
         "_baton \"$@\"\n";
}

std::string fish() {
  std::string text =
      "# baton completions for fish; put this into ~/.config/fish/completions/baton.fish\n";
  for (const Command& command : commands())
    text += "complete -c baton -n __fish_use_subcommand -f -a " + std::string(command.name) +
            " -d " + shell_quoted(command.summary) + "\n";
  return text +
         "complete -c baton -n '__fish_seen_subcommand_from status explain agents pause resume "
         "stop retry forget wait' -f -a '(baton status --names 2>/dev/null)'\n"
         "complete -c baton -n '__fish_seen_subcommand_from logs prompt' -f "
         "-a '(baton agents --names 2>/dev/null)'\n"
         "complete -c baton -n '__fish_seen_subcommand_from schema' -f "
         "-a '(baton schema --list 2>/dev/null)'\n"
         "complete -c baton -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'\n"
         "complete -c baton -n '__fish_seen_subcommand_from hook' -f -a 'install uninstall'\n";
}

}  // namespace

ExitCode completions_command(Words words) {
  std::string shell;
  Options options("completions", "Prints completions for a shell.",
                  "  0  printed\n  2  not one of these shells");
  options.word("SHELL", shell, "bash, zsh or fish");
  if (const auto over = options.parse(words))
    return *over;
  if (shell == "bash")
    print(bash());
  else if (shell == "zsh")
    print(zsh());
  else if (shell == "fish")
    print(fish());
  else {
    complain("there are completions for bash, zsh and fish, not for " + printable(shell, 40));
    return ExitCode::usage;
  }
  return finish();
}

}  // namespace baton
