// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds what a command or a daemon works on: the root, its configuration, and where its state lies.
// The configuration may be missing, broken, or different from what the running daemon uses, so
// there are some ways to open a context. Only `make_state_folder` changes anything on disk. All
// ways but `open` are for the state of the root, so root continues as the user of that state
// (workspace/acting_user.h).

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

/// The root, its configuration and its state folder. A value: copies are independent.
class Context {
 public:
  /// For a command that only judges files by what the configuration says, and starts nothing. The
  /// configuration of another user counts too; then `is_foreign`, and the roots that it names have
  /// to lie in its folder. Else like `open`.
  static Result<Context> open_as_data(const Places& places);
  /// Finds root and configuration. A missing configuration is no error. Errc::not_found, denied,
  /// io: the root or the configuration cannot be read. Errc::config: the configuration is wrong or
  /// not trusted; `open` has printed every fault on stderr.
  static Result<Context> open(const Places& places);
  /// The same for a command that works on the state of the root.
  static Result<Context> open_with_state(const Places& places);
  /// For commands that a running daemon carries out. Uses the configuration of the daemon, because
  /// the file may have changed since. Without a daemon it works like `open`. Errc::denied: this
  /// user cannot read the daemon's configuration. `here` replaces the current folder.
  /// `as_data` as for `open_as_data`, but root refuses what is another user's.
  static Result<Context> open_active(const Places& places, const std::string& here = "",
                                     bool as_data = false);
  /// For commands that show or control what runs already. Like `open_active`, but a broken
  /// configuration only causes a warning. The command then uses the daemon's configuration, or none
  /// if no daemon runs. `roots:` and `state_dir:` of the broken file still count if readable.
  /// Errc::config: another user can write the configuration, and this user has no state for it.
  static Result<Context> open_anyway(const Places& places);
  /// Like `open_anyway`, for a command that only shows what the files come to. As with
  /// `open_as_data`, the configuration of another user counts; a warning says so.
  static Result<Context> open_to_show(const Places& places);
  /// Uses the file as it is now, not the daemon's configuration. Prints nothing; `faults` says what
  /// is wrong with the file.
  static Result<Context> open_to_examine(const Places& places);

  /// The root that the command works on: absolute, without links.
  const std::string& root() const { return root_; }
  /// All roots of the command: --root, else those of the configuration, else `root`.
  const std::vector<std::string>& roots() const { return roots_; }
  /// Whether --root was given. Then the command works on no other root.
  bool root_is_named() const { return !places_.root.empty(); }
  /// Whether --config was given, or $BATON_CONFIG without --root. Then no other file is used.
  bool configuration_is_named() const;
  /// Configured roots that do not exist, as absolute paths. After `open`, at least one root exists.
  const std::vector<std::string>& missing_roots() const { return missing_roots_; }
  /// Whether a daemon serves this root or has served it. The journal of a root that is gone still
  /// knows what runs.
  bool is_known(const std::string& root) const;
  /// Errc::not_found names the first missing root.
  Result<void> all_there() const;
  /// The configuration in force; "" when there is none.
  const std::string& configuration() const { return configuration_; }
  /// The path of a configuration that cannot be used; "" if the configuration is not broken.
  const std::string& broken_configuration() const { return broken_configuration_; }
  /// The errors in the broken configuration, each with its place.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Whether the configuration is that of the daemon and the file differs from it.
  bool follows_daemon() const { return follows_; }
  /// How the file differs from the configuration that the daemon uses.
  struct Difference {
    Word word;        ///< a word of docs/status.md; "" if they are the same
    std::string why;  ///< for people, with what to do
  };
  Difference difference() const;
  /// Whether the configuration comes from another, untrusted user. Then baton must not run any
  /// program that it names.
  bool is_foreign() const { return foreign_; }
  /// The text of the file; "" if it cannot be used.
  const std::string& text() const { return text_; }
  /// The digest of the file that the configuration in force was read from; "" if there is none. The
  /// daemon's copy has another text, but keeps this digest.
  const std::string& configuration_digest() const { return configuration_digest_; }
  /// The folder of the configuration; the root if there is none.
  const std::string& folder() const { return folder_; }
  const Config& config() const { return config_; }
  const Findings& warnings() const { return warnings_; }

