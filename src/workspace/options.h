#pragma once

// Parses the options of a command and prints its help. Wraps CLI11, which only options.cpp sees.
// A wrong option gets a message with a suggestion and exit code 2.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pinned.h"
#include "workspace/command.h"

namespace baton {

/// The values of --root, --config and --state-dir; empty: the usual places.
struct Places {
  std::string root;
  std::string config;
  std::string state_dir;
};

/// The options of one command. The help that they produce is the reference of the command. `parse`
/// writes the values to the variables passed here, which must outlive `parse`.
class Options : private Pinned {
 public:
  /// `description` says what the command does, `exits` what its exit codes mean, one per line.
  Options(const std::string& name, const std::string& description, const std::string& exits);
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

  /// Refuses `name` together with any of `others`. Names are as in `flag` or `word`, without the
  /// short form.
  void exclude(const std::string& name, std::vector<std::string> others);

  /// Reads the words. If it returns an exit code, the command must end with it: `parse` has printed
  /// the help or what is wrong.
  std::optional<ExitCode> parse(Words words);

 private:
  std::vector<std::string> names() const;
  /// The message about two options that exclude each other and are both given; "" if there are
  /// none.
  std::string contradiction() const;

  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace baton
