// SPDX-License-Identifier: Apache-2.0
#include "core/backup.h"

#include <array>

namespace baton {
namespace {

constexpr std::string_view kPacked = ".json.gz";
constexpr std::string_view kFiltered = ".enc";
constexpr std::string_view kStamp = "00000000T000000.000Z";

}  // namespace

std::string backup_folder(const BackupPlan& plan, std::string_view flow) {
  constexpr std::string_view kHole = "{flow}";
  std::string folder = plan.folder;
  if (const auto at = folder.find(kHole); at != std::string::npos)
    folder.replace(at, kHole.size(), flow);
  return folder;
}

std::string backup_name(std::string_view stem, Time at, bool filtered) {
  std::string stamp = iso_time(at, true);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return std::string(stem) + "_" + stamp + std::string(kPacked) +
         std::string(filtered ? kFiltered : "");
}

bool backup_filtered(std::string_view name) {
  return name.ends_with(kFiltered);
}

std::optional<Time> backup_time(std::string_view name) {
  if (backup_filtered(name))
    name.remove_suffix(kFiltered.size());
  if (!name.ends_with(kPacked))
    return std::nullopt;
  name.remove_suffix(kPacked.size());
  if (name.size() < kStamp.size() + 2 || name[name.size() - kStamp.size() - 1] != '_')
    return std::nullopt;
  std::string stamp(name.substr(name.size() - kStamp.size()));
  // 20260122T100000.123Z -> 2026-01-22T10:00:00.123Z
  constexpr std::array<std::pair<std::size_t, char>, 4> kMarks = {
      {{4, '-'}, {7, '-'}, {13, ':'}, {16, ':'}}};
  for (const auto& [at, mark] : kMarks)
    stamp.insert(at, 1, mark);
  return parse_time(stamp);
}

}  // namespace baton
