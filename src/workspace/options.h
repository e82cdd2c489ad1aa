// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the options of a command and prints its help. Wraps CLI11, which only options.cpp sees.
// A wrong option gets a message with a suggestion and exit code 2.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pinned.h"
#include "core/exit_code.h"
#include "workspace/command.h"

namespace baton {

/// The values of --root, --config and --state-dir; empty: the usual places.
struct Places {
  std::string root;
  std::string config;
  std::string state_dir;
};

/// What a command expects at the end of a line that is still being typed.
struct CompletionPlace {
  /// `FLOW`, `RUN`, `PATH` ... as in the help. Empty: nothing, or an option.
  std::string what;
  std::string option;               ///< whose value it is, such as `--role`; empty: of none
  std::string lead;                 ///< what stands before the value within the word: `--role=`
  std::string typed;                ///< of the value, so far
  std::vector<std::string> before;  ///< the arguments before it
  std::map<std::string, std::string> given;  ///< the values of options; of several, the last one
  Places places;
  /// If an option is being typed: all options of the command, each with its help.
  std::vector<std::pair<std::string, std::string>> options;
};

/// One exit code that a command can return.
struct ExitLine {
  ExitCode code;
  /// What the code means for this command. Empty: what the table of core/exit_code.h says.
  std::string_view detail = {};
};
/// The exit codes of a command, in the order of the table. Every command has at least 0 and 2.
using ExitLines = std::vector<ExitLine>;

/// The lines `  CODE  MEANING` for a help text. Breaks long lines.
std::string exit_text(const ExitLines& lines);

/// The options of one command. The help that they produce is the reference of the command. `parse`
/// writes the values to the variables passed here, which must outlive `parse`.
class Options : private Pinned {
 public:
  /// `description` says what the command does, `exits` which exit codes it can return.
  Options(const std::string& name, const std::string& description, const ExitLines& exits);
  ~Options();

  /// `names` as in "-f,--follow".
  void flag(const std::string& names, bool& place, const std::string& help);
  void value(const std::string& names, std::string& place, const std::string& what,
             const std::string& help);
  void values(const std::string& names, std::vector<std::string>& place, const std::string& what,
              const std::string& help);
  void word(const std::string& what, std::string& place, const std::string& help,
            bool required = true);
  void words(const std::string& what, std::vector<std::string>& place, const std::string& help,
             bool required = false);
  /// --root, --config, --state-dir.
  void places(Places& places);

  /// Refuses `name` without `other`.
  void need(const std::string& name, const std::string& other);
  /// Refuses `name` together with any of `others`. Names are as in `flag` or `word`, without the
  /// short form.
  void exclude(const std::string& name, std::vector<std::string> others);

  /// Reads the words. If it returns an exit code, the command must end with it: `parse` has printed
  /// the help or what is wrong, or has filled the place of the words.
  std::optional<ExitCode> parse(Words words);

 private:
  std::vector<std::string> names() const;
  CompletionPlace place_at_end(Words words) const;
  /// The message about two options that exclude each other and are both given, or about one that
  /// lacks the other; "" if there are none.
  std::string contradiction() const;

  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace baton
