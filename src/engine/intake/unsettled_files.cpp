// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/unsettled_files.h"

#include <algorithm>

namespace baton {
namespace {

constexpr Millis kFirstLook{50};
constexpr Millis kLongestBetween{800};
/// Waiting files hold their flow at most this long, even if one follows the other.
constexpr Millis kLongestHold{10'000};

}  // namespace

bool UnsettledFiles::wait(const std::string& path, const FlowId& flow, const Digest& digest,
                          Time now, const Rest& rest) {
  const auto [known, fresh] = files_.try_emplace(path);
  File& file = known->second;
  if (fresh || file.digest != digest)
    file = File{flow, fresh ? now : file.first, digest, now, now, kFirstLook};
  else if (now < file.again)
    return true;
  const Time until = std::min(file.since + rest.stand, file.first + rest.most);
  if (now >= until) {
    files_.erase(path);
    return false;
  }
  file.again = std::min(now + file.pause, until);
  file.pause = std::min(file.pause * 2, kLongestBetween);
  return true;
}

void UnsettledFiles::later(const std::string& path, const FlowId& flow, const Digest& digest,
                           Time now, Millis pause) {
  files_[path] = File{flow, now, digest, now, now + std::max(pause, kFirstLook), kFirstLook};
}

std::vector<std::string> UnsettledFiles::due(Time now) const {
  std::vector<std::string> paths;
  for (const auto& [path, file] : files_)
    if (file.again <= now)
      paths.push_back(path);
  return paths;
}

std::optional<Time> UnsettledFiles::wake() const {
  std::optional<Time> wake;
  for (const auto& [path, file] : files_)
    if (!wake || file.again < *wake)
      wake = file.again;
  return wake;
}

bool UnsettledFiles::waits(const FlowId& flow) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& row) { return row.second.flow == flow; });
}

std::map<FlowId, std::vector<std::string>> UnsettledFiles::paths(Time now) {
  std::map<FlowId, std::vector<std::string>> paths;
  for (const auto& [path, file] : files_)
    paths[file.flow].push_back(path);
  std::erase_if(since_, [&](const auto& row) { return !paths.contains(row.first); });
  std::erase_if(paths, [&](const auto& row) {
    return now - since_.try_emplace(row.first, now).first->second >= kLongestHold;
  });
  return paths;
}

}  // namespace baton