  /// Everything that the engine of this root needs. An agent that cannot be started has a
  /// `problem`, and a reaction whose prompt cannot be used has a `prompt_fault`
  /// (workspace/rule_prompts.h). Errc::config: a dialect is unknown. After `open_anyway` this is
  /// only a warning, and the setup leaves the dialect out.
  Result<Setup> setup(const std::string& root) const;
  /// Reads the configuration again, for a reload. If there was none, looks for one.
  Result<Context> reread() const;

  /// The same configuration for another of its roots, which is absolute and without links.
  Context at(const std::string& root) const;
  /// One context for each of `roots`.
  std::vector<Context> each() const;
  /// The same configuration for a command that works on these roots.
  Context with_roots(std::vector<std::string> roots) const;

  std::vector<StateParent> state_parents() const;
  /// The state folder of the root, for reading. Errc::not_found.
  Result<std::string> state_folder() const;
  /// The state folder of a root. Creates the folder if it is missing.
  Result<std::string> make_state_folder(const std::string& root) const;

 private:
  struct Opening;
  static Result<Context> open(const Places& places, const Opening& opening);
  Result<void> find_active_configuration(const Opening& opening);
  Result<void> read(const std::string& path);
  /// Parses the text and makes it the configuration. Errc::config: see `faults_`.
  Result<void> take(const std::string& text, Format format, const std::string& real,
                    const std::string& shown);
  /// Takes only `roots:` and `state_dir:` from a configuration that cannot be used.
  void take_places(const std::string& text, const std::string& real);
  /// Takes the daemon's configuration if the file differs from it or cannot be used. Errc::denied:
  /// this user cannot read it.
  Result<void> follow_daemon();
  Result<void> take_copy(const std::string& state_folder, const DaemonStatus& status);
  void warn_of_faults(const Error& error) const;
  std::optional<std::pair<std::string, DaemonStatus>> daemon() const;
  static Difference difference_elsewhere(const DaemonStatus& status);
  /// Whether a dialect of the configuration can be used. If not, adds it to `left_out`. Errors as
  /// for `setup`.
  Result<bool> usable(const Dialect* known, const std::string& name, const Json& options,
                      std::map<std::string, std::string>& left_out) const;
  Result<void> add_dialects(Setup& setup) const;
  std::vector<std::string> configured_roots();
  Result<void> find_roots(const std::string& here);
  /// Adds the other roots that the daemon of these roots serves by this configuration.
  void add_served(std::vector<std::string>& roots) const;
  Places places_;
  bool anyway_ = false;
  bool follows_ = false;
  bool foreign_ = false;   ///< see `is_foreign`
  bool as_data_ = false;   ///< nothing that the configuration names is started
  bool of_other_ = false;  ///< only another user can use the file of the configuration
  std::string root_;
  std::string home_;  ///< the root as found before the configuration's `roots:` were read
  std::vector<std::string> roots_;
  std::vector<std::string> missing_roots_;
  std::string configuration_;
  std::string broken_configuration_;
  bool knows_places_ = false;  ///< the places that the broken configuration names are known
  std::vector<std::string> faults_;
  std::string text_;
  std::string configuration_digest_;
  std::string file_;         ///< the path of the configuration as found; "" if none was found
  std::string file_digest_;  ///< "": the file cannot be read
  std::string folder_;
  Config config_;
  Findings warnings_;
};

/// Returns schema texts by name or `$id`: embedded schemas first, then files below `folder`.
SchemaFetch schemas_below(const std::string& folder);

/// The schema file below `folder` that a reference names. If there is no such file, the reference
/// is tried with its percent escapes decoded. Errc::denied: the reference leads out of `folder`;
/// other errors as for `read_file`.
Result<std::string> schema_file(const std::string& folder, std::string_view reference);

/// The folders outside the root whose files the dialects of a context may read: absolute, without
/// links.
std::vector<std::string> libraries_of(const Config& config);

/// The configured dialects with their options, then all others with their defaults, for `validate`.
/// Errc::config: a configured dialect is unknown.
Result<std::vector<std::pair<const Dialect*, Json>>> known_dialects(const Config& config);

}  // namespace baton
