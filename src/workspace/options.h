#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workspace/command.h"

namespace baton {

/// Where a command looks, as its options say; empty: the usual places.
struct Places {
  std::string root;
  std::string config;
  std::string state_dir;
};

/// The options of one command: describes them, reads them, and prints the help, which is the
/// reference of the command. Everything handed in must outlive `parse`.
class Options {
 public:
  /// `description` says what the command does; `exits` what its exit codes mean, one per line.
  Options(const std::string& name, const std::string& description, const std::string& exits);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  Options(Options&&) = delete;
  Options& operator=(Options&&) = delete;

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

  /// Reads the words. Nothing: go on. Else the command is over: help was printed, or what is wrong.
  std::optional<ExitCode> parse(Words words);

  /// The names of all options, for completions.
  std::vector<std::string> names() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace baton
