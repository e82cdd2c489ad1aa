#include <string>

#include "base/embedded.h"
#include "base/text.h"
#include "config/registry.h"
#include "core/condition.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

/// The words that `wait --until` takes everywhere. A flow has further ones of its own.
std::string condition_words() {
  std::string words;
  for (const ConditionRow& row : kConditions)
    words += (words.empty() ? "" : " ") + std::string(row.word);
  return words;
}

std::string dialect_words() {
  std::string words;
  for (const Dialect* const each : dialects())
    words += (words.empty() ? "" : " ") + std::string(each->name);
  return words;
}

/// Repeats the line with `@NAME@` of a template for each command. Summaries are quoted for the
/// shell; names need no quotes.
std::string completions(std::string_view text) {
  std::string out;
  for (const std::string& line : split(trimmed(text), '\n'))
    if (line.find("@NAME@") == std::string::npos)
      out += line + "\n";
    else
      for (const Command& command : commands()) {
        std::string own = line + "\n";
        replace_all(own, "@NAME@", command.name);
        replace_all(own, "@SUMMARY@", shell_quoted(command.summary));
        out += own;
      }
  return out;
}

}  // namespace

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
  std::string script = completions(*text);
  replace_all(script, "@CONDITIONS@", condition_words());
  replace_all(script, "@DIALECTS@", dialect_words());
  print(script);
  return finish();
}

}  // namespace baton
