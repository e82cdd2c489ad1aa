#include "app/patience.h"

#include <algorithm>

namespace baton {
namespace {

constexpr Millis kFirstPause{50};
constexpr Millis kLongestPause{800};

}  // namespace

bool Patience::wait(const std::string& path, const Digest& digest, Time now, Millis patience) {
  File& file = files_[path];
  if (file.since == Time{} || file.digest != digest)
    file = File{digest, now, now, kFirstPause};
  else if (now < file.again)
    return true;
  if (now - file.since >= patience) {
    files_.erase(path);
    return false;
  }
  file.again = std::min(now + file.pause, file.since + patience);
  file.pause = std::min(file.pause * 2, kLongestPause);
  return true;
}

void Patience::later(const std::string& path, const Digest& digest, Time now, Millis pause) {
  files_[path] = File{digest, now, now + std::max(pause, kFirstPause), kFirstPause};
}

std::vector<std::string> Patience::due(Time now) const {
  std::vector<std::string> paths;
  for (const auto& [path, file] : files_)
    if (file.again <= now)
      paths.push_back(path);
  return paths;
}

std::optional<Time> Patience::wake() const {
  std::optional<Time> wake;
  for (const auto& [path, file] : files_)
    if (!wake || file.again < *wake)
      wake = file.again;
  return wake;
}

std::vector<std::string> Patience::paths() const {
  std::vector<std::string> paths;
  paths.reserve(files_.size());
  for (const auto& [path, file] : files_)
    paths.push_back(path);
  return paths;
}

}  // namespace baton
