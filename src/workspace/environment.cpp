// SPDX-License-Identifier: Apache-2.0
#include "workspace/environment.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include <pwd.h>

#include "io/system/asker.h"
#include "io/system/state_folder.h"

namespace baton {

std::string variable(const std::string& name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::vector<std::pair<std::string, std::string>> variables() {
  std::vector<std::pair<std::string, std::string>> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos)
      all.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

void set_place_variables(const std::string& state_folder,
                         std::map<std::string, std::string>& variables) {
  variables.insert_or_assign(kRootStateVariable, state_folder.substr(0, state_folder.rfind('/')));
}

std::string own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "baton" : path.string();
}

Result<std::string> find_shim(const std::string& executable) {
  const std::filesystem::path folder = std::filesystem::path(executable).parent_path();
  for (const auto& place : {folder / "baton-shim", folder / "../libexec/baton/baton-shim"}) {
    std::error_code none;
    if (std::filesystem::exists(place, none))
      return place.lexically_normal().string();
  }
  return fail(Errc::not_found,
              "baton-shim is missing; it belongs beside baton or into ../libexec/baton",
              executable);
}

std::string asked_by() {
  const passwd* const user = getpwuid(getuid());  // NOLINT(concurrency-mt-unsafe): one thread
  std::string name = user != nullptr && user->pw_name != nullptr
                         ? std::string(user->pw_name)
                         : "user " + std::to_string(getuid());
  if (const Asker asker = own_asker(""); asker.kind == Asker::Kind::run)
    name += " (run " + asker.run.substr(0, kShortRunId) + ")";
  return name;
}

}  // namespace baton
