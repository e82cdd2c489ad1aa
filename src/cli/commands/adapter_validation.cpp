// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/adapter_validation.h"

#include <filesystem>
#include <set>

#include "base/text.h"
#include "io/files/disk.h"
#include "workspace/adapter_file.h"
#include "workspace/configuration_file.h"
#include "workspace/folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// The adapters that are paths.
std::set<std::string> own_adapters(const Config& config) {
  std::set<std::string> all;
  for (const auto& [role, agent] : config.agents)
    if (agent.adapter.find('/') != std::string::npos)
      all.insert(agent.adapter);
  return all;
}

}  // namespace

void AdapterValidation::all(Inspection& inspection) const {
  for (const std::string& each : own_adapters(context_.config()))
    check(each, "", inspection);
}

bool AdapterValidation::named(const std::string& path, Inspection& inspection) const {
  std::error_code error;
  for (const std::string& each : own_adapters(context_.config()))
    if (fs::equivalent(absolute(each, context_.folder()), path, error)) {
      check(each, path, inspection);
      return true;
    }
  return false;
}

void AdapterValidation::check(const std::string& named, const std::string& shown,
                              Inspection& inspection) const {
  auto path = adapter_path(named, context_.folder());
  auto text = path ? read_file(*path, max_bytes_) : Result<std::string>(pass_on(path));
  if (!text) {
    inspection.refuse(shown.empty() ? text.error().where : shown,
                      {.rule = "adapter/file", .message = text.error().message});
    return;
  }
  const std::string name = shown.empty() ? below(context_.root(), *path).value_or(*path) : shown;
  inspection.check_document({name, *path, ""}, *std::move(text), kind_.match(*path));
}

}  // namespace baton
