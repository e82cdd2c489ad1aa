#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workspace/options.h"

namespace baton {

// Where a configuration lies. The list is that of docs/configuration.md.

inline constexpr const char* kConfigurationName = "baton.yaml";
inline constexpr const char* kConfigurationVariable = "BATON_CONFIG";

/// The nearest folder upwards that has a baton.yaml; `from` when none has.
std::string nearest_root(const std::string& from);

/// The first that is there, as it is named; "" when none is. `here`: the folder a command is called
/// in.
std::string find_configuration(const Places& places, const std::string& root,
                               const std::string& here);

inline constexpr std::size_t kMaxConfigurationBytes = 4U << 20U;

/// Its text. Errc::config: somebody else can write it; not_found, denied, too_large, io.
Result<std::string> read_configuration(const std::string& real);

/// What a configuration says of places, as written: of use even when the rest of it is wrong.
struct ConfiguredPlaces {
  std::string state_dir;
  std::vector<std::string> roots;
};
/// Nothing when it cannot be read so far.
std::optional<ConfiguredPlaces> configured_places(std::string text);

/// `path:line:column` of the name of that member; the path alone when it is not to be found.
std::string place_of(const std::string& path, std::string_view pointer);

/// A path of a configuration, which is relative to its folder.
std::string absolute(const std::string& path, const std::string& folder);

}  // namespace baton
