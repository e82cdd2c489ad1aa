// SPDX-License-Identifier: Apache-2.0
#include "workspace/daemon_environment.h"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "io/files/disk.h"

namespace baton {
namespace {

constexpr std::size_t kMostEnvironmentBytes = 8U << 20U;
constexpr unsigned kEnvironmentMode = 0600;

std::string environment_path(const std::string& state_folder) {
  return state_folder + "/environment.json";
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0)
      return false;
    at += length;
  }
  return true;
}

bool is_no_secret(const std::string& name, const std::string& value) {
  std::error_code error;
  return name == "PATH" || value.size() <= 1 ||
         (value.starts_with('/') && std::filesystem::is_directory(value, error));
}

}  // namespace

Result<void> write_daemon_environment(
    const std::string& state_folder, std::int64_t pid,
    const std::vector<std::pair<std::string, std::string>>& variables) {
  Json all = Json::object();
  for (const auto& [name, value] : variables) {
    if (!is_utf8(name))
      continue;
    all.set(name, is_utf8(value) && is_no_secret(name, value) ? Json(value) : Json());
  }
  return write_file_durably(environment_path(state_folder),
                            Json::object({{"pid", pid}, {"variables", all}}).pretty(),
                            kEnvironmentMode);
}

Result<DaemonEnvironment> read_daemon_environment(const std::string& state_folder,
                                                  std::int64_t pid) {
  const std::string path = environment_path(state_folder);
  auto bytes = read_file(path, kMostEnvironmentBytes);
  if (!bytes)
    return pass_on(bytes);
  const auto json = parse_json(*bytes);
  const Value* const variables = json ? json::child(**json, "variables") : nullptr;
  if (variables == nullptr || !variables->IsObject() || json::integer(**json, "pid") != pid)
    return fail(Errc::changed, "is not of the daemon that runs", path);
  DaemonEnvironment all;
  for (const auto& each : variables->GetObject()) {
    const auto value = json::text(each.value);
    all[each.name.GetString()] = value ? std::optional<std::string>(*value) : std::nullopt;
  }
  return all;
}

}  // namespace baton
