#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pinned.h"
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
class Options : private Pinned {
 public:
  /// `description` says what the command does; `exits` what its exit codes mean, one per line.
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

  /// Reads the words. Nothing: go on. Else the command is over: help was printed, or what is wrong.
  std::optional<ExitCode> parse(Words words);

 private:
  std::vector<std::string> names() const;
  /// Names two options that exclude each other and were both given; "" when there are none.
  std::string contradiction() const;

  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace baton
