// SPDX-License-Identifier: Apache-2.0
#include "workspace/configuration_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json/document.h"
#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/path_trust.h"
#include "io/system/acting_as.h"
#include "io/system/state_folder.h"
#include "workspace/environment.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::string configuration_above(const std::string& from) {
  return (fs::path(nearest_root(from)) / kConfigurationName).string();
}

/// The nearest configuration upwards from `from`, if its `roots:` name this root; else "". With
/// --root it finds a configuration that lies beside its roots.
std::string naming(const std::string& root, const std::string& from, bool as_data) {
  const std::string path = configuration_above(from);
  const auto real = real_path(path);
  const auto text = !real     ? real
                    : as_data ? read_file(*real, kMaxConfigurationBytes)
                              : read_configuration(path);
  if (!text)
    return {};
  const std::string folder = fs::path(*real).parent_path().string();
  const auto said = configured_places(*text);
  const bool named =
      said && std::any_of(said->roots.begin(), said->roots.end(), [&](const std::string& each) {
        return real_path(absolute(each, folder)).value_or("") == root;
      });
  return named ? path : "";
}

}  // namespace

std::string escaped_path(std::string_view path) {
  std::string escaped;
  for (const std::string& name : split(path, '/')) {
    if (name.empty() || name == ".")
      continue;
    if (!escaped.empty())
      escaped += '-';
    for (const char c : name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
                         c == ':' || c == '_' || (c == '.' && !escaped.empty());
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      escaped +=
          plain ? std::string(1, c) : std::string("\\x") + kHex[byte >> 4U] + kHex[byte & 15U];
    }
  }
  return escaped.empty() ? "-" : escaped;
}

std::string instance_configuration(const std::string& root) {
  return std::string(kInstances) + "/" + escaped_path(root) + ".yaml";
}

std::string nearest_root(const std::string& from) {
  for (fs::path at = from;; at = at.parent_path()) {
    if (is_there(at / kConfigurationName) || is_there(instance_configuration(at.string())))
      return at.string();
    if (at == at.parent_path())
      return from;
  }
}

std::string find_configuration(const Places& places, const std::string& root,
                               const std::string& here, bool as_data) {
  if (!places.config.empty())
    return places.config;
  if (std::string named = variable(kConfigurationVariable); !named.empty())
    return named;
  if (std::string own = root + "/" + kConfigurationName; is_there(own))
    return own;
  if (std::string instance = instance_configuration(root); is_there(instance))
    return instance;
  if (!places.root.empty())
    for (const std::string& from : {root, here})
      if (std::string path = naming(root, from, as_data); !path.empty())
        return path;
  std::vector<std::string> usual;
  std::string home = variable("XDG_CONFIG_HOME");
  if (!home.starts_with('/')) {
    home = variable("HOME");
    home = home.starts_with('/') ? home + "/.config" : "";
  }
  if (!home.empty())
    usual.push_back(home + "/baton/config.yaml");
  usual.emplace_back("/etc/baton/config.yaml");
  const auto found = std::find_if(usual.begin(), usual.end(),
                                  [](const std::string& path) { return is_there(path); });
  return found == usual.end() ? "" : *found;
}

Result<void> trusted_configuration(const std::string& path) {
  auto trusted = trusted_file(path);
  if (trusted)
    return trusted;
  const Error& error = trusted.error();
  const bool itself = error.where.empty() || error.where == path;
  if (error.code != Errc::denied)
    return fail(error.code, error.message, itself ? path : error.where);
  return fail(Errc::config,
              "the configuration is not to be trusted: " + (itself ? "" : error.where + " ") +
                  error.message + advice_on_owner(error.where),
              path);
}

bool is_of_other(const std::string& path) {
  const auto trusted = trusted_file(path);
  return !trusted && trusted.error().code == Errc::denied && owner_in_charge(trusted.error().where);
}

Result<std::string> read_configuration(const std::string& path) {
  if (auto trusted = trusted_configuration(path); !trusted)
    return pass_on(trusted);
  return read_file(path, kMaxConfigurationBytes);
}

std::optional<ConfiguredPlaces> configured_places(std::string text) {
  const auto document = load_document(std::move(text), Format::yaml);
  if (!document || !(*document)->root().IsObject())
    return std::nullopt;
  const Value& value = (*document)->root();
  ConfiguredPlaces said;
  said.state_dir = json::text(value, "state_dir").value_or("");
  if (const Value* const roots = json::at(value, "/roots"); roots != nullptr && roots->IsArray())
    for (const Value& each : roots->GetArray())
      if (each.IsString() && each.GetStringLength() > 0)
        said.roots.emplace_back(json::name(each));
  return said;
}

std::string place_of(const std::string& path, std::string_view pointer) {
  auto text = read_configuration(path);
  const auto document =
      text ? load_document(*std::move(text), Format::yaml) : tl::unexpected(LoadFailure{});
  if (!document || json::at((*document)->root(), pointer) == nullptr)
    return path;
  const Position begin = (*document)->locate(pointer, true).begin;
  return path + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column);
}

std::string absolute(const std::string& path, const std::string& folder) {
  return (fs::path(folder) / path).lexically_normal().string();
}

}  // namespace baton
