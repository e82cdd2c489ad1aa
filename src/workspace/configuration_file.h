// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds and reads the file of a configuration. docs/configuration.md has the list of places.
// A file that another user can write is refused, because it names programs that baton starts.
// Parsing and checking the text is the job of config/config.h.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workspace/options.h"

namespace baton {

inline constexpr const char* kConfigurationName = "baton.yaml";
inline constexpr const char* kConfigurationVariable = "BATON_CONFIG";

/// The nearest folder upwards from `from` that has a baton.yaml, or root's own configuration for it
/// (`instance_configuration`); `from` if none has.
std::string nearest_root(const std::string& from);

/// Root's configurations for single roots: `ESCAPED.yaml`.
inline constexpr const char* kInstances = "/etc/baton/instances";

/// What `systemd-escape --path` makes of an absolute path: the name of a root in the instance of a
/// unit. `/srv/my-app` is `srv-my\x2dapp`; `/` is `-`.
std::string escaped_path(std::string_view path);

/// The path of root's own configuration for this root.
std::string instance_configuration(const std::string& root);

/// The path of the configuration, with its links; "" if there is none. --config or $BATON_CONFIG
/// decide, even if that file does not exist. `here` is the folder in which the command was called.
/// `as_data`: the file of another user counts too, for nothing that it names is started.
std::string find_configuration(const Places& places, const std::string& root,
                               const std::string& here, bool as_data = false);

inline constexpr std::size_t kMaxConfigurationBytes = 4U << 20U;

/// Errc::config: another user can write the configuration, or a link on its path; the message has
/// what to do. not_found, io. Call it with the path as it was found: the folder of a link becomes
/// the root, so whoever could make the link would choose where agents work.
Result<void> trusted_configuration(const std::string& path);

/// Whether only another user can use the configuration: it lies in a folder of that user.
bool is_of_other(const std::string& path);

/// The text of the configuration. Errors as for `trusted_configuration`; denied, too_large, io.
Result<std::string> read_configuration(const std::string& path);

/// The places that a configuration names, as written. Commands use them even if the rest of the
/// configuration is wrong.
struct ConfiguredPlaces {
  std::string state_dir;
  std::vector<std::string> roots;
};
/// Nothing if the text is not a YAML object.
std::optional<ConfiguredPlaces> configured_places(std::string text);

/// `path:line:column` of the name of a member; the path alone if the member cannot be found.
std::string place_of(const std::string& path, std::string_view pointer);

/// The absolute form of a path that may be relative to `folder`, such as one in a configuration.
std::string absolute(const std::string& path, const std::string& folder);

}  // namespace baton
