// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/shell_line.h"
#include "base/text.h"
#include "cli/commands/completion_values.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

/// What may be the first word, or follow `help`.
CompletionOffer command_offer(const std::string& typed, bool help) {
  CompletionOffer offer;
  for (const Command& each : commands())
    offer.values.push_back({std::string(each.name), std::string(each.summary)});
  if (!help && typed.starts_with("-")) {
    offer.values.push_back({"--help", "list the commands"});
    offer.values.push_back({"--version", "print the version"});
  }
  return offer;
}

/// `words`: without the name of the program.
CompletionOffer offer_for(const std::vector<std::string>& words) {
  const bool help = words.size() == 2 && words.front() == "help";
  if (words.size() <= 1 || help)
    return command_offer(words.empty() ? "" : words.back(), help);
  const auto all = commands();
  const auto command = std::find_if(all.begin(), all.end(),
                                    [&](const Command& each) { return each.name == words[0]; });
  if (command == all.end())
    return {};
  CompletionPlace place;
  if (command->run(Words(Words::Span(words).subspan(1), place)) != ExitCode::fine)
    return {};
  return completion_offer(command->name, place);
}

std::string_view word_for(CompletionFiles files) {
  switch (files) {
    case CompletionFiles::none:
      return "words";
    case CompletionFiles::files:
      return "files";
    case CompletionFiles::folders:
      return "folders";
  }
  return {};
}

/// What bash has to put in place of the end of the last word.
std::optional<std::string> for_bash(const std::string& word, const ShellLine& line) {
  if (!word.starts_with(line.words.back()))
    return std::nullopt;
  return quoted_behind(line.quote, std::string_view(word).substr(line.kept));
}

/// Messages are nothing for a line that a person is typing.
void be_silent() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0)
    (void)dup2(nowhere, STDERR_FILENO);
}

}  // namespace

/// `baton __complete bash LINE BREAKS`, `baton __complete zsh|fish baton [WORD...]`. The first line
/// of the answer says what the shell adds (words, files or folders). Each further line is a word;
/// for zsh and fish, a tab and what it means may follow. Ends well whatever happens.
ExitCode complete_command(Words words) {
  be_silent();
  if (words.size() < 2)
    return ExitCode::fine;
  ShellLine line;
  const bool bash = words.front() == "bash";
  if (bash)
    line = read_shell_line(words[1], words.size() > 2 ? words[2] : "");
  else
    line.words.assign(words.begin() + 1, words.end());
  const CompletionOffer offer = offer_for({line.words.begin() + 1, line.words.end()});
  std::map<std::string, std::string> lines;
  for (const CompletionValue& each : offer.values)
    if (!bash)
      lines.try_emplace(each.word, each.about);
    else if (const auto typed = for_bash(each.word, line))
      lines.try_emplace(*typed);
  print(std::string(word_for(offer.files)) + "\n");
  for (const auto& [word, about] : lines)
    print(word + (about.empty() ? "" : "\t" + about) + "\n");
  (void)finish();
  return ExitCode::fine;
}

ExitCode completions_command(Words words) {
  std::string shell;
  Options options("completions", "Prints completions for a shell.",
                  {{ExitCode::fine, "printed"},
                   {ExitCode::usage, "wrong usage; not one of these shells"},
                   {ExitCode::unreachable, "stdout did not take it"}});
  options.word("SHELL", shell, "bash, zsh or fish");
  if (const auto over = options.parse(words))
    return *over;
  const auto* const text = embedded_file("templates/completions/" + shell);
  if (text == nullptr) {
    complain("there are completions for bash, zsh and fish, not for " + printable(shell, 40));
    return ExitCode::usage;
  }
  print(*text);
  return finish();
}

}  // namespace baton
