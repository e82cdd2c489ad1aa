#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "engine/engine.h"
#include "io/system/state_folder.h"
#include "workspace/daemon_status.h"
#include "workspace/options.h"

namespace baton {

/// What a command works on: the root, its configuration, where its state lies.
class Context {
 public:
  /// Finds root and configuration. To have no configuration is no error. Errc::not_found, denied,
  /// io: the root or the configuration cannot be read. Errc::config: the configuration is wrong, or
  /// cannot be trusted; every fault was printed on stderr.
  static Result<Context> open(const Places& places);
  /// For commands whose words a living daemon takes up: by the configuration that it uses, which
  /// the file may differ from. Errc::denied: that one cannot be seen. Without a daemon as `open`.
  /// `here`: instead of the current folder.
  static Result<Context> open_in_force(const Places& places, const std::string& here = "");
  /// For commands that look at or control what runs already: the same, and a configuration that
  /// cannot be used is told as a warning, and the command goes on without it where there is no
  /// daemon. Where it says so readably, its `roots:` and `state_dir:` still count.
  static Result<Context> open_anyway(const Places& places);
  /// By the file as it stands. What is wrong with it is in `faults`, and nothing is told.
  static Result<Context> open_to_examine(const Places& places);

  /// Absolute, without links.
  const std::string& root() const { return root_; }
  /// The roots the daemon serves: --root, else those of the configuration, else the one root.
  const std::vector<std::string>& roots() const { return roots_; }
  /// By --root, so that no other is meant.
  bool root_is_named() const { return !places_.root.empty(); }
  /// By --config or, unless a root is named, by the environment: another one is not meant.
  bool configuration_is_named() const;
  /// Those of the configuration that are not there, absolute. After `open` at least one is.
  const std::vector<std::string>& missing_roots() const { return missing_roots_; }
  /// Is served, or was: of one that is gone the journal knows what runs.
  bool is_known(const std::string& root) const;
  /// Errc::not_found names the first that is not.
  Result<void> all_there() const;
  /// The configuration in force; "" when there is none.
  const std::string& configuration() const { return configuration_; }
  /// After `open_anyway` and `open_to_examine`: the one that cannot be used; "" when there is none
  /// such.
  const std::string& broken_configuration() const { return broken_configuration_; }
  /// What is wrong with it, each with its place.
  const std::vector<std::string>& faults() const { return faults_; }
  /// The configuration is the daemon's, which is not the file as it is now.
  bool follows_daemon() const { return follows_; }
  /// How the file differs from the configuration that the daemon uses.
  struct Difference {
    Word word;        ///< of docs/status.md; "": there is none
    std::string why;  ///< for people, with what to do
  };
  Difference difference() const;
  /// It was taken from a daemon of a user that this one does not trust: nothing that it names may
  /// be run.
  bool is_foreign() const { return foreign_; }
  /// The text of the file, for a daemon.
  const std::string& text() const { return text_; }
  /// Of the real text of the configuration in force; "" when there is none.
  const std::string& configuration_digest() const { return configuration_digest_; }
  /// Its folder; without one the root.
  const std::string& folder() const { return folder_; }
  const Config& config() const { return config_; }
  const Findings& warnings() const { return warnings_; }

  /// Everything an engine of that root needs. Agents that cannot be started say so in `problem`,
  /// prompts of reactions that cannot be used in `prompt_fault` (workspace/rule_prompts.h).
  /// Errc::config: a dialect is not known; after `open_anyway` it is told and left out.
  Result<Setup> setup(const std::string& root) const;
  /// Reads the same configuration anew, or the one that is there by now, for a running daemon.
  Result<Context> reread() const;

  /// The same configuration for another of its roots, absolute and without links.
  Context at(const std::string& root) const;
  /// The same for every root a command without --root is about.
  std::vector<Context> each() const;
  /// The same configuration for a command about these roots.
  Context with_roots(std::vector<std::string> roots) const;

  std::vector<StateParent> state_parents() const;
  /// The state folder of the root, for reading. Errc::not_found.
  Result<std::string> state_folder() const;
  /// The same, made if it is missing.
  Result<std::string> make_state_folder(const std::string& root) const;

 private:
  struct Opening;
  static Result<Context> open(const Places& places, const Opening& opening);
  Result<void> find_configuration_in_force(const Opening& opening);
  Result<void> read(const std::string& path);
  /// Takes a text for the configuration. Errc::config, and `faults_` says why.
  Result<void> take(const std::string& text, Format format, const std::string& real,
                    const std::string& shown);
  /// Where things lie, of one that cannot be used.
  void take_places(const std::string& text, const std::string& real);
  /// Takes the daemon's configuration, if it is not what was read. Errc::denied: it cannot be seen.
  Result<void> follow_daemon();
  Result<void> take_copy(const std::string& state_folder, const DaemonStatus& status);
  void warn_of_faults(const Error& error) const;
  std::optional<std::pair<std::string, DaemonStatus>> daemon() const;
  static Difference difference_elsewhere(const DaemonStatus& status);
  /// Whether a dialect of the configuration goes into a setup, else it is among `left_out`; errors
  /// as of `setup`.
  Result<bool> usable(const Dialect* known, const std::string& name, const Json& options,
                      std::map<std::string, std::string>& left_out) const;
  Result<void> add_dialects(Setup& setup) const;
  std::vector<std::string> configured_roots();
  Result<void> find_roots(const std::string& here);
  /// Those that the daemon of these serves by this configuration, too.
  void add_served(std::vector<std::string>& roots) const;
  Places places_;
  bool anyway_ = false;
  bool follows_ = false;
  /// It is what a daemon of a user goes by whom this one does not trust: nothing of it is run.
  bool foreign_ = false;
  std::string root_;
  std::string home_;  ///< the root as it is without the configuration's `roots:`
  std::vector<std::string> roots_;
  std::vector<std::string> missing_roots_;
  std::string configuration_;
  std::string broken_configuration_;
  bool knows_places_ = false;  ///< that one could be read so far as it says where things lie
  std::vector<std::string> faults_;
  std::string text_;  ///< of the file, where it can be used
  std::string configuration_digest_;
  std::string file_;         ///< of the configuration, as it was found; "": none was
  std::string file_digest_;  ///< "": it cannot be read
  std::string folder_;
  Config config_;
  Findings warnings_;
};

/// Schema texts by name or `$id`: those of this binary, else files below `folder`.
SchemaFetch schemas_below(const std::string& folder);

/// The file below `folder` that a reference names, by its path as it stands or, when there is none,
/// without its escapes. Errc::denied when it lies elsewhere, and the errors of `read_file`.
Result<std::string> schema_file(const std::string& folder, std::string_view reference);

/// All dialects with the options of the configuration, then the others with their defaults: what
/// `validate` knows. Errc::config.
Result<std::vector<std::pair<const Dialect*, Json>>> known_dialects(const Config& config);

}  // namespace baton
